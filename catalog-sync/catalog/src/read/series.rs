//! Answers about series.

use super::creator_filter::CreatorFilter;
use super::selection::{newest, newest_of};
use super::{Catalog, array_of};
use crate::error::CatalogError;
use crate::query::SeriesQuery;

const WHOLE: &str = "SELECT whole FROM series WHERE id = ?1";
const NEWEST: &str = "SELECT id FROM series ORDER BY id DESC LIMIT ?1 OFFSET ?2";

impl Catalog {
    /// `GET /series`: an array of series with full summaries of their twenty newest events.
    ///
    /// # Errors
    /// A database error.
    pub fn series(&self, query: &SeriesQuery) -> Result<String, CatalogError> {
        match self.scope(query.creator.as_deref()) {
            CreatorFilter::All => self.pool.with(|connection| {
                let ids = newest(connection, NEWEST, query.page)?;
                array_of(connection, WHOLE, &ids)
            }),
            CreatorFilter::Creators(creators) => self.with_table(|connection, table| {
                let series = table.series.keys_of(&table.events_by(&creators));
                array_of(connection, WHOLE, &newest_of(&series, query.page))
            }),
        }
    }
}
