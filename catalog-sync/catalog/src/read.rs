//! Reads the catalog. Any number of readers; each answer comes from one database snapshot.

mod changes;
mod creator_filter;
mod events;
mod groups;
mod keyset;
mod markets;
mod one;
mod pool;
mod record_texts;
mod related_tags;
mod search;
mod selection;
mod series;
mod small_list;
mod tags;

pub use changes::Unit;
pub use related_tags::TagName;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use foretell_model::limits::OWN_CATALOG_IDS;
use foretell_model::{ConditionId, WalletAddress};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::CatalogError;
use crate::ids;
use crate::lookup::Lookup;
use crate::profile::{Profile, Profiles};
use crate::render::Array;
use crate::sync_state::{self, SyncStatus};
use crate::table::{Table, TableUpdater};
use crate::trading::{Exchange, Figures};
use creator_filter::CreatorFilter;
use pool::Pool;
use record_texts::RecordTexts;

/// Site names that `creator` accepts, and the creators of each site.
pub type Sites = BTreeMap<String, Vec<WalletAddress>>;

/// How long a list waits for another thread's update of the table: milliseconds, except the first
/// update. Lists time out during that one, so that they do not block reads of single records.
const TABLE_LOCK_TIMEOUT: Duration = Duration::from_millis(if cfg!(test) { 10 } else { 2_000 });

/// The read side of the catalog. Calls block for the database, at most a few milliseconds, except
/// the first list, which reads all markets. Each call ends its read transaction before it returns.
/// Threads may share it.
#[derive(Debug)]
pub struct Catalog {
    pool: Pool,
    sites: Sites,
    lookup: RwLock<Arc<Lookup>>,
    updater: Mutex<TableUpdater>,
    exchange: Option<Arc<dyn Exchange>>,
}

impl Catalog {
    /// Opens the catalog at `path`, which a [`crate::Writer`] made.
    ///
    /// # Errors
    /// [`CatalogError::Missing`], [`CatalogError::OtherSchema`], or a database error.
    pub fn open(path: &Path, sites: Sites) -> Result<Self, CatalogError> {
        Ok(Self {
            pool: Pool::open(path)?,
            sites,
            lookup: RwLock::default(),
            updater: Mutex::default(),
            exchange: None,
        })
    }

    /// Shows what an exchange knows of its markets in their records.
    #[must_use]
    pub fn with_exchange(mut self, exchange: Option<Arc<dyn Exchange>>) -> Self {
        self.exchange = exchange;
        self
    }

    /// Lists filter and sort registered markets by these figures from now on.
    pub fn take_figures(&self, changed: Vec<(ConditionId, Figures)>) {
        self.updater.lock().take_figures(changed);
    }

    fn texts<'c>(&'c self, connection: &'c Connection) -> RecordTexts<'c> {
        RecordTexts {
            connection,
            exchange: self.exchange.as_deref(),
        }
    }

    /// The market texts as of the last [`Self::refresh_lookup`]; empty before the first.
    #[must_use]
    pub fn lookup(&self) -> Arc<Lookup> {
        Arc::clone(&self.lookup.read())
    }

    /// Updates [`Self::lookup`] and returns the conditions whose texts changed. Costs a point read
    /// without changes, else in proportion to the changes. Call it from a timer, a few times a
    /// second, not from requests.
    ///
    /// # Errors
    /// A database error.
    pub fn refresh_lookup(&self) -> Result<Vec<ConditionId>, CatalogError> {
        let known = self.lookup();
        let (next, changed) = self.pool.with(|connection| known.updated(connection))?;
        *self.lookup.write() = Arc::new(next);
        Ok(changed)
    }

    /// Updates the table for lists, so that the next list need not. The first call reads all
    /// markets, later calls only changes. Call it from a timer, a few times a second.
    ///
    /// # Errors
    /// A database error.
    pub fn refresh_lists(&self) -> Result<(), CatalogError> {
        self.with_table(|_, _| Ok(()))
    }

    /// Runs `read` in a read transaction, with the table of the same database snapshot.
    fn with_table<T>(
        &self,
        read: impl FnOnce(&Connection, &Table) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.pool.with(|connection| {
            let table = self.table(connection)?;
            read(connection, &table)
        })
    }

    /// The table of a transaction that has not read yet. SQLite fixes a transaction's snapshot at
    /// its first read, which happens under the keeper's lock.
    fn table(&self, connection: &Connection) -> Result<Arc<Table>, CatalogError> {
        let updater = self.updater.try_lock_for(TABLE_LOCK_TIMEOUT);
        updater.ok_or(CatalogError::Reading)?.table(connection)
    }

    fn scope(&self, creator: Option<&str>) -> CreatorFilter {
        CreatorFilter::of(creator, &self.sites)
    }

    /// The profile of a wallet.
    ///
    /// # Errors
    /// A database error.
    pub fn profile(&self, wallet: &WalletAddress) -> Result<Option<Profile>, CatalogError> {
        self.pool
            .with(|connection| Profile::load(connection, wallet))
    }

    /// All profiles, or `None` if `seen` is still their version.
    ///
    /// # Errors
    /// A database error.
    pub fn profiles(&self, seen: Option<&str>) -> Result<Option<Profiles>, CatalogError> {
        self.pool
            .with(|connection| Profiles::load(connection, seen))
    }

    /// The value of a state ([`crate::Batch::set_state`]).
    ///
    /// # Errors
    /// A database error.
    pub fn state(&self, key: &str) -> Result<Option<String>, CatalogError> {
        self.pool
            .with(|connection| sync_state::read(connection, key))
    }

    /// How far the catalog has the upstream; `None` before the first round of a sync.
    ///
    /// # Errors
    /// A database error.
    pub fn sync_status(&self) -> Result<Option<SyncStatus>, CatalogError> {
        self.pool.with(sync_state::status)
    }

    /// Ids and slugs of the upstream's markets with this condition, the lowest id first. There are
    /// several when the upstream gave a market another id.
    ///
    /// # Errors
    /// A database error.
    pub fn upstream_markets(
        &self,
        condition: &ConditionId,
    ) -> Result<Vec<(u64, String)>, CatalogError> {
        self.pool.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, slug FROM markets WHERE condition = ?1 AND id < ?2 ORDER BY id",
            )?;
            let own = ids::row(OWN_CATALOG_IDS);
            let rows = statement.query_map(params![condition.as_bytes(), own], |row| {
                Ok((ids::of_row(row.get(0)?), row.get(1)?))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The unchanged source record of the market with this condition, without its events.
    ///
    /// # Errors
    /// A database error.
    pub fn raw_market(&self, condition: &ConditionId) -> Result<Option<String>, CatalogError> {
        self.pool.with(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT raw FROM markets JOIN market_texts USING (id)
                     WHERE condition = ?1 AND hidden = 0",
                )?
                .query_row(params![condition.as_bytes()], |row| row.get(0))
                .optional()?)
        })
    }

    /// Number of the last change of an event group or market; 0 before the first. A point read.
    ///
    /// # Errors
    /// A database error.
    pub fn last_change(&self) -> Result<u64, CatalogError> {
        self.pool.with(|connection| {
            Ok(connection
                .prepare_cached("SELECT last FROM changes")?
                .query_row([], |row| row.get(0).map(ids::of_row))?)
        })
    }

    /// Up to `limit` units (at least one if there is any) that changed after change number
    /// `change`, oldest change first. Start with 0 and continue with the last unit's
    /// [`Unit::change`]. A unit that changes again moves to the end, so a reader sees each unit's
    /// newest form and misses none.
    ///
    /// # Errors
    /// A database error.
    pub fn changes_after(&self, change: u64, limit: usize) -> Result<Vec<Unit>, CatalogError> {
        self.pool
            .with(|connection| changes::after(connection, change, limit))
    }
}

/// A JSON array of the texts that a statement returns for the ids, in their order.
fn array_of(connection: &Connection, statement: &str, ids: &[i64]) -> Result<String, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut array = Array::of(ids.len());
    for id in ids {
        statement.query_row([id], |row| {
            array.push(row.get_ref(0)?.as_str().unwrap_or("null"));
            Ok(())
        })?;
    }
    Ok(array.end())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
