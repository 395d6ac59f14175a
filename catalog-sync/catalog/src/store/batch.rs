//! One transaction of a writer.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::dirty_records::DirtyRecords;
use super::{derive, put};
use crate::error::CatalogError;
use crate::record::{ParsedRecord, Skip};
use crate::report::Report;

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
    /// `events` its event, and nothing is ever deleted. The event inside a market's record is often
    /// abridged, so it replaces a stored one only when it is newer.
    ///
    /// A record with the id of an operator's own record is skipped. Of several markets with one condition
    /// an own one is shown, else the first; the others are kept out of every answer.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn put(&mut self, read: &ParsedRecord) -> Result<(), CatalogError> {
        self.put_any(read, false)
    }

    /// Stores a record of an operator's own market, as [`Self::put`]. It takes its ids and its condition
    /// from any other record.
    ///
    /// # Errors
    /// A database error; drop the batch after it.
    pub fn put_own(&mut self, read: &ParsedRecord) -> Result<(), CatalogError> {
        self.put_any(read, true)
    }

    fn put_any(&mut self, read: &ParsedRecord, own: bool) -> Result<(), CatalogError> {
        put::record(
            &self.transaction,
            &read.record,
            own,
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
