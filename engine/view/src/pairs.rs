//! Trades of each account in each market, and in how many markets an account has traded.
//!
//! There are many such lists, most of them short: in memory are 10 to 20 bytes of each.

use foretell_model::{AccountNumber, MarketNumber};

use crate::dense::Dense;
use crate::error::Impossible;
use crate::list::{Head, List, Posting, append};
use crate::log::Log;
use crate::row::fixed;
use crate::slot::Packed;
use crate::span::Span;
use crate::trade_rows::TradeRows;

/// A market an account has traded in, and the newest posting in it; without gaps between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traded {
    market: [u8; 4],
    last: Packed,
}

fixed!(Traded {
    market: [u8; 4],
    last: Packed,
});

impl Traded {
    fn of(market: MarketNumber, last: u64) -> Self {
        Self {
            market: market.0.to_le_bytes(),
            last: Packed::of(last),
        }
    }

    const fn market(&self) -> MarketNumber {
        MarketNumber(u32::from_le_bytes(self.market))
    }
}

/// The markets an account has traded in, rising.
type Markets = Vec<Traded>;

/// The newest postings of all lists.
pub(crate) type Newest = Dense<AccountNumber, Markets>;

/// The lists; told of a trade is the account's own row.
#[derive(Debug)]
pub(crate) struct Pairs {
    postings: Log<Posting<Span>>,
    newest: Newest,
}

impl Pairs {
    /// None yet.
    pub(crate) fn new(postings: Log<Posting<Span>>) -> Self {
        Self {
            postings,
            newest: Newest::default(),
        }
    }

    /// Those of an image with so many accounts; `None` when they cannot be.
    pub(crate) fn of(
        postings: Log<Posting<Span>>,
        newest: Newest,
        accounts: usize,
    ) -> Option<Self> {
        let rise =
            |markets: &Markets| markets.is_sorted_by(|one, other| one.market() < other.market());
        let fits = newest.len() == accounts && newest.iter().all(|(_, markets)| rise(markets));
        fits.then_some(Self { postings, newest })
    }

    /// The trades of an account in a market.
    pub(crate) fn list(&self, account: AccountNumber, market: MarketNumber) -> List<'_, Span> {
        let newest = self.newest.get(account).and_then(|markets| {
            let place = place_of(markets, market).ok()?;
            Some(markets[place].last.slot())
        });
        List::ending_with(&self.postings, newest)
    }

    /// In how many markets an account has traded.
    pub(crate) fn markets_of(&self, account: AccountNumber) -> usize {
        self.newest.get(account).map_or(0, Vec::len)
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.newest.push(account, Markets::new())
    }

    /// Appends a trade. Targets rise along a list.
    pub(crate) fn push(
        &mut self,
        (account, market): (AccountNumber, MarketNumber),
        own: TradeRows,
    ) -> Result<(), Impossible> {
        let markets = self.newest.get_mut(account);
        let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
        let place = place_of(markets, market);
        let newest = place.ok().map(|place| markets[place].last.slot());
        let head = List::ending_with(&self.postings, newest).head();
        if newest.is_some() && head == Head::default() {
            return Err(Impossible::HistoryUnreadable);
        }
        let last = append(&mut self.postings, head, own)?.last();
        let newest = Traded::of(market, last);
        match place {
            Ok(place) => markets[place] = newest,
            Err(place) => markets.insert(place, newest),
        }
        Ok(())
    }

    pub(crate) fn newest(&self) -> &Newest {
        &self.newest
    }

    pub(crate) fn postings(&self) -> &Log<Posting<Span>> {
        &self.postings
    }

    pub(crate) fn postings_mut(&mut self) -> &mut Log<Posting<Span>> {
        &mut self.postings
    }
}

fn place_of(markets: &Markets, market: MarketNumber) -> Result<usize, usize> {
    markets.binary_search_by_key(&market, Traded::market)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunking;
    use crate::trade_rows::tests::{Listed, OTHERS, lists_of_trades};

    /// The last of them is whoever else traded.
    const ACCOUNTS: u32 = 4;
    const MARKETS: u32 = 6;

    /// Who traded where.
    fn pair_of(entry: &Listed) -> (AccountNumber, MarketNumber) {
        let account = match entry.list {
            OTHERS => ACCOUNTS - 1,
            list => u32::try_from(list).unwrap(),
        };
        let market = entry.rows.market().0 % MARKETS;
        (AccountNumber(account), MarketNumber(market))
    }

    fn filled(bits: u8, entries: &[Listed]) -> Pairs {
        let mut pairs = Pairs::new(Log::new(Chunking::Bits(bits)));
        for account in 0..ACCOUNTS {
            pairs.open_account(AccountNumber(account)).unwrap();
        }
        for entry in entries {
            pairs.push(pair_of(entry), entry.rows).unwrap();
        }
        pairs
    }

    proptest! {
        #[test]
        fn each_pair_has_its_own_trades(
            entries in lists_of_trades(ACCOUNTS as usize - 1, 150),
            bits in 0..6_u8,
        ) {
            let pairs = filled(bits, &entries);
            let mut plain: BTreeMap<_, Vec<u64>> = BTreeMap::new();
            for entry in &entries {
                plain.entry(pair_of(entry)).or_default().push(entry.slot.0);
            }
            for account in (0..=ACCOUNTS).map(AccountNumber) {
                let markets = plain.keys().filter(|(of, _)| *of == account).count();
                prop_assert_eq!(pairs.markets_of(account), markets);
                for market in (0..=MARKETS).map(MarketNumber) {
                    let list = pairs.list(account, market);
                    let mut listed: Vec<u64> = list.newest_first(list.len()).collect();
                    listed.reverse();
                    let expected = plain.get(&(account, market)).cloned();
                    prop_assert_eq!(listed, expected.unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_no_list() {
        let accounts = |entries: &[&[(u32, u64)]]| {
            let mut newest = Newest::default();
            for (account, markets) in (0..).zip(entries) {
                let markets = markets
                    .iter()
                    .map(|&(market, last)| Traded::of(MarketNumber(market), last));
                newest
                    .push(AccountNumber(account), markets.collect())
                    .unwrap();
            }
            newest
        };
        let of = |entries: &[&[(u32, u64)]], count: usize| {
            Pairs::of(Log::new(Chunking::Bits(2)), accounts(entries), count)
        };
        assert!(of(&[&[(1, 0), (2, 0)], &[]], 2).is_some());
        assert!(of(&[&[(1, 0)]], 2).is_none(), "an account is missing");
        assert!(of(&[&[(2, 0), (1, 0)]], 1).is_none(), "not in order");
        assert!(of(&[&[(1, 0), (1, 1)]], 1).is_none(), "twice");
        // A posting that is not there: an empty list to readers, and no place to append to.
        let mut pairs = of(&[&[(1, 9)]], 1).unwrap();
        let pair = (AccountNumber(0), MarketNumber(1));
        assert_eq!(pairs.list(pair.0, pair.1).len(), 0);
        let own = TradeRows::of_taker(&crate::trade_rows::tests::trade(
            1,
            1,
            1,
            [(foretell_model::Side::Buy, foretell_model::Outcome::Yes); 2],
        ));
        assert_eq!(pairs.push(pair, own), Err(Impossible::HistoryUnreadable));
    }
}
