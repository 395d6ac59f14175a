//! Read-only connections, kept for the next reader.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use crate::error::CatalogError;
use crate::store::{keep_plans, schema};

/// Connections that are kept; more readers at a time open their own.
const KEPT: usize = 8;
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;
/// Page cache of a connection, in KiB. The texts of fifty thousand events fit in; a search that has
/// to read more than that asks the system for every page.
const CACHE_KIB: i64 = 32 * 1024;
/// How long a reader waits in the rare moments when a writer holds the whole file.
const PATIENCE: Duration = Duration::from_secs(1);

/// The connections nobody uses right now.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(super) fn open(path: &Path) -> Result<Self, CatalogError> {
        if !path.exists() {
            return Err(CatalogError::Missing(path.to_owned()));
        }
        let first = connect(path)?;
        Ok(Self {
            path: path.to_owned(),
            idle: Mutex::new(vec![first]),
        })
    }

    /// Runs `read` on a connection inside one read transaction, so that all it sees is one state.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let idle = self.idle.lock().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path)?,
        };
        let transaction = connection.transaction()?;
        let result = read(&transaction);
        // Nothing was written: the end only lets go of the state.
        transaction.finish()?;
        let mut idle = self.idle.lock();
        if idle.len() < KEPT {
            idle.push(connection);
        }
        result
    }
}

fn connect(path: &Path) -> Result<Connection, CatalogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    keep_plans(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let found = schema::version(&connection)?;
    match found.cmp(&schema::VERSION) {
        std::cmp::Ordering::Less => Err(CatalogError::OlderSchema {
            found,
            needed: schema::VERSION,
        }),
        std::cmp::Ordering::Equal => Ok(connection),
        std::cmp::Ordering::Greater => Err(CatalogError::NewerSchema {
            found,
            known: schema::VERSION,
        }),
    }
}
