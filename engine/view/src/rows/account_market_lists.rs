//! The trades of each account in each market, and the number of markets of each account.
//!
//! There are many such lists, most of them short; each takes 10 to 20 bytes of memory.

use foretell_model::codec::fixed;
use foretell_model::{AccountNumber, MarketNumber};

use crate::error::Impossible;
use crate::rows::trade_entry::TradeEntry;
use crate::rows::trade_summary::TradeSummary;
use crate::storage::by_number::ByNumber;
use crate::storage::list::{List, ListEnd, Posting, append};
use crate::storage::log::Log;
use crate::storage::slot::Packed;

/// A market in which an account has traded, and its newest posting there. Stored without padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarketEnd {
    market: [u8; 4],
    last: Packed,
}

fixed!(MarketEnd {
    market: [u8; 4],
    last: Packed,
});

impl MarketEnd {
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

/// The markets in which an account has traded, ascending.
type AccountMarkets = Vec<MarketEnd>;

/// The newest postings of all lists.
pub(crate) type NewestPostings = ByNumber<AccountNumber, AccountMarkets>;

/// The lists; each posting has the account's own row of a trade.
#[derive(Debug)]
pub(crate) struct AccountMarketLists {
    postings: Log<Posting<TradeSummary>>,
    newest: NewestPostings,
}

impl AccountMarketLists {
    /// No lists.
    pub(crate) fn new(postings: Log<Posting<TradeSummary>>) -> Self {
        Self {
            postings,
            newest: NewestPostings::default(),
        }
    }

    /// Restores the lists of a snapshot with this number of accounts; `None` when they are
    /// inconsistent.
    pub(crate) fn of(
        postings: Log<Posting<TradeSummary>>,
        newest: NewestPostings,
        accounts: usize,
    ) -> Option<Self> {
        let rise = |markets: &AccountMarkets| {
            markets.is_sorted_by(|one, other| one.market() < other.market())
        };
        let fits = newest.len() == accounts && newest.iter().all(|(_, markets)| rise(markets));
        fits.then_some(Self { postings, newest })
    }

    /// The trades of an account in a market.
    pub(crate) fn list(
        &self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> List<'_, TradeSummary> {
        List::ending_with(&self.postings, self.newest_of(account, market))
    }

    /// Prefetches the newest trade of an account in a market.
    pub(crate) fn prefetch(&self, account: AccountNumber, market: MarketNumber) {
        if let Some(newest) = self.newest_of(account, market) {
            self.postings.prefetch(newest);
        }
    }

    fn newest_of(&self, account: AccountNumber, market: MarketNumber) -> Option<u64> {
        let markets = self.newest.get(account)?;
        let place = place_of(markets, market).ok()?;
        Some(markets[place].last.slot())
    }

    /// Number of markets in which an account has traded.
    pub(crate) fn markets_of(&self, account: AccountNumber) -> usize {
        self.newest.get(account).map_or(0, Vec::len)
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.newest.push(account, AccountMarkets::new())
    }

    /// Appends a trade. Targets ascend along a list.
    pub(crate) fn push(
        &mut self,
        (account, market): (AccountNumber, MarketNumber),
        own: TradeEntry,
    ) -> Result<(), Impossible> {
        let markets = self.newest.get_mut(account);
        let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
        let place = place_of(markets, market);
        let newest = place.ok().map(|place| markets[place].last.slot());
        let end = List::ending_with(&self.postings, newest).end();
        if newest.is_some() && end == ListEnd::default() {
            return Err(Impossible::HistoryUnreadable);
        }
        let last = append(&mut self.postings, end, own)?.last();
        let newest = MarketEnd::of(market, last);
        match place {
            Ok(place) => markets[place] = newest,
            Err(place) => markets.insert(place, newest),
        }
        Ok(())
    }

    pub(crate) fn newest(&self) -> &NewestPostings {
        &self.newest
    }

    pub(crate) fn postings(&self) -> &Log<Posting<TradeSummary>> {
        &self.postings
    }

    pub(crate) fn postings_mut(&mut self) -> &mut Log<Posting<TradeSummary>> {
        &mut self.postings
    }
}

fn place_of(markets: &AccountMarkets, market: MarketNumber) -> Result<usize, usize> {
    markets.binary_search_by_key(&market, MarketEnd::market)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::rows::trade_entry::tests::{Listed, OTHERS, lists_of_trades};
    use crate::storage::chunk::Chunking;

    /// The last account takes the other side of every trade.
    const ACCOUNTS: u32 = 4;
    const MARKETS: u32 = 6;

    /// The account and market of an entry.
    fn pair_of(entry: &Listed) -> (AccountNumber, MarketNumber) {
        let account = match entry.list {
            OTHERS => ACCOUNTS - 1,
            list => u32::try_from(list).unwrap(),
        };
        let market = entry.rows.market().0 % MARKETS;
        (AccountNumber(account), MarketNumber(market))
    }

    fn filled(bits: u8, entries: &[Listed]) -> AccountMarketLists {
        let mut lists = AccountMarketLists::new(Log::new(Chunking::Bits(bits)));
        for account in 0..ACCOUNTS {
            lists.open_account(AccountNumber(account)).unwrap();
        }
        for entry in entries {
            lists.push(pair_of(entry), entry.rows).unwrap();
        }
        lists
    }

    proptest! {
        #[test]
        fn each_pair_has_its_own_trades(
            entries in lists_of_trades(ACCOUNTS as usize - 1, 150),
            bits in 0..6_u8,
        ) {
            let lists = filled(bits, &entries);
            let mut plain: BTreeMap<_, Vec<u64>> = BTreeMap::new();
            for entry in &entries {
                plain.entry(pair_of(entry)).or_default().push(entry.slot.0);
            }
            for account in (0..=ACCOUNTS).map(AccountNumber) {
                let markets = plain.keys().filter(|(of, _)| *of == account).count();
                prop_assert_eq!(lists.markets_of(account), markets);
                for market in (0..=MARKETS).map(MarketNumber) {
                    let list = lists.list(account, market);
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
            let mut newest = NewestPostings::default();
            for (account, markets) in (0..).zip(entries) {
                let markets = markets
                    .iter()
                    .map(|&(market, last)| MarketEnd::of(MarketNumber(market), last));
                newest
                    .push(AccountNumber(account), markets.collect())
                    .unwrap();
            }
            newest
        };
        let of = |entries: &[&[(u32, u64)]], count: usize| {
            AccountMarketLists::of(Log::new(Chunking::Bits(2)), accounts(entries), count)
        };
        assert!(of(&[&[(1, 0), (2, 0)], &[]], 2).is_some());
        assert!(of(&[&[(1, 0)]], 2).is_none(), "an account is missing");
        assert!(of(&[&[(2, 0), (1, 0)]], 1).is_none(), "not in order");
        assert!(of(&[&[(1, 0), (1, 1)]], 1).is_none(), "twice");
        // A missing posting: an empty list for readers, an error for an append.
        let mut lists = of(&[&[(1, 9)]], 1).unwrap();
        let pair = (AccountNumber(0), MarketNumber(1));
        assert_eq!(lists.list(pair.0, pair.1).len(), 0);
        let own = TradeEntry::of_taker(&crate::rows::trade_entry::tests::trade(
            1,
            1,
            1,
            [(foretell_model::Side::Buy, foretell_model::Outcome::Yes); 2],
        ));
        assert_eq!(lists.push(pair, own), Err(Impossible::HistoryUnreadable));
    }
}
