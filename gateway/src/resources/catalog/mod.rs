//! The catalog surface (docs/api/catalog.md): parameters in, the catalog's own JSON out.

pub(crate) mod lists;
pub(crate) mod public_profile;
pub(crate) mod records;
pub(crate) mod related_tags;
pub(crate) mod unsupported;

use foretell_catalog::{Catalog, CatalogError, NotFound};
use foretell_wire::ErrorCode;
use serde_json::json;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Errors of [`answer`].
pub(crate) const READ: &[ErrorCode] = &[
    ErrorCode::Busy,
    ErrorCode::CatalogUnavailable,
    ErrorCode::CatalogLoading,
    ErrorCode::CatalogFailed,
];

/// Answers with the JSON of a `T` from the catalog.
async fn answer<T>(
    context: &RequestContext,
    read: impl FnOnce(&Catalog) -> Result<String, CatalogError> + Send + 'static,
) -> Result<Json<T>, Failure> {
    let pool = context.app.catalog.as_ref();
    let pool = pool.ok_or(ErrorCode::CatalogUnavailable)?;
    if context.app.shared_view.is_ready() && !context.app.catalog_facts.first_turn().await {
        return Err(ErrorCode::CatalogLoading.into());
    }
    match pool.read(read).await? {
        Ok(text) => Ok(Json::written(text)),
        Err(error) => Err(failure(&error)),
    }
}

fn failure(error: &CatalogError) -> Failure {
    if error.code().status() >= 500 {
        tracing::error!("catalog: {error}");
    }
    let failure = Failure::from(error.code());
    match error {
        CatalogError::NotFound(NotFound::Profile) => failure.with_body(
            json!({ "type": "not found error", "error": "profile not found" }).to_string(),
        ),
        _ => failure,
    }
}
