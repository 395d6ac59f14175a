//! Read-only connections, kept for the next reader.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use crate::error::CatalogError;
use crate::store::{keep_plans, schema};

/// Connections that are kept; more readers at a time open their own.
const KEPT: usize = 8;
/// Connections that are kept for searches.
const KEPT_FOR_SEARCH: usize = 4;
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;
/// Page cache of a connection, in KiB.
const CACHE_KIB: i64 = 16 * 1024;
/// That of one for searches: of what is not mapped the texts of fifty thousand events fit in, and no list
/// pushes them out. Where there are more, a search asks the system for every page.
const SEARCH_CACHE_KIB: i64 = 32 * 1024;
/// Bytes of the file that are read where the system has them, without a call and a copy for each page;
/// SQLite maps no more than 2 GiB. What is beyond, or still in the log of a writer, is read as ever.
const MAPPED_BYTES: i64 = 1 << 31;
/// How long a reader waits in the rare moments when a writer holds the whole file.
const PATIENCE: Duration = Duration::from_secs(1);

/// The connections nobody uses right now.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: Idle,
    idle_for_search: Idle,
}

/// Connections of one kind.
#[derive(Debug)]
struct Idle {
    connections: Mutex<Vec<Connection>>,
    kept: usize,
    cache_kib: i64,
}

impl Idle {
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
            idle: Idle::new(KEPT, CACHE_KIB),
            idle_for_search: Idle::new(KEPT_FOR_SEARCH, SEARCH_CACHE_KIB),
        };
        // Whether it can be read is told at once.
        pool.with(|_| Ok(()))?;
        Ok(pool)
    }

    /// Runs `read` on a connection inside one read transaction, so that all it sees is one state.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.with_one_of(&self.idle, read)
    }

    /// The same for a search, which may read all texts.
    pub(super) fn with_texts<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.with_one_of(&self.idle_for_search, read)
    }

    fn with_one_of<T>(
        &self,
        idle: &Idle,
        read: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let known = idle.connections.lock().pop();
        let mut connection = match known {
            Some(connection) => connection,
            None => connect(&self.path, idle.cache_kib)?,
        };
        let transaction = connection.transaction()?;
        let result = read(&transaction);
        // Nothing was written: the end only lets go of the state.
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
    connection.busy_timeout(PATIENCE)?;
    keep_plans(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
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
