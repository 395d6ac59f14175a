//! One transaction of a writer.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::derive;
use super::dirty_records::DirtyRecords;
use super::put::{self, Origin};
use crate::error::CatalogError;
use crate::record::{ParsedRecord, Skip};
use crate::report::Report;
use crate::sync_state::SyncStatus;

/// An open write transaction.
#[derive(Debug)]
pub struct Batch<'w> {
    transaction: Transaction<'w>,
    dirty: DirtyRecords,
    report: Report,
}

impl<'w> Batch<'w> {
    pub(super) fn begin(connection: &'w mut Connection) -> Result<Self, CatalogError> {
        Ok(Self {
            transaction: Transaction::new(connection, TransactionBehavior::Immediate)?,
            dirty: DirtyRecords::default(),
            report: Report::default(),
        })
    }

    /// Stores a record and all records inside it. A new record is added. A stored one is replaced,
    /// unless the new one is equal, or older by `updatedAt`.
    ///
    /// Missing fields keep their values: an event without `tags` keeps its tags, a market without
    /// `events` its event, and nothing is ever deleted. A record inside another is often abridged:
    /// it only adds to a stored one. Unless it is a market in its event, it must also be newer.
    ///
    /// A record with the id of an operator's own record is skipped. Of several markets with one condition
    /// an own one is shown, else the first; the others are kept out of every answer.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn put(&mut self, read: &ParsedRecord) -> Result<(), CatalogError> {
        self.put_any(read, Origin::WHOLE, false)
    }

    /// Stores a record that the upstream has now, as [`Self::put`], also with an older `updatedAt`.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn put_current(&mut self, read: &ParsedRecord) -> Result<(), CatalogError> {
        self.put_any(read, Origin::CURRENT, false)
    }

    /// Stores a record of an operator's own market, as [`Self::put`]. It takes its ids and its condition
    /// from any other record.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn put_own(&mut self, read: &ParsedRecord) -> Result<(), CatalogError> {
        self.put_any(read, Origin::WHOLE, true)
    }

    fn put_any(
        &mut self,
        read: &ParsedRecord,
        origin: Origin,
        own: bool,
    ) -> Result<(), CatalogError> {
        put::record(
            &self.transaction,
            &read.record,
            (origin, own),
            &mut self.dirty,
            &mut self.report,
        )?;
        for skip in &read.skipped {
            self.report.skip(skip.clone());
        }
        for warning in &read.warnings {
            self.report.warn(warning.clone());
        }
        Ok(())
    }

    /// Takes condition and tokens from a market, and closes and archives it: the upstream gave it
    /// the id `by`, under which it is stored, too.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn supersede(&mut self, market: u64, by: u64) -> Result<(), CatalogError> {
        match put::superseded(&self.transaction, market, by)? {
            Some(read) => self.put_any(&read, Origin::CURRENT, false),
            None => Ok(()),
        }
    }

    /// Stores the status of the sync.
    ///
    /// # Errors
    /// A database error.
    pub fn set_sync_status(&mut self, status: &SyncStatus) -> Result<(), CatalogError> {
        let (key, text) = status.state();
        self.set_state(key, Some(&text))
    }

    /// Adds an unreadable record to the report.
    pub fn skip(&mut self, skip: Skip) {
        self.report.skip(skip);
    }

    /// Stores a value under a key, such as the sync's resume point, in the same transaction as the
    /// records. `None` deletes it.
    ///
    /// # Errors
    /// A database error.
    pub fn set_state(&mut self, key: &str, value: Option<&str>) -> Result<(), CatalogError> {
        match value {
            Some(value) => self.transaction.execute(
                "INSERT OR REPLACE INTO sync_state VALUES (?1, ?2)",
                params![key, value],
            )?,
            None => self
                .transaction
                .execute("DELETE FROM sync_state WHERE key = ?1", [key])?,
        };
        Ok(())
    }

    /// Commits the transaction and returns its report.
    ///
    /// # Errors
    /// A database error; the batch is then discarded.
    pub fn commit(self) -> Result<Report, CatalogError> {
        derive::derive(&self.transaction, &self.dirty)?;
        self.transaction.commit()?;
        Ok(self.report)
    }
}
