//! The database schema; until a release it changes in place, with a new [`VERSION`].

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::CatalogError;

const TABLES: &str = include_str!("schema.sql");

/// The schema version that this build reads and writes, in the file's `user_version`.
pub const VERSION: i64 = 7;

/// Makes the tables of an empty file.
///
/// # Errors
/// [`CatalogError::OtherSchema`] for a file of another version.
pub(crate) fn create(connection: &mut Connection) -> Result<(), CatalogError> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let is_empty: bool =
        transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
            row.get(0)
        })?;
    if is_empty {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    check(&transaction)?;
    Ok(transaction.commit()?)
}

/// # Errors
/// [`CatalogError::OtherSchema`] for a file of another version.
pub(crate) fn check(connection: &Connection) -> Result<(), CatalogError> {
    match connection.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => Ok(()),
        found => Err(CatalogError::OtherSchema {
            found,
            needed: VERSION,
        }),
    }
}
