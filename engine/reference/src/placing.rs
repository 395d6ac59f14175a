//! Placing an order: admission, plan, execution of the plan (docs/verify/rules.md §4, §5).

use foretell_model::event::{OrderClosed, OrderKilled, OrderRested, TickSet};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::OrderIdState;
use foretell_model::{
    CloseReason, CommandOutcome, Event, Lots, Micros, OrderResult, OrderStatus, OrderType,
    PlaceOrder, Price, RejectionReason, Side, Tick, TimeNs,
};

use crate::admission::killed_below;
use crate::exchange::{Exchange, Stamp};
use crate::handler_result::HandlerResult;
use crate::orders::Order;
use crate::plan::{Plan, PlanStep, StopReason, Taker};

impl Exchange {
    pub(crate) fn place_order(
        &mut self,
        placed: &PlaceOrder,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let taker = self.admit(placed, at)?;
        let crossing = self.killed_by_crossing(placed, &taker, at.time);
        if crossing.is_none() && self.must_wait(placed, &taker, at) {
            return Ok(self.delay_order(placed, taker, at, events));
        }
        let plan = self.plan(&taker, at.visits(), at.time);
        let unfilled = unfilled(&taker, &plan).map(|reason| (reason, Micros::ZERO));
        let killed = crossing.or(unfilled);
        let result = if let Some((reason, minimum)) = killed {
            let rejection = killed_below(reason, placed, minimum);
            events.push(Event::OrderKilled(OrderKilled {
                reason,
                details: rejection.details,
            }));
            without_fill(OrderStatus::Killed(rejection))
        } else {
            self.execute_plan(&taker, &plan, None, at, events)
        };
        let state = match killed {
            Some((reason, minimum)) => OrderIdState::Killed { reason, minimum },
            None if self.orders.get(taker.number).is_some() => OrderIdState::Live,
            None => OrderIdState::Done,
        };
        self.remember_order(placed, state, at);
        self.leave_frozen_quotes(events);
        Ok(CommandOutcome::Order(result))
    }

    /// The reason for which an order is killed because it crosses, if any, and the minimum it was
    /// below.
    fn killed_by_crossing(
        &self,
        placed: &PlaceOrder,
        taker: &Taker,
        now: TimeNs,
    ) -> Option<(RejectionReason, Micros)> {
        let minimum = self.settings.marketable_minimum;
        let too_small = taker.side == Side::Buy && Micros(placed.maker_amount) < minimum;
        if !taker.order_type.may_rest() || !(placed.post_only || too_small) {
            return None;
        }
        if !self.crosses(taker, now) {
            return None;
        }
        Some(if placed.post_only {
            (RejectionReason::CrossesBook, Micros::ZERO)
        } else {
            (RejectionReason::MarketableBelowMinimum, minimum)
        })
    }

    /// Whether the order crosses: an unexpired order, own orders included, or more than
    /// `MAX_VISITED_ORDERS` expired ones are within the limit.
    fn crosses(&self, taker: &Taker, now: TimeNs) -> bool {
        let makers = self.crossing(taker.market, taker.outcome, taker.side, taker.limit);
        makers.enumerate().any(|(before, maker)| {
            before >= MAX_VISITED_ORDERS || !maker.is_expired(&self.settings, now)
        })
    }

    /// Does what is planned. With `cancel`, the reason of a cancel that was asked for, nothing
    /// rests.
    pub(crate) fn execute_plan(
        &mut self,
        taker: &Taker,
        plan: &Plan,
        cancel: Option<CloseReason>,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> OrderResult {
        let mut result = without_fill(OrderStatus::Unmatched);
        let mut is_extreme = false;
        for step in &plan.steps {
            match *step {
                PlanStep::Close(order, reason) => self.close_order(order, reason, events),
                PlanStep::Fill {
                    maker,
                    lots,
                    price,
                    fee,
                } => {
                    self.settle(taker, maker, lots, fee, at, events);
                    is_extreme |= is_extreme_price(price);
                    result.status = OrderStatus::Matched;
                    result.lots += lots;
                    result.value += lots.value_at(price);
                    result.fee += fee;
                    result.fills += 1;
                }
            }
        }
        let may_rest = plan.end == StopReason::BookEmpty && taker.order_type.may_rest();
        if may_rest && cancel.is_none() {
            self.rest(taker, plan.left, at);
            if result.fills == 0 {
                result.status = OrderStatus::Live;
            }
        }
        events.push(final_event(taker, plan, cancel));
        if is_extreme {
            self.refine_tick(taker, events);
        }
        result
    }

    /// Lets the rest of an order rest.
    fn rest(&mut self, taker: &Taker, left: Lots, at: Stamp) {
        self.put_into_book(Order {
            number: taker.number,
            id: taker.id,
            account: taker.account,
            market: taker.market,
            outcome: taker.outcome,
            side: taker.side,
            price: taker.limit,
            lots: left,
            expiration: taker.expiration,
            arrival: at.sequence,
            group: None,
        });
    }

    /// Puts an order into the book; it reserves what was free.
    pub(crate) fn put_into_book(&mut self, order: Order) {
        self.account_mut(order.account).free -= order.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] -= order.reserved_shares();
        self.orders.insert(order);
    }

    /// Refines the tick 0.01 to 0.001 after a trade above 0.96 or below 0.04
    /// (docs/verify/rules.md §3).
    fn refine_tick(&mut self, taker: &Taker, events: &mut Vec<Event>) {
        let market = self.market_mut(taker.market);
        if market.tick_refines && market.tick == Tick::Hundredth {
            market.tick = Tick::Thousandth;
            events.push(Event::TickSet(TickSet {
                market: taker.market,
                tick: Tick::Thousandth,
            }));
        }
    }
}

/// Works for prices of either outcome, because the bounds are symmetric.
fn is_extreme_price(price: Price) -> bool {
    price > Price(9_600) || price < Price(400)
}

/// Why a FOK or FAK with this plan is not executed.
pub(crate) fn unfilled(taker: &Taker, plan: &Plan) -> Option<RejectionReason> {
    let is_filled = match taker.order_type {
        OrderType::Gtc | OrderType::Gtd => true,
        OrderType::Fok => plan.fills_completely(taker.demand),
        OrderType::Fak => plan.bought_or_sold() > Lots::ZERO,
    };
    let reason = match taker.order_type {
        OrderType::Fok => RejectionReason::FokNotFilled,
        _ => RejectionReason::FakNoMatch,
    };
    (!is_filled).then_some(reason)
}

/// The result of an order that did not trade.
pub(crate) const fn without_fill(status: OrderStatus) -> OrderResult {
    OrderResult {
        status,
        lots: Lots::ZERO,
        value: Micros::ZERO,
        fee: Micros::ZERO,
        fills: 0,
    }
}

/// The last event of the frame about its own order.
fn final_event(taker: &Taker, plan: &Plan, cancel: Option<CloseReason>) -> Event {
    let reason = match plan.end {
        StopReason::BookEmpty if taker.order_type.may_rest() => match cancel {
            Some(reason) => reason,
            None => {
                return Event::OrderRested(OrderRested {
                    lots: plan.left,
                    price: taker.limit,
                });
            }
        },
        // A fee-stopped FOK is executed only when it counts as filled.
        StopReason::FeeStopped if taker.order_type == OrderType::Fok => {
            return Event::OrderCompleted;
        }
        StopReason::Full => return Event::OrderCompleted,
        StopReason::BookEmpty => CloseReason::FakRest,
        StopReason::TooManyFills => CloseReason::TooManyFills,
        StopReason::FeeStopped => CloseReason::FeeStopped,
    };
    Event::OrderClosed(OrderClosed {
        order: taker.number,
        account: taker.account,
        lots: plan.left,
        reason,
    })
}
