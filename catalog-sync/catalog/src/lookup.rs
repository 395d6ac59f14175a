//! In-memory table of market texts, for surfaces that show a title in each row.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::{ConditionId, TokenId};
use rusqlite::{Connection, Row, params};
use serde::Deserialize;

use crate::error::CatalogError;
use crate::ids;
use crate::record::{token_id, token_texts};

/// Texts of an event group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTexts {
    /// Its id.
    pub id: u64,
    /// Its short name.
    pub ticker: Box<str>,
    /// Its name in URLs.
    pub slug: Box<str>,
    /// Its title.
    pub title: Box<str>,
    /// Labels of its tags.
    pub tags: Box<[Box<str>]>,
}

/// Texts of a market that has a condition, binary or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketTexts {
    /// Its id.
    pub id: u64,
    /// Its condition.
    pub condition: ConditionId,
    /// The question.
    pub title: Box<str>,
    /// Its name in URLs.
    pub slug: Box<str>,
    /// URL.
    pub icon: Box<str>,
    /// URL.
    pub image: Box<str>,
    /// Labels of its outcomes.
    pub outcomes: Box<[Box<str>]>,
    /// Its tokens by outcome; tokens that are not numbers are omitted.
    pub tokens: Box<[TokenId]>,
    /// When it ends, ISO 8601.
    pub end_date: Option<Box<str>>,
    /// Whether the upstream archived it.
    pub archived: bool,
    /// Whether it is an operator's own.
    pub own: bool,
    /// Its event group.
    pub event: Option<Arc<EventTexts>>,
}

/// Parts of the table; successive tables share the unchanged parts.
const PARTS: usize = 256;

type Part = HashMap<ConditionId, Arc<MarketTexts>, RandomState>;

/// The texts of all markets at one moment; immutable. [`crate::Catalog::lookup`] returns the
/// newest.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Number of the last change of the catalog that the table includes.
    change: i64,
    parts: Box<[Arc<Part>]>,
}

impl Default for Lookup {
    fn default() -> Self {
        Self {
            change: 0,
            parts: (0..PARTS).map(|_| Arc::default()).collect(),
        }
    }
}

/// The part of a market, from its condition, which is a hash.
fn part(condition: &ConditionId) -> usize {
    usize::from(condition.0[31]) % PARTS
}

impl Lookup {
    /// The market with this condition.
    #[must_use]
    pub fn market(&self, condition: &ConditionId) -> Option<&Arc<MarketTexts>> {
        self.parts[part(condition)].get(condition)
    }

    /// Number of markets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// Whether the table has no market.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.is_empty())
    }

    /// A copy of this table with all later changes, and the conditions whose texts changed.
    pub(crate) fn updated(
        &self,
        connection: &Connection,
    ) -> Result<(Self, Vec<ConditionId>), CatalogError> {
        let last: i64 = connection
            .prepare_cached("SELECT last FROM changes")?
            .query_row([], |row| row.get(0))?;
        let mut update = LookupUpdate {
            lookup: self.clone(),
            changed: Vec::new(),
        };
        if last != self.change {
            update.lookup.change = last;
            update.add_events(connection, self.change)?;
            update.add_lone_markets(connection, self.change)?;
        }
        Ok((update.lookup, update.changed))
    }
}

/// The shown markets that have a condition.
const MARKETS: &str = "SELECT id, condition, json, trading, archived, own
    FROM markets JOIN market_texts USING (id) WHERE condition IS NOT NULL AND hidden = 0";

/// The next table during an update.
struct LookupUpdate {
    lookup: Lookup,
    changed: Vec<ConditionId>,
}

impl LookupUpdate {
    fn add_events(&mut self, connection: &Connection, after: i64) -> Result<(), CatalogError> {
        let mut events = connection.prepare_cached(
            "SELECT id, base FROM events JOIN event_texts USING (id) WHERE change > ?1",
        )?;
        let of_event = format!("{MARKETS} AND event_id = ?1");
        let mut markets = connection.prepare_cached(&of_event)?;
        let mut rows = events.query([after])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let event = Arc::new(event_texts(
                connection,
                id,
                row.get_ref(1)?.as_str().unwrap_or(""),
            )?);
            let mut rows = markets.query([id])?;
            while let Some(row) = rows.next()? {
                self.add(market_texts(row, Some(&event))?);
            }
        }
        Ok(())
    }

    fn add_lone_markets(
        &mut self,
        connection: &Connection,
        after: i64,
    ) -> Result<(), CatalogError> {
        let lone = format!("{MARKETS} AND change > ?1 AND event_id IS NULL");
        let mut markets = connection.prepare_cached(&lone)?;
        let mut rows = markets.query(params![after])?;
        while let Some(row) = rows.next()? {
            self.add(market_texts(row, None)?);
        }
        Ok(())
    }

    /// Adds a market. If the upstream changed its condition, the old condition stays valid too,
    /// because the exchange may have registered it.
    fn add(&mut self, words: MarketTexts) {
        let condition = words.condition;
        let known = self.lookup.market(&condition);
        if known.is_some_and(|known| **known == words) {
            return;
        }
        Arc::make_mut(&mut self.lookup.parts[part(&condition)]).insert(condition, Arc::new(words));
        self.changed.push(condition);
    }
}

/// The used fields of the rendered market.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MarketJson {
    slug: Box<str>,
    icon: Box<str>,
    image: Box<str>,
    clob_token_ids: String,
    end_date: Option<Box<str>>,
}

/// What the shares of a market mean, which is the exchange's to say once it is registered there.
#[derive(Deserialize)]
struct MeaningJson {
    question: Box<str>,
    outcomes: String,
}

#[derive(Deserialize)]
struct EventJson {
    ticker: Box<str>,
    slug: Box<str>,
    title: Box<str>,
}

fn own<'j, T: Deserialize<'j>>(json: &'j str) -> Result<T, CatalogError> {
    serde_json::from_str(json).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
            .into()
    })
}

fn market_texts(
    row: &Row<'_>,
    event: Option<&Arc<EventTexts>>,
) -> Result<MarketTexts, CatalogError> {
    let json: MarketJson = own(row.get_ref(2)?.as_str().unwrap_or(""))?;
    let meaning: MeaningJson = own(row.get_ref(3)?.as_str().unwrap_or(""))?;
    let labels: Vec<serde_json::Value> =
        serde_json::from_str(&meaning.outcomes).unwrap_or_default();
    let label = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text.into_boxed_str(),
        other => other.to_string().into_boxed_str(),
    };
    let tokens = token_texts(&json.clob_token_ids);
    Ok(MarketTexts {
        id: ids::of_row(row.get(0)?),
        condition: ConditionId(row.get(1)?),
        title: meaning.question,
        slug: json.slug,
        icon: json.icon,
        image: json.image,
        outcomes: labels.into_iter().map(label).collect(),
        tokens: tokens.iter().map_while(|token| token_id(token)).collect(),
        end_date: json.end_date,
        archived: row.get(4)?,
        own: row.get(5)?,
        event: event.cloned(),
    })
}

fn event_texts(connection: &Connection, id: i64, base: &str) -> Result<EventTexts, CatalogError> {
    let json: EventJson = own(base)?;
    let mut tags = connection.prepare_cached(
        "SELECT label FROM event_tags JOIN tags ON id = tag_id WHERE event_id = ?1 ORDER BY place",
    )?;
    let tags = tags.query_map([id], |row| row.get(0).map(String::into_boxed_str))?;
    Ok(EventTexts {
        id: ids::of_row(id),
        ticker: json.ticker,
        slug: json.slug,
        title: json.title,
        tags: tags.collect::<Result<_, _>>()?,
    })
}
