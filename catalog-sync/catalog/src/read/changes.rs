//! Changes since a given point, for incremental updates of the engine and of in-memory tables.

use rusqlite::{Connection, Row, params};

use crate::error::CatalogError;
use crate::ids;
use crate::record::{
    EventRecord, MarketRecord, NotTradable, Record, RecordKind, SeriesRecord, TagRecord, read,
};

/// A unit of change: an event group with its markets, or a market without an event group.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The number of its last change.
    pub change: u64,
    /// The event with its tags and series; its markets are in [`Self::markets`].
    pub event: Option<EventRecord>,
    /// Whether the upstream's own record of the event arrived, which names all its markets.
    pub is_whole: bool,
    /// All its markets by id, without their event and without own ones, which follow the exchange. One whose
    /// condition another record has cannot trade: [`NotTradable::Taken`].
    pub markets: Vec<MarketRecord>,
}

impl Unit {
    /// The labels of the event's tags.
    #[must_use]
    pub fn tags(&self) -> &[TagRecord] {
        self.event
            .as_ref()
            .and_then(|event| event.tags.as_deref())
            .unwrap_or_default()
    }

    /// The event's series.
    #[must_use]
    pub fn series(&self) -> &[SeriesRecord] {
        self.event
            .as_ref()
            .and_then(|event| event.series.as_deref())
            .unwrap_or_default()
    }
}

/// A row of the list of changes: its number, and the event, or the market without an event.
struct Change {
    number: i64,
    event: Option<i64>,
    market: Option<i64>,
}

impl Change {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            event: row.get(1)?,
            market: row.get(2)?,
        })
    }
}

pub(super) fn after(
    connection: &Connection,
    change: u64,
    limit: usize,
) -> Result<Vec<Unit>, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT change, id, NULL FROM events WHERE change > ?1
         UNION ALL
         SELECT change, NULL, id FROM markets WHERE change > ?1 AND event_id IS NULL
         ORDER BY 1 LIMIT ?2",
    )?;
    let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
    let changes = statement.query_map(params![ids::row(change), limit], Change::of_row)?;
    let mut units = Vec::new();
    for change in changes {
        units.push(unit(connection, &change?)?);
    }
    Ok(units)
}

fn unit(connection: &Connection, change: &Change) -> Result<Unit, CatalogError> {
    let (event, is_whole, markets) = match (change.event, change.market) {
        (Some(event), _) => (
            event_of(connection, event)?,
            is_whole(connection, event)?,
            markets(connection, OF_EVENT, event)?,
        ),
        (None, market) => (
            None,
            true,
            markets(connection, LONE, market.unwrap_or_default())?,
        ),
    };
    Ok(Unit {
        change: ids::of_row(change.number),
        event,
        is_whole,
        markets,
    })
}

fn is_whole(connection: &Connection, event: i64) -> Result<bool, CatalogError> {
    let mut statement =
        connection.prepare_cached("SELECT full_record FROM events WHERE id = ?1")?;
    Ok(statement.query_row([event], |row| row.get(0))?)
}

/// Original records, and for one whose condition another record has, that record's id.
const MARKETS: &str = "SELECT raw,
    (SELECT h.id FROM markets h WHERE m.hidden AND h.condition = m.condition AND h.hidden = 0)
    FROM markets m JOIN market_texts USING (id) WHERE own = 0";
const OF_EVENT: &str = "event_id = ?1 ORDER BY m.id";
const LONE: &str = "m.id = ?1";

fn markets(
    connection: &Connection,
    which: &str,
    id: i64,
) -> Result<Vec<MarketRecord>, CatalogError> {
    let mut statement = connection.prepare_cached(&format!("{MARKETS} AND {which}"))?;
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut markets = Vec::new();
    for row in rows {
        let (raw, holder): (String, Option<i64>) = row?;
        let Some(Record::Market(mut market)) = read_again(RecordKind::Market, &raw) else {
            continue;
        };
        if let Some(holder) = holder {
            market.terms = Err(NotTradable::Taken(ids::of_row(holder)));
        }
        markets.push(*market);
    }
    Ok(markets)
}

fn event_of(connection: &Connection, event: i64) -> Result<Option<EventRecord>, CatalogError> {
    let raw = raw_texts(
        connection,
        "SELECT raw FROM event_texts WHERE id = ?1",
        event,
    )?;
    let Some(Record::Event(mut record)) = raw
        .first()
        .and_then(|raw| read_again(RecordKind::Event, raw))
    else {
        return Ok(None);
    };
    let tags = raw_texts(
        connection,
        "SELECT raw FROM event_tags JOIN tags ON id = tag_id WHERE event_id = ?1 ORDER BY place",
        event,
    )?;
    let tag = |raw: &String| match read_again(RecordKind::Tag, raw) {
        Some(Record::Tag(tag)) => Some(*tag),
        _ => None,
    };
    record.tags = Some(tags.iter().filter_map(tag).collect());
    let series = raw_texts(
        connection,
        "SELECT raw FROM event_series JOIN series ON id = series_id
         WHERE event_id = ?1 ORDER BY place",
        event,
    )?;
    let one = |raw: &String| match read_again(RecordKind::Series, raw) {
        Some(Record::Series(series)) => Some(*series),
        _ => None,
    };
    record.series = Some(series.iter().filter_map(one).collect());
    Ok(Some(*record))
}

/// Parses a stored record again. The upstream's JSON is the only source, so a build that reads more
/// of its fields needs no migration.
fn read_again(kind: RecordKind, raw: &str) -> Option<Record> {
    read(Some(kind), raw.as_bytes())
        .ok()
        .map(|read| read.record)
}

fn raw_texts(
    connection: &Connection,
    statement: &str,
    id: i64,
) -> Result<Vec<String>, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let rows = statement.query_map([id], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
