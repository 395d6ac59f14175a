//! `GET /openapi.json`: the document of the surface, as it is committed in `docs/openapi`.

use std::sync::LazyLock;

use foretell_wire::ErrorCode;
use serde_json::{Map, Value};

use crate::http::answer::Json;
use crate::http::embedded_file::EmbeddedFile;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

static DOCUMENTS: LazyLock<Vec<EmbeddedFile>> =
    LazyLock::new(|| include!(concat!(env!("OUT_DIR"), "/documents.rs")));

/// `GET /openapi.json`.
pub(crate) async fn show(context: RequestContext) -> Result<Json<Map<String, Value>>, Failure> {
    let name = format!("{}.json", context.surface.name());
    let document = DOCUMENTS.iter().find(|file| file.name == name);
    let document = document.ok_or(ErrorCode::NotFound)?;
    Ok(document.answer(&context.head.headers).into())
}
