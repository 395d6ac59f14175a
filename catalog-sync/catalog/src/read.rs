//! Reading the catalog: any number of readers, each answer from one state of the database.

mod changes;
mod events;
mod listed;
mod markets;
mod one;
mod pool;
mod scope;
mod search;
mod series;
mod tags;

pub use changes::Unit;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use foretell_model::{ConditionId, WalletAddress};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::CatalogError;
use crate::ids;
use crate::lookup::Lookup;
use crate::profile::{Profile, Profiles};
use crate::render::Array;
use crate::store;
use crate::table::{Keeper, Table};
use pool::Pool;
use scope::Scope;

/// Site names, as `creator` may give them, and the creators that each stands for.
pub type Sites = BTreeMap<String, Vec<WalletAddress>>;

/// How long a list waits for others that bring its table up to date. That takes milliseconds, but for
/// the first time: then lists are refused rather than that they keep single records waiting.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 10 } else { 2_000 });

/// The side of the catalog that reads. Calls block for as long as the database takes, at most a
/// few milliseconds, but for the first list, which reads all markets; each ends its read transaction
/// before it returns. May be shared by threads.
#[derive(Debug)]
pub struct Catalog {
    pool: Pool,
    sites: Sites,
    lookup: RwLock<Arc<Lookup>>,
    keeper: Mutex<Keeper>,
}

impl Catalog {
    /// Opens the catalog at `path`, which a [`crate::Writer`] made.
    ///
    /// # Errors
    /// [`CatalogError::Missing`], [`CatalogError::OlderSchema`], [`CatalogError::NewerSchema`], or
    /// what the database said.
    pub fn open(path: &Path, sites: Sites) -> Result<Self, CatalogError> {
        Ok(Self {
            pool: Pool::open(path)?,
            sites,
            lookup: RwLock::default(),
            keeper: Mutex::default(),
        })
    }

    /// What markets are called, as of the last [`Self::refresh_lookup`]; empty before the first.
    #[must_use]
    pub fn lookup(&self) -> Arc<Lookup> {
        Arc::clone(&self.lookup.read())
    }

    /// Brings [`Self::lookup`] up to date and tells the conditions whose words are others now.
    /// Costs a point read when nothing changed, else about what changed: to be called by a timer of
    /// its own, a few times a second, not by requests.
    ///
    /// # Errors
    /// What the database said.
    pub fn refresh_lookup(&self) -> Result<Vec<ConditionId>, CatalogError> {
        let known = self.lookup();
        let (next, changed) = self
            .pool
            .with(|connection| known.brought_up_to_date(connection))?;
        *self.lookup.write() = Arc::new(next);
        Ok(changed)
    }

    /// Brings what lists are made with up to date, so that the next list need not. The first call
    /// reads all markets, later ones what changed: to be called by a timer, a few times a second.
    ///
    /// # Errors
    /// What the database said.
    pub fn refresh_lists(&self) -> Result<(), CatalogError> {
        self.with_table(|_, _| Ok(()))
    }

    /// Runs `read` inside one read transaction with the table of what that sees.
    fn with_table<T>(
        &self,
        read: impl FnOnce(&Connection, &Table) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        self.pool.with(|connection| {
            let table = self.table(connection)?;
            read(connection, &table)
        })
    }

    /// The table of what a transaction sees that has not read yet: it sees what is newest at its
    /// first read, which is under the lock.
    fn table(&self, connection: &Connection) -> Result<Arc<Table>, CatalogError> {
        let keeper = self.keeper.try_lock_for(PATIENCE);
        keeper.ok_or(CatalogError::Reading)?.table(connection)
    }

    fn scope(&self, creator: Option<&str>) -> Scope {
        Scope::of(creator, &self.sites)
    }

    /// What operators call a wallet.
    ///
    /// # Errors
    /// What the database said.
    pub fn profile(&self, wallet: &WalletAddress) -> Result<Option<Profile>, CatalogError> {
        self.pool
            .with(|connection| Profile::load(connection, wallet))
    }

    /// What operators call all wallets, unless nothing changed since the version `seen`.
    ///
    /// # Errors
    /// What the database said.
    pub fn profiles(&self, seen: Option<&str>) -> Result<Option<Profiles>, CatalogError> {
        self.pool
            .with(|connection| Profiles::load(connection, seen))
    }

    /// What a writer keeps under a name ([`crate::Batch::set_state`]).
    ///
    /// # Errors
    /// What the database said.
    pub fn state(&self, key: &str) -> Result<Option<String>, CatalogError> {
        self.pool.with(|connection| store::state(connection, key))
    }

    /// The upstream's record of the market with this condition, without its events, as it came;
    /// of several, the one with the lowest id.
    ///
    /// # Errors
    /// What the database said.
    pub fn raw_market(&self, condition: &ConditionId) -> Result<Option<String>, CatalogError> {
        self.pool.with(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT raw FROM markets JOIN market_texts USING (id)
                     WHERE condition = ?1 ORDER BY markets.id LIMIT 1",
                )?
                .query_row(params![condition.as_bytes()], |row| row.get(0))
                .optional()?)
        })
    }

    /// The number of the last change of an event or a market; 0 before the first. A point read.
    ///
    /// # Errors
    /// What the database said.
    pub fn last_change(&self) -> Result<u64, CatalogError> {
        self.pool.with(|connection| {
            Ok(connection
                .prepare_cached("SELECT last FROM changes")?
                .query_row([], |row| row.get(0).map(ids::of_row))?)
        })
    }

    /// Up to `limit` units (at least one when there is any) that changed after the change with
    /// this number, oldest change first. Start with 0; go on with the last one's
    /// [`Unit::change`]. A unit that changes again moves to the end, so each is seen in its newest
    /// form and none is missed.
    ///
    /// # Errors
    /// What the database said.
    pub fn changes_after(&self, change: u64, limit: usize) -> Result<Vec<Unit>, CatalogError> {
        self.pool
            .with(|connection| changes::after(connection, change, limit))
    }
}

/// A JSON array of the text that a statement gives for each id, in the order of the ids.
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
