//! Records selected by names, through the indices of the database.

use rusqlite::{Connection, ToSql};

use crate::error::CatalogError;

/// Statements that find markets by name.
pub(super) const MARKETS_BY_SLUG: &str = "SELECT id FROM markets WHERE slug = ?1";
pub(super) const MARKETS_BY_CONDITION: &str =
    "SELECT id FROM markets WHERE condition = ?1 AND hidden = 0";
pub(super) const MARKETS_BY_TOKEN: &str = "SELECT market_id FROM market_tokens WHERE token = ?1";
pub(super) const MARKETS_BY_EVENT: &str = "SELECT id FROM markets WHERE event_id = ?1";
/// Events, tags and series by slug; slugs are not unique.
pub(super) const EVENTS_BY_SLUG: &str = "SELECT id FROM events WHERE slug = ?1";
pub(super) const TAGS_BY_SLUG: &str = "SELECT id FROM tags WHERE slug = ?1";
pub(super) const SERIES_BY_SLUG: &str = "SELECT id FROM series WHERE slug = ?1";
pub(super) const SERIES_BY_RECURRENCE: &str = "SELECT id FROM series WHERE recurrence = ?1";
/// Markets and events by names of the upstream, which are not unique either.
pub(super) const MARKETS_BY_QUESTION: &str =
    "SELECT id FROM markets WHERE question_id = lower(?1) AND question_id <> ''";
pub(super) const MARKETS_BY_MAKER: &str =
    "SELECT id FROM markets WHERE market_maker = lower(?1) AND market_maker <> ''";
pub(super) const MARKETS_BY_GAME: &str =
    "SELECT id FROM markets WHERE game_id = ?1 AND game_id <> ''";
pub(super) const EVENTS_BY_GAME: &str =
    "SELECT id FROM events WHERE game_id = ?1 AND game_id <> ''";

/// The selection of a list: the intersection of all its filters by name.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Ascending; `None` before the first filter.
    ids: Option<Vec<i64>>,
}

impl Selection {
    /// Intersects the selection with `found`.
    pub(super) fn and(&mut self, mut found: Vec<i64>) {
        found.sort_unstable();
        found.dedup();
        if let Some(known) = &self.ids {
            found.retain(|id| known.binary_search(id).is_ok());
        }
        self.ids = Some(found);
    }

    /// The selected ids; `None` for all records.
    pub(super) fn into_ids(self) -> Option<Vec<i64>> {
        self.ids
    }
}

/// The ids that a statement finds for any of the values.
pub(super) fn found<V: ToSql>(
    connection: &Connection,
    statement: &str,
    values: impl IntoIterator<Item = V>,
) -> Result<Vec<i64>, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut ids = Vec::new();
    for value in values {
        let rows = statement.query_map([value], |row| row.get(0))?;
        for id in rows {
            ids.push(id?);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::store::Writer;

    #[rstest]
    fn what_has_a_name_is_found_by_an_index(
        #[values(
            MARKETS_BY_SLUG,
            MARKETS_BY_CONDITION,
            MARKETS_BY_TOKEN,
            MARKETS_BY_EVENT,
            EVENTS_BY_SLUG,
            TAGS_BY_SLUG,
            SERIES_BY_SLUG,
            SERIES_BY_RECURRENCE,
            MARKETS_BY_QUESTION,
            MARKETS_BY_MAKER,
            MARKETS_BY_GAME,
            EVENTS_BY_GAME
        )]
        statement: &str,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
        drop(Writer::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {statement}");
        let plan: String = connection
            .query_row(&plan, [""], |row| row.get("detail"))
            .unwrap();
        assert!(plan.starts_with("SEARCH"), "{statement}: {plan}");
    }
}
