//! Answers with series.

use super::filter::Filter;
use super::{Catalog, texts};
use crate::error::CatalogError;
use crate::query::SeriesQuery;
use crate::render;

impl Catalog {
    /// `GET /series`: an array of series with full summaries of their twenty newest events.
    ///
    /// # Errors
    /// What the database said.
    pub fn series(&self, query: &SeriesQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let mut filter = Filter::on("series");
            if let Some((made, values)) = scope.condition("creator") {
                filter.clause(
                    format!(
                        "EXISTS (SELECT 1 FROM event_series s JOIN event_creators USING (event_id)
                                 WHERE s.series_id = series.id AND {made})"
                    ),
                    values,
                );
            }
            filter.leaves(0);
            let ids = filter.ids(connection, &<_>::default(), query.page)?;
            let whole = texts(connection, "SELECT whole FROM series WHERE id = ?1", &ids)?;
            Ok(render::array(&whole))
        })
    }
}
