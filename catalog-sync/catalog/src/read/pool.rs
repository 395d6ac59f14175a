//! Pool of read-only connections.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use crate::error::CatalogError;
use crate::store::{keep_plans, schema};

/// Idle connections kept; additional concurrent readers open their own.
const MAX_IDLE: usize = 8;
/// Idle connections kept for searches.
const MAX_IDLE_FOR_SEARCH: usize = 4;
/// Prepared statements kept per connection.
const STATEMENTS: usize = 64;
/// Page cache of a connection in KiB.
const CACHE_KIB: i64 = 16 * 1024;
/// Page cache of a search connection in KiB, which lists cannot evict. Beyond the mapped bytes it
/// fits the texts of fifty thousand events; with more, a search needs a system call per page.
const SEARCH_CACHE_KIB: i64 = 32 * 1024;
/// Memory-mapped bytes of the file, which need no system call and copy per page. SQLite maps at
/// most 2 GiB. Pages above that, or still in the write-ahead log, are read with system calls.
const MAPPED_BYTES: i64 = 1 << 31;
/// How long a reader waits in the rare moments when a writer locks the whole file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Idle connections by kind.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: IdleConnections,
    idle_for_search: IdleConnections,
}

/// Idle connections of one kind.
#[derive(Debug)]
struct IdleConnections {
    connections: Mutex<Vec<Connection>>,
    kept: usize,
    cache_kib: i64,
}

impl IdleConnections {
    const fn new(kept: usize, cache_kib: i64) -> Self {
        Self {
            connections: Mutex::new(Vec::new()),
            kept,
            cache_kib,
        }
    }
}

impl Pool {
    pub(super) fn open(path: &Path) -> Result<Self, CatalogError> {
        if !path.exists() {
            return Err(CatalogError::Missing(path.to_owned()));
        }
        let pool = Self {
            path: path.to_owned(),
            idle: IdleConnections::new(MAX_IDLE, CACHE_KIB),
            idle_for_search: IdleConnections::new(MAX_IDLE_FOR_SEARCH, SEARCH_CACHE_KIB),
        };
        // Fail at once if the file cannot be read.
        pool.with(|_| Ok(()))?;
        Ok(pool)
    }

    /// Runs `read` on a connection in one read transaction, so it sees one database snapshot.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.with_one_of(&self.idle, read)
    }

    /// [`Self::with`] for a search, which may read all texts.
    pub(super) fn with_texts<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.with_one_of(&self.idle_for_search, read)
    }

    fn with_one_of<T>(
        &self,
        idle: &IdleConnections,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let known = idle.connections.lock().pop();
        let mut connection = match known {
            Some(connection) => connection,
            None => connect(&self.path, idle.cache_kib)?,
        };
        let transaction = connection.transaction()?;
        let result = read(&transaction);
        // Nothing was written: finishing only releases the database snapshot.
        transaction.finish()?;
        let mut connections = idle.connections.lock();
        if connections.len() < idle.kept {
            connections.push(connection);
        }
        result
    }
}

fn connect(path: &Path, cache_kib: i64) -> Result<Connection, CatalogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    keep_plans(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    schema::check(&connection)?;
    Ok(connection)
}
