//! The catalog surface (interface, protocol 13): parameters in, the catalog's own JSON out.

pub(crate) mod lists;
pub(crate) mod records;
mod shape;

use foretell_catalog::query::Parameters;
use foretell_catalog::{Catalog, CatalogError};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

pub(crate) use shape::shaped;

/// Seconds after which a catalog that is not there yet may be.
const COMES_SOON: HeaderValue = HeaderValue::from_static("5");

/// Reads the parameters of a request and answers with what the catalog says.
async fn ask<Q: Send + 'static>(
    call: &Call,
    of: impl FnOnce(&Parameters) -> Result<Q, CatalogError>,
    answer: impl FnOnce(&Catalog, &Q) -> Result<String, CatalogError> + Send + 'static,
) -> Result<Answer, Failure> {
    let query = call.query()?;
    let parameters: Parameters = query.pairs().collect();
    let query = of(&parameters).map_err(|error| refusal(&error))?;
    let Some(door) = &call.app.catalog else {
        return Err(refusal(&CatalogError::Missing("none configured".into())));
    };
    let text = door.read(move |catalog| answer(catalog, &query)).await?;
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
    let answer = Answer::with_status(status, error.body());
    match status {
        StatusCode::SERVICE_UNAVAILABLE => answer.header(RETRY_AFTER, COMES_SOON),
        _ => answer,
    }
    .into()
}
