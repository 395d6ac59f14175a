//! Orders that wait out a market's delay (docs/verify/rules.md §22).
//!
//! A delayed order has a slot in the order pool and stands in the list of its account, but in no
//! ladder. The rest of it is in the delayed queue.

use foretell_model::event::{CancelRequested, OrderClosed, OrderDelayed, OrderReleased};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    CloseReason, CommandOutcome, Event, FeeSchedule, Lots, MarketNumber, Micros, OrderStatus,
    OrderType, PlaceOrder, RejectionReason, Side, TimeNs,
};

use crate::admission::needed_collateral;
use crate::command_context::CommandContext;
use crate::delayed_queue::DelayedOrder;
use crate::exchange::Exchange;
use crate::fill::result;
use crate::order_pool::{Order, in_yes};
use crate::slab::NONE;
use crate::taker::{FillTotals, StopReason, Taker};

impl Exchange {
    /// Places an admitted order, not post-only, in a market with a delay.
    #[cold]
    pub(crate) fn place_with_delay(
        &mut self,
        order: &PlaceOrder,
        taker: &mut Taker,
        id_slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let rests = order.order_type.may_rest();
        if rests && let Some(rejection) = self.pre_match_rejection(order, taker, context) {
            return self.kill(taker, id_slot, rejection, context);
        }
        if self.meets(taker, context) {
            return self.delay(order, taker, id_slot, context);
        }
        let reason = match order.order_type {
            OrderType::Fok => RejectionReason::FokNotFilled,
            OrderType::Fak => RejectionReason::FakNoMatch,
            OrderType::Gtc | OrderType::Gtd => {
                let stop = self.match_later(taker, context);
                return self.finish_later(taker, stop, id_slot, context);
            }
        };
        self.kill(taker, id_slot, reason.into(), context)
    }

    /// Whether a resting order of another account could trade with the taker.
    fn meets(&self, taker: &Taker, context: &CommandContext<'_>) -> bool {
        let mut visited = taker.visited;
        let mut makers = self
            .book(taker.market, taker.book_side().opposite())
            .take(MAX_VISITED_ORDERS.saturating_sub(visited))
            .map(|slot| &self.orders[slot])
            .take_while(|maker| taker.reaches(maker.yes_price));
        let meets = makers.any(|maker| {
            visited += 1;
            self.skip_reason(taker, maker, context).is_none()
        });
        context.visited.set(visited);
        meets
    }

    fn delay(
        &mut self,
        order: &PlaceOrder,
        taker: &Taker,
        id_slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let has_budget = taker.has_budget();
        let is_fok_buy = has_budget && order.order_type == OrderType::Fok;
        let reserved = match order.side {
            Side::Buy => {
                let rests = order.order_type.may_rest();
                needed_collateral((order, rests), taker.fee, taker.limit, taker.lots_left).0
            }
            Side::Sell => taker.lots_left.0,
        };
        let delay_ns = u64::from(self.markets[order.market].delay_ms) * 1_000_000;
        let delayed = DelayedOrder {
            order: NONE,
            number: taker.number,
            market: order.market,
            order_type: order.order_type,
            budget: if has_budget {
                taker.budget_left
            } else {
                Micros::ZERO
            },
            minimum_lots: if is_fok_buy {
                taker.minimum_lots
            } else {
                Lots::ZERO
            },
            due: TimeNs(context.now.0.saturating_add(delay_ns)),
            fee: taker.fee,
            rebate_ppm: taker.rebate_ppm,
            reserved,
            cancel: None,
        };
        match order.side {
            Side::Buy => self.accounts[order.account].reserve(Micros(reserved)),
            Side::Sell => self.positions[taker.position].reserve(order.outcome, Lots(reserved)),
        }
        let entry = Order {
            lots: taker.lots_left,
            number: taker.number,
            expiration: taker.expiration,
            account: taker.account,
            market: taker.market,
            position: taker.position,
            id_slot,
            next: NONE,
            previous: NONE,
            account_next: NONE,
            account_previous: NONE,
            heap: NONE,
            yes_price: in_yes(taker.limit, taker.outcome),
            outcome: taker.outcome,
            side: taker.side,
        };
        let slot = self.add_delayed(entry, delayed);
        self.ids.rests(id_slot, slot);
        self.accounts.append_order(slot, &mut self.orders);
        self.schedule_release(order.market);
        context.event(Event::OrderDelayed(OrderDelayed {
            price: taker.limit,
            lots: taker.lots_left,
            reserved,
            due: delayed.due,
        }));
        result(OrderStatus::Delayed, taker)
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
            self.expiry.insert(slot, &mut self.orders);
        }
        slot
    }

    /// Unlinks a delayed order from everything but the id memory, and releases its reservation.
    fn take_delayed(&mut self, slot: u32, at: u32) -> DelayedOrder {
        let delayed = self.delayed.remove(at);
        let order = &self.orders[slot];
        let expires = order.heap != NONE;
        match order.side {
            Side::Buy => self.accounts[order.account].release(Micros(delayed.reserved)),
            Side::Sell => {
                self.positions[order.position].release(order.outcome, Lots(delayed.reserved));
            }
        }
        self.accounts.unlink_order(slot, &mut self.orders);
        if expires {
            self.expiry.remove(slot, &mut self.orders);
        }
        self.orders.release(slot);
        self.schedule_release(delayed.market);
        delayed
    }

    /// Closes a delayed order; `at` is its slot in the delayed queue.
    #[cold]
    pub(crate) fn close_delayed(
        &mut self,
        slot: u32,
        at: u32,
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) {
        let order = &self.orders[slot];
        let id_slot = order.id_slot;
        let event = Event::OrderClosed(OrderClosed {
            order: order.number,
            account: order.account,
            lots: order.lots,
            reason,
        });
        self.take_delayed(slot, at);
        self.ids.ended(id_slot);
        context.event(event);
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

    /// Lets the first delayed order of a market meet the book.
    pub(crate) fn release_order(
        &mut self,
        slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let at = self.orders[slot].delayed().expect("the order is delayed");
        let order = &self.orders[slot];
        let id_slot = order.id_slot;
        let mut taker = Taker {
            number: order.number,
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            order_type: OrderType::Gtc,
            limit: order.own_price(),
            expiration: order.expiration,
            fee: FeeSchedule::default(),
            rebate_ppm: 0,
            lots_left: order.lots,
            budget_left: Micros::ZERO,
            free_left: Micros::ZERO,
            minimum_lots: Lots::ZERO,
            position: order.position,
            visited: 0,
            cancel: None,
            may_wait: false,
            done: FillTotals::default(),
        };
        let delayed = self.take_delayed(slot, at);
        taker.order_type = delayed.order_type;
        taker.fee = delayed.fee;
        taker.rebate_ppm = delayed.rebate_ppm;
        taker.budget_left = delayed.budget;
        taker.free_left = Micros(delayed.reserved);
        taker.minimum_lots = delayed.minimum_lots;
        taker.cancel = delayed.cancel;
        // Without an order until it rests again.
        self.ids.rests(id_slot, NONE);
        context.event(Event::OrderReleased(OrderReleased {
            order: taker.number,
            account: taker.account,
            market: taker.market,
        }));
        let outcome = self.meet_book(&mut taker, id_slot, context);
        if self.ids.at(id_slot).order == NONE {
            self.ids.ended(id_slot);
        }
        outcome
    }

    /// Like a placed order, but an order that the book cannot fill is closed instead of killed.
    fn meet_book(
        &mut self,
        taker: &mut Taker,
        id_slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let reason = if taker.order_type == OrderType::Fok && !self.would_fill(taker, context) {
            CloseReason::FokNotFilled
        } else {
            let stop = self.match_later(taker, context);
            if taker.order_type != OrderType::Fak || taker.done.fills > 0 {
                return self.finish_later(taker, stop, id_slot, context);
            }
            self.scratch.clear();
            CloseReason::FakRest
        };
        context.event(taker.closed(reason));
        result(OrderStatus::Unmatched, taker)
    }

    /// [`Self::run_match_loop`], which is inlined where orders are placed at once.
    #[inline(never)]
    fn match_later(&mut self, taker: &mut Taker, context: &mut CommandContext<'_>) -> StopReason {
        let stop = self.run_match_loop(taker, context);
        context.visited.set(taker.visited);
        stop
    }

    /// [`Self::finish`], which is inlined where orders are placed at once.
    #[inline(never)]
    fn finish_later(
        &mut self,
        taker: &Taker,
        stop: StopReason,
        id_slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        self.finish(taker, stop, id_slot, context)
    }

    /// Puts the market's first delayed order into the queue of due things, while the market trades.
    pub(crate) fn schedule_release(&mut self, market: MarketNumber) {
        let due = self.next_release(market);
        self.clock.releases.set(market, due);
        self.refresh_clock();
    }
}
