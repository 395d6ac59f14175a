//! Answers that join two views.

use core::ops::Range;

use foretell_model::{AccountNumber, Price, Sequence, TimeNs, TradeIndex};

use crate::builders::Builder;
use crate::order::{Order, own_price};
use crate::trade::{TradeRecord, TradeSide, TradeSlot};
use crate::trade_id::TradeId;
use crate::view::View;

impl View {
    /// The live orders of all wallets of an owner, by number.
    #[must_use]
    pub fn live_orders_of_owner(&self, owner: AccountNumber) -> Vec<&Order> {
        let wallets = self.accounts.wallets_of(owner);
        let mut orders: Vec<&Order> = wallets.flat_map(|w| self.orders.live_of(w)).collect();
        orders.sort_unstable_by_key(|order| order.number);
        orders
    }

    /// The builder an order carries.
    #[must_use]
    pub fn builder_of(&self, order: &Order) -> Option<&Builder> {
        self.builders.code(order.builder?)
    }

    /// A trade by its place; `None` only for a place of another view.
    #[must_use]
    pub fn trade(&self, slot: TradeSlot) -> Option<TradeRecord> {
        let trade = self.trades.at(slot)?;
        let taker = self.orders.at(trade.taker);
        let maker = self.orders.at(trade.maker);
        let (sequence, index) = place_of(slot, taker);
        let yes_price = trade.yes_price;
        Some(TradeRecord {
            id: TradeId::new(&self.genesis, sequence, index),
            sequence,
            index,
            time: taker.created,
            place: taker.place,
            market: taker.market,
            kind: trade.kind,
            lots: trade.lots,
            fee: trade.fee,
            taker: self.side_of(taker, yes_price),
            maker: self.side_of(maker, yes_price),
        })
    }

    /// The trade with this id.
    #[must_use]
    pub fn trade_by_id(&self, id: TradeId) -> Option<TradeSlot> {
        self.trades.find(id, |slot| self.trade_id(slot) == Some(id))
    }

    /// The id of a trade.
    #[must_use]
    pub fn trade_id(&self, slot: TradeSlot) -> Option<TradeId> {
        let taker = self.orders.at(self.trades.at(slot)?.taker);
        let (sequence, index) = place_of(slot, taker);
        Some(TradeId::new(&self.genesis, sequence, index))
    }

    /// When a trade happened.
    #[must_use]
    pub fn trade_time(&self, slot: TradeSlot) -> Option<TimeNs> {
        let taker = self.orders.at(self.trades.at(slot)?.taker);
        Some(taker.created)
    }

    /// The part of a list of trades that happened from `from` on and before `before`.
    #[must_use]
    pub fn trades_within<'a>(
        &self,
        slots: &'a [TradeSlot],
        from: TimeNs,
        before: TimeNs,
    ) -> &'a [TradeSlot] {
        let earlier = |time: TimeNs| {
            move |&slot: &TradeSlot| {
                self.trade_time(slot)
                    .is_some_and(|happened| happened < time)
            }
        };
        let start = slots.partition_point(earlier(from));
        let end = slots.partition_point(earlier(before)).max(start);
        slots.get(start..end).unwrap_or_default()
    }

    /// The trades of all wallets of an owner that happened within `time` and came before
    /// `older_than`, newest first; one between two of the wallets comes once.
    pub fn trades_of_owner(
        &self,
        owner: AccountNumber,
        time: Range<TimeNs>,
        older_than: Option<TradeSlot>,
    ) -> impl Iterator<Item = TradeSlot> {
        let wallets = self.accounts.wallets_of(owner);
        let mut lists: Vec<&[TradeSlot]> = wallets
            .map(|wallet| {
                let slots = self.trades.of_account(wallet);
                let end = older_than.map_or(slots.len(), |bound| {
                    slots.partition_point(|slot| *slot < bound)
                });
                self.trades_within(&slots[..end], time.start, time.end)
            })
            .collect();
        core::iter::from_fn(move || {
            let newest = lists.iter().filter_map(|list| list.last().copied()).max()?;
            for list in &mut lists {
                if let Some((&last, earlier)) = list.split_last()
                    && last == newest
                {
                    *list = earlier;
                }
            }
            Some(newest)
        })
    }

    /// The trades in which an order carries this builder, oldest first.
    #[must_use]
    pub fn trades_of_builder(&self, code: &Builder) -> &[TradeSlot] {
        let builder = self.builders.find(code);
        builder.map_or(&[], |builder| self.trades.of_builder(builder))
    }

    /// The newest trades of an order, at most `limit`, oldest first: what it took when it came,
    /// then what it made. The work is that of the trades given, not of those it has.
    #[must_use]
    pub fn trades_of_order(&self, order: &Order, limit: usize) -> Vec<TradeSlot> {
        let mut before = order.last_made;
        let made = core::iter::from_fn(|| {
            let slot = before?;
            before = self.trades.at(slot).and_then(|trade| trade.made_before);
            Some(slot)
        });
        let newest_first = made.chain(self.trades_taken_by(order).rev());
        let mut slots: Vec<TradeSlot> = newest_first.take(limit).collect();
        slots.reverse();
        slots
    }

    /// The trades an order took when it came, oldest first.
    pub fn trades_taken_by(
        &self,
        order: &Order,
    ) -> impl DoubleEndedIterator<Item = TradeSlot> + use<> {
        let first = order.first_taken.0;
        (first..first.saturating_add(order.taken)).map(TradeSlot)
    }

    fn side_of(&self, order: &Order, yes_price: Price) -> TradeSide {
        TradeSide {
            order: order.number,
            order_id: order.id,
            account: order.account,
            key: order.key,
            outcome: order.outcome,
            side: order.side,
            price: own_price(order.outcome, yes_price),
            builder: self.builder_of(order).copied(),
        }
    }
}

/// The frame of a trade, and which of its fills it is.
fn place_of(slot: TradeSlot, taker: &Order) -> (Sequence, TradeIndex) {
    let index = slot.0.saturating_sub(taker.first_taken.0);
    (Sequence(taker.number.0), TradeIndex(index))
}
