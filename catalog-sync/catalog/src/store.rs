//! Writes the catalog: one writer at a time, in atomic transactions.

mod batch;
mod conditions;
mod derive;
mod dirty_records;
mod links;
mod put;
pub(crate) mod schema;
mod tags;
mod write;

pub use batch::Batch;

use std::path::Path;
use std::time::Duration;

use foretell_model::WalletAddress;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};

use crate::error::CatalogError;
use crate::profile::Profile;
use crate::report::Report;
use crate::sync_state;

/// How long a writer waits for another writer's transaction.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Page cache of a writer in KiB. New records touch most pages of the indices. A page that is
/// evicted before its transaction ends is written twice.
const CACHE_KIB: i64 = 192 * 1024;
/// Size to which the write-ahead log is truncated after a transaction that made it longer.
const KEPT_LOG_BYTES: i64 = 64 << 20;
/// Reports kept in the database.
const KEPT_REPORTS: i64 = 100;
/// Prepared statements kept per connection.
const STATEMENTS: usize = 64;

/// The write side of the catalog: syncs, imports, profiles.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
}

impl Writer {
    /// Opens or creates the catalog at `path`.
    ///
    /// # Errors
    /// [`CatalogError::OtherSchema`], or a database error.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        keep_plans(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A power cut may lose the last transactions but never tear one. The sync then continues at
        // an earlier resume point, because the later one was lost with its records.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "journal_size_limit", KEPT_LOG_BYTES)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::create(&mut connection)?;
        Ok(Self { connection })
    }

    /// Begins a transaction. Its records become visible together at [`Batch::commit`]; dropping the
    /// batch discards them. A few hundred events per batch import fastest.
    ///
    /// # Errors
    /// A database error; busy when another writer keeps the database for ten seconds.
    pub fn begin(&mut self) -> Result<Batch<'_>, CatalogError> {
        Batch::begin(&mut self.connection)
    }

    /// The path of the catalog.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.connection.path().map(Path::new)
    }

    /// Bytes of the catalog: its pages and its write-ahead log.
    ///
    /// # Errors
    /// A database error.
    pub fn bytes(&self) -> Result<u64, CatalogError> {
        let number = |name| {
            let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            self.connection.pragma_query_value(None, name, read)
        };
        let pages = number("page_count")?.saturating_mul(number("page_size")?);
        let log = self.connection.path().map(|path| format!("{path}-wal"));
        let log = log.and_then(|path| std::fs::metadata(path).ok());
        let log = log.map_or(0, |log| log.len());
        Ok(u64::try_from(pages).unwrap_or(0).saturating_add(log))
    }

    /// The value stored with [`Batch::set_state`].
    ///
    /// # Errors
    /// A database error.
    pub fn state(&self, key: &str) -> Result<Option<String>, CatalogError> {
        sync_state::read(&self.connection, key)
    }

    /// Adds or replaces the profile of a wallet.
    ///
    /// # Errors
    /// A database error.
    pub fn set_profile(
        &mut self,
        wallet: &WalletAddress,
        profile: &Profile,
    ) -> Result<(), CatalogError> {
        profile.store(&mut self.connection, wallet)
    }

    /// Stores a report of an import or a sync and deletes all but the newest hundred.
    ///
    /// # Errors
    /// A database error.
    pub fn keep_report(
        &mut self,
        at: jiff::Timestamp,
        source: &str,
        report: &Report,
    ) -> Result<(), CatalogError> {
        let json = serde_json::to_string(report).expect("texts and numbers have a JSON form");
        let transaction = self.connection.transaction()?;
        transaction.execute(
            "INSERT INTO reports (at, source, json) VALUES (?1, ?2, ?3)",
            params![at.as_microsecond(), source, json],
        )?;
        transaction.execute(
            "DELETE FROM reports WHERE id <= (SELECT MAX(id) FROM reports) - ?1",
            [KEPT_REPORTS],
        )?;
        Ok(transaction.commit()?)
    }
}

/// Makes statements keep their first plan. By default SQLite replans statements that could use a
/// partial index whenever a parameter changes.
pub(crate) fn keep_plans(connection: &Connection) -> Result<(), CatalogError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}
