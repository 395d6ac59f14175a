//! `GET /openapi.json`: the document of the surface.

use std::sync::OnceLock;

use bytes::Bytes;
use foretell_wire::ErrorCode;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::http::surface::Surface;
use crate::openapi::document::Document;

/// `GET /openapi.json`.
pub(crate) async fn show(
    context: RequestContext,
) -> Result<Json<serde_json::Map<String, serde_json::Value>>, Failure> {
    static TEXTS: [OnceLock<Bytes>; 4] = [const { OnceLock::new() }; 4];
    let document = match context.surface {
        // The health listener has no such route.
        Surface::Trading | Surface::Health => Document::Trading,
        Surface::Data => Document::Data,
        Surface::Catalog => Document::Catalog,
        Surface::Operator => Document::Operator,
    };
    let text = &TEXTS[document as usize];
    // Rendered once, beside the thread that serves other requests meanwhile.
    let render = move || text.get_or_init(|| document.render().to_string().into());
    let rendered = tokio::task::spawn_blocking(render).await;
    let text = rendered.map_err(|_| ErrorCode::Internal)?;
    Ok(Json::written(text.clone()))
}
