//! Reasons why a record or a field is unusable; none is fatal.

use serde::Serialize;
use thiserror::Error;

use super::RecordKind;

/// A skipped record and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Its kind, if known.
    pub kind: Option<RecordKind>,
    /// Its id; empty when unknown.
    pub id: String,
    /// The reason.
    pub reason: SkipReason,
}

/// Reason for skipping a record.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Invalid JSON, or nested deeper than the parser allows (128).
    #[error("not readable as JSON: {0}")]
    NotJson(String),
    /// It has a member that the parser would take for a value of its own.
    #[error("a member is named like the parser's own: $serde_json::private::…")]
    ReservedName,
    /// JSON, but not an object.
    #[error("not an object")]
    NotAnObject,
    /// Longer than [`super::MAX_RECORD_BYTES`].
    #[error("longer than {} bytes", super::MAX_RECORD_BYTES)]
    TooLong,
    /// Truncated, or followed by other data.
    #[error("the input ends inside the record")]
    CutOff,
    /// Neither market, event, series nor tag.
    #[error("neither a market, an event, a series nor a tag")]
    UnknownKind,
    /// The id is missing or not a whole number of up to 63 bits.
    #[error("id is {0}, allowed: a whole number above 0")]
    BadId(String),
    /// An operator's own record has the id.
    #[error("id is {0}, which is in use by a record of the operator")]
    OwnId(u64),
    /// The slug, which clients find it by, is missing.
    #[error("slug is missing")]
    NoSlug,
    /// A second event of the market with this id, which keeps its first.
    #[error("a second event of market {0}: a market belongs to one event")]
    SecondEvent(u64),
    /// An array of more entries than [`super::MAX_ENTRIES`].
    #[error("{0} has more than {max} entries", max = super::MAX_ENTRIES)]
    TooManyEntries(&'static str),
}

/// A dropped field of a stored record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Id of the record.
    pub id: u64,
    /// The upstream's name of the field.
    pub field: &'static str,
    /// The problem, with the value shortened.
    pub problem: String,
}
