//! What the exchange does not have: teams, sports and comments. Lists are empty.

use foretell_catalog::query::{CommentsQuery, NoQuery, TeamsQuery};
use foretell_catalog::schema::Comments;
use foretell_wire::ErrorCode;
use foretell_wire::read::path::PathText;

use crate::http::answer::{Answer, Json};
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;

/// `GET /teams`.
pub(crate) async fn teams(
    _: RequestContext,
    _: FromQuery<TeamsQuery>,
) -> Result<Json<[(); 0]>, Failure> {
    Ok(Json::of(&[(); 0]))
}

/// `GET /sports`.
pub(crate) async fn sports(
    _: RequestContext,
    _: FromQuery<NoQuery>,
) -> Result<Json<[(); 0]>, Failure> {
    Ok(Json::of(&[(); 0]))
}

/// `GET /comments`.
pub(crate) async fn comments(
    _: RequestContext,
    _: FromQuery<CommentsQuery>,
) -> Result<Json<[(); 0]>, Failure> {
    Ok(Json::of(&[(); 0]))
}

/// `GET /comments/user_address/{address}`.
pub(crate) async fn comments_of_user(
    context: RequestContext,
    _: FromPath<PathText>,
    query: FromQuery<CommentsQuery>,
) -> Result<Json<[(); 0]>, Failure> {
    comments(context, query).await
}

/// `GET /comments/keyset`.
pub(crate) async fn comments_keyset(
    _: RequestContext,
    _: FromQuery<CommentsQuery>,
) -> Result<Json<Comments>, Failure> {
    Ok(Json::of(&Comments { comments: [] }))
}

/// `GET /comments/{id}`.
pub(crate) async fn comment(_: RequestContext, _: FromPath<PathText>) -> Result<Answer, Failure> {
    Err(ErrorCode::IdNotFound.into())
}
