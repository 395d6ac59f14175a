//! `GET /`, `/ok`, `/time`, `/version` (docs/api/market-data.md §1).

use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::{Done, VersionAnswer};
use foretell_wire::schema::JsonSchema;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::http::answer::{Answer, Json};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Answer of `GET /` of the data surface.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct DataHealth {
    data: Done,
}

/// `GET /` and `/ok`.
pub(crate) async fn ok(_: RequestContext) -> Result<Json<Done>, Failure> {
    Ok(Json::of(&Done::Ok))
}

/// `GET /` of the data surface: an object, as in the family.
pub(crate) async fn data_root(_: RequestContext) -> Result<Json<DataHealth>, Failure> {
    Ok(Json::of(&DataHealth { data: Done::Ok }))
}

/// `GET /status` of the catalog surface: the bare word.
pub(crate) async fn status(_: RequestContext) -> Result<Answer, Failure> {
    Ok(Answer::json("OK").header(CONTENT_TYPE, HeaderValue::from_static("text/plain")))
}

/// `GET /time`: engine time, by which orders are judged, in unix seconds as a bare number.
pub(crate) async fn time(context: RequestContext) -> Result<Json<u64>, Failure> {
    let time = context.app.exchange_time().millis();
    Ok(Json::of(&(time.0 / 1_000)))
}

/// `GET /version`: the version of signed orders.
pub(crate) async fn version(_: RequestContext) -> Result<Json<VersionAnswer>, Failure> {
    Ok(Json::of(&VersionAnswer { version: 2 }))
}

/// Families of paths this exchange does not have.
pub(crate) async fn not_supported(_: RequestContext) -> Result<Answer, Failure> {
    Err(ErrorCode::NotSupported.into())
}
