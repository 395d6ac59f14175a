//! Lists and search: `/markets`, `/events`, `/series`, `/tags`, `/public-search`.

use foretell_catalog::query::{
    EventsKeysetQuery, EventsQuery, MarketsKeysetQuery, MarketsQuery, NoQuery, SearchQuery,
    SeriesQuery, TagsQuery,
};
use foretell_catalog::schema::{
    Event, EventsPage, ListedMarket, MarketTypes, MarketsPage, SearchResult, Series, Tag,
};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::answer;

/// `GET /markets`.
pub(crate) async fn markets(
    context: RequestContext,
    FromQuery(query): FromQuery<MarketsQuery>,
) -> Result<Json<Vec<ListedMarket>>, Failure> {
    answer(&context, move |catalog| catalog.markets(&query)).await
}

/// `GET /events`.
pub(crate) async fn events(
    context: RequestContext,
    FromQuery(query): FromQuery<EventsQuery>,
) -> Result<Json<Vec<Event>>, Failure> {
    answer(&context, move |catalog| catalog.events(&query)).await
}

/// `GET /markets/keyset`.
pub(crate) async fn markets_keyset(
    context: RequestContext,
    FromQuery(query): FromQuery<MarketsKeysetQuery>,
) -> Result<Json<MarketsPage>, Failure> {
    answer(&context, move |catalog| catalog.markets_keyset(&query)).await
}

/// `GET /events/keyset`.
pub(crate) async fn events_keyset(
    context: RequestContext,
    FromQuery(query): FromQuery<EventsKeysetQuery>,
) -> Result<Json<EventsPage>, Failure> {
    answer(&context, move |catalog| catalog.events_keyset(&query)).await
}

/// `GET /series`.
pub(crate) async fn series(
    context: RequestContext,
    FromQuery(query): FromQuery<SeriesQuery>,
) -> Result<Json<Vec<Series>>, Failure> {
    answer(&context, move |catalog| catalog.series(&query)).await
}

/// `GET /tags`.
pub(crate) async fn tags(
    context: RequestContext,
    FromQuery(query): FromQuery<TagsQuery>,
) -> Result<Json<Vec<Tag>>, Failure> {
    answer(&context, move |catalog| catalog.tags(&query)).await
}

/// `GET /public-search`.
pub(crate) async fn search(
    context: RequestContext,
    FromQuery(query): FromQuery<SearchQuery>,
) -> Result<Json<SearchResult>, Failure> {
    answer(&context, move |catalog| catalog.search(&query)).await
}

/// `GET /sports/market-types`.
pub(crate) async fn sports_market_types(
    context: RequestContext,
    _: FromQuery<NoQuery>,
) -> Result<Json<MarketTypes<'static>>, Failure> {
    answer(&context, |catalog| catalog.sports_market_types()).await
}
