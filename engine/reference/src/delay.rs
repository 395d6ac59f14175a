//! Orders that wait out a market's delay: arrival, cancel, end and release
//! (docs/verify/rules.md §22).

use foretell_model::event::{CancelRequested, OrderClosed, OrderDelayed, OrderReleased};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::OrderIdState;
use foretell_model::{
    CloseReason, CommandOutcome, Event, Micros, OrderNumber, OrderStatus, OrderType, PlaceOrder,
    TimeNs,
};

use crate::delayed_orders::DelayedOrder;
use crate::exchange::{Exchange, Stamp};
use crate::placing::{unfilled, without_fill};
use crate::plan::{Demand, Taker};

const MILLISECOND: u64 = 1_000_000;

impl Exchange {
    /// Whether an admitted order that is not killed by crossing is delayed.
    pub(crate) fn must_wait(&self, placed: &PlaceOrder, taker: &Taker, at: Stamp) -> bool {
        self.delay_of(taker) > 0 && !placed.post_only && self.meets(taker, at)
    }

    fn delay_of(&self, taker: &Taker) -> u64 {
        u64::from(self.markets[taker.market.0 as usize].terms.taker_delay_ms)
    }

    /// Whether it could trade with one of the orders that it may visit.
    fn meets(&self, taker: &Taker, at: Stamp) -> bool {
        let makers = self.crossing(taker.market, taker.outcome, taker.side, taker.limit);
        let mut makers = makers.take(at.visits());
        makers.any(|maker| self.not_filled(taker, maker, at.time).is_none())
    }

    /// Reserves what the order needs, and lets it wait.
    pub(crate) fn delay_order(
        &mut self,
        placed: &PlaceOrder,
        taker: Taker,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        let reserved = taker.needs();
        let delay = self.delay_of(&taker) * MILLISECOND;
        let due = TimeNs(at.time.0.saturating_add(delay));
        events.push(Event::OrderDelayed(OrderDelayed {
            price: taker.limit,
            lots: taker.demand.shares(),
            reserved,
            due,
        }));
        let delayed = DelayedOrder {
            order: taker,
            due,
            reserved,
            cancel: None,
        };
        let order = &delayed.order;
        self.account_mut(order.account).free -= delayed.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] -=
            delayed.reserved_shares();
        self.delayed.insert(delayed);
        self.remember_order(placed, OrderIdState::Live, at);
        CommandOutcome::Order(without_fill(OrderStatus::Delayed))
    }

    /// Notes a cancel: the order still meets the book, but does not rest.
    pub(crate) fn request_cancel(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
        events: &mut Vec<Event>,
    ) {
        let Some(delayed) = self.delayed.get(number) else {
            return;
        };
        let account = delayed.order.account;
        self.delayed.ask_for_cancel(number, reason);
        events.push(Event::CancelRequested(CancelRequested {
            order: number,
            account,
            reason,
        }));
    }

    /// Ends a delayed order before it meets the book.
    pub(crate) fn close_delayed_order(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
        events: &mut Vec<Event>,
    ) {
        let taker = self.take_delayed_order(number).order;
        self.order_ids.order_ended(number);
        events.push(closed(&taker, reason));
    }

    /// Takes an order out of the list. All it reserved is free again.
    fn take_delayed_order(&mut self, number: OrderNumber) -> DelayedOrder {
        let delayed = self.delayed.remove(number);
        let order = &delayed.order;
        self.account_mut(order.account).free += delayed.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] +=
            delayed.reserved_shares();
        delayed
    }

    /// A delayed order is due and meets the book as the taker. A budget spends at most what was
    /// reserved.
    pub(crate) fn release_order(
        &mut self,
        number: OrderNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        let delayed = self.take_delayed_order(number);
        let mut taker = delayed.order;
        if let Demand::Budget { free, .. } = &mut taker.demand {
            *free = Micros(delayed.reserved);
        }
        events.push(Event::OrderReleased(OrderReleased {
            order: number,
            account: taker.account,
            market: taker.market,
        }));

        let plan = self.plan(&taker, MAX_VISITED_ORDERS, at.time);
        let result = if unfilled(&taker, &plan).is_some() {
            let reason = match taker.order_type {
                OrderType::Fok => CloseReason::FokNotFilled,
                _ => CloseReason::FakRest,
            };
            events.push(closed(&taker, reason));
            without_fill(OrderStatus::Unmatched)
        } else {
            self.execute_plan(&taker, &plan, delayed.cancel, at, events)
        };
        if self.orders.get(number).is_none() {
            self.order_ids.order_ended(number);
        }
        self.leave_frozen_quotes(events);
        CommandOutcome::Order(result)
    }
}

/// The end of an order of which nothing traded.
fn closed(taker: &Taker, reason: CloseReason) -> Event {
    Event::OrderClosed(OrderClosed {
        order: taker.number,
        account: taker.account,
        lots: taker.demand.shares(),
        reason,
    })
}
