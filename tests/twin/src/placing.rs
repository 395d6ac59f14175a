//! Placing an order: admit it, plan what it does to the book, carry the plan out (protocol 2, 3).

use foretell_model::digest::Fate;
use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{
    CloseReason, CommandOutcome, Event, Lots, Micros, OrderResult, OrderStatus, OrderType,
    PlaceOrder, Price, RefusalReason, Side, Tick, TimeNs,
};

use crate::admission::killed_below;
use crate::answer::Answer;
use crate::exchange::{At, Exchange};
use crate::orders::Order;
use crate::walk::{End, Plan, Step, Taker};

impl Exchange {
    pub(crate) fn place_order(
        &mut self,
        placed: &PlaceOrder,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        let taker = self.admit(placed, at)?;
        let plan = self.walk(&taker, at.time);
        let killed = self.killed(placed, &taker, &plan, at.time);
        let result = if let Some((reason, minimum)) = killed {
            let refusal = killed_below(reason, placed, minimum);
            events.push(Event::OrderKilled {
                reason,
                details: refusal.details,
            });
            OrderResult {
                status: OrderStatus::Killed(refusal),
                lots: Lots::ZERO,
                value: Micros::ZERO,
                fee: Micros::ZERO,
                fills: 0,
            }
        } else {
            self.carry_out_plan(placed, &taker, &plan, events)
        };
        let fate = match killed {
            Some((reason, minimum)) => Fate::Killed { reason, minimum },
            None if self.orders.contains_key(&taker.number) => Fate::Live,
            None => Fate::Done,
        };
        self.remember_order(placed, fate, at);
        Ok(CommandOutcome::Order(result))
    }

    /// Why the book refuses the order, if it does, and the minimum that it was below (rules 2).
    fn killed(
        &self,
        placed: &PlaceOrder,
        taker: &Taker,
        plan: &Plan,
        now: TimeNs,
    ) -> Option<(RefusalReason, Micros)> {
        let minimum = self.settings.marketable_minimum;
        let too_small = taker.side == Side::Buy && Micros(placed.maker_amount) < minimum;
        let reason = match taker.order_type {
            OrderType::Gtc | OrderType::Gtd if placed.post_only || too_small => {
                let reason = if placed.post_only {
                    RefusalReason::CrossesBook
                } else {
                    RefusalReason::MarketableBelowMinimum
                };
                self.crosses(taker, now).then_some(reason)
            }
            OrderType::Gtc | OrderType::Gtd => None,
            OrderType::Fok => {
                (!plan.fills_whole(taker.wants)).then_some(RefusalReason::FokNotFilled)
            }
            OrderType::Fak => {
                (plan.bought_or_sold() == Lots::ZERO).then_some(RefusalReason::FakNoMatch)
            }
        }?;
        Some(match reason {
            RefusalReason::MarketableBelowMinimum if self.rules >= 2 => (reason, minimum),
            _ => (reason, Micros::ZERO),
        })
    }

    /// Whether an order counts as crossing: it meets an order whose time has not come, be it an own
    /// one, or more of the others than one command may clear away.
    fn crosses(&self, taker: &Taker, now: TimeNs) -> bool {
        let makers = self.crossing(taker.market, taker.outcome, taker.side, taker.limit);
        makers.len() > MAX_TOUCHED
            || makers
                .iter()
                .any(|maker| !maker.is_expired(&self.settings, now))
    }

    fn carry_out_plan(
        &mut self,
        placed: &PlaceOrder,
        taker: &Taker,
        plan: &Plan,
        events: &mut Vec<Event>,
    ) -> OrderResult {
        let mut result = OrderResult {
            status: OrderStatus::Unmatched,
            lots: Lots::ZERO,
            value: Micros::ZERO,
            fee: Micros::ZERO,
            fills: 0,
        };
        let mut near_an_end = false;
        for step in &plan.steps {
            match *step {
                Step::Close(order, reason) => self.close_order(order, reason, events),
                Step::Fill {
                    maker,
                    lots,
                    price,
                    fee,
                } => {
                    self.settle(taker, maker, lots, fee, events);
                    near_an_end |= is_near_an_end(price);
                    result.status = OrderStatus::Matched;
                    result.lots += lots;
                    result.value += lots.value_at(price);
                    result.fee += fee;
                    result.fills += 1;
                }
            }
        }
        let rests = plan.end == End::BookEmpty && taker.order_type.may_rest();
        if rests {
            self.rest(placed, taker, plan.left);
            if result.fills == 0 {
                result.status = OrderStatus::Live;
            }
        }
        events.push(final_event(taker, plan));
        if near_an_end {
            self.refine_tick(taker, events);
        }
        result
    }

    /// The rest of an order enters the book; what it needs is no longer free.
    fn rest(&mut self, placed: &PlaceOrder, taker: &Taker, left: Lots) {
        let order = Order {
            number: taker.number,
            id: placed.order,
            account: taker.account,
            market: taker.market,
            outcome: taker.outcome,
            side: taker.side,
            price: taker.limit,
            lots: left,
            expiration: placed.expiration,
        };
        self.account_mut(order.account).free -= order.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] -= order.reserved_shares();
        self.orders.insert(order.number, order);
    }

    /// A market at 0.01 goes to 0.001 when it trades above 0.96 or below 0.04 (protocol 1).
    fn refine_tick(&mut self, taker: &Taker, events: &mut Vec<Event>) {
        let market = self.market_mut(taker.market);
        if market.tick_refines && market.tick == Tick::Hundredth {
            market.tick = Tick::Thousandth;
            events.push(Event::TickSet {
                market: taker.market,
                tick: Tick::Thousandth,
            });
        }
    }
}

/// The same for a price of either outcome: the two ends mirror each other.
fn is_near_an_end(price: Price) -> bool {
    price > Price(9_600) || price < Price(400)
}

/// What the frame says last about its own order.
fn final_event(taker: &Taker, plan: &Plan) -> Event {
    let reason = match plan.end {
        End::BookEmpty if taker.order_type.may_rest() => {
            return Event::OrderRested {
                lots: plan.left,
                price: taker.limit,
            };
        }
        // A FOK that a fee stopped goes ahead only when it counts as filled.
        End::FeeStopped if taker.order_type == OrderType::Fok => return Event::OrderCompleted,
        End::Full => return Event::OrderCompleted,
        End::BookEmpty => CloseReason::FakRest,
        End::TooManyFills => CloseReason::TooManyFills,
        End::FeeStopped => CloseReason::FeeStopped,
    };
    Event::OrderClosed {
        order: taker.number,
        account: taker.account,
        lots: plan.left,
        reason,
    }
}
