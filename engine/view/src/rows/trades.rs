//! Trades: by id, by account, by market, by both, by builder.

use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::{AccountNumber, MarketNumber};

use crate::error::Impossible;
use crate::part::Part;
use crate::rows::builders::BuilderSlot;
use crate::rows::holdings::{Holding, HoldingSlot, Holdings};
use crate::rows::trade::{Trade, TradeSum};
use crate::rows::trade_entry::{MOST_LOTS, Role, TradeEntry};
use crate::rows::trade_id::TradeId;
use crate::rows::trade_list::{FilterableTrades, TradeList};
use crate::rows::trade_nodes::{LISTS, TradeListKind, TradeNodeLog, TradeNodes, posting_of};
use crate::rows::trade_slot::TradeSlot;
use crate::rows::trade_summary::TradeSummary;
use crate::storage::by_number::entry_of;
use crate::storage::chunk::Chunking;
use crate::storage::id_log::IdLog;
use crate::storage::list::{List, ListEnd, ListEnds, Lists, Span, write_spans};
use crate::storage::log::Log;
use crate::storage::slot::count;

/// Among the builder lists, the list of all trades with any builder; those of single builders begin
/// at 1.
const WITH_BUILDER: usize = 0;

stored! {
    /// The ends of the lists of all trades, of each account and of each market.
    #[derive(Debug, Default)]
    pub(crate) struct TradeListEnds {
        all: ListEnd<TradeSummary>,
        of_account: ListEnds<TradeSummary>,
        of_market: ListEnds<TradeSummary>,
    }
}

impl TradeListEnds {
    /// The end of one of the six lists of a trade.
    fn of<'a>(
        &'a mut self,
        kind: TradeListKind,
        role: Option<Role>,
        trade: &Trade,
        (holdings, [took, made]): (&'a mut Holdings, [HoldingSlot; 2]),
    ) -> &'a mut ListEnd<TradeSummary> {
        let (account, held) = match role {
            Some(Role::Maker) => (trade.maker.account, made),
            _ => (trade.taker.account, took),
        };
        match kind {
            TradeListKind::All => &mut self.all,
            TradeListKind::Market => entry_of(&mut self.of_market, trade.market.0 as usize),
            TradeListKind::Account => entry_of(&mut self.of_account, account.0 as usize),
            TradeListKind::Holding => holdings.trades_mut(account, held),
        }
    }
}

/// All trades.
#[derive(Debug)]
pub struct Trades {
    pub(crate) all: IdLog<Trade>,
    /// The spans of all lists but those of builders.
    pub(crate) spans: Log<Span<TradeSummary>>,
    pub(crate) ends: TradeListEnds,
    pub(crate) of_builder: Lists,
}

impl Part for Trades {
    fn new(chunking: Chunking) -> Self {
        Self {
            all: IdLog::new(chunking),
            spans: Log::new(chunking),
            ends: TradeListEnds::default(),
            of_builder: Lists::new(chunking),
        }
    }

    fn put_live(&self, out: &mut Vec<u8>) {
        self.ends.put(out);
    }

    fn take_live(&mut self, from: &mut &[u8]) -> Result<(), CodecError> {
        self.ends = Stored::take(from)?;
        Ok(())
    }
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
        self.list(TradeListKind::All, Some(&self.ends.all))
    }

    /// The trades of an account as taker or maker, filterable, with its own row of each.
    #[must_use]
    pub fn of_account(&self, account: AccountNumber) -> FilterableTrades<'_> {
        self.list(
            TradeListKind::Account,
            self.ends.of_account.get(account.0 as usize),
        )
    }

    /// The trades of a holding, filterable, with its account's own row of each.
    pub(crate) fn of_holding(&self, holding: Option<&Holding>) -> FilterableTrades<'_> {
        let end = holding.map(Holding::trades);
        self.list(TradeListKind::Holding, end)
    }

    /// The trades of a market, filterable, with both rows of each.
    #[must_use]
    pub fn of_market(&self, market: MarketNumber) -> FilterableTrades<'_> {
        self.list(
            TradeListKind::Market,
            self.ends.of_market.get(market.0 as usize),
        )
    }

    fn list(
        &self,
        kind: TradeListKind,
        end: Option<&ListEnd<TradeSummary>>,
    ) -> FilterableTrades<'_> {
        let nodes = TradeNodes {
            trades: self.all.log(),
            spans: &self.spans,
            kind,
        };
        TradeList::of(List::of(nodes, end))
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

    /// The first fill of a trade.
    pub(crate) fn find(&self, id: TradeId) -> Option<TradeSlot> {
        let slot = self.all.find(&id.0).map(TradeSlot)?;
        Some(self.at(slot)?.first_slot(slot))
    }

    /// The sum of the newest trade.
    pub(crate) fn newest_sum(&self) -> Option<TradeSum> {
        let newest = self.all.log().len().checked_sub(1)?;
        Trade::field(self.all.log().bytes(newest)?, Trade::SUM)
    }

    /// The slot of the next fill.
    pub(crate) fn next_slot(&self) -> TradeSlot {
        TradeSlot(self.all.log().len())
    }

    /// Adds a trade to its lists, with the holdings of its taker and maker.
    pub(crate) fn push(
        &mut self,
        mut trade: Trade,
        holdings: &mut Holdings,
        held: [HoldingSlot; 2],
    ) -> Result<(), Impossible> {
        let TradeSlot(slot) = self.next_slot();
        if trade.lots > MOST_LOTS {
            return Err(Impossible::AmountOutOfRange);
        }
        let entry = TradeEntry::of(&trade);
        let both = TradeSummary::of(&entry);
        let own = Role::ALL.map(|role| TradeSummary::of(&entry.only(role)));
        for (at, (kind, role)) in LISTS.into_iter().enumerate() {
            let summary = role.map_or(both, |role| own[role as usize]);
            let end = self.ends.of(kind, role, &trade, (holdings, held));
            trade.links[at] = end.push(posting_of(slot, role), summary)?;
            let mut log = TradeNodeLog {
                trades: self.all.log(),
                spans: &mut self.spans,
                kind,
            };
            write_spans(&mut log, end)?;
        }
        self.all.push(&trade)?;
        self.note_builders(slot, [trade.taker.builder, trade.maker.builder])
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use foretell_model::{Outcome, Side};
    use proptest::prelude::*;

    use super::*;
    use crate::rows::row_filter::RowFilter;
    use crate::rows::trade_entry::tests::trade;

    /// The taker, the accounts from the taker on to the maker, and the market of a trade.
    type Made = (u32, u32, u32);

    const ACCOUNTS: u32 = 5;
    const MARKETS: u32 = 4;

    fn none(chunking: Chunking) -> (Trades, Holdings) {
        let trades = Trades::new(chunking);
        let mut holdings = Holdings::default();
        for account in (0..ACCOUNTS).map(AccountNumber) {
            holdings.open_account(account).unwrap();
        }
        (trades, holdings)
    }

    /// The trades of a list, oldest first, and which rows it has of each.
    fn rows_of(list: FilterableTrades<'_>) -> Vec<(u64, [bool; 2])> {
        let mut search = list.search(RowFilter::default());
        let mut rows = Vec::new();
        while let ControlFlow::Continue(found) = search.probe() {
            rows.extend(found.map(|found| (found.slot.0, found.rows)));
        }
        assert!(
            list.newest_first()
                .eq(rows.iter().map(|(slot, _)| TradeSlot(*slot)))
        );
        rows.reverse();
        rows
    }

    proptest! {
        #[test]
        fn every_list_has_its_own_rows(
            made in prop::collection::vec((0..ACCOUNTS, 1..ACCOUNTS, 0..MARKETS), 0..300),
            bits in 0..6_u8,
        ) {
            let (mut trades, mut holdings) = none(Chunking::Bits(bits));
            let parties = [(Side::Buy, Outcome::Yes), (Side::Sell, Outcome::Yes)];
            let accounts = |(taker, further, _): &Made| [*taker, (taker + further) % ACCOUNTS];
            for made in &made {
                let mut trade = trade(1, 1, made.2, parties);
                let [taker, maker] = accounts(made).map(AccountNumber);
                (trade.taker.account, trade.maker.account) = (taker, maker);
                let held = [taker, maker].map(|it| holdings.slot_of(it, trade.market).unwrap());
                trades.push(trade, &mut holdings, held).unwrap();
            }
            let expected = |rows: &dyn Fn(&Made) -> [bool; 2]| {
                let all = (0..).zip(&made).map(|(slot, made)| (slot, rows(made)));
                all.filter(|(_, rows)| *rows != [false; 2]).collect::<Vec<_>>()
            };
            prop_assert_eq!(rows_of(trades.filterable()), expected(&|_| [true; 2]));
            for market in 0..MARKETS {
                let of_market = |made: &Made| [made.2 == market; 2];
                prop_assert_eq!(rows_of(trades.of_market(MarketNumber(market))), expected(&of_market));
            }
            for account in 0..=ACCOUNTS {
                let own = |made: &Made| accounts(made).map(|party| party == account);
                prop_assert_eq!(rows_of(trades.of_account(AccountNumber(account))), expected(&own));
                for market in 0..=MARKETS {
                    let held = holdings.get(AccountNumber(account), MarketNumber(market));
                    let list = trades.of_holding(held);
                    let own = |made: &Made| own(made).map(|own| own && made.2 == market);
                    prop_assert_eq!(rows_of(list), expected(&own));
                }
            }
        }
    }
}
