//! Answers about events.

use rusqlite::Connection;

use super::creator_filter::CreatorFilter;
use super::markets::tagged;
use super::one::{RecordAccess, newest_of_slug, text_of};
use super::selection::{EVENTS_BY_SLUG, SERIES_BY_SLUG, Selection, found};
use super::{Catalog, array_of};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{EventsQuery, OneQuery};
use crate::table::{ListRequest, RowSet, Table};

const WHOLE: &str = "SELECT whole FROM event_texts WHERE id = ?1";

impl Catalog {
    /// `GET /events`: an array of events with tags, markets, series and metadata.
    ///
    /// # Errors
    /// A database error.
    pub fn events(&self, query: &EventsQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.with_table(|connection, table| {
            let rows = rows(connection, table, query, &scope)?;
            let ids: Vec<i64> = rows.into_iter().map(|row| table.events.id(row)).collect();
            array_of(connection, WHOLE, &ids)
        })
    }

    /// `GET /events/{id}`: an event.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn event(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&EVENT, query, NotFound::Id, |_| Ok(Some(ids::row(id))))
    }

    /// `GET /events/slug/{slug}`: an event; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn event_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&EVENT, query, NotFound::Slug, |connection| {
            newest_of_slug(connection, "events", slug)
        })
    }
}

/// An event belongs to its creator and to the creators of its markets.
const EVENT: RecordAccess = RecordAccess {
    belongs: |table, creators, id| {
        let row = table.events.row_of(id);
        row.is_some_and(|row| table.events_by(creators).contains(row))
    },
    text: |connection, id| text_of(connection, WHOLE, id),
};

/// The events of a page.
fn rows(
    connection: &Connection,
    table: &Table,
    query: &EventsQuery,
    scope: &CreatorFilter,
) -> Result<Vec<u32>, CatalogError> {
    let mut selection = Selection::default();
    if let Some(slug) = &query.slug {
        selection.and(found(connection, EVENTS_BY_SLUG, [slug])?);
    }
    let mut sets = Vec::from_iter(tagged(connection, table, &query.tag_slug, query.tag_id)?);
    if let Some(slug) = &query.series_slug {
        let series = found(connection, SERIES_BY_SLUG, [slug])?;
        let events = series.into_iter().flat_map(|id| table.series.rows_of(id));
        sets.push(RowSet::of(events));
    }
    if let CreatorFilter::Creators(creators) = scope {
        sets.push(table.events_by(creators));
    }
    let asked = ListRequest {
        flags: query.flags,
        order: &query.order,
        page: query.page,
        selection: selection.into_ids(),
    };
    Ok(table
        .events
        .page(&asked, |row| sets.iter().all(|set| set.contains(row))))
}
