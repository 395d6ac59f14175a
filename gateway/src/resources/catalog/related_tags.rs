//! `/tags/{id}/related-tags` and `/tags/slug/{slug}/related-tags`, with `/tags` for the tags
//! themselves.

use foretell_catalog::TagName;
use foretell_catalog::query::{Parameters, RelatedQuery, path_id};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;
use crate::resources::catalog::records::path_text;

/// `GET /tags/{id}/related-tags`.
pub(crate) async fn of_id(context: RequestContext) -> Result<Answer, Failure> {
    by_id(&context, false).await
}

/// `GET /tags/{id}/related-tags/tags`.
pub(crate) async fn tags_of_id(context: RequestContext) -> Result<Answer, Failure> {
    by_id(&context, true).await
}

/// `GET /tags/slug/{slug}/related-tags`.
pub(crate) async fn of_slug(context: RequestContext) -> Result<Answer, Failure> {
    by_slug(&context, false).await
}

/// `GET /tags/slug/{slug}/related-tags/tags`.
pub(crate) async fn tags_of_slug(context: RequestContext) -> Result<Answer, Failure> {
    by_slug(&context, true).await
}

async fn by_id(context: &RequestContext, are_tags: bool) -> Result<Answer, Failure> {
    let id = path_text(&context.parameter);
    let of = |parameters: &Parameters| {
        let name = TagName::Id(path_id(&id)?);
        Ok((name, RelatedQuery::of(parameters)?))
    };
    ask(context, of, move |catalog, (name, query)| {
        catalog.related_tags(name, *query, are_tags)
    })
    .await
}

async fn by_slug(context: &RequestContext, are_tags: bool) -> Result<Answer, Failure> {
    let name = TagName::Slug(path_text(&context.parameter));
    ask(context, RelatedQuery::of, move |catalog, query| {
        catalog.related_tags(&name, *query, are_tags)
    })
    .await
}
