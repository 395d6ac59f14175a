//! `GET /`, `/ok`, `/time`, `/version` (docs/api/market-data.md §1).

use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::{Done, VersionAnswer};
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::credentials::now;
use crate::http::answer::{Answer, Json};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Answer of `GET /` of the data surface.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DataHealth {
    Word(Done),
    Object { data: Done },
}

/// `GET /` and `/ok`.
pub(crate) async fn ok(_: RequestContext) -> Result<Json<Done>, Failure> {
    Ok(Json::of(&Done::Ok))
}

/// `GET /` of the data surface. Clients of the family that accept JSON and nothing else expect an
/// object.
pub(crate) async fn data_root(context: RequestContext) -> Result<Json<DataHealth>, Failure> {
    let accept = context.head.headers.get(ACCEPT);
    let is_json = accept.is_some_and(|accept| accept == "application/json");
    Ok(Json::of(&match is_json {
        true => DataHealth::Object { data: Done::Ok },
        false => DataHealth::Word(Done::Ok),
    }))
}

/// `GET /status` of the catalog surface: the bare word.
pub(crate) async fn status(_: RequestContext) -> Result<Answer, Failure> {
    Ok(Answer::json("OK").header(CONTENT_TYPE, HeaderValue::from_static("text/plain")))
}

/// `GET /time`: unix seconds as a bare number.
pub(crate) async fn time(_: RequestContext) -> Result<Json<u64>, Failure> {
    Ok(Json::of(&(now().0 / 1_000)))
}

/// `GET /version`: the version of signed orders.
pub(crate) async fn version(_: RequestContext) -> Result<Json<VersionAnswer>, Failure> {
    Ok(Json::of(&VersionAnswer { version: 2 }))
}

/// Families of paths this exchange does not have.
pub(crate) async fn not_supported(_: RequestContext) -> Result<Answer, Failure> {
    Err(ErrorCode::NotSupported.into())
}
