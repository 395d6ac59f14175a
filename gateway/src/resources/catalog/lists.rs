//! Lists and search: `/markets`, `/events`, `/series`, `/tags`, `/public-search`.

use foretell_catalog::Catalog;
use foretell_catalog::query::{EventsQuery, MarketsQuery, SearchQuery, SeriesQuery, TagsQuery};

use super::ask;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

/// `GET /markets`.
pub(crate) async fn markets(call: Call) -> Result<Answer, Failure> {
    ask(&call, MarketsQuery::of, Catalog::markets).await
}

/// `GET /events`.
pub(crate) async fn events(call: Call) -> Result<Answer, Failure> {
    ask(&call, EventsQuery::of, Catalog::events).await
}

/// `GET /series`.
pub(crate) async fn series(call: Call) -> Result<Answer, Failure> {
    ask(&call, SeriesQuery::of, Catalog::series).await
}

/// `GET /tags`.
pub(crate) async fn tags(call: Call) -> Result<Answer, Failure> {
    ask(&call, TagsQuery::of, Catalog::tags).await
}

/// `GET /public-search`.
pub(crate) async fn search(call: Call) -> Result<Answer, Failure> {
    ask(&call, SearchQuery::of, Catalog::search).await
}
