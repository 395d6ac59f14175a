//! `/tags/{id}/related-tags` and `/tags/slug/{slug}/related-tags`, with `/tags` for the tags
//! themselves.

use foretell_catalog::TagName;
use foretell_catalog::query::{Parameters, RelatedQuery, path_id};
use foretell_wire::read::path::PathText;

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;

/// `GET /tags/{id}/related-tags`.
pub(crate) async fn of_id(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_id(&context, name, false).await
}

/// `GET /tags/{id}/related-tags/tags`.
pub(crate) async fn tags_of_id(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_id(&context, name, true).await
}

/// `GET /tags/slug/{slug}/related-tags`.
pub(crate) async fn of_slug(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_slug(&context, name, false).await
}

/// `GET /tags/slug/{slug}/related-tags/tags`.
pub(crate) async fn tags_of_slug(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_slug(&context, name, true).await
}

async fn by_id(
    context: &RequestContext,
    PathText(name): PathText,
    are_tags: bool,
) -> Result<Answer, Failure> {
    let of = |parameters: &Parameters| {
        let name = TagName::Id(path_id(&name)?);
        Ok((name, RelatedQuery::of(parameters)?))
    };
    ask(context, of, move |catalog, (name, query)| {
        catalog.related_tags(name, *query, are_tags)
    })
    .await
}

async fn by_slug(
    context: &RequestContext,
    PathText(name): PathText,
    are_tags: bool,
) -> Result<Answer, Failure> {
    let name = TagName::Slug(name);
    ask(context, RelatedQuery::of, move |catalog, query| {
        catalog.related_tags(&name, *query, are_tags)
    })
    .await
}
