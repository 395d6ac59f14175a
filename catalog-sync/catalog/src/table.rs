//! What lists are filtered and sorted by, in memory: any filter in any order is then a walk over
//! numbers that lie side by side, and only the records of the page come from the database.
//!
//! A row is the place of a market or event here. It is given at the first sight of a record and
//! never changes, and records are never deleted, so rows of a [`Table`] hold in all later ones. A
//! table never changes either: what did not change is shared with the next one.

mod columns;
mod keeper;
mod links;
mod page;
mod ranking;
mod row_set;
mod rows;

pub(crate) use keeper::Keeper;
pub(crate) use links::Links;
pub(crate) use page::Asked;
pub(crate) use row_set::RowSet;
pub(crate) use rows::Rows;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::WalletAddress;

/// The catalog at one moment, as far as lists need it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Up to which change of the catalog this is complete.
    change: i64,
    /// All markets.
    pub(crate) markets: Rows,
    /// By the row of a market: the row of its event, or [`NO_EVENT`].
    event_of: Arc<Vec<u32>>,
    /// By the row of a market: the number of who made it, or [`NOBODY`]. Where it does not say, its
    /// event's creator counts.
    creator_of: Arc<Vec<u32>>,
    /// All events.
    pub(crate) events: Rows,
    /// Tags and the events that have them.
    pub(crate) tags: Arc<Links>,
    /// Series and their events.
    pub(crate) series: Arc<Links>,
    /// Numbers of creators and the events of which they made it or a market.
    creators: Arc<Links>,
    /// Their numbers.
    numbers: Arc<HashMap<WalletAddress, u32, RandomState>>,
}

/// The event of a market that has none.
const NO_EVENT: u32 = u32::MAX;
/// Who made what does not say.
const NOBODY: u32 = u32::MAX;

impl Table {
    /// The number of a market's event.
    pub(crate) fn event_of(&self, market: u32) -> Option<i64> {
        let event = self.event_of[market as usize];
        (event != NO_EVENT).then(|| self.events.id(event))
    }

    /// Whether the event of a market is among these.
    pub(crate) fn is_of_one(&self, market: u32, events: &RowSet) -> bool {
        let event = self.event_of[market as usize];
        event != NO_EVENT && events.contains(event)
    }

    /// Numbers of wallets that made something.
    pub(crate) fn numbers_of(&self, creators: &[WalletAddress]) -> RowSet {
        let known = creators.iter().filter_map(|it| self.numbers.get(it));
        RowSet::of(known.copied())
    }

    /// Whether a market was made by one of these.
    pub(crate) fn was_made_by(&self, market: u32, numbers: &RowSet) -> bool {
        let creator = self.creator_of[market as usize];
        creator != NOBODY && numbers.contains(creator)
    }

    /// The events of which one of these wallets made it or a market.
    pub(crate) fn events_by(&self, creators: &[WalletAddress]) -> RowSet {
        let known = creators.iter().filter_map(|it| self.numbers.get(it));
        RowSet::of(known.flat_map(|number| self.creators.rows_of(i64::from(*number))))
    }
}
