//! The database schema as numbered migrations: step n migrates `user_version` n−1 to n. Released
//! steps never change; a schema change is a new step.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::CatalogError;

/// The SQL of each step.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The schema version that this build reads and writes.
pub const VERSION: i64 = 5;
const _: () = assert!(STEPS.len() == 5, "VERSION is the number of the last step");

/// Migrates a file, one step per transaction, so that a crash leaves a complete version.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), CatalogError> {
    loop {
        let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
        let found = version(&transaction)?;
        if found > VERSION {
            return Err(CatalogError::NewerSchema {
                found,
                known: VERSION,
            });
        }
        let step = usize::try_from(found).ok().and_then(|next| STEPS.get(next));
        let Some(step) = step else {
            return Ok(());
        };
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", found + 1)?;
        transaction.commit()?;
    }
}

/// The schema version of a file; 0 = empty.
pub(crate) fn version(connection: &Connection) -> Result<i64, CatalogError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
