//! Answers with events.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::filter::{Filter, events_of_tags, ids_of_slug, marks};
use super::markets::newest_of_slug;
use super::scope::Scope;
use crate::error::{CatalogError, NotFound};
use crate::query::{EventsQuery, OneQuery};
use crate::{ids, render};

impl Catalog {
    /// `GET /events`: an array of events with tags, markets, series and metadata.
    ///
    /// # Errors
    /// What the database said.
    pub fn events(&self, query: &EventsQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let filter = filter(connection, query, &scope)?;
            let mut events = Vec::new();
            for id in filter.ids(connection, &query.order, query.page)? {
                events.extend(event(connection, id)?);
            }
            Ok(render::array(&events))
        })
    }

    /// `GET /events/{id}`: an event.
    ///
    /// # Errors
    /// `id not found`; what the database said.
    pub fn event(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool
            .with(|connection| one(connection, Some(ids::row(id)), &scope, NotFound::Id))
    }

    /// `GET /events/slug/{slug}`: an event; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; what the database said.
    pub fn event_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let id = newest_of_slug(connection, "events", slug)?;
            one(connection, id, &scope, NotFound::Slug)
        })
    }
}

fn one(
    connection: &Connection,
    id: Option<i64>,
    scope: &Scope,
    nothing: NotFound,
) -> Result<String, CatalogError> {
    let found = match id {
        Some(id) => {
            let mut filter = Filter::on("events");
            filter.one_of("id", vec![Value::from(id)]);
            scoped(&mut filter, scope);
            let ids = filter.ids(connection, &<_>::default(), <_>::default())?;
            match ids.first() {
                Some(id) => event(connection, *id)?,
                None => None,
            }
        }
        None => None,
    };
    found.ok_or(CatalogError::NotFound(nothing))
}

fn event(connection: &Connection, id: i64) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached("SELECT whole FROM event_texts WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?)
}

/// Made, it or one of its markets, by one of the scope's creators.
fn scoped(filter: &mut Filter, scope: &Scope) {
    if let Some((made, values)) = scope.condition("c.creator") {
        let clause = format!(
            "EXISTS (SELECT 1 FROM event_creators c WHERE {made} AND c.event_id = events.id)"
        );
        filter.clause(clause, values);
    }
}

fn filter(
    connection: &Connection,
    query: &EventsQuery,
    scope: &Scope,
) -> Result<Filter, CatalogError> {
    let mut filter = Filter::on("events");
    filter.flags(query.flags);
    if let Some(slug) = &query.slug {
        filter.one_of("slug", vec![Value::Text(slug.clone())]);
    }
    if let Some(slug) = &query.series_slug {
        let series = ids_of_slug(connection, "series", slug)?;
        let marks = marks(series.len());
        filter.leaves(0);
        filter.clause(
            format!("id IN (SELECT event_id FROM event_series WHERE series_id IN {marks})"),
            series,
        );
    }
    if let Some(tag) = query.tag_id {
        tagged(connection, &mut filter, vec![Value::from(ids::row(tag))])?;
    }
    if let Some(slug) = &query.tag_slug {
        tagged(
            connection,
            &mut filter,
            ids_of_slug(connection, "tags", slug)?,
        )?;
    }
    scoped(&mut filter, scope);
    Ok(filter)
}

fn tagged(
    connection: &Connection,
    filter: &mut Filter,
    tags: Vec<Value>,
) -> Result<(), CatalogError> {
    filter.leaves(events_of_tags(connection, &tags)?);
    let marks = marks(tags.len());
    let clause = if filter.is_narrow() {
        format!("id IN (SELECT event_id FROM event_tags WHERE tag_id IN {marks})")
    } else {
        format!(
            "EXISTS (SELECT 1 FROM event_tags t
                     WHERE t.event_id = events.id AND t.tag_id IN {marks})"
        )
    };
    filter.clause(clause, tags);
    Ok(())
}
