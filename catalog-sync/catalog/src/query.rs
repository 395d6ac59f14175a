//! Parameters of the catalog surface as types: every name, alias, default and bound of the
//! interface.

mod empty;
mod events;
mod filters;
mod forms;
mod groups;
mod keyset;
mod markets;
mod one;
mod order;
mod pages;
mod search;

pub use empty::{CommentsQuery, NoQuery, TeamsQuery};
pub use events::{EventExtras, EventsFilter, EventsKeysetQuery, EventsQuery};
pub(crate) use filters::Range;
pub use filters::{Bounds, FlagFilter, Page};
pub use forms::Locale;
pub use groups::GroupFilter;
pub use keyset::{Cursor, KeysetPage};
pub(crate) use keyset::{MAX_TEXT_BYTES, SortValue};
pub use markets::{MarketsFilter, MarketsKeysetQuery, MarketsQuery};
pub use one::{
    OneEventQuery, OneMarketQuery, OneQuery, OneTagQuery, ProfileQuery, RecordId, RelatedQuery,
};
pub use order::{Column, Order};
pub use pages::{SeriesQuery, SmallColumn, TagsQuery};
pub use search::SearchQuery;

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
