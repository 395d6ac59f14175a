//! The catalog surface (docs/api/catalog.md): parameters in, the catalog's own JSON out.

pub(crate) mod lists;
pub(crate) mod records;

use foretell_catalog::query::Parameters;
use foretell_catalog::{Catalog, CatalogError};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;

/// Retry-After, in seconds, while the catalog does not exist yet.
const COMES_SOON: HeaderValue = HeaderValue::from_static("5");

/// Parses the parameters of a request and answers with the catalog's result.
async fn ask<Q: Send + 'static>(
    context: &RequestContext,
    of: impl FnOnce(&Parameters) -> Result<Q, CatalogError>,
    answer: impl FnOnce(&Catalog, &Q) -> Result<String, CatalogError> + Send + 'static,
) -> Result<Answer, Failure> {
    let query = context.query()?;
    let parameters: Parameters = query.pairs().collect();
    let query = of(&parameters).map_err(|error| refusal(&error))?;
    let Some(pool) = &context.app.catalog else {
        return Err(refusal(&CatalogError::Missing("none configured".into())));
    };
    let text = pool.read(move |catalog| answer(catalog, &query)).await?;
    match text {
        Ok(text) => Ok(Answer::json(text)),
        Err(error) => Err(refusal(&error)),
    }
}

fn refusal(error: &CatalogError) -> Failure {
    let status = StatusCode::from_u16(error.status()).expect("statuses are constants");
    if status.is_server_error() {
        tracing::error!("catalog: {error}");
    }
    let failure = Failure::new(status, error.to_string()).with_body(error.body());
    match status {
        StatusCode::SERVICE_UNAVAILABLE => failure.header(RETRY_AFTER, COMES_SOON),
        _ => failure,
    }
}
