//! The catalog surface (docs/api/catalog.md): parameters in, the catalog's own JSON out.

pub(crate) mod lists;
pub(crate) mod public_profile;
pub(crate) mod records;
pub(crate) mod related_tags;
pub(crate) mod unsupported;

use foretell_catalog::query::Parameters;
use foretell_catalog::{Catalog, CatalogError, NotFound};
use foretell_wire::{ApiError, ErrorCode};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Parses the parameters of a request and answers with the catalog's result.
async fn ask<Q: Send + 'static>(
    context: &RequestContext,
    of: impl FnOnce(&Parameters) -> Result<Q, CatalogError>,
    answer: impl FnOnce(&Catalog, &Q) -> Result<String, CatalogError> + Send + 'static,
) -> Result<Answer, Failure> {
    let query = checked(context, of)?;
    let Some(pool) = &context.app.catalog else {
        return Err(refusal(&CatalogError::Missing("none configured".into())));
    };
    let text = pool.read(move |catalog| answer(catalog, &query)).await?;
    match text {
        Ok(text) => Ok(Answer::json(text)),
        Err(error) => Err(refusal(&error)),
    }
}

/// Parses the parameters of a request.
fn checked<Q>(
    context: &RequestContext,
    of: impl FnOnce(&Parameters) -> Result<Q, CatalogError>,
) -> Result<Q, Failure> {
    let query = context.query()?;
    let parameters: Parameters = query.pairs().collect();
    of(&parameters).map_err(|error| refusal(&error))
}

fn refusal(error: &CatalogError) -> Failure {
    if error.status() >= 500 {
        tracing::error!("catalog: {error}");
    }
    Failure::from(error_of(error)).with_body(error.body())
}

fn error_of(error: &CatalogError) -> ApiError {
    let code = match error {
        CatalogError::BadRequest(_) => {
            return ErrorCode::InvalidCatalogParameter.with([&error]);
        }
        CatalogError::NotFound(NotFound::Slug) => ErrorCode::SlugNotFound,
        CatalogError::NotFound(NotFound::Id | NotFound::Profile) => ErrorCode::IdNotFound,
        CatalogError::Missing(_) | CatalogError::OtherSchema { .. } => {
            ErrorCode::CatalogUnavailable
        }
        CatalogError::Reading => ErrorCode::CatalogLoading,
        CatalogError::Database(_) | CatalogError::Input(_) => ErrorCode::CatalogFailed,
    };
    code.into()
}
