//! Books of all markets: resting orders by priority, and their removal.

use foretell_model::event::OrderClosed;
use foretell_model::{CloseReason, Event, MarketNumber, Side};

use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::ladder;
use crate::order_pool::BookSide;
use crate::slab::NONE;

impl Exchange {
    /// One side of a book by price, then arrival.
    pub(crate) fn book(&self, market: MarketNumber, side: BookSide) -> impl Iterator<Item = u32> {
        let ladder = &self.markets[market].ladder;
        std::iter::successors(ladder.best(side), move |slot| {
            ladder::next_order(ladder, &self.orders, *slot, side)
        })
    }

    /// Closes a live order with an unfilled rest and releases its reservation.
    pub(crate) fn close_order(
        &mut self,
        slot: u32,
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) {
        let order = &self.orders[slot];
        if let Some(at) = order.delayed() {
            return self.close_delayed(slot, at, reason, context);
        }
        let (number, account, lots) = (order.number, order.account, order.lots);
        match order.side {
            Side::Buy => self.accounts[account].release(order.reserved_value()),
            Side::Sell => self.positions[order.position].release(order.outcome, lots),
        }
        self.remove_order(slot);
        context.event(Event::OrderClosed(OrderClosed {
            order: number,
            account,
            lots,
            reason,
        }));
    }

    /// Unlinks a resting order from every structure. Its reservation must already be released.
    #[inline(always)]
    pub(crate) fn remove_order(&mut self, slot: u32) {
        let Self {
            markets,
            accounts,
            orders,
            ids,
            ..
        } = self;
        let order = &orders[slot];
        let (market, id_slot, expires) = (order.market, order.id_slot, order.expiration.0 != 0);
        let group = order.group;
        markets[market].ladder.remove(slot, orders);
        accounts.unlink_order(slot, orders);
        orders.release(slot);
        ids.ended(id_slot);
        if expires {
            self.unschedule_expiry(slot);
        }
        if group != NONE {
            self.remove_quote(group, slot);
        }
    }
}
