//! Small values that survive restarts, by key; and the state of the sync among them.

use foretell_model::ConditionId;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::error::CatalogError;

/// The key of [`SyncStatus`].
const STATUS: &str = "sync status";

/// The value of a key; `None` if none was stored.
pub(crate) fn read(connection: &Connection, key: &str) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached("SELECT value FROM sync_state WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// The stored status; `None` before the first round.
pub(crate) fn status(connection: &Connection) -> Result<Option<SyncStatus>, CatalogError> {
    let text = read(connection, STATUS)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// How far the catalog has the upstream, as of the last round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncStatus {
    /// Base URL of the upstream.
    pub upstream: String,
    /// Whether rounds follow each other; `false` after a single one.
    pub follows: bool,
    /// Unix seconds of the last round that read everything new from the lists that can be read.
    pub round: Option<i64>,
    /// Unix seconds of the start of the last full pass that read every list to its end.
    pub complete: Option<i64>,
    /// Whether the last full pass read every list to its end.
    pub is_complete: bool,
    /// Names of the lists that were not read to their end.
    pub failed_lists: Vec<String>,
    /// Why; and the error of the last round, if it failed.
    pub findings: Vec<String>,
    /// Markets that are registered here, not over, and that the upstream no longer has.
    pub vanished: Vec<VanishedMarket>,
    /// Markets that the upstream stopped beyond the bound: they trade on here.
    pub stops_waiting: u64,
}

/// A market that is registered here and that the upstream no longer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VanishedMarket {
    /// Its condition.
    #[serde(with = "condition_text")]
    pub condition: ConditionId,
    /// Its id in the catalog; `None` when no record has its condition any more, because the upstream gave its
    /// id to another market.
    pub market: Option<u64>,
    /// Its name in URLs.
    pub slug: String,
}

impl core::fmt::Display for VanishedMarket {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            condition,
            market,
            slug,
        } = self;
        f.write_str("market ")?;
        if let Some(market) = market {
            write!(f, "{market} ")?;
        }
        write!(
            f,
            "{slug}: registered here, and the upstream no longer has it: {condition}"
        )
    }
}

impl SyncStatus {
    /// Key and value of the state.
    pub(crate) fn state(&self) -> (&'static str, String) {
        let text = serde_json::to_string(self).expect("texts and numbers have a JSON form");
        (STATUS, text)
    }
}

/// A condition as `0x` and 64 hex digits.
mod condition_text {
    use foretell_model::ConditionId;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(id: &ConditionId, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<ConditionId, D::Error> {
        let text = String::deserialize(from)?;
        crate::ids::condition(&text).ok_or_else(|| D::Error::custom("not a condition"))
    }
}
