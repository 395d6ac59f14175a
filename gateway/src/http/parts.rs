//! The parts of a request: path, query and body.

use foretell_wire::ApiError;
use foretell_wire::markets::batch::{BatchToken, BatchTokens};
use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use foretell_wire::read::query::parameters::Parameters;
use foretell_wire::read::query::trading::TokensQuery;
use http::Method;

use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::request_context::RequestContext;
use crate::http::timing::Stage;

/// The parameters of the query.
pub(crate) struct FromQuery<T>(pub(crate) T);

impl<T: Parameters + Send> RequestPart for FromQuery<T> {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        Ok(Self(T::read_in(context.head.uri.query(), context.forms())?))
    }

    fn describe(operation: &mut Operation) {
        operation.takes_query::<T>();
    }
}

/// The body.
pub(crate) struct FromBody<T>(pub(crate) T);

impl<T: RequestBody + Send> RequestPart for FromBody<T> {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        let read = || T::read(&context.body);
        Ok(Self(context.timing.measure(Stage::Parse, read)?))
    }

    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>();
    }
}

/// The body, or why it is wrong, for an answer that says more than the error.
pub(crate) struct TryBody<T>(pub(crate) Result<T, ApiError>);

impl<T: RequestBody + Send> RequestPart for TryBody<T> {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        let read = || T::read(&context.body);
        Ok(Self(context.timing.measure(Stage::Parse, read)))
    }

    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>();
    }
}

/// The value of `{…}` in the route's path.
pub(crate) struct FromPath<T>(pub(crate) T);

impl<T: PathParameter + Send> RequestPart for FromPath<T> {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        Ok(Self(T::read(&context.parameter)?))
    }

    fn describe(operation: &mut Operation) {
        operation.takes_path::<T>();
    }
}

/// The tokens of a batch read: those of the body, or with GET and no body those of the query.
pub(crate) struct Tokens(pub(crate) Vec<BatchToken>);

impl RequestPart for Tokens {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        Ok(Self(match context.body.is_empty() {
            true if context.head.method != Method::POST => {
                TokensQuery::read_in(context.head.uri.query(), context.forms())?.0
            }
            _ => BatchTokens::read(&context.body)?.0,
        }))
    }

    fn describe(operation: &mut Operation) {
        match operation.method == Method::POST {
            true => operation.takes_body::<BatchTokens>(),
            false => {
                operation.takes_query::<TokensQuery>();
                operation.may_take_body::<BatchTokens>();
            }
        }
    }
}
