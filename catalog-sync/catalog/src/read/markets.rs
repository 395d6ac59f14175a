//! Answers about markets.

use foretell_wire::json_text;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::Catalog;
use super::creator_filter::CreatorFilter;
use super::events::tags_of_event;
use super::groups::GroupSets;
use super::keyset::{self, with_one_more};
use super::one::{One, first, newest_of_slug, sort_text};
use super::record_texts::RecordTexts;
use super::selection::{
    EVENTS_BY_GAME, EVENTS_BY_SLUG, MARKETS_BY_CONDITION, MARKETS_BY_EVENT, MARKETS_BY_GAME,
    MARKETS_BY_MAKER, MARKETS_BY_QUESTION, MARKETS_BY_SLUG, MARKETS_BY_TOKEN, Selection, found,
};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{
    Cursor, MarketsFilter, MarketsKeysetQuery, MarketsQuery, OneMarketQuery, OneQuery, Page,
};
use crate::render::{self, Array};
use crate::schema::MarketTypes;
use crate::table::{ListRequest, Table, WordColumn};

impl Catalog {
    /// `GET /markets`: an array of markets with short event summaries.
    ///
    /// # Errors
    /// A database error.
    pub fn markets(&self, query: &MarketsQuery) -> Result<String, CatalogError> {
        let MarketsQuery { page, filter } = query;
        let scope = self.scope(filter.creator.as_deref());
        self.with_table(|connection, table| {
            let rows = rows(connection, table, filter, &scope, (*page, None))?;
            array(self.texts(connection), table, &rows, filter.include_tag)
        })
    }

    /// `GET /markets/keyset`: a page of [`Self::markets`] with the cursor of the next page.
    ///
    /// # Errors
    /// A database error.
    pub fn markets_keyset(&self, query: &MarketsKeysetQuery) -> Result<String, CatalogError> {
        let (filter, limit) = (&query.filter, query.page.limit);
        let scope = self.scope(filter.creator.as_deref());
        let from = (with_one_more(limit), query.page.after_cursor.as_ref());
        self.with_table(|connection, table| {
            let mut rows = rows(connection, table, filter, &scope, from)?;
            let of_row =
                |column, row| sort_text(connection, SORT_TEXTS, column, table.markets.id(row));
            let cursor =
                keyset::next_cursor(&mut rows, limit, &table.markets, &filter.order, of_row)?;
            let markets = array(self.texts(connection), table, &rows, filter.include_tag)?;
            Ok(format!(r#"{{"markets":{markets}{cursor}}}"#))
        })
    }

    /// `GET /sports/market-types`: the sports types of all markets, sorted.
    ///
    /// # Errors
    /// A database error.
    pub fn sports_market_types(&self) -> Result<String, CatalogError> {
        self.with_table(|_, table| {
            let market_types = table.words(WordColumn::SportsType);
            Ok(json_text(&MarketTypes { market_types }))
        })
    }

    /// `GET /markets/{id}/tags`: the tags of a market's event.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn market_tags(&self, id: &str, query: &OneQuery) -> Result<String, CatalogError> {
        let find = |connection: &Connection| by_name(connection, id);
        self.one(&shown(query, NotFound::Id), find, |texts, id| {
            let market = texts.market(id)?;
            let tags = market.map(|market| tags_of(texts.connection, market.event));
            tags.transpose()
        })
    }

    /// `GET /markets/{id}`: a market by its id or condition, with full event summaries.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn market(&self, id: &str, query: &OneMarketQuery) -> Result<String, CatalogError> {
        let find = |connection: &Connection| by_name(connection, id);
        let text = |texts: RecordTexts<'_>, id| market(texts, id, query.include_tag);
        self.one(&shown(&query.one, NotFound::Id), find, text)
    }

    /// `GET /markets/slug/{slug}`: a market, with full event summaries; of several with one slug,
    /// the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn market_by_slug(
        &self,
        slug: &str,
        query: &OneMarketQuery,
    ) -> Result<String, CatalogError> {
        let find = |connection: &Connection| newest_of_slug(connection, "markets", slug);
        let text = |texts: RecordTexts<'_>, id| market(texts, id, query.include_tag);
        self.one(&shown(&query.one, NotFound::Slug), find, text)
    }
}

/// The id of the market that a path names by id or condition.
fn by_name(connection: &Connection, name: &str) -> Result<Option<i64>, CatalogError> {
    if let Some(condition) = ids::condition(name) {
        return first(
            connection,
            MARKETS_BY_CONDITION,
            Value::Blob(condition.0.to_vec()),
        );
    }
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    Ok(name.parse().ok().filter(|_| digits))
}

/// The tags of a market's event.
fn tags_of(connection: &Connection, event: Option<i64>) -> Result<String, CatalogError> {
    match event {
        Some(event) => tags_of_event(connection, event),
        None => Ok("[]".to_owned()),
    }
}

/// A market belongs to its creator or, without one, to its event's creator.
fn shown(query: &OneQuery, nothing: NotFound) -> One<'_> {
    One {
        belongs: |table, creators, id| {
            let numbers = table.numbers_of(creators);
            let row = table.markets.row_of(id);
            row.is_some_and(|row| table.was_made_by(row, &numbers))
        },
        query,
        nothing,
    }
}

/// A market with the full summary of its event.
fn market(
    texts: RecordTexts<'_>,
    id: i64,
    include_tag: bool,
) -> Result<Option<String>, CatalogError> {
    let Some(market) = texts.market(id)? else {
        return Ok(None);
    };
    let event = market.event.map(|event| texts.full_event(event));
    let event = event.transpose()?.flatten();
    let text = render::with_fields(
        &market.text,
        &[("events", &render::array(event.as_slice()))],
    );
    Ok(Some(match include_tag {
        true => {
            let tags = tags_of(texts.connection, market.event)?;
            render::with_fields(&text, &[("tags", &tags)])
        }
        false => text,
    }))
}

/// Markets with the short summaries of their events. Markets of one event are often adjacent.
fn array(
    texts: RecordTexts<'_>,
    table: &Table,
    rows: &[u32],
    include_tag: bool,
) -> Result<String, CatalogError> {
    let connection = texts.connection;
    let mut events = connection.prepare_cached("SELECT short FROM event_texts WHERE id = ?1")?;
    let mut array = Array::of(rows.len());
    // What follows `"events":`, for the markets of one event.
    let mut summaries = |event: Option<i64>| -> Result<String, CatalogError> {
        let short = |id| events.query_row([id], |row| row.get::<_, String>(0));
        let short = render::array(event.map(short).transpose()?.as_slice());
        Ok(match include_tag {
            true => format!(r#"{short},"tags":{}"#, tags_of(connection, event)?),
            false => short,
        })
    };
    let mut event = None;
    let mut of_event = summaries(None)?;
    for row in rows {
        let its = table.event_of(*row);
        if its != event {
            event = its;
            of_event = summaries(its)?;
        }
        if let Some(market) = texts.market(table.markets.id(*row))? {
            array.push_with(&market.text, "events", &of_event);
        }
    }
    Ok(array.end())
}

/// What finds the slug and the title of one of them, for the columns that lists sort by.
const SORT_TEXTS: [&str; 2] = [
    "SELECT slug FROM markets WHERE id = ?1",
    "SELECT question FROM markets WHERE id = ?1",
];

/// The markets of a page, which may follow a cursor.
fn rows(
    connection: &Connection,
    table: &Table,
    query: &MarketsFilter,
    scope: &CreatorFilter,
    (page, after): (Page, Option<&Cursor>),
) -> Result<Vec<u32>, CatalogError> {
    let groups = GroupSets::of(connection, table, &query.groups)?;
    let creators = match scope {
        CreatorFilter::All => None,
        CreatorFilter::Creators(creators) => Some(table.numbers_of(creators)),
    };
    let words = [
        (WordColumn::SportsType, &query.sports_market_types),
        (WordColumn::UmaStatus, &query.uma_resolution_status),
    ];
    let words = words.map(|(column, words)| {
        let numbers = (!words.is_empty()).then(|| table.word_numbers(words));
        (column, numbers)
    });
    let has_words = |row: u32| {
        words.iter().all(|(column, numbers)| {
            let numbers = numbers.as_ref();
            numbers.is_none_or(|numbers| table.has_word(row, *column, numbers))
        })
    };
    let of_row = |column, row| sort_text(connection, SORT_TEXTS, column, table.markets.id(row));
    let after = after.map(|after| table.markets.place(&query.order, after, of_row));
    let after = after.transpose()?;
    let asked = ListRequest {
        after: after.as_ref(),
        flags: query.flags,
        order: &query.order,
        page,
        ranges: &query.ranges(),
        selection: selection(connection, query)?,
    };
    Ok(table.markets.page(&asked, |row| {
        let creators = creators.as_ref();
        groups.pass(table.event_row_of(row))
            && has_words(row)
            && creators.is_none_or(|creators| table.was_made_by(row, creators))
    }))
}

/// The markets selected by name or by their event.
fn selection(
    connection: &Connection,
    query: &MarketsFilter,
) -> Result<Option<Vec<i64>>, CatalogError> {
    let mut selection = Selection::default();
    if !query.ids.is_empty() {
        selection.and(query.ids.iter().copied().map(ids::row).collect());
    }
    for (names, statement) in [
        (&query.slugs, MARKETS_BY_SLUG),
        (&query.clob_token_ids, MARKETS_BY_TOKEN),
        (&query.question_ids, MARKETS_BY_QUESTION),
        (&query.market_makers, MARKETS_BY_MAKER),
    ] {
        if !names.is_empty() {
            selection.and(found(connection, statement, names)?);
        }
    }
    for conditions in [query.condition_id.as_slice(), &query.condition_ids] {
        if conditions.is_empty() {
            continue;
        }
        let conditions = conditions.iter().map(|condition| condition.0);
        selection.and(found(connection, MARKETS_BY_CONDITION, conditions)?);
    }
    if let Some(event) = query.event_id {
        selection.and(found(connection, MARKETS_BY_EVENT, [ids::row(event)])?);
    }
    if let Some(slug) = &query.event_slug {
        let events = found(connection, EVENTS_BY_SLUG, [slug])?;
        selection.and(found(connection, MARKETS_BY_EVENT, events)?);
    }
    let games = &query.game_ids;
    if !games.is_empty() {
        let mut markets = found(connection, MARKETS_BY_GAME, games)?;
        let events = found(connection, EVENTS_BY_GAME, games)?;
        markets.extend(found(connection, MARKETS_BY_EVENT, events)?);
        selection.and(markets);
    }
    Ok(selection.into_ids())
}
