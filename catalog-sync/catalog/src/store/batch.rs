//! One transaction of a writer.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::{put, settle};
use crate::error::CatalogError;
use crate::record::{Read, Skip};
use crate::report::Report;

/// What a batch changed, and what must therefore be written anew before it is committed.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Events whose record, markets, tags or series changed.
    pub(super) events: BTreeSet<u64>,
    /// Markets without an event that changed.
    pub(super) lone_markets: BTreeSet<u64>,
    /// Series whose record or events changed.
    pub(super) series: BTreeSet<u64>,
    /// Tags that events won or lost.
    pub(super) tags: BTreeSet<u64>,
}

/// A transaction that is being filled.
#[derive(Debug)]
pub struct Batch<'w> {
    transaction: Transaction<'w>,
    dirty: Dirty,
    report: Report,
}

impl<'w> Batch<'w> {
    pub(super) fn begin(connection: &'w mut Connection) -> Result<Self, CatalogError> {
        Ok(Self {
            transaction: Transaction::new(connection, TransactionBehavior::Immediate)?,
            dirty: Dirty::default(),
            report: Report::default(),
        })
    }

    /// Puts a record with everything inside it: new, in place of what was known under its id, or,
    /// when it says nothing new or is older by `updatedAt`, not at all.
    ///
    /// What a record does not carry stays: an event without `tags` keeps its tags, a market
    /// without `events` its event, and nothing is ever deleted. The event inside a market's record
    /// is often abridged; it replaces a known one only when it is newer.
    ///
    /// # Errors
    /// What the database said; the batch should then be dropped.
    pub fn put(&mut self, read: &Read) -> Result<(), CatalogError> {
        put::record(
            &self.transaction,
            &read.record,
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

    /// Notes a record that could not be read.
    pub fn skip(&mut self, skip: Skip) {
        self.report.skip(skip);
    }

    /// Keeps a value under a name, such as the point a sync reached; it becomes true together
    /// with the records of the batch. `None` forgets it.
    ///
    /// # Errors
    /// What the database said.
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

    /// Makes everything visible at once, and says what it did.
    ///
    /// # Errors
    /// What the database said; then nothing of the batch is kept.
    pub fn commit(self) -> Result<Report, CatalogError> {
        settle::settle(&self.transaction, &self.dirty)?;
        self.transaction.commit()?;
        Ok(self.report)
    }
}
