//! Answers with events.

use rusqlite::Connection;

use super::listed::{EVENTS_BY_SLUG, Listed, SERIES_BY_SLUG, found};
use super::markets::tagged;
use super::one::{Kind, newest_of_slug, text_of};
use super::scope::Scope;
use super::{Catalog, array_of};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{EventsQuery, OneQuery};
use crate::table::{Asked, RowSet, Table};

const WHOLE: &str = "SELECT whole FROM event_texts WHERE id = ?1";

impl Catalog {
    /// `GET /events`: an array of events with tags, markets, series and metadata.
    ///
    /// # Errors
    /// What the database said.
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
    /// `id not found`; what the database said.
    pub fn event(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&EVENT, query, NotFound::Id, |_| Ok(Some(ids::row(id))))
    }

    /// `GET /events/slug/{slug}`: an event; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; what the database said.
    pub fn event_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&EVENT, query, NotFound::Slug, |connection| {
            newest_of_slug(connection, "events", slug)
        })
    }
}

/// An event is of who made it or one of its markets.
const EVENT: Kind = Kind {
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
    scope: &Scope,
) -> Result<Vec<u32>, CatalogError> {
    let mut listed = Listed::default();
    if let Some(slug) = &query.slug {
        listed.and(found(connection, EVENTS_BY_SLUG, [slug])?);
    }
    let mut sets = Vec::from_iter(tagged(connection, table, &query.tag_slug, query.tag_id)?);
    if let Some(slug) = &query.series_slug {
        let series = found(connection, SERIES_BY_SLUG, [slug])?;
        let events = series.into_iter().flat_map(|id| table.series.rows_of(id));
        sets.push(RowSet::of(events));
    }
    if let Scope::Creators(creators) = scope {
        sets.push(table.events_by(creators));
    }
    let asked = Asked {
        flags: query.flags,
        order: &query.order,
        page: query.page,
        listed: listed.into_ids(),
    };
    Ok(table
        .events
        .page(&asked, |row| sets.iter().all(|set| set.contains(row))))
}
