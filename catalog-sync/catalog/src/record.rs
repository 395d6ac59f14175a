//! Lenient parsing of upstream records: pure functions from JSON to the catalog's types.
//!
//! Upstream data is dirty: ids and amounts come as text or number, lists as text that contains
//! JSON, dates in several forms or as prose. An unreadable field is dropped with a [`Warning`]; a
//! record without an identity becomes a [`Skip`]. Hidden characters of texts are removed
//! (`clean`); spaces stay, only search trims its own copy.

mod clean;
mod date;
mod event;
mod fields;
mod market;
mod number;
mod series;
mod skip;
mod tag;
mod terms;

pub use date::read_date;
pub use event::EventRecord;
pub use market::MarketRecord;
pub(crate) use market::token_texts;
pub(crate) use number::token_id;
pub use series::SeriesRecord;
pub use skip::{Skip, SkipReason, Warning};
pub use tag::TagRecord;
pub(crate) use terms::SUPERSEDED_BY;
pub use terms::{Answer, NotTradable, TradingTerms};

use fields::RecordFields;
use serde::Serialize;
use serde_json::{Map, Value};

/// Most bytes of JSON of a record, such as an event with all its markets.
pub const MAX_RECORD_BYTES: usize = 8 << 20;
/// Most markets, tags or series of an event.
pub const MAX_ENTRIES: usize = 4_096;

/// What the parser's own member names begin with after a dollar: it reads an object with one as something else.
const RESERVED_NAMES: &[u8] = b"serde_json::private::";

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// An event group, with or without its markets.
    Event,
    /// A market, with or without its event group.
    Market,
    /// A series of event groups.
    Series,
    /// A tag.
    Tag,
}

impl RecordKind {
    /// Its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Market => "market",
            Self::Series => "series",
            Self::Tag => "tag",
        }
    }
}

/// Lifecycle flags of markets, events and series, as the upstream sends them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Also true on closed ones, so it does not mean tradable.
    pub active: bool,
    /// Ended.
    pub closed: bool,
    /// Hidden.
    pub archived: bool,
}

/// A parsed record.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// An event.
    Event(Box<EventRecord>),
    /// A market.
    Market(Box<MarketRecord>),
    /// A series.
    Series(Box<SeriesRecord>),
    /// A tag.
    Tag(Box<TagRecord>),
}

impl Record {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::Event(_) => RecordKind::Event,
            Self::Market(_) => RecordKind::Market,
            Self::Series(_) => RecordKind::Series,
            Self::Tag(_) => RecordKind::Tag,
        }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> u64 {
        match self {
            Self::Event(event) => event.id,
            Self::Market(market) => market.id,
            Self::Series(series) => series.id,
            Self::Tag(tag) => tag.id,
        }
    }

    /// Time of the upstream's last change, if known; incremental syncs use it.
    #[must_use]
    pub const fn updated_at(&self) -> Option<jiff::Timestamp> {
        match self {
            Self::Event(event) => event.updated_at,
            Self::Market(market) => market.updated_at,
            Self::Series(series) => series.updated_at,
            Self::Tag(tag) => tag.updated_at,
        }
    }
}

/// Result of parsing: the record, its warnings, and the skipped records inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedRecord {
    /// The record.
    pub record: Record,
    /// Dropped fields of the record and of the records inside it.
    pub warnings: Vec<Warning>,
    /// Skipped records inside it: a market of an event, a tag, a series.
    pub skipped: Vec<Skip>,
}

/// Parses one JSON record. Without `kind`, its fields decide the kind.
///
/// # Errors
/// A [`Skip`] with the reason why the record is unusable.
pub fn read(kind: Option<RecordKind>, json: &[u8]) -> Result<ParsedRecord, Skip> {
    let skip = |reason| Skip {
        kind,
        id: String::new(),
        reason,
    };
    if json.len() > MAX_RECORD_BYTES {
        return Err(skip(SkipReason::TooLong));
    }
    let mut after_dollars = json.split(|byte| *byte == b'$').skip(1);
    if after_dollars.any(|text| text.starts_with(RESERVED_NAMES)) {
        return Err(skip(SkipReason::ReservedName));
    }
    match serde_json::from_slice(json) {
        Ok(Value::Object(map)) => read_map(kind, map),
        Ok(_) => Err(skip(SkipReason::NotAnObject)),
        Err(error) => Err(skip(SkipReason::NotJson(error.to_string()))),
    }
}

fn read_map(kind: Option<RecordKind>, mut map: Map<String, Value>) -> Result<ParsedRecord, Skip> {
    clean::clean(&mut map);
    let Some(kind) = kind.or_else(|| kind_of(&map)) else {
        return Err(Skip {
            kind: None,
            id: fields::shown_id(&map),
            reason: SkipReason::UnknownKind,
        });
    };
    let mut problems = Problems::default();
    let fields = RecordFields::new(kind, map)?;
    let record = match kind {
        RecordKind::Event => Record::Event(Box::new(EventRecord::of(fields, &mut problems)?)),
        RecordKind::Market => Record::Market(Box::new(MarketRecord::of(fields, &mut problems)?)),
        RecordKind::Series => Record::Series(Box::new(SeriesRecord::of(fields, &mut problems)?)),
        RecordKind::Tag => Record::Tag(Box::new(TagRecord::of(fields, &mut problems)?)),
    };
    Ok(ParsedRecord {
        record,
        warnings: problems.warnings,
        skipped: problems.skipped,
    })
}

/// Detects a record's kind by fields that only one kind has.
fn kind_of(map: &Map<String, Value>) -> Option<RecordKind> {
    let has = |name: &str| map.contains_key(name);
    if has("question") || has("conditionId") || has("clobTokenIds") {
        Some(RecordKind::Market)
    } else if has("seriesType") || has("recurrence") {
        Some(RecordKind::Series)
    } else if has("label") {
        Some(RecordKind::Tag)
    } else if has("title") || has("markets") {
        Some(RecordKind::Event)
    } else {
        None
    }
}

/// Warnings and skips of one record.
#[derive(Default)]
struct Problems {
    warnings: Vec<Warning>,
    skipped: Vec<Skip>,
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
