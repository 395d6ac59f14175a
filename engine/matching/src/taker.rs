//! An order on its way through the book: what it still wants, and the walk.

use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{
    AccountNumber, CloseReason, FeeSchedule, Lots, MarketNumber, Micros, OrderNumber, OrderType,
    Outcome, Price, Side, TimeSeconds,
};

use crate::exchange::Exchange;
use crate::fees;
use crate::ladder;
use crate::order_pool::{BookSide, Order, in_yes};
use crate::step::Step;

/// The working state of an incoming order.
#[derive(Clone, Debug)]
pub(crate) struct Taker {
    pub(crate) number: OrderNumber,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    /// Limit in its own token.
    pub(crate) limit: Price,
    pub(crate) expiration: TimeSeconds,
    /// Schedule at admission.
    pub(crate) fee: FeeSchedule,
    /// Shares still wanted or offered; unused by a budget BUY.
    pub(crate) lots_left: Lots,
    /// Signed amount not yet spent; budget BUY only.
    pub(crate) budget_left: Micros,
    /// Free collateral at admission not yet spent; budget BUY only.
    pub(crate) purse_left: Micros,
    /// Lots a FOK BUY that a fee stopped must have received to count as filled.
    pub(crate) enough: Lots,
    /// Resting orders met.
    pub(crate) touched: usize,
    pub(crate) done: Traded,
}

/// What an order has traded so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Traded {
    pub(crate) lots: Lots,
    pub(crate) value: Micros,
    pub(crate) fee: Micros,
    pub(crate) fills: u32,
    /// Full sets created, of `lots`.
    pub(crate) minted: Lots,
    /// Full sets destroyed, of `lots`.
    pub(crate) merged: Lots,
    /// Whether a fill was above 0.96 or below 0.04.
    pub(crate) is_extreme: bool,
}

/// Why a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Nothing is left, or what is left of a budget buys nothing.
    Full,
    /// No order within the limit is left.
    NoMaker,
    /// It may touch no more orders.
    TooMany,
    /// A fee used up the purse of a budget BUY.
    FeeStopped,
}

/// What a taker takes of one maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Take {
    pub(crate) lots: Lots,
    pub(crate) fee: Micros,
    pub(crate) stop: Option<Stop>,
}

impl Taker {
    /// Whether it spends a budget (FOK or FAK BUY) rather than moving a number of shares.
    pub(crate) const fn has_budget(&self) -> bool {
        matches!(self.side, Side::Buy) && !self.order_type.may_rest()
    }

    pub(crate) const fn book_side(&self) -> BookSide {
        BookSide::of(self.outcome, self.side)
    }

    /// Whether a resting order of the other side is within the limit.
    pub(crate) const fn reaches(&self, maker: &Order) -> bool {
        let limit = in_yes(self.limit, self.outcome);
        match self.book_side() {
            BookSide::Bid => maker.yes_price.0 <= limit.0,
            BookSide::Ask => maker.yes_price.0 >= limit.0,
        }
    }

    /// Whether it is full as far as can be told without another maker.
    const fn is_full(&self) -> bool {
        if self.has_budget() {
            self.budget_left.0 < self.limit.0 as u64
        } else {
            self.lots_left.is_zero()
        }
    }

    /// Why it stops before meeting another order, if it does.
    fn stop_before_next(&self) -> Option<Stop> {
        (self.touched >= MAX_TOUCHED).then(|| {
            if self.is_full() {
                Stop::Full
            } else {
                Stop::TooMany
            }
        })
    }

    fn stop_without_maker(&self) -> Stop {
        if self.is_full() {
            Stop::Full
        } else {
            Stop::NoMaker
        }
    }

    /// Takes what it can of a foreign maker's order.
    pub(crate) fn take(&mut self, maker: &Order) -> Take {
        let price = in_yes(maker.yes_price, self.outcome);
        let take = if self.has_budget() {
            self.take_for_budget(maker.lots, price)
        } else {
            self.take_lots(maker.lots, price)
        };
        if !take.lots.is_zero() {
            self.done.lots += take.lots;
            self.done.value += take.lots.value_at(price);
            self.done.fee += take.fee;
            self.done.fills += 1;
            self.done.is_extreme |= is_extreme(maker.yes_price);
        }
        take
    }

    fn take_lots(&mut self, offered: Lots, price: Price) -> Take {
        let lots = offered.min(self.lots_left);
        self.lots_left -= lots;
        let fee = fees::fee(self.fee, lots, price);
        let fee = match self.side {
            Side::Buy => fee,
            // The proceeds may be less than the fee at extreme prices.
            Side::Sell => fee.min(lots.value_at(price)),
        };
        let stop = self.lots_left.is_zero().then_some(Stop::Full);
        Take { lots, fee, stop }
    }

    fn take_for_budget(&mut self, offered: Lots, price: Price) -> Take {
        let wanted = offered.min(Lots(self.budget_left.0 / u64::from(price.0)));
        let lots = fees::affordable(self.fee, wanted, price, self.purse_left);
        let fee = fees::fee(self.fee, lots, price);
        self.budget_left -= lots.value_at(price);
        self.purse_left -= lots.value_at(price) + fee;
        let stop = if wanted.is_zero() {
            Some(Stop::Full)
        } else {
            (lots < wanted).then_some(Stop::FeeStopped)
        };
        Take { lots, fee, stop }
    }

    /// Whether a walk that ended so is a FOK filled whole.
    fn is_whole(&self, stop: Stop) -> bool {
        let enough = match stop {
            Stop::Full => Lots(1),
            Stop::FeeStopped => self.enough.max(Lots(1)),
            Stop::NoMaker | Stop::TooMany => return false,
        };
        self.done.lots >= enough
    }
}

/// A price that makes a tick of 0.01 finer.
const fn is_extreme(yes_price: Price) -> bool {
    yes_price.0 > 9_600 || yes_price.0 < 400
}

impl Exchange {
    /// Whether a FOK would be filled whole: the walk without its effects.
    pub(crate) fn fills_whole(&self, taker: &Taker, step: &Step<'_>) -> bool {
        let mut taker = taker.clone();
        let stop = self.dry_walk(&mut taker, step);
        taker.is_whole(stop)
    }

    fn dry_walk(&self, taker: &mut Taker, step: &Step<'_>) -> Stop {
        for slot in self.book(taker.market, taker.book_side().opposite()) {
            let maker = &self.orders[slot];
            if let Some(stop) = taker.stop_before_next() {
                return stop;
            }
            if !taker.reaches(maker) {
                break;
            }
            taker.touched += 1;
            if self.steps_over(taker, maker, step).is_none()
                && let Some(stop) = taker.take(maker).stop
            {
                return stop;
            }
        }
        taker.stop_without_maker()
    }

    /// Meets resting orders by price, then arrival, until something stops the taker.
    pub(crate) fn walk(&mut self, taker: &mut Taker, step: &mut Step<'_>) -> Stop {
        let makers = taker.book_side().opposite();
        let mut next = self.markets[taker.market].ladder.best(makers);
        loop {
            if let Some(stop) = taker.stop_before_next() {
                return stop;
            }
            let Some(slot) = next.filter(|slot| taker.reaches(&self.orders[*slot])) else {
                return taker.stop_without_maker();
            };
            taker.touched += 1;
            if let Some(stop) = self.meet(taker, slot, step) {
                return stop;
            }
            // An order that was just removed still knows what stood behind it.
            let ladder = &self.markets[taker.market].ladder;
            next = ladder::after(ladder, &self.orders, slot, makers);
        }
    }

    /// Fills against a resting order, closes it, or steps over it.
    fn meet(&mut self, taker: &mut Taker, slot: u32, step: &mut Step<'_>) -> Option<Stop> {
        let maker = &self.orders[slot];
        if let Some(reason) = self.steps_over(taker, maker, step) {
            if taker.order_type.may_rest() {
                self.close_order(slot, reason, step);
            } else {
                // Closed only if a foreign fill follows.
                self.scratch.push(slot);
            }
            return None;
        }
        let take = taker.take(maker);
        if !take.lots.is_zero() {
            self.close_stepped_over(taker, step);
            self.fill(taker, slot, take, step);
        }
        take.stop
    }

    /// Why a resting order does not trade with the taker.
    fn steps_over(&self, taker: &Taker, maker: &Order, step: &Step<'_>) -> Option<CloseReason> {
        if self.is_expired(maker.expiration, step) {
            Some(CloseReason::Expired)
        } else if maker.account == taker.account {
            Some(CloseReason::SelfTrade)
        } else {
            None
        }
    }

    fn close_stepped_over(&mut self, taker: &Taker, step: &mut Step<'_>) {
        let mut slots = std::mem::take(&mut self.scratch);
        for slot in slots.drain(..) {
            if let Some(reason) = self.steps_over(taker, &self.orders[slot], step) {
                self.close_order(slot, reason, step);
            }
        }
        self.scratch = slots;
    }
}
