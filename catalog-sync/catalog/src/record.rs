//! Records of an upstream, read leniently: pure functions from JSON to what the catalog keeps.
//!
//! Upstream data is dirty: ids and amounts come as text or number, lists as text that holds JSON,
//! dates in several forms or as prose. What can be read is; a field that cannot is left out with a
//! [`Warning`]; a record without what identifies it is a [`Skip`]. Texts are kept to the letter,
//! spaces and invisible characters included: only search looks at a trimmed form of them.

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
pub use terms::{NotTradable, TradingTerms};

use fields::Fields;
use serde::Serialize;
use serde_json::{Map, Value};

/// Longest record that is read, in bytes of JSON: an event with all its markets.
pub const MAX_RECORD_BYTES: usize = 8 << 20;
/// Most markets, tags or series of an event.
pub const MAX_ENTRIES: usize = 4_096;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An event, with or without its markets.
    Event,
    /// A market, with or without its event.
    Market,
    /// A series of events.
    Series,
    /// A tag.
    Tag,
}

impl Kind {
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

/// Lifecycle hints of markets, events and series, as the upstream says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// True on closed ones too: it does not mean tradable.
    pub active: bool,
    /// Over.
    pub closed: bool,
    /// Hidden.
    pub archived: bool,
}

/// A record that was read.
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
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Event(_) => Kind::Event,
            Self::Market(_) => Kind::Market,
            Self::Series(_) => Kind::Series,
            Self::Tag(_) => Kind::Tag,
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

    /// When the upstream last changed it, as far as it says: what an incremental sync goes by.
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

/// What reading a record gives: the record, what was wrong in it, and what inside it was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The record.
    pub record: Record,
    /// Fields left out of it and of the records inside it.
    pub warnings: Vec<Warning>,
    /// Records inside it that were left out: a market of an event, a tag, a series.
    pub skipped: Vec<Skip>,
}

/// Reads one record of JSON. Without a `kind` it is told from its fields.
///
/// # Errors
/// A [`Skip`] that says why the record cannot be used.
pub fn read(kind: Option<Kind>, json: &[u8]) -> Result<Read, Skip> {
    let skip = |reason| Skip {
        kind,
        id: String::new(),
        reason,
    };
    if json.len() > MAX_RECORD_BYTES {
        return Err(skip(SkipReason::TooLong));
    }
    match serde_json::from_slice(json) {
        Ok(Value::Object(map)) => read_map(kind, map),
        Ok(_) => Err(skip(SkipReason::NotAnObject)),
        Err(error) => Err(skip(SkipReason::NotJson(error.to_string()))),
    }
}

fn read_map(kind: Option<Kind>, map: Map<String, Value>) -> Result<Read, Skip> {
    let Some(kind) = kind.or_else(|| kind_of(&map)) else {
        return Err(Skip {
            kind: None,
            id: fields::shown_id(&map),
            reason: SkipReason::UnknownKind,
        });
    };
    let mut notes = Notes::default();
    let fields = Fields::new(kind, map)?;
    let record = match kind {
        Kind::Event => Record::Event(Box::new(EventRecord::of(fields, &mut notes)?)),
        Kind::Market => Record::Market(Box::new(MarketRecord::of(fields, &mut notes)?)),
        Kind::Series => Record::Series(Box::new(SeriesRecord::of(fields, &mut notes)?)),
        Kind::Tag => Record::Tag(Box::new(TagRecord::of(fields, &mut notes)?)),
    };
    Ok(Read {
        record,
        warnings: notes.warnings,
        skipped: notes.skipped,
    })
}

/// Tells a record's kind from fields that only one kind has.
fn kind_of(map: &Map<String, Value>) -> Option<Kind> {
    let has = |name: &str| map.contains_key(name);
    if has("question") || has("conditionId") || has("clobTokenIds") {
        Some(Kind::Market)
    } else if has("seriesType") || has("recurrence") {
        Some(Kind::Series)
    } else if has("label") {
        Some(Kind::Tag)
    } else if has("title") || has("markets") {
        Some(Kind::Event)
    } else {
        None
    }
}

/// What reading a record found wrong in it.
#[derive(Default)]
struct Notes {
    warnings: Vec<Warning>,
    skipped: Vec<Skip>,
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
