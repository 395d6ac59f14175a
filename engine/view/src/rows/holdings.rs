//! Holdings: what each account has in each market. A trade changes the balance, a position and the
//! list of trades of both accounts, so these are found by one look-up. The list remains when no share
//! is left.

use core::ops::Bound;

use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, TimeNs};

use crate::error::Impossible;
use crate::rows::balance::Balance;
use crate::rows::holders::Holders;
use crate::rows::position::Position;
use crate::rows::trade_summary::TradeSummary;
use crate::storage::by_number::ByNumber;
use crate::storage::list::ListEnd;

/// A position with shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenPosition {
    /// Its cost and profit.
    pub position: Position,
    /// When it last changed.
    pub time: TimeNs,
}

/// What an account has or had in a market.
#[derive(Default, Debug)]
pub(crate) struct Holding {
    /// The end of the list of its trades.
    pub(crate) trades: ListEnd<TradeSummary>,
    shares: Option<Box<Shares>>,
}

/// The shares of a holding, and what they cost.
#[derive(Default, Debug)]
pub(crate) struct Shares {
    pub(crate) balance: Balance,
    /// By outcome; without shares if none is open.
    positions: [Position; 2],
    /// When each open one last changed.
    changed: [TimeNs; 2],
}

stored!(Shares {
    balance: Balance,
    positions: [Position; 2],
    changed: [TimeNs; 2],
});

impl Shares {
    /// The position in an outcome, to change it at a time.
    pub(crate) fn position_at(&mut self, outcome: Outcome, time: TimeNs) -> &mut Position {
        self.changed[outcome.index()] = time;
        &mut self.positions[outcome.index()]
    }

    fn open(&self, outcome: Outcome) -> Option<OpenPosition> {
        let open = OpenPosition {
            position: self.positions[outcome.index()],
            time: self.changed[outcome.index()],
        };
        (!open.position.is_closed()).then_some(open)
    }
}

impl Holding {
    /// Its open position in an outcome.
    fn open(&self, outcome: Outcome) -> Option<OpenPosition> {
        self.shares.as_ref()?.open(outcome)
    }

    /// Its shares, to change them.
    pub(crate) fn shares(&mut self) -> &mut Shares {
        self.shares.get_or_insert_default()
    }

    /// Frees the memory of shares when there are none.
    pub(crate) fn free_empty(&mut self) {
        self.shares.take_if(|shares| {
            shares.balance.is_empty() && shares.positions.iter().all(Position::is_closed)
        });
    }
}

impl Stored for Holding {
    fn put(&self, out: &mut Vec<u8>) {
        self.trades.put(out);
        self.shares.is_some().put(out);
        self.shares.iter().for_each(|shares| shares.put(out));
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let trades = Stored::take(from)?;
        let shares = match bool::take(from)? {
            true => Some(Box::new(Shares::take(from)?)),
            false => None,
        };
        Ok(Self { trades, shares })
    }
}

/// The row of a holding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldingSlot(u32);

/// The markets in which an account has or had a holding, ascending.
type AccountMarkets = Vec<(MarketNumber, HoldingSlot)>;

/// All holdings.
#[derive(Debug, Default)]
pub struct Holdings {
    rows: Vec<Holding>,
    of_account: ByNumber<AccountNumber, AccountMarkets>,
}

impl Holdings {
    /// The holding of an account in a market, if it ever had one.
    pub(crate) fn get(&self, account: AccountNumber, market: MarketNumber) -> Option<&Holding> {
        let markets = self.of_account.get(account)?;
        let place = place_of(markets, market).ok()?;
        Some(self.row(markets[place].1))
    }

    /// The balance of an account in a market.
    #[must_use]
    pub fn balance(&self, account: AccountNumber, market: MarketNumber) -> Balance {
        let shares = (self.get(account, market)).and_then(|holding| holding.shares.as_ref());
        shares.map_or_else(Balance::default, |shares| shares.balance)
    }

    /// The non-empty balances of an account, by market.
    pub fn balances(
        &self,
        account: AccountNumber,
    ) -> impl Iterator<Item = (MarketNumber, &Balance)> {
        let held = (self.of(account))
            .filter_map(|(market, holding)| Some((market, &holding.shares.as_ref()?.balance)));
        held.filter(|(_, balance)| !balance.is_empty())
    }

    /// Number of markets in which an account has traded.
    #[must_use]
    pub fn traded_markets(&self, account: AccountNumber) -> usize {
        let holdings = self.of(account);
        holdings.filter(|(_, held)| !held.trades.is_empty()).count()
    }

    /// The open position of an account in a token.
    #[must_use]
    pub fn open(
        &self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
    ) -> Option<OpenPosition> {
        self.get(account, market)?.open(outcome)
    }

    /// The open positions of an account, ordered by market and outcome: those after a token, or
    /// all.
    pub fn open_of(
        &self,
        account: AccountNumber,
        after: Option<(MarketNumber, Outcome)>,
    ) -> impl Iterator<Item = (MarketNumber, Outcome, OpenPosition)> {
        let from = after.map_or(Bound::Unbounded, |(market, _)| Bound::Included(market));
        let open = self.from(account, from).flat_map(|(market, holding)| {
            let outcomes = Outcome::ALL.iter();
            outcomes.filter_map(move |&outcome| Some((market, outcome, holding.open(outcome)?)))
        });
        open.filter(move |(market, outcome, _)| after.is_none_or(|it| (*market, *outcome) > it))
    }

    /// The holdings of an account, also empty ones, by market.
    fn of(&self, account: AccountNumber) -> impl Iterator<Item = (MarketNumber, &Holding)> {
        self.from(account, Bound::Unbounded)
    }

    fn from(
        &self,
        account: AccountNumber,
        first: Bound<MarketNumber>,
    ) -> impl Iterator<Item = (MarketNumber, &Holding)> {
        let markets = self.of_account.get(account).map_or(&[][..], Vec::as_slice);
        let first = match first {
            Bound::Included(market) => place_of(markets, market).unwrap_or_else(|place| place),
            _ => 0,
        };
        let rows = markets[first..].iter();
        rows.map(|&(market, slot)| (market, self.row(slot)))
    }

    /// Adds an account without holdings.
    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.of_account.push(account, AccountMarkets::new())
    }

    /// The holding of an account in a market, which may be a new one.
    pub(crate) fn slot_of(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> Result<HoldingSlot, Impossible> {
        let markets = self.of_account.get_mut(account);
        let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
        match place_of(markets, market) {
            Ok(place) => Ok(markets[place].1),
            Err(place) => {
                let slot = u32::try_from(self.rows.len()).map_err(|_| Impossible::Full)?;
                self.rows.push(Holding::default());
                markets.insert(place, (market, HoldingSlot(slot)));
                Ok(HoldingSlot(slot))
            }
        }
    }

    fn row(&self, HoldingSlot(slot): HoldingSlot) -> &Holding {
        &self.rows[slot as usize]
    }

    pub(crate) fn at(&mut self, HoldingSlot(slot): HoldingSlot) -> &mut Holding {
        &mut self.rows[slot as usize]
    }

    /// Changes the balance of an account in a market.
    pub(crate) fn change_balance(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        change: impl FnOnce(&mut Balance) -> Result<(), Impossible>,
    ) -> Result<(), Impossible> {
        let slot = self.slot_of(account, market)?;
        change(&mut self.at(slot).shares().balance)
    }

    /// Number of accounts.
    pub(crate) fn accounts(&self) -> usize {
        self.of_account.len()
    }

    /// The holders of all tokens of this number of markets; `None` if there are more markets.
    pub(crate) fn holders(&self, markets: usize) -> Option<Holders> {
        let mut holders = Holders::default();
        (0..markets).for_each(|_| holders.open());
        for (account, rows) in self.of_account.iter() {
            for &(market, slot) in rows {
                for &outcome in Outcome::ALL {
                    let lots = |open: OpenPosition| open.position.lots();
                    let lots = self.row(slot).open(outcome).map_or(Lots::ZERO, lots);
                    holders.add((market, outcome), account, lots);
                }
            }
            let last = rows.last();
            if last.is_some_and(|(market, _)| market.0 as usize >= markets) {
                return None;
            }
        }
        Some(holders)
    }
}

/// The holdings of each account, by market.
impl Stored for Holdings {
    fn put(&self, out: &mut Vec<u8>) {
        let count = |count: usize| u32::try_from(count).expect("dense numbers have 32 bits");
        count(self.of_account.len()).put(out);
        for (_, markets) in self.of_account.iter() {
            count(markets.len()).put(out);
            for &(market, slot) in markets {
                market.put(out);
                self.row(slot).put(out);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let inconsistent = || CodecError::Inconsistent("holdings of an account");
        let mut holdings = Self::default();
        for account in (0..u32::take(from)?).map(AccountNumber) {
            (holdings.open_account(account)).map_err(|_| inconsistent())?;
            let mut last = None;
            for _ in 0..u32::take(from)? {
                let market = MarketNumber::take(from)?;
                if last >= Some(market) {
                    return Err(inconsistent());
                }
                last = Some(market);
                let slot = holdings.slot_of(account, market);
                *holdings.at(slot.map_err(|_| inconsistent())?) = Stored::take(from)?;
            }
        }
        Ok(holdings)
    }
}

fn place_of(markets: &[(MarketNumber, HoldingSlot)], market: MarketNumber) -> Result<usize, usize> {
    markets.binary_search_by_key(&market, |(market, _)| *market)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holding_without_shares_keeps_its_list_alone() {
        let mut holding = Holding::default();
        let lots = Lots(5);
        let balance = &mut holding.shares().balance;
        balance.give(Outcome::No, lots).unwrap();
        balance.reserve(Outcome::No, lots).unwrap();
        holding.free_empty();
        assert!(holding.shares.is_some());
        let balance = &mut holding.shares().balance;
        balance.take_reserved(Outcome::No, lots).unwrap();
        let position = holding.shares().position_at(Outcome::No, TimeNs(1));
        position.buy(lots, 0);
        holding.free_empty();
        assert!(holding.open(Outcome::No).is_some());
        *holding.shares().position_at(Outcome::No, TimeNs(2)) = Position::default();
        holding.free_empty();
        assert!(holding.shares.is_none());
    }

    #[test]
    fn only_ascending_markets_of_an_account_are_read() {
        let read = |markets: &[u32]| {
            let mut bytes = Vec::new();
            1_u32.put(&mut bytes);
            u32::try_from(markets.len()).unwrap().put(&mut bytes);
            for market in markets.iter().copied().map(MarketNumber) {
                (market, Holding::default()).put(&mut bytes);
            }
            let holdings = Holdings::take(&mut &bytes[..]).ok()?;
            let mut again = Vec::new();
            holdings.put(&mut again);
            assert_eq!(again, bytes);
            Some(holdings)
        };
        assert!(read(&[]).is_some() && read(&[1, 2, 256]).is_some());
        assert!(read(&[2, 1]).is_none() && read(&[256, 2]).is_none());
        assert!(read(&[1, 1]).is_none());
    }
}
