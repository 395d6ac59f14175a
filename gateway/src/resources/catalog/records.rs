//! One record by id or slug in the path: `/markets/{id}`, `/events/{id}`, `/series/{id}`,
//! `/tags/{id}` and `/slug/…`, and the tags of a market or event.

use foretell_catalog::query::{OneEventQuery, OneMarketQuery, OneQuery, OneTagQuery, RecordId};
use foretell_catalog::schema::{Event, Market, Series, Tag};
use foretell_wire::read::path::PathText;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::catalog::answer;

/// `GET /markets/{id}`: a number or a condition id.
pub(crate) async fn market(
    context: RequestContext,
    FromPath(PathText(name)): FromPath<PathText>,
    FromQuery(query): FromQuery<OneMarketQuery>,
) -> Result<Json<Market>, Failure> {
    answer(&context, move |catalog| catalog.market(&name, &query)).await
}

/// `GET /markets/slug/{slug}`.
pub(crate) async fn market_by_slug(
    context: RequestContext,
    FromPath(PathText(name)): FromPath<PathText>,
    FromQuery(query): FromQuery<OneMarketQuery>,
) -> Result<Json<Market>, Failure> {
    answer(&context, move |catalog| {
        catalog.market_by_slug(&name, &query)
    })
    .await
}

/// `GET /markets/{id}/tags`.
pub(crate) async fn market_tags(
    context: RequestContext,
    FromPath(PathText(name)): FromPath<PathText>,
    FromQuery(query): FromQuery<OneQuery>,
) -> Result<Json<Vec<Tag>>, Failure> {
    answer(&context, move |catalog| catalog.market_tags(&name, &query)).await
}

/// `GET /events/{id}`.
pub(crate) async fn event(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<OneEventQuery>,
) -> Result<Json<Event>, Failure> {
    answer(&context, move |catalog| catalog.event(id, &query)).await
}

/// `GET /events/slug/{slug}`.
pub(crate) async fn event_by_slug(
    context: RequestContext,
    FromPath(PathText(name)): FromPath<PathText>,
    FromQuery(query): FromQuery<OneEventQuery>,
) -> Result<Json<Event>, Failure> {
    answer(&context, move |catalog| {
        catalog.event_by_slug(&name, &query)
    })
    .await
}

/// `GET /events/{id}/tags`.
pub(crate) async fn event_tags(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<OneQuery>,
) -> Result<Json<Vec<Tag>>, Failure> {
    answer(&context, move |catalog| catalog.event_tags(id, &query)).await
}

/// `GET /series/{id}`.
pub(crate) async fn series(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<OneQuery>,
) -> Result<Json<Series>, Failure> {
    answer(&context, move |catalog| catalog.one_series(id, &query)).await
}

/// `GET /tags/{id}`.
pub(crate) async fn tag(
    context: RequestContext,
    FromPath(RecordId(id)): FromPath<RecordId>,
    FromQuery(query): FromQuery<OneTagQuery>,
) -> Result<Json<Tag>, Failure> {
    answer(&context, move |catalog| catalog.tag(id, &query)).await
}

/// `GET /tags/slug/{slug}`.
pub(crate) async fn tag_by_slug(
    context: RequestContext,
    FromPath(PathText(name)): FromPath<PathText>,
    FromQuery(query): FromQuery<OneTagQuery>,
) -> Result<Json<Tag>, Failure> {
    answer(&context, move |catalog| catalog.tag_by_slug(&name, &query)).await
}
