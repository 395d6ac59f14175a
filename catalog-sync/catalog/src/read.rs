//! Reading the catalog: any number of readers, each answer from one state of the database.

mod changes;
mod pool;

pub use changes::Unit;

use std::collections::BTreeMap;
use std::path::Path;

use foretell_model::{ConditionId, WalletAddress};
use rusqlite::{OptionalExtension, params};

use crate::error::CatalogError;
use crate::profile::Profile;
use crate::store;
use pool::Pool;

/// Site names, as `creator` may give them, and the creators that each stands for.
pub type Sites = BTreeMap<String, Vec<WalletAddress>>;

/// The side of the catalog that reads. Calls block for as long as the database takes, at most a
/// few milliseconds; each ends its read transaction before it returns. May be shared by threads.
#[derive(Debug)]
pub struct Catalog {
    pool: Pool,
    sites: Sites,
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
        })
    }

    /// What operators call a wallet.
    ///
    /// # Errors
    /// What the database said.
    pub fn profile(&self, wallet: &WalletAddress) -> Result<Option<Profile>, CatalogError> {
        self.pool
            .with(|connection| Profile::load(connection, wallet))
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
