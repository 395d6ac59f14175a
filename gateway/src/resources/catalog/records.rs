//! One record by id or slug in the path: `/markets/{id}`, `/events/{id}`, `/series/{id}`,
//! `/tags/{id}` and `/slug/…`, and the tags of a market or event.

use foretell_catalog::query::{OneQuery, Parameters, path_id};
use foretell_catalog::{Catalog, CatalogError};
use foretell_wire::read::path::PathText;

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;

/// `GET /markets/{id}`: a number or a condition id.
pub(crate) async fn market(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_text(&context, name, OneQuery::of_market, Catalog::market).await
}

/// `GET /markets/slug/{slug}`.
pub(crate) async fn market_by_slug(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_text(&context, name, OneQuery::of_market, Catalog::market_by_slug).await
}

/// `GET /markets/{id}/tags`.
pub(crate) async fn market_tags(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_text(&context, name, OneQuery::of, Catalog::market_tags).await
}

/// `GET /events/{id}`.
pub(crate) async fn event(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_number(&context, name, OneQuery::of_event, Catalog::event).await
}

/// `GET /events/slug/{slug}`.
pub(crate) async fn event_by_slug(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_text(&context, name, OneQuery::of_event, Catalog::event_by_slug).await
}

/// `GET /events/{id}/tags`.
pub(crate) async fn event_tags(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_number(&context, name, OneQuery::of, Catalog::event_tags).await
}

/// `GET /series/{id}`.
pub(crate) async fn series(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_number(&context, name, OneQuery::of, Catalog::one_series).await
}

/// `GET /tags/{id}`.
pub(crate) async fn tag(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_number(&context, name, OneQuery::of_tag, Catalog::tag).await
}

/// `GET /tags/slug/{slug}`.
pub(crate) async fn tag_by_slug(
    context: RequestContext,
    FromPath(name): FromPath<PathText>,
) -> Result<Answer, Failure> {
    by_text(&context, name, OneQuery::of_tag, Catalog::tag_by_slug).await
}

type Read<Q> = fn(&Parameters) -> Result<Q, CatalogError>;
type ByText = fn(&Catalog, &str, &OneQuery) -> Result<String, CatalogError>;
type ByNumber = fn(&Catalog, u64, &OneQuery) -> Result<String, CatalogError>;

async fn by_text(
    context: &RequestContext,
    PathText(name): PathText,
    read: Read<OneQuery>,
    find: ByText,
) -> Result<Answer, Failure> {
    ask(context, read, move |catalog, query| {
        find(catalog, &name, query)
    })
    .await
}

async fn by_number(
    context: &RequestContext,
    PathText(name): PathText,
    read: Read<OneQuery>,
    find: ByNumber,
) -> Result<Answer, Failure> {
    let of = |parameters: &Parameters| Ok((path_id(&name)?, read(parameters)?));
    ask(context, of, move |catalog, (id, query)| {
        find(catalog, *id, query)
    })
    .await
}
