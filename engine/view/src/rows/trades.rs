//! Trades: by id, by account, by market, by both, by builder.

use foretell_model::{AccountNumber, MarketNumber};

use crate::error::Impossible;
use crate::rows::account_market_lists::AccountMarketLists;
use crate::rows::builders::BuilderSlot;
use crate::rows::trade::Trade;
use crate::rows::trade_entry::{MOST_LOTS, TradeEntry};
use crate::rows::trade_id::TradeId;
use crate::rows::trade_list::{FilterableTrades, TradeList};
use crate::rows::trade_slot::TradeSlot;
use crate::rows::trade_summary::TradeSummary;
use crate::storage::id_log::IdLog;
use crate::storage::list::Lists;
use crate::storage::slot::count;

/// Among the builder lists, the list of all trades with any builder; those of single builders begin
/// at 1.
const WITH_BUILDER: usize = 0;

/// The only list of its kind: all trades.
const ALL: usize = 0;

/// All trades.
#[derive(Debug)]
pub struct Trades {
    pub(crate) all: IdLog<Trade>,
    pub(crate) of_all: Lists<TradeSummary>,
    pub(crate) of_account: Lists<TradeSummary>,
    pub(crate) of_market: Lists<TradeSummary>,
    pub(crate) of_account_market: AccountMarketLists,
    pub(crate) of_builder: Lists,
}

impl Trades {
    /// Number of trades.
    #[must_use]
    pub fn count(&self) -> usize {
        count(self.all.log().len())
    }

    /// All trades, oldest first.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = TradeSlot> + use<> {
        (0..self.all.log().len()).map(TradeSlot)
    }

    /// All trades, filterable, with both rows of each.
    #[must_use]
    pub fn filterable(&self) -> FilterableTrades<'_> {
        TradeList::of(self.of_all.list(ALL))
    }

    /// The trades of an account as taker or maker, filterable, with its own row of each.
    #[must_use]
    pub fn of_account(&self, account: AccountNumber) -> FilterableTrades<'_> {
        TradeList::of(self.of_account.list(account.0 as usize))
    }

    /// The trades of an account in a market, filterable, with its own row of each.
    #[must_use]
    pub fn of_account_in(
        &self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> FilterableTrades<'_> {
        TradeList::of(self.of_account_market.list(account, market))
    }

    /// Number of markets in which an account has traded.
    #[must_use]
    pub fn markets_of(&self, account: AccountNumber) -> usize {
        self.of_account_market.markets_of(account)
    }

    /// The trades of a market, filterable, with both rows of each.
    #[must_use]
    pub fn of_market(&self, market: MarketNumber) -> FilterableTrades<'_> {
        TradeList::of(self.of_market.list(market.0 as usize))
    }

    /// The trades in which the taker's or the maker's order carries a builder.
    #[must_use]
    pub fn with_builder(&self) -> TradeList<'_> {
        TradeList::of(self.of_builder.list(WITH_BUILDER))
    }

    /// The trades of a builder; empty for `None`.
    pub(crate) fn of_builder(&self, builder: Option<BuilderSlot>) -> TradeList<'_> {
        TradeList::of(match builder {
            Some(builder) => self.of_builder.list(builder.number()),
            None => self.of_builder.empty(),
        })
    }

    pub(crate) fn at(&self, slot: TradeSlot) -> Option<Trade> {
        self.all.log().get(slot.0)
    }

    pub(crate) fn find(&self, id: TradeId) -> Option<TradeSlot> {
        self.all.find(&id.0).map(TradeSlot)
    }

    /// The slot of the next trade.
    pub(crate) fn next_slot(&self) -> TradeSlot {
        TradeSlot(self.all.log().len())
    }

    /// Prefetches the ends of the lists that a trade of these accounts extends.
    pub(crate) fn prefetch(&self, market: MarketNumber, accounts: [AccountNumber; 2]) {
        for account in accounts {
            self.of_account.prefetch(account.0 as usize);
            self.of_account_market.prefetch(account, market);
        }
        self.of_market.prefetch(market.0 as usize);
    }

    pub(crate) fn push(&mut self, trade: &Trade) -> Result<(), Impossible> {
        let TradeSlot(slot) = self.next_slot();
        if trade.lots > MOST_LOTS {
            return Err(Impossible::AmountOutOfRange);
        }
        let (taker, maker, market) = (&trade.taker, &trade.maker, trade.market);
        self.all.push(trade)?;
        let both = TradeEntry::of_both(trade);
        self.of_all.push_with(ALL, both)?;
        for (party, own) in [
            (taker, TradeEntry::of_taker(trade)),
            (maker, TradeEntry::of_maker(trade)),
        ] {
            let number = party.account.0 as usize;
            self.of_account.push_with(number, own)?;
            self.of_account_market.push((party.account, market), own)?;
        }
        self.of_market.push_with(market.0 as usize, both)?;
        self.note_builders(slot, [taker.builder, maker.builder])
    }

    fn note_builders(
        &mut self,
        slot: u64,
        [taker, maker]: [Option<BuilderSlot>; 2],
    ) -> Result<(), Impossible> {
        if taker.is_none() && maker.is_none() {
            return Ok(());
        }
        self.of_builder.push(WITH_BUILDER, slot)?;
        let second = maker.filter(|_| maker != taker);
        for builder in [taker, second].into_iter().flatten() {
            self.of_builder.push(builder.number(), slot)?;
        }
        Ok(())
    }
}
