//! Lists and search: `/markets`, `/events`, `/series`, `/tags`, `/public-search`.

use foretell_catalog::Catalog;
use foretell_catalog::query::{
    EmptyQuery, EventsQuery, MarketsQuery, SearchQuery, SeriesQuery, TagsQuery,
};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;

/// `GET /markets`.
pub(crate) async fn markets(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, MarketsQuery::of, Catalog::markets).await
}

/// `GET /events`.
pub(crate) async fn events(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, EventsQuery::of, Catalog::events).await
}

/// `GET /markets/keyset`.
pub(crate) async fn markets_keyset(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, MarketsQuery::of_keyset, Catalog::markets_keyset).await
}

/// `GET /events/keyset`.
pub(crate) async fn events_keyset(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, EventsQuery::of_keyset, Catalog::events_keyset).await
}

/// `GET /sports/market-types`.
pub(crate) async fn sports_market_types(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, EmptyQuery::of, |catalog, _| {
        catalog.sports_market_types()
    })
    .await
}

/// `GET /series`.
pub(crate) async fn series(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, SeriesQuery::of, Catalog::series).await
}

/// `GET /tags`.
pub(crate) async fn tags(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, TagsQuery::of, Catalog::tags).await
}

/// `GET /public-search`.
pub(crate) async fn search(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, SearchQuery::of, Catalog::search).await
}
