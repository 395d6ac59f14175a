//! Small values that survive restarts, by key.

use rusqlite::{Connection, OptionalExtension};

use crate::error::CatalogError;

/// The value of a key; `None` if none was stored.
pub(crate) fn read(connection: &Connection, key: &str) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached("SELECT value FROM sync_state WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}
