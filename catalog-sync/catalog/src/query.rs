//! Parameters of the catalog surface as types: every name, alias, default and bound of the
//! interface.

mod events;
mod filters;
mod markets;
mod order;
mod pages;
mod parameters;
mod search;

pub use events::EventsQuery;
pub use filters::{FlagFilter, Page};
pub use markets::MarketsQuery;
pub use order::{Column, Order};
pub use pages::{OneQuery, SeriesQuery, TagsQuery};
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
