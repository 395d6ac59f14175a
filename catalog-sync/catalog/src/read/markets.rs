//! Answers about markets.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::creator_filter::CreatorFilter;
use super::one::{RecordAccess, first, newest_of_slug};
use super::selection::{
    EVENTS_BY_SLUG, MARKETS_BY_CONDITION, MARKETS_BY_EVENT, MARKETS_BY_SLUG, MARKETS_BY_TOKEN,
    Selection, TAGS_BY_SLUG, found,
};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{MarketsQuery, OneQuery};
use crate::render::{self, Array};
use crate::table::{ListRequest, RowSet, Table};

impl Catalog {
    /// `GET /markets`: an array of markets with short event summaries.
    ///
    /// # Errors
    /// A database error.
    pub fn markets(&self, query: &MarketsQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.with_table(|connection, table| {
            let rows = rows(connection, table, query, &scope)?;
            array(connection, table, &rows)
        })
    }

    /// `GET /markets/{id}`: a market by its id or condition, with full event summaries.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn market(&self, id: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&MARKET, query, NotFound::Id, |connection| {
            if let Some(condition) = ids::condition(id) {
                return first(
                    connection,
                    "SELECT id FROM markets WHERE condition = ?1 ORDER BY id LIMIT 1",
                    Value::Blob(condition.0.to_vec()),
                );
            }
            let digits = id.bytes().all(|byte| byte.is_ascii_digit());
            Ok(id.parse().ok().filter(|_| digits))
        })
    }

    /// `GET /markets/slug/{slug}`: a market, with full event summaries; of several with one slug,
    /// the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn market_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&MARKET, query, NotFound::Slug, |connection| {
            newest_of_slug(connection, "markets", slug)
        })
    }
}

/// A market belongs to its creator or, without one, to its event's creator.
const MARKET: RecordAccess = RecordAccess {
    belongs: |table, creators, id| {
        let numbers = table.numbers_of(creators);
        let row = table.markets.row_of(id);
        row.is_some_and(|row| table.was_made_by(row, &numbers))
    },
    text: market,
};

/// A market with the full summary of its event.
fn market(connection: &Connection, id: i64) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached(
            "SELECT json, base FROM market_texts t JOIN markets m ON m.id = t.id
             LEFT JOIN event_texts e ON e.id = m.event_id WHERE t.id = ?1",
        )?
        .query_row([id], |row| {
            let [json, event] = [row.get_ref(0)?, row.get_ref(1)?];
            let events = render::array(event.as_str().ok().as_slice());
            let json = json.as_str().unwrap_or("{}");
            Ok(render::with_fields(json, &[("events", &events)]))
        })
        .optional()?)
}

/// Markets with the short summaries of their events. Markets of one event are often adjacent.
fn array(connection: &Connection, table: &Table, rows: &[u32]) -> Result<String, CatalogError> {
    let mut markets = connection.prepare_cached("SELECT json FROM market_texts WHERE id = ?1")?;
    let mut events = connection.prepare_cached("SELECT short FROM event_texts WHERE id = ?1")?;
    let mut array = Array::of(rows.len());
    let (mut event, mut summaries) = (None, "[]".to_owned());
    for row in rows {
        let its = table.event_of(*row);
        if its != event {
            event = its;
            let short = |id| events.query_row([id], |row| row.get::<_, String>(0));
            summaries = render::array(its.map(short).transpose()?.as_slice());
        }
        markets.query_row([table.markets.id(*row)], |row| {
            let json = row.get_ref(0)?.as_str().unwrap_or("{}");
            array.push_with(json, "events", &summaries);
            Ok(())
        })?;
    }
    Ok(array.end())
}

/// The markets of a page.
fn rows(
    connection: &Connection,
    table: &Table,
    query: &MarketsQuery,
    scope: &CreatorFilter,
) -> Result<Vec<u32>, CatalogError> {
    let events = tagged(connection, table, &query.tag_slug, query.tag_id)?;
    let creators = match scope {
        CreatorFilter::All => None,
        CreatorFilter::Creators(creators) => Some(table.numbers_of(creators)),
    };
    let asked = ListRequest {
        flags: query.flags,
        order: &query.order,
        page: query.page,
        selection: selection(connection, query)?,
    };
    Ok(table.markets.page(&asked, |row| {
        let events = events.as_ref();
        let creators = creators.as_ref();
        events.is_none_or(|events| table.is_of_one(row, events))
            && creators.is_none_or(|creators| table.was_made_by(row, creators))
    }))
}

/// The markets selected by name or by their event.
fn selection(
    connection: &Connection,
    query: &MarketsQuery,
) -> Result<Option<Vec<i64>>, CatalogError> {
    let mut selection = Selection::default();
    if let Some(ids) = &query.ids {
        selection.and(ids.iter().copied().map(ids::row).collect());
    }
    if let Some(slug) = &query.slug {
        selection.and(found(connection, MARKETS_BY_SLUG, [slug])?);
    }
    let one = query.condition_id.as_ref().map(std::slice::from_ref);
    for conditions in [one, query.condition_ids.as_deref()].into_iter().flatten() {
        // A malformed condition matches no market.
        let conditions = conditions.iter().filter_map(|text| ids::condition(text));
        let conditions = conditions.map(|condition| condition.0);
        selection.and(found(connection, MARKETS_BY_CONDITION, conditions)?);
    }
    if let Some(tokens) = &query.clob_token_ids {
        selection.and(found(connection, MARKETS_BY_TOKEN, tokens)?);
    }
    if let Some(event) = query.event_id {
        selection.and(found(connection, MARKETS_BY_EVENT, [ids::row(event)])?);
    }
    if let Some(slug) = &query.event_slug {
        let events = found(connection, EVENTS_BY_SLUG, [slug])?;
        selection.and(found(connection, MARKETS_BY_EVENT, events)?);
    }
    Ok(selection.into_ids())
}

/// The events with the requested tags; `None` for all.
pub(super) fn tagged(
    connection: &Connection,
    table: &Table,
    slug: &Option<String>,
    id: Option<u64>,
) -> Result<Option<RowSet>, CatalogError> {
    let mut events: Option<RowSet> = None;
    if let Some(id) = id {
        events = Some(RowSet::of(table.tags.rows_of(ids::row(id))));
    }
    if let Some(slug) = slug {
        let tags = found(connection, TAGS_BY_SLUG, [slug])?;
        let of_slug = RowSet::of(tags.into_iter().flat_map(|tag| table.tags.rows_of(tag)));
        events = Some(match events {
            Some(mut events) => {
                events.intersect(&of_slug);
                events
            }
            None => of_slug,
        });
    }
    Ok(events)
}
