//! Why a record, or a field of one, could not be used. Nothing here is fatal.

use serde::Serialize;
use thiserror::Error;

use super::Kind;

/// A record that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// What it was, as far as that could be told.
    pub kind: Option<Kind>,
    /// Its id as far as one was read; empty when none was.
    pub id: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why a record was left out.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// No JSON, or nested deeper than the parser follows (128).
    #[error("not readable as JSON: {0}")]
    NotJson(String),
    /// JSON, but no object.
    #[error("not an object")]
    NotAnObject,
    /// Longer than [`super::MAX_RECORD_BYTES`].
    #[error("longer than {} bytes", super::MAX_RECORD_BYTES)]
    TooLong,
    /// Cut off before its end, or followed by something else.
    #[error("the input ends inside it")]
    CutOff,
    /// Neither market, event, series nor tag.
    #[error("neither a market, an event, a series nor a tag")]
    UnknownKind,
    /// Without an id that is a whole number of up to 63 bits.
    #[error("id is {0}, allowed: a whole number above 0")]
    BadId(String),
    /// Without a slug, which is how it would be found.
    #[error("slug is missing")]
    NoSlug,
    /// A second event of the market with this id, which stays with its first.
    #[error("a second event of market {0}: a market belongs to one event")]
    SecondEvent(u64),
    /// An array of more entries than [`super::MAX_ENTRIES`].
    #[error("{0} has more than {max} entries", max = super::MAX_ENTRIES)]
    TooManyEntries(&'static str),
}

/// A field that was left out of a record that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What carried it.
    pub kind: Kind,
    /// Id of the record.
    pub id: u64,
    /// The field, as the upstream names it.
    pub field: &'static str,
    /// What was wrong with it, with its value shortened.
    pub problem: String,
}
