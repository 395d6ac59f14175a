//! Ids between the catalog's numbers, SQLite's and texts.

use foretell_model::ConditionId;
use rusqlite::Connection;

use crate::error::CatalogError;

/// A record's id as SQLite keeps it. Records with ids beyond 63 bits are not read.
pub(crate) fn row(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// An id out of SQLite, which only ever got positive ones.
pub(crate) fn of_row(id: i64) -> u64 {
    id.unsigned_abs()
}

/// A condition, `0x` and 64 hex digits of any case.
pub(crate) fn condition(text: &str) -> Option<ConditionId> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(ConditionId(bytes))
}

/// The ids that a statement with one id for parameter finds.
pub(crate) fn list(
    connection: &Connection,
    statement: &str,
    id: u64,
) -> Result<Vec<u64>, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let found = statement.query_map([row(id)], |found| found.get(0).map(of_row))?;
    Ok(found.collect::<Result<_, _>>()?)
}
