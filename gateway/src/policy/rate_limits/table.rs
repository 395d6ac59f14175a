//! The windows of all clients, in bounded memory.
//!
//! A set-associative table: client and scope hash to a set of [`SET_WINDOWS`] windows. In a full
//! set the window with the smallest count is evicted. A client with ever new addresses therefore
//! evicts windows with one or two requests, mostly its own; clients near their limit are evicted
//! last, and an evicted client starts with an empty window. The hash is keyed, so clients cannot
//! choose their set.

use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;

use crate::policy::rate_limits::quota_status::{QuotaStatus, RateLimited};
use crate::policy::rate_limits::scopes::{Cap, Scope};
use crate::policy::rate_limits::window::{Millis, Window};

/// Windows of a set.
const SET_WINDOWS: usize = 8;
/// Sets under one lock.
const SETS: usize = 128;

/// Windows by subject (a client, a key) and scope.
pub(crate) struct Table {
    hasher: RandomState,
    shards: Box<[Mutex<Vec<Set>>]>,
}

/// The key of a window.
type Owner = (u64, Scope);

#[derive(Clone)]
struct Set {
    owners: [Option<Owner>; SET_WINDOWS],
    windows: [Window; SET_WINDOWS],
}

impl Set {
    const EMPTY: Self = Self {
        owners: [None; SET_WINDOWS],
        windows: [Window::EMPTY; SET_WINDOWS],
    };

    fn find(&self, owner: Owner) -> Option<&Window> {
        let way = self.way(owner)?;
        Some(&self.windows[way])
    }

    fn way(&self, owner: Owner) -> Option<usize> {
        self.owners.iter().position(|held| *held == Some(owner))
    }

    /// The window of `owner`; if missing, it replaces the one with the smallest count.
    fn make(&mut self, owner: Owner, now: Millis) -> &mut Window {
        let way = self.way(owner).unwrap_or_else(|| {
            let way = self.least(now);
            self.owners[way] = Some(owner);
            self.windows[way] = Window::EMPTY;
            way
        });
        &mut self.windows[way]
    }

    fn least(&self, now: Millis) -> usize {
        let used = |way: &usize| match self.owners[*way] {
            None => 0,
            Some((_, scope)) => self.windows[*way].used(now, scope.slot()),
        };
        (0..SET_WINDOWS).min_by_key(used).unwrap_or_default()
    }
}

impl Table {
    /// Creates a table of `shards` locks and `shards` × 1,024 windows. A shard allocates its
    /// memory, about 120 bytes a window, on first use.
    pub(crate) fn new(shards: usize) -> Self {
        Self {
            hasher: RandomState::new(),
            shards: (0..shards).map(|_| Mutex::default()).collect(),
        }
    }

    /// Adds `cost` to every window of `subject` in `caps`, or to none when one is full. A cost
    /// above a limit counts as the whole limit. `None` without limits.
    pub(crate) fn charge(
        &self,
        now: Millis,
        subject: u64,
        caps: impl Iterator<Item = Cap> + Clone,
        cost: u32,
    ) -> Result<Option<QuotaStatus>, RateLimited> {
        // All windows of a subject share one lock, so check and increment are atomic.
        let mut sets = self.shard(subject).lock();
        if sets.is_empty() {
            sets.resize(SETS, Set::EMPTY);
        }
        for cap in caps.clone() {
            let owner = (subject, cap.scope);
            let Some(window) = sets[self.set(owner)].find(owner) else {
                continue;
            };
            let slot = cap.scope.slot();
            let over = (window.used(now, slot)).saturating_add(cost.min(cap.most));
            if let Some(excess) = over.checked_sub(cap.most)
                && excess > 0
            {
                let wait = window.until_free(now, slot, excess);
                return Err(RateLimited::new(cap, wait));
            }
        }
        let mut closest: Option<QuotaStatus> = None;
        for cap in caps {
            let owner = (subject, cap.scope);
            let slot = cap.scope.slot();
            let window = sets[self.set(owner)].make(owner, now);
            window.add(now, slot, cost.min(cap.most));
            let remaining = cap.most.saturating_sub(window.used(now, slot));
            if closest.is_none_or(|closest| remaining < closest.remaining) {
                closest = Some(QuotaStatus::new(
                    cap,
                    remaining,
                    window.until_free(now, slot, 1),
                ));
            }
        }
        Ok(closest)
    }

    /// Adds `cost` to every window of `subject` in `caps`, full or not.
    pub(crate) fn add(
        &self,
        now: Millis,
        subject: u64,
        caps: impl Iterator<Item = Cap>,
        cost: u32,
    ) {
        let mut sets = self.shard(subject).lock();
        if sets.is_empty() {
            sets.resize(SETS, Set::EMPTY);
        }
        for cap in caps {
            let owner = (subject, cap.scope);
            let window = sets[self.set(owner)].make(owner, now);
            window.add(now, cap.scope.slot(), cost.min(cap.most));
        }
    }

    /// Takes back what was counted at `at`, unless its window is gone.
    pub(crate) fn refund(
        &self,
        at: Millis,
        subject: u64,
        caps: impl Iterator<Item = Cap>,
        count: u32,
    ) {
        let mut sets = self.shard(subject).lock();
        for cap in caps {
            let owner = (subject, cap.scope);
            let set = sets.get_mut(self.set(owner));
            if let Some((set, way)) = set.and_then(|set| set.way(owner).map(|way| (set, way))) {
                set.windows[way].take_back(at, cap.scope.slot(), count);
            }
        }
    }

    fn shard(&self, subject: u64) -> &Mutex<Vec<Set>> {
        let shard = self.hasher.hash_one(subject) % self.shards.len() as u64;
        &self.shards[usize::try_from(shard).expect("less than the number of shards")]
    }

    fn set(&self, owner: Owner) -> usize {
        let set = self.hasher.hash_one(owner) % SETS as u64;
        usize::try_from(set).expect("less than SETS")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(scope: Scope, most: u32) -> Cap {
        Cap { scope, most }
    }

    fn charge(table: &Table, now: Millis, subject: u64, caps: &[Cap], cost: u32) -> Option<u32> {
        let charged = table.charge(now, subject, caps.iter().copied(), cost);
        charged
            .ok()
            .map(|status| status.map_or(u32::MAX, |it| it.remaining))
    }

    #[test]
    fn what_one_window_refuses_burns_nothing_of_another() {
        let table = Table::new(1);
        let both = [cap(Scope::Trading, 3), cap(Scope::Book, 1)];
        assert_eq!(charge(&table, 0, 7, &both, 1), Some(0));
        for _ in 0..10 {
            assert_eq!(charge(&table, 0, 7, &both, 1), None);
        }
        let general = [cap(Scope::Trading, 3)];
        assert_eq!(charge(&table, 0, 7, &general, 1), Some(1));
        assert_eq!(charge(&table, 0, 7, &general, 1), Some(0));
        assert_eq!(charge(&table, 0, 7, &general, 1), None);
        assert_eq!(charge(&table, 0, 8, &both, 1), Some(0), "another client");
        assert_eq!(
            charge(&table, 0, 9, &[], 1),
            Some(u32::MAX),
            "no cap at all"
        );
    }

    #[test]
    fn a_batch_counts_its_orders_and_a_huge_one_takes_the_window() {
        let table = Table::new(1);
        let cap = [cap(Scope::OrderBurst, 20)];
        assert_eq!(charge(&table, 0, 1, &cap, 15), Some(5));
        assert_eq!(charge(&table, 0, 1, &cap, 6), None);
        assert_eq!(charge(&table, 0, 1, &cap, 5), Some(0));
        assert_eq!(charge(&table, 0, 2, &cap, 500), Some(0), "a whole window");
        assert_eq!(charge(&table, 0, 2, &cap, 1), None);
        let refused = table.charge(0, 2, cap.into_iter(), 1).unwrap_err();
        assert_eq!(refused.status.reset, 11, "until the slot has left");
    }

    #[test]
    fn an_attacker_of_many_addresses_neither_grows_memory_nor_frees_the_busy() {
        const BUSY: u64 = u64::MAX;
        let table = Table::new(1);
        let general = [cap(Scope::Trading, 10)];
        assert_eq!(charge(&table, 0, BUSY, &general, 10), Some(0));
        for subject in 0..100_000 {
            assert!(charge(&table, 1, subject, &general, 1).is_some());
        }
        assert_eq!(charge(&table, 2, BUSY, &general, 1), None, "still known");
        assert_eq!(table.shards[0].lock().len(), SETS);
    }
}
