//! The parts of a request that are neither body nor credentials.

use foretell_wire::read::parameters::Parameters;

use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// The parameters of the query.
pub(crate) struct FromQuery<T>(pub(crate) T);

impl<T: Parameters + Send> RequestPart for FromQuery<T> {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        Ok(Self(T::read_text(context.head.uri.query())?))
    }
}
