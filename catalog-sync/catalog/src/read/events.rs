//! Answers about events.

use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::creator_filter::CreatorFilter;
use super::groups::GroupSets;
use super::keyset::{self, with_one_more};
use super::one::{One, newest_of_slug, sort_text, text_of};
use super::record_texts::RecordTexts;
use super::selection::{EVENTS_BY_GAME, EVENTS_BY_SLUG, Selection, found};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{
    Cursor, EventExtras, EventsFilter, EventsKeysetQuery, EventsQuery, OneEventQuery, OneQuery,
    Page,
};
use crate::render::{self, Array};
use crate::table::{ListRequest, Table};

const EXTRAS: &str = "SELECT ifnull(raw -> 'chats', '[]'), ifnull(raw -> 'templates', '[]')
                      FROM event_texts WHERE id = ?1";

impl Catalog {
    /// `GET /events`: an array of events with tags, markets, series and metadata.
    ///
    /// # Errors
    /// A database error.
    pub fn events(&self, query: &EventsQuery) -> Result<String, CatalogError> {
        let EventsQuery { page, filter } = query;
        let scope = self.scope(filter.creator.as_deref());
        self.with_table(|connection, table| {
            let rows = rows(connection, table, filter, &scope, (*page, None))?;
            array(self.texts(connection), table, &rows, filter.extras)
        })
    }

    /// `GET /events/keyset`: a page of [`Self::events`] with the cursor of the next page.
    ///
    /// # Errors
    /// A database error.
    pub fn events_keyset(&self, query: &EventsKeysetQuery) -> Result<String, CatalogError> {
        let (filter, limit) = (&query.filter, query.page.limit);
        let scope = self.scope(filter.creator.as_deref());
        let from = (with_one_more(limit), query.page.after_cursor.as_ref());
        self.with_table(|connection, table| {
            let mut rows = rows(connection, table, filter, &scope, from)?;
            let of_row =
                |column, row| sort_text(connection, SORT_TEXTS, column, table.events.id(row));
            let cursor =
                keyset::next_cursor(&mut rows, limit, &table.events, &filter.order, of_row)?;
            let events = array(self.texts(connection), table, &rows, filter.extras)?;
            Ok(format!(r#"{{"events":{events}{cursor}}}"#))
        })
    }

    /// `GET /events/{id}/tags`: the tags of an event.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn event_tags(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        let find = |_: &Connection| Ok(Some(ids::row(id)));
        self.one(&shown(query, NotFound::Id), find, event_tags)
    }

    /// `GET /events/{id}`: an event.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn event(&self, id: u64, query: &OneEventQuery) -> Result<String, CatalogError> {
        let find = |_: &Connection| Ok(Some(ids::row(id)));
        let text = |texts: RecordTexts<'_>, id| event(texts, id, query.extras);
        self.one(&shown(&query.one, NotFound::Id), find, text)
    }

    /// `GET /events/slug/{slug}`: an event; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn event_by_slug(&self, slug: &str, query: &OneEventQuery) -> Result<String, CatalogError> {
        let find = |connection: &Connection| newest_of_slug(connection, "events", slug);
        let text = |texts: RecordTexts<'_>, id| event(texts, id, query.extras);
        self.one(&shown(&query.one, NotFound::Slug), find, text)
    }
}

/// An event belongs to its creator and to the creators of its markets.
fn shown(query: &OneQuery, nothing: NotFound) -> One<'_> {
    One {
        belongs: |table, creators, id| {
            let row = table.events.row_of(id);
            row.is_some_and(|row| table.events_by(creators).contains(row))
        },
        query,
        nothing,
    }
}

/// An event, with fields of its original record.
fn event(
    texts: RecordTexts<'_>,
    id: i64,
    extras: EventExtras,
) -> Result<Option<String>, CatalogError> {
    let Some(whole) = texts.whole_event(id)? else {
        return Ok(None);
    };
    if extras == EventExtras::default() {
        return Ok(Some(whole));
    }
    let mut statement = texts.connection.prepare_cached(EXTRAS)?;
    let text = statement.query_row([id], |row| {
        let (chats, templates): (String, String) = (row.get(0)?, row.get(1)?);
        let fields = [
            ("chats", chats.as_str(), extras.chats),
            ("templates", templates.as_str(), extras.templates),
        ];
        let asked = fields.into_iter().filter(|(_, _, is_asked)| *is_asked);
        let fields: Vec<(&str, &str)> = asked.map(|(name, value, _)| (name, value)).collect();
        Ok(render::with_fields(&whole, &fields))
    });
    Ok(text.optional()?)
}

fn array(
    texts: RecordTexts<'_>,
    table: &Table,
    rows: &[u32],
    extras: EventExtras,
) -> Result<String, CatalogError> {
    let mut array = Array::of(rows.len());
    for row in rows {
        if let Some(event) = event(texts, table.events.id(*row), extras)? {
            array.push(&event);
        }
    }
    Ok(array.end())
}

/// The tags of an event as an array; `None` without the event.
fn event_tags(texts: RecordTexts<'_>, id: i64) -> Result<Option<String>, CatalogError> {
    let statement = "SELECT '' FROM events WHERE id = ?1 AND hidden = 0";
    let known = text_of(texts.connection, statement, id)?;
    known
        .map(|_| tags_of_event(texts.connection, id))
        .transpose()
}

/// The tags of an event in the order of its record.
pub(super) fn tags_of_event(connection: &Connection, id: i64) -> Result<String, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT json FROM event_tags JOIN tags ON id = tag_id WHERE event_id = ?1 ORDER BY place",
    )?;
    let tags = statement.query_map([id], |row| row.get(0))?;
    let tags: Vec<String> = tags.collect::<Result<_, _>>()?;
    Ok(render::array(&tags))
}

/// What finds the slug and the title of one of them, for the columns that lists sort by.
const SORT_TEXTS: [&str; 2] = [
    "SELECT slug FROM events WHERE id = ?1",
    "SELECT title FROM events WHERE id = ?1",
];

/// The events of a page, which may follow a cursor.
fn rows(
    connection: &Connection,
    table: &Table,
    query: &EventsFilter,
    scope: &CreatorFilter,
    (page, after): (Page, Option<&Cursor>),
) -> Result<Vec<u32>, CatalogError> {
    let mut selection = Selection::default();
    if !query.ids.is_empty() {
        selection.and(query.ids.iter().copied().map(ids::row).collect());
    }
    for (names, statement) in [
        (&query.slugs, EVENTS_BY_SLUG),
        (&query.game_ids, EVENTS_BY_GAME),
    ] {
        if !names.is_empty() {
            selection.and(found(connection, statement, names)?);
        }
    }
    let groups = GroupSets::of(connection, table, &query.groups)?;
    let made = match scope {
        CreatorFilter::All => None,
        CreatorFilter::Creators(creators) => Some(table.events_by(creators)),
    };
    let of_row = |column, row| sort_text(connection, SORT_TEXTS, column, table.events.id(row));
    let after = after.map(|after| table.events.place(&query.order, after, of_row));
    let after = after.transpose()?;
    let asked = ListRequest {
        after: after.as_ref(),
        flags: query.flags,
        order: &query.order,
        page,
        ranges: &query.bounds.ranges(),
        selection: selection.into_ids(),
    };
    Ok(table.events.page(&asked, |row| {
        groups.pass(Some(row)) && made.as_ref().is_none_or(|made| made.contains(row))
    }))
}
