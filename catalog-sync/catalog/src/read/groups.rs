//! The event groups that pass the filters by tag and series.

use rusqlite::Connection;

use super::related_tags::related;
use super::selection::{SERIES_BY_RECURRENCE, SERIES_BY_SLUG, TAGS_BY_SLUG, found};
use crate::error::CatalogError;
use crate::ids;
use crate::query::GroupFilter;
use crate::table::{Links, RowSet, Table};

/// Event groups that a record must be in, and those that it must not be in.
#[derive(Debug, Default)]
pub(super) struct GroupSets {
    all: Vec<RowSet>,
    none: Option<RowSet>,
}

impl GroupSets {
    /// The sets of a filter.
    pub(super) fn of(
        connection: &Connection,
        table: &Table,
        filter: &GroupFilter,
    ) -> Result<Self, CatalogError> {
        let mut all = Vec::new();
        let rows = |ids: &[u64]| -> Vec<i64> { ids.iter().copied().map(ids::row).collect() };
        if !filter.tag_ids.is_empty() {
            let tags = rows(&filter.tag_ids);
            match filter.all_tags {
                true => all.extend(tags.iter().map(|tag| tagged(table, filter, &[*tag]))),
                false => all.push(tagged(table, filter, &tags)),
            }
        }
        if !filter.tag_slugs.is_empty() {
            let tags = found(connection, TAGS_BY_SLUG, &filter.tag_slugs)?;
            all.push(tagged(table, filter, &tags));
        }
        if !filter.series_slugs.is_empty() {
            let series = found(connection, SERIES_BY_SLUG, &filter.series_slugs)?;
            all.push(of_keys(&table.series, &series));
        }
        if !filter.series_ids.is_empty() {
            all.push(of_keys(&table.series, &rows(&filter.series_ids)));
        }
        if let Some(recurrence) = &filter.recurrence {
            let series = found(connection, SERIES_BY_RECURRENCE, [recurrence])?;
            all.push(of_keys(&table.series, &series));
        }
        let excluded = rows(&filter.exclude_tag_ids);
        let none = (!excluded.is_empty()).then(|| of_keys(&table.tags, &excluded));
        Ok(Self { all, none })
    }

    /// Whether an event group passes; a market without one passes if none is needed.
    pub(super) fn pass(&self, event: Option<u32>) -> bool {
        let is_in = |set: &RowSet| event.is_some_and(|row| set.contains(row));
        self.all.iter().all(is_in) && !self.none.as_ref().is_some_and(is_in)
    }
}

/// Event groups with one of the tags or, if asked for, of their related tags.
fn tagged(table: &Table, filter: &GroupFilter, tags: &[i64]) -> RowSet {
    let mut keys = tags.to_vec();
    if filter.related_tags {
        for tag in tags {
            keys.extend(related(table, *tag, None).into_iter().map(|(tag, _)| tag));
        }
    }
    of_keys(&table.tags, &keys)
}

fn of_keys(links: &Links, keys: &[i64]) -> RowSet {
    RowSet::of(keys.iter().flat_map(|key| links.rows_of(*key)))
}
