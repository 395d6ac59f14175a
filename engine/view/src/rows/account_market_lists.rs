//! The ends of the lists of trades of each account in each market, and the number of markets of each
//! account.
//!
//! There are many such lists, most of them short; each takes 16 to 32 bytes of memory.

use foretell_model::codec::{CodecError, Stored, fixed};
use foretell_model::{AccountNumber, MarketNumber};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;
use crate::storage::list::ListEnd;

/// A market in which an account has traded, and the end of its list. Stored without padding.
#[derive(Clone, Copy, Debug)]
struct MarketEnd {
    market: [u8; 4],
    end: ListEnd,
}

fixed!(MarketEnd {
    market: [u8; 4],
    end: ListEnd,
});

impl MarketEnd {
    const fn market(&self) -> MarketNumber {
        MarketNumber(u32::from_le_bytes(self.market))
    }
}

/// The markets in which an account has traded, ascending.
type AccountMarkets = Vec<MarketEnd>;

/// The ends of the lists.
#[derive(Debug, Default)]
pub(crate) struct AccountMarketEnds {
    ends: ByNumber<AccountNumber, AccountMarkets>,
}

impl Stored for AccountMarketEnds {
    fn put(&self, out: &mut Vec<u8>) {
        self.ends.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let ends = ByNumber::<_, AccountMarkets>::take(from)?;
        let rise = |markets: &AccountMarkets| {
            markets.is_sorted_by(|one, other| one.market() < other.market())
        };
        let all_rise = ends.iter().all(|(_, markets)| rise(markets));
        let inconsistent = CodecError::Inconsistent("markets of an account");
        all_rise.then_some(Self { ends }).ok_or(inconsistent)
    }
}

impl AccountMarketEnds {
    /// Number of accounts.
    pub(crate) fn accounts(&self) -> usize {
        self.ends.len()
    }

    /// The end of the list of an account in a market.
    pub(crate) fn get(&self, account: AccountNumber, market: MarketNumber) -> Option<&ListEnd> {
        let markets = self.ends.get(account)?;
        let place = place_of(markets, market).ok()?;
        Some(&markets[place].end)
    }

    /// Number of markets in which an account has traded.
    pub(crate) fn markets_of(&self, account: AccountNumber) -> usize {
        self.ends.get(account).map_or(0, Vec::len)
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.ends.push(account, AccountMarkets::new())
    }

    /// The end of the list of an account in a market, which may be a new one.
    pub(crate) fn end_of(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> Result<&mut ListEnd, Impossible> {
        let markets = self.ends.get_mut(account);
        let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
        let place = place_of(markets, market).unwrap_or_else(|place| {
            let (market, end) = (market.0.to_le_bytes(), ListEnd::default());
            markets.insert(place, MarketEnd { market, end });
            place
        });
        Ok(&mut markets[place].end)
    }
}

fn place_of(markets: &AccountMarkets, market: MarketNumber) -> Result<usize, usize> {
    markets.binary_search_by_key(&market, MarketEnd::market)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascending_markets_of_an_account_are_read() {
        let read = |markets: &[u32]| {
            let mut ends = AccountMarketEnds::default();
            ends.open_account(AccountNumber(0)).unwrap();
            let markets = markets.iter().map(|market| MarketEnd {
                market: market.to_le_bytes(),
                end: ListEnd::default(),
            });
            *ends.ends.get_mut(AccountNumber(0)).unwrap() = markets.collect();
            let mut bytes = Vec::new();
            ends.put(&mut bytes);
            AccountMarketEnds::take(&mut &bytes[..]).is_ok()
        };
        assert!(read(&[]) && read(&[1, 2, 256]));
        assert!(!read(&[2, 1]) && !read(&[256, 2]) && !read(&[1, 1]));
    }
}
