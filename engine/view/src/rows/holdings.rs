//! Holdings: what each account has in each market. A trade changes the balance, a position and the
//! list of trades of both accounts, so these are found by one look-up. When no share is left, the list
//! remains.

use foretell_model::codec::{CodecError, Fixed, Stored, fixed};
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, TimeNs};

use crate::error::Impossible;
use crate::rows::balance::Balance;
use crate::rows::holders::Holders;
use crate::rows::position::Position;
use crate::rows::trade_summary::TradeSummary;
use crate::storage::by_number::ByNumber;
use crate::storage::list::ListEnd;

fixed! {
    /// A position with shares.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct OpenPosition {
        /// Its cost and profit.
        pub position: Position,
        /// When it last changed.
        pub time: TimeNs,
    }
}

/// What an account has or had in a market.
#[derive(Default, Debug)]
pub(crate) struct Holding {
    /// The end of the list of its trades.
    trades: ListEnd<TradeSummary>,
    shares: Option<Box<Shares>>,
}

/// The shares of a holding, and what they cost.
#[derive(Default, Debug)]
pub(crate) struct Shares {
    pub(crate) balance: Balance,
    /// By outcome; the default if none is open.
    open: [OpenPosition; 2],
}

impl Shares {
    /// The open position in an outcome, which may be a new one.
    pub(crate) fn open_mut(&mut self, outcome: Outcome) -> &mut OpenPosition {
        &mut self.open[outcome.index()]
    }

    fn is_empty(&self) -> bool {
        self.balance.is_empty() && self.open.iter().all(|open| open.position.is_closed())
    }
}

impl Stored for Shares {
    fn put(&self, out: &mut Vec<u8>) {
        self.balance.put(out);
        self.open.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let (balance, open) = Stored::take(from)?;
        let shares = Self { balance, open };
        let is_sane = |it: &OpenPosition| !it.position.is_closed() || *it == Default::default();
        match !shares.is_empty() && shares.open.iter().all(is_sane) {
            true => Ok(shares),
            false => Err(CodecError::Inconsistent("shares")),
        }
    }
}

impl Holding {
    /// The end of the list of its trades.
    pub(crate) fn trades(&self) -> &ListEnd<TradeSummary> {
        &self.trades
    }

    /// Its shares, to change them.
    pub(crate) fn shares_mut(&mut self) -> &mut Shares {
        self.shares.get_or_insert_default()
    }

    /// Frees the memory of shares when there are none.
    pub(crate) fn drop_empty_shares(&mut self) {
        self.shares.take_if(|shares| shares.is_empty());
    }

    fn open(&self, outcome: Outcome) -> Option<OpenPosition> {
        let open = self.shares.as_ref()?.open[outcome.index()];
        (!open.position.is_closed()).then_some(open)
    }

    /// Whether the account neither traded nor has shares there.
    fn is_empty(&self) -> bool {
        self.trades.is_empty() && self.shares.is_none()
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

/// The markets in which an account has or had a holding.
#[derive(Default, Debug)]
struct AccountMarkets {
    /// Ascending.
    slots: Vec<(MarketNumber, HoldingSlot)>,
    /// Number of those in which it traded.
    traded: usize,
}

impl AccountMarkets {
    fn find(&self, market: MarketNumber) -> Result<usize, usize> {
        self.slots
            .binary_search_by_key(&market, |(market, _)| *market)
    }
}

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
        let place = markets.find(market).ok()?;
        Some(self.row(markets.slots[place].1))
    }

    /// The balance of an account in a market.
    #[must_use]
    pub fn balance(&self, account: AccountNumber, market: MarketNumber) -> Balance {
        let shares = (self.get(account, market)).and_then(|holding| holding.shares.as_ref());
        shares.map_or_else(Balance::default, |shares| shares.balance)
    }

    /// The non-empty balances of an account, by market. Every market of its past is visited.
    pub fn balances(
        &self,
        account: AccountNumber,
    ) -> impl Iterator<Item = (MarketNumber, &Balance)> {
        let balances = (self.since(account, None))
            .filter_map(|(market, holding)| Some((market, &holding.shares.as_ref()?.balance)));
        balances.filter(|(_, balance)| !balance.is_empty())
    }

    /// Whether an account has shares, as far as the first `most` markets of its past show.
    #[must_use]
    pub fn has_shares(&self, account: AccountNumber, most: usize) -> bool {
        let mut holdings = self.since(account, None).take(most);
        holdings
            .any(|(_, holding)| (holding.shares.as_ref()).is_some_and(|it| !it.balance.is_empty()))
    }

    /// Number of markets in which an account has traded.
    #[must_use]
    pub fn traded_markets(&self, account: AccountNumber) -> usize {
        self.of_account
            .get(account)
            .map_or(0, |markets| markets.traded)
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

    /// The tokens of all markets in which an account has or had shares, by market and outcome: those
    /// after a token, or all; with its open position in each. Most may be closed, so a reader that must
    /// be short bounds the tokens it visits.
    pub fn tokens_of(
        &self,
        account: AccountNumber,
        after: Option<(MarketNumber, Outcome)>,
    ) -> impl Iterator<Item = (MarketNumber, Outcome, Option<OpenPosition>)> {
        let holdings = self.since(account, after.map(|(market, _)| market));
        let tokens = holdings.flat_map(|(market, holding)| {
            let outcomes = Outcome::ALL.iter();
            outcomes.map(move |&outcome| (market, outcome, holding.open(outcome)))
        });
        tokens.filter(move |(market, outcome, _)| after.is_none_or(|it| (*market, *outcome) > it))
    }

    /// The holdings of an account from a market on, also empty ones.
    fn since(
        &self,
        account: AccountNumber,
        first: Option<MarketNumber>,
    ) -> impl Iterator<Item = (MarketNumber, &Holding)> {
        let markets = self.of_account.get(account).into_iter();
        let slots = markets.flat_map(move |markets| {
            let place = first.map_or(Ok(0), |market| markets.find(market));
            &markets.slots[place.unwrap_or_else(|place| place)..]
        });
        slots.map(|&(market, slot)| (market, self.row(slot)))
    }

    /// Adds an account without holdings.
    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.of_account.push(account, AccountMarkets::default())
    }

    /// The holding of an account in a market, which may be a new one.
    pub(crate) fn slot_of(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> Result<HoldingSlot, Impossible> {
        let markets = self.of_account.get_mut(account);
        let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
        match markets.find(market) {
            Ok(place) => Ok(markets.slots[place].1),
            Err(place) => {
                let slot = push_row(&mut self.rows, Holding::default())?;
                markets.slots.insert(place, (market, slot));
                Ok(slot)
            }
        }
    }

    /// The end of the list of a holding's trades, which gets one more.
    pub(crate) fn trades_mut(
        &mut self,
        account: AccountNumber,
        HoldingSlot(slot): HoldingSlot,
    ) -> &mut ListEnd<TradeSummary> {
        let trades = &mut self.rows[slot as usize].trades;
        if trades.is_empty()
            && let Some(markets) = self.of_account.get_mut(account)
        {
            markets.traded += 1;
        }
        trades
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
        let holding = self.at(slot);
        change(&mut holding.shares_mut().balance)?;
        holding.drop_empty_shares();
        Ok(())
    }

    /// Number of accounts.
    pub(crate) fn accounts(&self) -> usize {
        self.of_account.len()
    }

    /// The holders of all tokens of this number of markets; `None` if there are more markets.
    pub(crate) fn holders(&self, all_markets: usize) -> Option<Holders> {
        let mut holders = Holders::default();
        (0..all_markets).for_each(|_| holders.open());
        for (account, markets) in self.of_account.iter() {
            for &(market, slot) in &markets.slots {
                for &outcome in Outcome::ALL {
                    let lots = |open: OpenPosition| open.position.lots();
                    let lots = self.row(slot).open(outcome).map_or(Lots::ZERO, lots);
                    holders.add((market, outcome), account, lots);
                }
            }
            let last = markets.slots.last();
            if last.is_some_and(|(market, _)| market.0 as usize >= all_markets) {
                return None;
            }
        }
        Some(holders)
    }
}

fn push_row(rows: &mut Vec<Holding>, holding: Holding) -> Result<HoldingSlot, Impossible> {
    let slot = u32::try_from(rows.len()).map_err(|_| Impossible::Full)?;
    rows.push(holding);
    Ok(HoldingSlot(slot))
}

/// The holdings of each account that are not empty, by market.
impl Stored for Holdings {
    fn put(&self, out: &mut Vec<u8>) {
        let count = |count: usize| u32::try_from(count).expect("dense numbers have 32 bits");
        count(self.of_account.len()).put(out);
        for (account, _) in self.of_account.iter() {
            let at = out.len();
            0_u32.put(out);
            let mut holdings = 0;
            for (market, holding) in self.since(account, None) {
                if !holding.is_empty() {
                    market.put(out);
                    holding.put(out);
                    holdings += 1;
                }
            }
            out[at..at + u32::SIZE].copy_from_slice(&count(holdings).to_le_bytes());
        }
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let inconsistent = || CodecError::Inconsistent("holdings of an account");
        let mut holdings = Self::default();
        for account in (0..u32::take(from)?).map(AccountNumber) {
            let mut markets = AccountMarkets::default();
            for _ in 0..u32::take(from)? {
                let (market, holding) = <(MarketNumber, Holding)>::take(from)?;
                let last = markets.slots.last();
                if last.is_some_and(|(last, _)| *last >= market) || holding.is_empty() {
                    return Err(inconsistent());
                }
                markets.traded += usize::from(!holding.trades.is_empty());
                let slot = push_row(&mut holdings.rows, holding).map_err(|_| inconsistent())?;
                markets.slots.push((market, slot));
            }
            let added = holdings.of_account.push(account, markets);
            added.map_err(|_| inconsistent())?;
        }
        Ok(holdings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::position::Basis;

    const LOTS: Lots = Lots(5);

    fn held(lots: Lots) -> Holding {
        let mut holding = Holding::default();
        let shares = holding.shares_mut();
        shares.balance.give(Outcome::No, lots).unwrap();
        shares
            .open_mut(Outcome::No)
            .position
            .buy(lots, Basis::default());
        holding
    }

    #[test]
    fn shares_are_dropped_when_balance_and_positions_are_empty() {
        let mut holding = held(LOTS);
        let balance = &mut holding.shares_mut().balance;
        balance.take(Outcome::No, LOTS).unwrap();
        holding.drop_empty_shares();
        assert!(holding.open(Outcome::No).is_some());
        *holding.shares_mut().open_mut(Outcome::No) = OpenPosition::default();
        holding.drop_empty_shares();
        assert!(holding.shares.is_none());
        let balance = &mut holding.shares_mut().balance;
        balance.give(Outcome::Yes, LOTS).unwrap();
        holding.drop_empty_shares();
        assert!(holding.shares.is_some());
    }

    #[test]
    fn tokens_after_a_token_are_visited_with_closed_ones_between() {
        let mut holdings = Holdings::default();
        let account = AccountNumber(0);
        holdings.open_account(account).unwrap();
        for (market, holding) in [(3, held(LOTS)), (1, held(LOTS)), (2, Holding::default())] {
            let slot = holdings.slot_of(account, MarketNumber(market)).unwrap();
            *holdings.at(slot) = holding;
        }
        let tokens = |after: Option<(u32, Outcome)>| {
            let after = after.map(|(market, outcome)| (MarketNumber(market), outcome));
            let tokens = holdings.tokens_of(account, after);
            let shown = |(market, outcome, open): (MarketNumber, _, Option<OpenPosition>)| {
                (market.0, outcome, open.is_some())
            };
            tokens.map(shown).collect::<Vec<_>>()
        };
        use Outcome::{No, Yes};
        let all = [1, 2, 3].map(|market| [(market, Yes, false), (market, No, market != 2)]);
        let all = all.concat();
        assert_eq!(tokens(None), all);
        assert_eq!(tokens(Some((0, No))), all);
        assert_eq!(tokens(Some((1, Yes))), all[1..]);
        assert_eq!(tokens(Some((1, No))), all[2..]);
        assert_eq!(tokens(Some((3, No))), []);
        assert_eq!(holdings.traded_markets(account), 0);
        assert_eq!(
            holdings
                .holders(4)
                .unwrap()
                .after((MarketNumber(1), No), None)
                .count(),
            1
        );
        assert!(holdings.holders(3).is_none());
    }

    #[test]
    fn only_ascending_markets_of_an_account_are_read() {
        let read = |markets: &[u32], lots: Lots| {
            let mut bytes = Vec::new();
            1_u32.put(&mut bytes);
            u32::try_from(markets.len()).unwrap().put(&mut bytes);
            for market in markets.iter().copied().map(MarketNumber) {
                (market, held(lots)).put(&mut bytes);
            }
            let holdings = Holdings::take(&mut &bytes[..]).ok()?;
            let mut again = Vec::new();
            holdings.put(&mut again);
            assert_eq!(again, bytes);
            Some(holdings)
        };
        assert!(read(&[], LOTS).is_some() && read(&[1, 2, 256], LOTS).is_some());
        assert!(read(&[2, 1], LOTS).is_none() && read(&[256, 2], LOTS).is_none());
        assert!(read(&[1, 1], LOTS).is_none() && read(&[1], Lots::ZERO).is_none());
    }
}
