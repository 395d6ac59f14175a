//! Writing the catalog: one writer at a time, in transactions that readers see whole or not at all.

mod batch;
mod links;
mod put;
pub(crate) mod schema;
mod settle;
mod write;

pub use batch::Batch;

use std::path::Path;
use std::time::Duration;

use foretell_model::WalletAddress;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::CatalogError;
use crate::profile::Profile;
use crate::report::Report;

/// How long a writer waits for another to end its transaction.
const PATIENCE: Duration = Duration::from_secs(10);
/// Page cache of a writer, in KiB. New records touch most pages of the indices; a page that has to
/// leave the cache before its transaction ends is written twice.
const CACHE_KIB: i64 = 192 * 1024;
/// Bytes that the write-ahead log keeps after a transaction that made it longer.
const KEPT_LOG_BYTES: i64 = 64 << 20;
/// Reports that are kept.
const KEPT_REPORTS: i64 = 100;
/// Prepared statements that are kept.
const STATEMENTS: usize = 64;

/// The side of the catalog that writes: syncs, imports, profiles.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
}

impl Writer {
    /// Opens the catalog at `path`, makes it when there is none, and brings its tables up to date.
    ///
    /// # Errors
    /// [`CatalogError::NewerSchema`], or what the database said.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        keep_plans(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A power cut may lose the last transactions, never tear one: a sync is simply resumed
        // from the resume point that was lost with them.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "journal_size_limit", KEPT_LOG_BYTES)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::migrate(&mut connection)?;
        Ok(Self { connection })
    }

    /// Begins a transaction. What is put becomes visible together, at [`Batch::commit`]; a batch
    /// that is dropped leaves no trace. A few hundred events a batch is what imports fastest.
    ///
    /// # Errors
    /// What the database said; busy when another writer holds it for ten seconds.
    pub fn begin(&mut self) -> Result<Batch<'_>, CatalogError> {
        Batch::begin(&mut self.connection)
    }

    /// Where the catalog is.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.connection.path().map(Path::new)
    }

    /// Bytes of the catalog: its pages, and the write-ahead log that some of them still stand in.
    ///
    /// # Errors
    /// What the database said.
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

    /// What [`Batch::set_state`] kept under a name.
    ///
    /// # Errors
    /// What the database said.
    pub fn state(&self, key: &str) -> Result<Option<String>, CatalogError> {
        state(&self.connection, key)
    }

    /// Names a wallet, or renames it.
    ///
    /// # Errors
    /// What the database said.
    pub fn set_profile(
        &mut self,
        wallet: &WalletAddress,
        profile: &Profile,
    ) -> Result<(), CatalogError> {
        profile.store(&mut self.connection, wallet)
    }

    /// Keeps what an import or a sync reported; the newest hundred are kept.
    ///
    /// # Errors
    /// What the database said.
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

/// Statements keep the plan they were prepared with: otherwise those that an index with a condition
/// could serve are planned anew for every value they are asked with.
pub(crate) fn keep_plans(connection: &Connection) -> Result<(), CatalogError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

pub(crate) fn state(connection: &Connection, key: &str) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached("SELECT value FROM sync_state WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}
