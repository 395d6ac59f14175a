//! Shares: what each account holds of each market, free and reserved.

use std::ops::{Index, IndexMut};

use foretell_memory::near::bring;
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome};

use crate::slab::Slab;
use crate::table::{KeyHasher, Table};

/// Shares of one account in one market, of `[Yes, No]`.
#[derive(Debug)]
pub(crate) struct Position {
    /// Not reserved.
    pub(crate) free: [Lots; 2],
    /// Of resting SELLs.
    pub(crate) reserved: [Lots; 2],
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    /// Resting orders that know this place.
    pub(crate) orders: u32,
}

impl Position {
    pub(crate) fn holds_something(&self) -> bool {
        let amounts = self.free.iter().chain(&self.reserved);
        !amounts.copied().all(Lots::is_zero)
    }

    /// Sets free shares aside for a resting SELL; the caller has seen that they are there.
    pub(crate) fn reserve(&mut self, outcome: Outcome, lots: Lots) {
        self.free[outcome.index()] -= lots;
        self.reserved[outcome.index()] += lots;
    }

    pub(crate) fn release(&mut self, outcome: Outcome, lots: Lots) {
        self.reserved[outcome.index()] -= lots;
        self.free[outcome.index()] += lots;
    }
}

/// All positions that hold something or serve a resting order. A position keeps its place as long
/// as either is true.
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
        self.by_owner.find(self.hash(account, market), |place| {
            let position = &self.positions[place];
            (position.account, position.market) == (account, market)
        })
    }

    /// Brings near where a position with this hash is looked for.
    pub(crate) fn bring_entry(&self, hash: u32) {
        self.by_owner.bring(hash);
    }

    /// Brings near what is most likely the position with this hash.
    pub(crate) fn bring_likely(&self, hash: u32) {
        if let Some(place) = self.by_owner.guess(hash) {
            bring(&self.positions[place]);
        }
    }

    /// How many places there are, in use or not.
    pub(crate) const fn places(&self) -> usize {
        self.positions.places()
    }

    /// What is, or was, at a place.
    pub(crate) fn get(&self, place: u32) -> Option<&Position> {
        self.positions.get(place)
    }

    /// Free shares of `[Yes, No]`; none where there is no position.
    pub(crate) fn free(&self, account: AccountNumber, market: MarketNumber) -> [Lots; 2] {
        self.find(account, market)
            .map_or([Lots::ZERO; 2], |place| self.positions[place].free)
    }

    /// The place of a position, empty if it is new: the caller puts something in.
    #[inline(always)]
    pub(crate) fn open(&mut self, account: AccountNumber, market: MarketNumber) -> u32 {
        if let Some(place) = self.find(account, market) {
            return place;
        }
        let place = self.positions.insert(Position {
            free: [Lots::ZERO; 2],
            reserved: [Lots::ZERO; 2],
            account,
            market,
            orders: 0,
        });
        self.by_owner.insert(self.hash(account, market), place);
        place
    }

    /// Gives up a place that serves nothing any more.
    #[inline(always)]
    pub(crate) fn close_if_idle(&mut self, place: u32) {
        let position = &self.positions[place];
        if position.orders == 0 && !position.holds_something() {
            let hash = self.hash(position.account, position.market);
            self.by_owner.remove(hash, place);
            self.positions.release(place);
        }
    }

    /// Adds free shares.
    pub(crate) fn credit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) {
        let place = self.open(account, market);
        self.positions[place].free[outcome.index()] += lots;
    }

    /// Takes free shares; the caller has seen that they are there.
    pub(crate) fn debit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) {
        let place = self
            .find(account, market)
            .expect("shares that were seen have a position");
        self.positions[place].free[outcome.index()] -= lots;
        self.close_if_idle(place);
    }

    /// Every position with its place. Allocates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Position)> {
        self.positions.iter()
    }

    /// The first position that is not found by account and market, or that nothing keeps.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.by_owner.len() != self.positions.len() {
            return Err("positions: their index has another length".into());
        }
        let mut coming = self.iter().skip(Table::CHECKED_AHEAD);
        for (place, position) in self.iter() {
            if let Some((_, later)) = coming.next() {
                self.bring_entry(self.hash(later.account, later.market));
            }
            let (account, market) = (position.account, position.market);
            if self.find(account, market) != Some(place) {
                return Err(format!("position {account}/{market} is not found"));
            }
            if position.orders == 0 && !position.holds_something() {
                return Err(format!("position {account}/{market} is idle"));
            }
        }
        Ok(())
    }

    /// The hash of a pair.
    pub(crate) fn hash(&self, account: AccountNumber, market: MarketNumber) -> u32 {
        self.hasher
            .number(u128::from(account.0) << 32 | u128::from(market.0))
    }
}

impl Index<u32> for Positions {
    type Output = Position;
    fn index(&self, place: u32) -> &Position {
        &self.positions[place]
    }
}

impl IndexMut<u32> for Positions {
    fn index_mut(&mut self, place: u32) -> &mut Position {
        &mut self.positions[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: AccountNumber = AccountNumber(3);
    const WHERE: MarketNumber = MarketNumber(5);

    #[test]
    fn a_position_goes_when_its_last_share_and_order_go() {
        let mut positions = Positions::with_capacity(2, KeyHasher::new(1));
        positions.credit(WHO, WHERE, Outcome::No, Lots(10));
        let place = positions.find(WHO, WHERE).unwrap();
        positions[place].orders = 1;
        positions[place].reserve(Outcome::No, Lots(4));
        positions.debit(WHO, WHERE, Outcome::No, Lots(6));
        positions[place].release(Outcome::No, Lots(4));
        positions.debit(WHO, WHERE, Outcome::No, Lots(4));
        assert_eq!(positions.find(WHO, WHERE), Some(place));
        positions[place].orders = 0;
        positions.close_if_idle(place);
        assert_eq!(positions.find(WHO, WHERE), None);
        assert_eq!(positions.free(WHO, WHERE), [Lots::ZERO; 2]);
    }
}
