//! Orders that wait out a market's delay (docs/verify/rules.md §22).
//!
//! A delayed order has a slot in the order pool and stands in the list of its account, but in no
//! ladder. The rest of it is in the delayed queue.

use foretell_model::event::{CancelRequested, OrderClosed, OrderDelayed, OrderReleased};
use foretell_model::{CloseReason, CommandOutcome, Event, Lots, Micros, OrderStatus, Side, TimeNs};

use crate::command_context::CommandContext;
use crate::delayed_queue::DelayedOrder;
use crate::exchange::Exchange;
use crate::order_pool::Order;
use crate::placement::commit::{closed, result};
use crate::placement::plan::{Demand, Incoming, Totals};
use crate::slab::NONE;

impl Exchange {
    /// Lets an order wait that could trade, and reserves what it needs.
    #[cold]
    pub(super) fn delay(
        &mut self,
        incoming: &Incoming,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let (side, limit) = (incoming.side, incoming.limit);
        let reserved = incoming.demand.needs(side, limit, incoming.fee);
        match incoming.side {
            Side::Buy => self.accounts[incoming.account].reserve(Micros(reserved)),
            Side::Sell => {
                self.positions[incoming.position].reserve(incoming.outcome, Lots(reserved));
            }
        }
        let (budget, minimum_lots) = match incoming.demand {
            Demand::Shares(_) => (Micros::ZERO, Lots::ZERO),
            Demand::Budget {
                amount, minimum, ..
            } => (amount, minimum),
        };
        let delay_ns = u64::from(self.markets[incoming.market].delay_ms) * 1_000_000;
        let due = TimeNs(context.now.0.saturating_add(delay_ns));
        let lots = incoming.demand.lots();
        let delayed = DelayedOrder {
            order: NONE,
            number: incoming.number,
            market: incoming.market,
            order_type: incoming.order_type,
            budget,
            minimum_lots,
            due,
            fee: incoming.fee,
            rebate_ppm: incoming.rebate_ppm,
            reserved,
            cancel: None,
        };
        let slot = self.add_delayed(incoming.entry(lots), delayed);
        self.ids.rests(incoming.id_slot, slot);
        self.accounts.append_order(slot, &mut self.orders);
        self.schedule_release(incoming.market);
        context.event(Event::OrderDelayed(OrderDelayed {
            price: incoming.limit,
            lots,
            reserved,
            due,
        }));
        result(OrderStatus::Delayed, &Totals::default())
    }

    /// Links a delayed order everywhere but in its account's list and the id memory. Returns its
    /// slot in the order pool.
    pub(crate) fn add_delayed(&mut self, entry: Order, delayed: DelayedOrder) -> u32 {
        let expires = entry.expiration.0 != 0;
        let slot = self.orders.insert(entry);
        let delayed = self.delayed.insert(DelayedOrder {
            order: slot,
            ..delayed
        });
        self.orders[slot].mark_delayed(delayed);
        if expires {
            self.schedule_expiry(slot);
        }
        slot
    }

    /// Unlinks a delayed order from everything but the id memory, and releases its reservation. `at`
    /// is its slot in the delayed queue.
    fn take_delayed(&mut self, slot: u32, at: u32) -> (Order, DelayedOrder) {
        let (order, delayed) = (self.orders[slot], self.delayed.remove(at));
        match order.side {
            Side::Buy => self.accounts[order.account].release(Micros(delayed.reserved)),
            Side::Sell => {
                self.positions[order.position].release(order.outcome, Lots(delayed.reserved));
            }
        }
        self.accounts.unlink_order(slot, &mut self.orders);
        if order.expiration.0 != 0 {
            self.unschedule_expiry(slot);
        }
        self.orders.release(slot);
        self.schedule_release(delayed.market);
        (order, delayed)
    }

    /// Closes a delayed order.
    #[cold]
    pub(crate) fn close_delayed(
        &mut self,
        slot: u32,
        at: u32,
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) {
        let (order, _) = self.take_delayed(slot, at);
        self.ids.ended(order.id_slot);
        context.event(Event::OrderClosed(OrderClosed {
            order: order.number,
            account: order.account,
            lots: order.lots,
            reason,
        }));
    }

    /// Notes a cancel of a delayed order, unless one is noted. Returns whether it is new.
    #[cold]
    pub(crate) fn request_cancel(
        &mut self,
        slot: u32,
        at: u32,
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) -> bool {
        let delayed = &mut self.delayed[at];
        if delayed.cancel.is_some() {
            return false;
        }
        delayed.cancel = Some(reason);
        context.event(Event::CancelRequested(CancelRequested {
            order: delayed.number,
            account: self.orders[slot].account,
            reason,
        }));
        true
    }

    /// Whether a cancel of this order would have an effect.
    pub(crate) fn is_cancellable(&self, order: &Order) -> bool {
        let delayed = order.delayed().map(|at| &self.delayed[at]);
        delayed.is_none_or(|delayed| delayed.cancel.is_none() || !self.releases(order.market))
    }

    /// Lets the first delayed order of a market meet the book, like a placed one. An order that the
    /// book cannot fill is closed instead of killed.
    pub(crate) fn release_order(
        &mut self,
        slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let at = self.orders[slot].delayed().expect("the order is delayed");
        let (order, delayed) = self.take_delayed(slot, at);
        let incoming = delayed.incoming(&order);
        // Without an order until it rests again.
        self.ids.rests(incoming.id_slot, NONE);
        context.event(Event::OrderReleased(OrderReleased {
            order: incoming.number,
            account: incoming.account,
            market: incoming.market,
        }));
        let plan = self.plan(&incoming, 0, false, context);
        let outcome = if let Some((_, reason)) = plan.unfilled(&incoming) {
            context.event(closed(&incoming, incoming.demand.lots(), reason));
            result(OrderStatus::Unmatched, &Totals::default())
        } else {
            self.commit(&incoming, &plan, delayed.cancel, context)
        };
        if self.ids.at(incoming.id_slot).order == NONE {
            self.ids.ended(incoming.id_slot);
        }
        outcome
    }
}

impl DelayedOrder {
    /// The order as it meets the book; `order` is its entry in the order pool.
    const fn incoming(&self, order: &Order) -> Incoming {
        let demand = if self.budget.is_zero() {
            Demand::Shares(order.lots)
        } else {
            Demand::Budget {
                amount: self.budget,
                free: Micros(self.reserved),
                minimum: self.minimum_lots,
            }
        };
        Incoming {
            number: order.number,
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            order_type: self.order_type,
            limit: order.own_price(),
            demand,
            expiration: order.expiration,
            fee: self.fee,
            rebate_ppm: self.rebate_ppm,
            position: order.position,
            id_slot: order.id_slot,
        }
    }
}
