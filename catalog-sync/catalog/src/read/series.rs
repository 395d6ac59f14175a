//! Answers about series.

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::Catalog;
use super::creator_filter::CreatorFilter;
use super::one::{One, text_of};
use super::record_texts::RecordTexts;
use super::small_list::SmallList;
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{OneQuery, SeriesQuery};
use crate::render::{self, Array};

/// Newest events shown in a series. Some series get a new event every few minutes; `GET
/// /events?series_slug=` lists all of them.
const EVENTS: u32 = 20;

impl Catalog {
    /// `GET /series`: an array of series with full summaries of their twenty newest events.
    ///
    /// # Errors
    /// A database error.
    pub fn series(&self, query: &SeriesQuery) -> Result<String, CatalogError> {
        let mut list = filtered(query);
        let answer = |connection: &Connection, list: &SmallList| {
            let mut array = Array::of(query.page.limit);
            for id in list.page(connection, query.page)? {
                let series = series(self.texts(connection), id, !query.exclude_events)?;
                array.push(&series.unwrap_or_default());
            }
            Ok(array.end())
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
        let one = One {
            belongs: |table, creators, id| {
                let events = table.events_by(creators);
                table.series.rows_of(id).any(|event| events.contains(event))
            },
            query,
            nothing: NotFound::Id,
        };
        let find = |_: &Connection| Ok(Some(ids::row(id)));
        self.one(&one, find, |texts, id| series(texts, id, true))
    }
}

/// A series with full summaries of its newest events, or without events.
fn series(
    texts: RecordTexts<'_>,
    id: i64,
    with_events: bool,
) -> Result<Option<String>, CatalogError> {
    let connection = texts.connection;
    let Some(json) = text_of(connection, "SELECT json FROM series WHERE id = ?1", id)? else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT event_id FROM event_series JOIN events ON id = event_id
         WHERE series_id = ?1 AND hidden = 0 ORDER BY event_id DESC LIMIT ?2",
    )?;
    let limit = if with_events { EVENTS } else { 0 };
    let ids = statement.query_map(params![id, limit], |row| row.get(0))?;
    let mut events = Array::of(0);
    for id in ids {
        events.push(&texts.full_event(id?)?.unwrap_or_default());
    }
    Ok(Some(render::with_fields(
        &json,
        &[("events", &events.end())],
    )))
}

/// The list of a query without its creator.
fn filtered(query: &SeriesQuery) -> SmallList {
    let mut list = SmallList::new(["series", "title"], query.order, query.ascending);
    if !query.slugs.is_empty() {
        list.and_one_of("slug", &query.slugs);
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
        if !wanted.is_empty() {
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
