//! What every account holds in every market.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;
use foretell_memory::near::bring;
use foretell_model::{AccountNumber, MarketNumber};

use super::finder::Finder;

/// Shares an account holds in a market, of `[Yes, No]`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Holding {
    pub(crate) free: [u64; 2],
    pub(crate) reserved: [u64; 2],
}

/// Holdings by account and market, in the order they came up.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    held: Vec<Held>,
    places: Finder,
    hashing: RandomState,
}

#[derive(Debug)]
struct Held {
    account: AccountNumber,
    market: MarketNumber,
    holding: Holding,
}

impl Holdings {
    pub(crate) fn of(&self, account: AccountNumber, market: MarketNumber) -> Holding {
        let place = self.find(account, market, self.hash(account, market));
        place.map_or_else(Holding::default, |place| self.held[place].holding)
    }

    /// The same, to be changed: it comes up when it was not known.
    #[inline]
    pub(super) fn of_mut(&mut self, account: AccountNumber, market: MarketNumber) -> &mut Holding {
        let hash = self.hash(account, market);
        let place = self.find(account, market, hash).unwrap_or_else(|| {
            self.places.insert(hash, self.held.len());
            self.held.push(Held {
                account,
                market,
                holding: Holding::default(),
            });
            self.held.len() - 1
        });
        &mut self.held[place].holding
    }

    /// All that ever came up.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (AccountNumber, MarketNumber, Holding)> + '_ {
        let held = self.held.iter();
        held.map(|held| (held.account, held.market, held.holding))
    }

    /// Brings near where one is looked for.
    pub(super) fn foresee(&self, account: AccountNumber, market: MarketNumber) {
        self.places.foresee(self.hash(account, market));
    }

    /// Once that is near: what is found there, most likely it.
    pub(super) fn foresee_found(&self, account: AccountNumber, market: MarketNumber) {
        let found = self.places.find(self.hash(account, market), |_| true);
        if let Some(held) = found.and_then(|place| self.held.get(place)) {
            bring(held);
        }
    }

    fn find(&self, account: AccountNumber, market: MarketNumber, hash: u64) -> Option<usize> {
        self.places.find(hash, |place| {
            let held = &self.held[place];
            (held.account, held.market) == (account, market)
        })
    }

    fn hash(&self, account: AccountNumber, market: MarketNumber) -> u64 {
        let mut hasher = self.hashing.build_hasher();
        hasher.write_u64(u64::from(account.0) << 32 | u64::from(market.0));
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holding_is_that_of_its_account_in_its_market() {
        let mut holdings = Holdings::default();
        let numbers = || (0..60).flat_map(|account| (0..60).map(move |market| (account, market)));
        let key = |(account, market)| (AccountNumber(account), MarketNumber(market));
        for (index, (account, market)) in numbers().map(key).enumerate() {
            assert_eq!(holdings.of(account, market), Holding::default());
            holdings.of_mut(account, market).free[0] = index as u64;
            holdings.foresee(account, market);
            holdings.foresee_found(account, market);
        }
        for (index, (account, market)) in numbers().map(key).enumerate() {
            assert_eq!(holdings.of(account, market).free, [index as u64, 0]);
        }
        let all = holdings
            .iter()
            .map(|(account, market, _)| (account.0, market.0));
        assert!(all.eq(numbers()));
    }
}
