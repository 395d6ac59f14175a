//! Answers about series.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::creator_filter::CreatorFilter;
use super::one::{RecordAccess, text_of};
use super::small_list::SmallList;
use super::{Catalog, array_of};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{OneQuery, SeriesQuery};

const WHOLE: &str = "SELECT whole FROM series WHERE id = ?1";
const WITHOUT_EVENTS: &str =
    "SELECT json_insert(json, '$.events', json('[]')) FROM series WHERE id = ?1";

impl Catalog {
    /// `GET /series`: an array of series with full summaries of their twenty newest events.
    ///
    /// # Errors
    /// A database error.
    pub fn series(&self, query: &SeriesQuery) -> Result<String, CatalogError> {
        let mut list = filtered(query);
        let answer = |connection: &Connection, list: &SmallList| {
            let ids = list.page(connection, query.page)?;
            let text = if query.exclude_events {
                WITHOUT_EVENTS
            } else {
                WHOLE
            };
            array_of(connection, text, &ids)
        };
        match self.scope(query.creator.as_deref()) {
            CreatorFilter::All => self.pool.with(|connection| answer(connection, &list)),
            CreatorFilter::Creators(creators) => self.with_table(|connection, table| {
                list.only(&table.series.keys_of(&table.events_by(&creators)));
                answer(connection, &list)
            }),
        }
    }

    /// `GET /series/{id}`: a series.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn one_series(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&SERIES, query, NotFound::Id, |_| Ok(Some(ids::row(id))))
    }
}

/// A series belongs to the owners of its events.
const SERIES: RecordAccess = RecordAccess {
    belongs: |table, creators, id| {
        let events = table.events_by(creators);
        table.series.rows_of(id).any(|event| events.contains(event))
    },
    text: |connection, id, _| text_of(connection, WHOLE, id),
};

/// The list of a query without its creator.
fn filtered(query: &SeriesQuery) -> SmallList {
    let mut list = SmallList::new("series", "title", query.order);
    if let Some(slugs) = &query.slugs {
        list.and_one_of("slug", slugs);
    }
    if let Some(closed) = query.closed {
        list.and("closed = ?", [Value::from(closed)]);
    }
    if let Some(recurrence) = &query.recurrence {
        list.and("recurrence = ?", [Value::from(recurrence.clone())]);
    }
    let categories = [
        ("$.id", &query.category_ids),
        ("$.label", &query.category_labels),
    ];
    for (field, wanted) in categories {
        if let Some(wanted) = wanted {
            let category = format!("CAST(category.value ->> '{field}' AS TEXT)");
            list.and(
                &format!(
                    "EXISTS (SELECT 1 FROM json_each(ifnull(raw -> 'categories', '[]')) category
                     WHERE category.type = 'object' AND {category} IN (SELECT value FROM json_each(?)))"
                ),
                [Value::Text(serde_json::Value::from(wanted.as_slice()).to_string())],
            );
        }
    }
    list
}
