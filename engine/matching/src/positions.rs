//! Positions: the shares of each account in each market, free and reserved.

use std::ops::{Index, IndexMut};

use foretell_memory::prefetch;
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome};

use crate::slab::Slab;
use crate::table::{KeyHasher, Table};

/// Shares of one account in one market, of `[Yes, No]`.
#[derive(Debug)]
pub(crate) struct Position {
    /// Free shares.
    pub(crate) free: [Lots; 2],
    /// Shares reserved by resting SELLs.
    pub(crate) reserved: [Lots; 2],
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
}

impl Position {
    pub(crate) fn has_shares(&self) -> bool {
        let amounts = self.free.iter().chain(&self.reserved);
        !amounts.copied().all(Lots::is_zero)
    }

    /// Reserves free shares for a resting SELL. The caller has checked that enough are free.
    pub(crate) fn reserve(&mut self, outcome: Outcome, lots: Lots) {
        self.free[outcome.index()] -= lots;
        self.reserved[outcome.index()] += lots;
    }

    pub(crate) fn release(&mut self, outcome: Outcome, lots: Lots) {
        self.reserved[outcome.index()] -= lots;
        self.free[outcome.index()] += lots;
    }
}

/// All positions that hold shares. A position keeps its slot as long: a live SELL, whose shares are
/// reserved, may name it by its slot.
#[derive(Debug)]
pub(crate) struct Positions {
    positions: Slab<Position>,
    by_owner: Table,
    hasher: KeyHasher,
}

impl Positions {
    pub(crate) fn with_capacity(positions: usize, hasher: KeyHasher) -> Self {
        Self {
            positions: Slab::with_capacity(positions),
            by_owner: Table::with_capacity(positions),
            hasher,
        }
    }

    #[inline(always)]
    pub(crate) fn find(&self, account: AccountNumber, market: MarketNumber) -> Option<u32> {
        self.by_owner.find(self.hash(account, market), |slot| {
            let position = &self.positions[slot];
            (position.account, position.market) == (account, market)
        })
    }

    /// Prefetches the index entry of a position with this hash.
    pub(crate) fn prefetch_entry(&self, hash: u32) {
        self.by_owner.prefetch(hash);
    }

    /// Prefetches the most likely position with this hash.
    pub(crate) fn prefetch_likely(&self, hash: u32) {
        if let Some(slot) = self.by_owner.guess(hash) {
            prefetch::item(&self.positions[slot]);
        }
    }

    /// Number of slots, in use or free.
    pub(crate) const fn slots(&self) -> usize {
        self.positions.slots()
    }

    /// The position in a slot, which may be free already.
    pub(crate) fn get(&self, slot: u32) -> Option<&Position> {
        self.positions.get(slot)
    }

    /// Free shares of `[Yes, No]`; zero without a position.
    pub(crate) fn free(&self, account: AccountNumber, market: MarketNumber) -> [Lots; 2] {
        self.find(account, market)
            .map_or([Lots::ZERO; 2], |slot| self.positions[slot].free)
    }

    /// The slot of a position. A new position is empty; the caller must add shares.
    #[inline(always)]
    pub(crate) fn open(&mut self, account: AccountNumber, market: MarketNumber) -> u32 {
        if let Some(slot) = self.find(account, market) {
            return slot;
        }
        let slot = self.positions.insert(Position {
            free: [Lots::ZERO; 2],
            reserved: [Lots::ZERO; 2],
            account,
            market,
        });
        self.by_owner.insert(self.hash(account, market), slot);
        slot
    }

    /// Releases the slot of a position without shares.
    #[inline(always)]
    pub(crate) fn close_if_idle(&mut self, slot: u32) {
        let position = &self.positions[slot];
        if !position.has_shares() {
            let hash = self.hash(position.account, position.market);
            self.by_owner.remove(hash, slot);
            self.positions.release(slot);
        }
    }

    /// Adds free shares.
    #[inline(always)]
    pub(crate) fn credit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) {
        let slot = self.open(account, market);
        self.positions[slot].free[outcome.index()] += lots;
    }

    /// Removes free shares. The caller has checked that enough are free.
    pub(crate) fn debit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) {
        let slot = self
            .find(account, market)
            .expect("the caller checked the shares");
        self.positions[slot].free[outcome.index()] -= lots;
        self.close_if_idle(slot);
    }

    /// Every position with its slot. Allocates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Position)> {
        self.positions.iter()
    }

    /// Checks that the index finds every position and that none is idle.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.by_owner.len() != self.positions.len() {
            return Err("positions: the index has another length".into());
        }
        let mut coming = self.iter().skip(Table::PREFETCH_DISTANCE);
        for (slot, position) in self.iter() {
            if let Some((_, later)) = coming.next() {
                self.prefetch_entry(self.hash(later.account, later.market));
            }
            let (account, market) = (position.account, position.market);
            if self.find(account, market) != Some(slot) {
                return Err(format!("position {account}/{market} is not found"));
            }
            if !position.has_shares() {
                return Err(format!("position {account}/{market} is idle"));
            }
        }
        Ok(())
    }

    /// The hash of (account, market).
    pub(crate) fn hash(&self, account: AccountNumber, market: MarketNumber) -> u32 {
        self.hasher
            .number(u128::from(account.0) << 32 | u128::from(market.0))
    }
}

impl Index<u32> for Positions {
    type Output = Position;
    fn index(&self, slot: u32) -> &Position {
        &self.positions[slot]
    }
}

impl IndexMut<u32> for Positions {
    fn index_mut(&mut self, slot: u32) -> &mut Position {
        &mut self.positions[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: AccountNumber = AccountNumber(3);
    const WHERE: MarketNumber = MarketNumber(5);

    #[test]
    fn a_position_goes_with_its_last_share() {
        let mut positions = Positions::with_capacity(2, KeyHasher::new(1));
        positions.credit(WHO, WHERE, Outcome::No, Lots(10));
        let slot = positions.find(WHO, WHERE).unwrap();
        positions[slot].reserve(Outcome::No, Lots(4));
        positions.debit(WHO, WHERE, Outcome::No, Lots(6));
        assert_eq!(positions.find(WHO, WHERE), Some(slot));
        positions[slot].release(Outcome::No, Lots(4));
        positions.debit(WHO, WHERE, Outcome::No, Lots(4));
        assert_eq!(positions.find(WHO, WHERE), None);
        assert_eq!(positions.free(WHO, WHERE), [Lots::ZERO; 2]);
    }
}
