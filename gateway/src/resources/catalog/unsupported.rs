//! What the exchange does not have: teams, sports and comments. Lists are empty.

use foretell_catalog::query::EmptyQuery;
use foretell_catalog::{CatalogError, NotFound};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::{checked, refusal};

/// `GET /teams`.
pub(crate) async fn teams(context: RequestContext) -> Result<Answer, Failure> {
    checked(&context, EmptyQuery::of_teams)?;
    Ok(Answer::json("[]"))
}

/// `GET /sports`.
pub(crate) async fn sports(context: RequestContext) -> Result<Answer, Failure> {
    checked(&context, EmptyQuery::of)?;
    Ok(Answer::json("[]"))
}

/// `GET /comments` and `/comments/user_address/{address}`.
pub(crate) async fn comments(context: RequestContext) -> Result<Answer, Failure> {
    checked(&context, EmptyQuery::of_comments)?;
    Ok(Answer::json("[]"))
}

/// `GET /comments/keyset`.
pub(crate) async fn comments_keyset(context: RequestContext) -> Result<Answer, Failure> {
    checked(&context, EmptyQuery::of_comments)?;
    Ok(Answer::json(r#"{"comments":[]}"#))
}

/// `GET /comments/{id}`.
pub(crate) async fn comment(_: RequestContext) -> Result<Answer, Failure> {
    Err(refusal(&CatalogError::NotFound(NotFound::Id)))
}
