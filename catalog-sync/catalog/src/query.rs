//! Parameters of the catalog surface as types: every name, alias, default and bound of the
//! interface.

mod events;
mod filters;
mod groups;
mod keyset;
mod markets;
mod one;
mod order;
mod pages;
mod parameters;
mod search;

pub use events::{EventExtras, EventsQuery};
pub use filters::{FlagFilter, Page, Range};
pub use groups::GroupFilter;
pub use keyset::Cursor;
pub(crate) use keyset::{MAX_TEXT_BYTES, SortValue};
pub use markets::MarketsQuery;
pub use one::{EmptyQuery, OneQuery, ProfileQuery, RelatedQuery};
pub use order::{Column, Order};
pub use pages::{SeriesQuery, SmallColumn, SmallOrder, TagsQuery};
pub use parameters::Parameters;
pub use search::SearchQuery;

use crate::error::CatalogError;

/// Parses the id in a path such as `/events/{id}`.
///
/// # Errors
/// [`CatalogError::BadRequest`] when it is not an id.
pub fn path_id(text: &str) -> Result<u64, CatalogError> {
    parameters::whole(text).ok_or_else(|| parameters::wrong("id", text, "a whole number"))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
