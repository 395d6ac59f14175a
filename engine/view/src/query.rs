//! Queries that join two parts of the view.

pub(crate) mod current_price;
pub(crate) mod merged_search;
pub(crate) mod price_history;
pub(crate) mod skip_rows;
pub(crate) mod trade_columns;
pub(crate) mod trade_filter;

use core::ops::Range;

use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, Lots, MarketNumber, OrderNumber, Price, Sequence, TimeNs, TradeIndex,
};

use crate::query::trade_filter::newest_of;
use crate::rows::builders::Builder;
use crate::rows::order::{Order, OrderState, own_price};
use crate::rows::trade::{Party, Trade, TradeRecord, TradeSide};
use crate::rows::trade_id::TradeId;
use crate::rows::trade_list::{FilterableTrades, TradeList};
use crate::rows::trade_slot::TradeSlot;
use crate::storage::list::Summary;
use crate::view::View;

impl View {
    /// The live orders of all wallets of an owner, by number.
    #[must_use]
    pub fn live_orders_of_owner(&self, owner: AccountNumber) -> Vec<&Order> {
        self.live_orders_from(owner, OrderNumber(0)).collect()
    }

    /// The live orders of all wallets of an owner from a number on. The cost is that of the orders
    /// read.
    pub fn live_orders_from(
        &self,
        owner: AccountNumber,
        first: OrderNumber,
    ) -> impl Iterator<Item = &Order> {
        let wallets = self.accounts.wallets_of(owner);
        let lists = wallets.map(|wallet| self.orders.live_from(wallet, first).peekable());
        let mut lists: Vec<_> = lists.collect();
        core::iter::from_fn(move || {
            let next =
                |list: &mut core::iter::Peekable<_>| list.peek().map(|order: &&Order| order.number);
            let lists = lists.iter_mut();
            let (_, list) = lists
                .filter_map(|list| Some((next(list)?, list)))
                .min_by_key(|(number, _)| *number)?;
            list.next()
        })
    }

    /// The builder code of an order.
    #[must_use]
    pub fn builder_of(&self, order: &Order) -> Option<&Builder> {
        self.builders.code(order.builder?)
    }

    /// The fill at a slot; `None` only for a slot of another view.
    #[must_use]
    pub fn trade(&self, slot: TradeSlot) -> Option<TradeRecord> {
        let trade = self.trades.at(slot)?;
        Some(TradeRecord {
            id: trade.id,
            sequence: trade.sequence,
            index: trade.index,
            time: trade.time,
            place: trade.place,
            market: trade.market,
            kind: trade.kind,
            lots: trade.lots,
            fee: trade.fee,
            taker: self.side_of(&trade.taker, trade.yes_price),
            maker: self.side_of(&trade.maker, trade.yes_price),
        })
    }

    /// The first fill of the trade with this id.
    #[must_use]
    pub fn trade_by_id(&self, id: TradeId) -> Option<TradeSlot> {
        self.trades.find(id)
    }

    /// The fills of the trade that has the fill at `slot`, in their order.
    pub fn fills_of_trade(&self, slot: TradeSlot) -> impl Iterator<Item = TradeRecord> {
        let trade = self.trades.at(slot);
        let first = trade.map_or(slot.0, |trade| trade.first_slot(slot).0);
        let fills = (first..).map_while(|slot| self.trade(TradeSlot(slot)));
        fills.take_while(move |fill| trade.is_some_and(|trade| trade.sequence == fill.sequence))
    }

    /// The id of the trade of a fill.
    #[must_use]
    pub fn trade_id(&self, slot: TradeSlot) -> Option<TradeId> {
        Some(self.trades.at(slot)?.id)
    }

    /// When a trade happened.
    #[must_use]
    pub fn trade_time(&self, slot: TradeSlot) -> Option<TimeNs> {
        Trade::field(self.trades.all.log().bytes(slot.0)?, Trade::TIME)
    }

    /// The part of a list of trades that happened at or after `from` and before `before`, whose largest
    /// value is no bound.
    #[must_use]
    pub fn trades_within<'a, S: Summary>(
        &self,
        slots: TradeList<'a, S>,
        from: TimeNs,
        before: TimeNs,
    ) -> TradeList<'a, S> {
        let earlier_than = |time: TimeNs| {
            move |slot| {
                self.trade_time(slot)
                    .is_some_and(|happened| happened < time)
            }
        };
        let slots = match from {
            // No trade is earlier, and a search would go far back.
            TimeNs(0) => slots,
            _ => slots.since(earlier_than(from)),
        };
        match before {
            TimeNs(u64::MAX) => slots,
            _ => slots.until(earlier_than(before)),
        }
    }

    /// The part of a list of trades before a fill: those of earlier frames, and of its frame those
    /// with a lower index.
    #[must_use]
    pub fn trades_before<'a, S: Summary>(
        &self,
        slots: TradeList<'a, S>,
        (sequence, index): (Sequence, TradeIndex),
    ) -> TradeList<'a, S> {
        slots.until(|slot| {
            let trade = self.trade_columns(slot);
            trade.is_some_and(|trade| (trade.sequence, trade.index) < (sequence, index))
        })
    }

    /// The trades of an account in a market, filterable, with its own row of each.
    #[must_use]
    pub fn trades_of_account_in(
        &self,
        account: AccountNumber,
        market: MarketNumber,
    ) -> FilterableTrades<'_> {
        self.trades.of_holding(self.holdings.get(account, market))
    }

    /// The trades of all wallets of an owner within `time` and before `older_than`, newest first. A
    /// trade between two of the wallets appears once.
    pub fn trades_of_owner(
        &self,
        owner: AccountNumber,
        time: Range<TimeNs>,
        older_than: Option<TradeSlot>,
    ) -> impl Iterator<Item = TradeSlot> {
        let wallets = self.accounts.wallets_of(owner);
        newest_of(wallets.map(move |wallet| {
            let slots = self.trades.of_account(wallet);
            let slots = match older_than {
                Some(bound) => slots.older_than(bound),
                None => slots,
            };
            self.trades_within(slots, time.start, time.end)
                .newest_first()
        }))
    }

    /// The trades in which an order carries this builder, oldest first.
    #[must_use]
    pub fn trades_of_builder(&self, code: &Builder) -> TradeList<'_> {
        self.trades.of_builder(self.builders.find(code))
    }

    /// The newest trades of an order, at most `limit`, oldest first: the one it took at its placing or
    /// release, by its first fill, then those it made. The cost is that of the returned trades.
    #[must_use]
    pub fn trades_of_order(&self, order: &Order, limit: usize) -> Vec<TradeSlot> {
        let mut before = order.last_made;
        let made = core::iter::from_fn(|| {
            let slot = before?;
            let made_before = self.trades.at(slot).and_then(|trade| trade.made_before);
            before = made_before.filter(|before| *before < slot);
            Some(slot)
        });
        let newest_first = made.chain(self.fills_taken_by(order).take(1));
        let mut slots: Vec<TradeSlot> = newest_first.take(limit).collect();
        slots.reverse();
        slots
    }

    /// The lots that trade before a resting order at its price. `None` for any other order, and with more than
    /// [`MAX_VISITED_ORDERS`] orders before it, which no taker passes at once.
    #[must_use]
    pub fn queue_ahead(&self, order: &Order) -> Option<Lots> {
        if order.state != OrderState::Live {
            return None;
        }
        let mut lots = Lots::ZERO;
        for (count, number) in self.books.get(order.market)?.ahead_of(order).enumerate() {
            if count == MAX_VISITED_ORDERS {
                return None;
            }
            lots += self.orders.live(number)?.left;
        }
        Some(lots)
    }

    /// The fills an order took at its placing or release, oldest first.
    pub fn fills_taken_by(
        &self,
        order: &Order,
    ) -> impl DoubleEndedIterator<Item = TradeSlot> + use<> {
        let TradeSlot(first) = order.first_taken;
        let TradeSlot(end) = self.trades.next_slot();
        (first..first.saturating_add(order.taken.into()).min(end)).map(TradeSlot)
    }

    fn side_of(&self, party: &Party, yes_price: Price) -> TradeSide {
        TradeSide {
            order: party.order,
            order_id: party.order_id,
            account: party.account,
            key: party.key,
            outcome: party.outcome,
            side: party.side,
            price: own_price(party.outcome, yes_price),
            builder: party
                .builder
                .and_then(|slot| self.builders.code(slot))
                .copied(),
        }
    }
}
