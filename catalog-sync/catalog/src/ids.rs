//! Conversions of ids between the catalog, SQLite and text.

use foretell_model::ConditionId;
use rusqlite::Connection;

use crate::error::CatalogError;

/// A record's id as an SQLite integer. Records with ids above 63 bits are never read.
pub(crate) fn row(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// An id from SQLite, where all ids are positive.
pub(crate) fn of_row(id: i64) -> u64 {
    id.unsigned_abs()
}

/// Parses a condition: `0x` and 64 hex digits of any case, not all 0.
pub(crate) fn condition(text: &str) -> Option<ConditionId> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(ConditionId(bytes)).filter(|condition| *condition != ConditionId::ZERO)
}

/// The ids that a statement with one id as its parameter returns.
pub(crate) fn list(
    connection: &Connection,
    statement: &str,
    id: u64,
) -> Result<Vec<u64>, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let found = statement.query_map([row(id)], |found| found.get(0).map(of_row))?;
    Ok(found.collect::<Result<_, _>>()?)
}
