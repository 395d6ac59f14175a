//! `/tags/{id}/related-tags` and `/tags/slug/{slug}/related-tags`, with `/tags` for the tags
//! themselves.

use foretell_catalog::TagName;
use foretell_catalog::query::{RecordId, RelatedQuery};
use foretell_catalog::schema::{RelatedTag, Tag};
use foretell_wire::read::path::PathText;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::catalog::answer;

/// `GET /tags/{id}/related-tags`.
pub(crate) async fn of_id(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<RelatedQuery>,
) -> Result<Json<Vec<RelatedTag>>, Failure> {
    let tag = TagName::Id(id);
    answer(&context, move |catalog| {
        catalog.related_tags(&tag, query, false)
    })
    .await
}

/// `GET /tags/{id}/related-tags/tags`.
pub(crate) async fn tags_of_id(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<RelatedQuery>,
) -> Result<Json<Vec<Tag>>, Failure> {
    let tag = TagName::Id(id);
    answer(&context, move |catalog| {
        catalog.related_tags(&tag, query, true)
    })
    .await
}

/// `GET /tags/slug/{slug}/related-tags`.
pub(crate) async fn of_slug(
    context: RequestContext,
    FromPath(PathText(slug)): FromPath<PathText>,
    FromQuery(query): FromQuery<RelatedQuery>,
) -> Result<Json<Vec<RelatedTag>>, Failure> {
    let tag = TagName::Slug(slug);
    answer(&context, move |catalog| {
        catalog.related_tags(&tag, query, false)
    })
    .await
}

/// `GET /tags/slug/{slug}/related-tags/tags`.
pub(crate) async fn tags_of_slug(
    context: RequestContext,
    FromPath(PathText(slug)): FromPath<PathText>,
    FromQuery(query): FromQuery<RelatedQuery>,
) -> Result<Json<Vec<Tag>>, Failure> {
    let tag = TagName::Slug(slug);
    answer(&context, move |catalog| {
        catalog.related_tags(&tag, query, true)
    })
    .await
}
