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
    /// Place of its position, if it sells: free shares keep it there. A buyer's may be new, or go
    /// when orders of its own are closed on the way.
    pub(crate) position: Option<u32>,
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

    /// Whether a resting order of the other side at this Yes price is within the limit.
    pub(crate) const fn reaches(&self, maker: Price) -> bool {
        let limit = in_yes(self.limit, self.outcome);
        match self.book_side() {
            BookSide::Bid => maker.0 <= limit.0,
            BookSide::Ask => maker.0 >= limit.0,
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
    #[inline(always)]
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
            if !taker.reaches(maker.yes_price) {
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
        // Most orders meet nobody: the best price says so without a look at an order.
        let best = self.markets[taker.market].ladder.best_level(makers);
        let mut next = best
            .filter(|(price, _)| taker.reaches(*price))
            .map(|(_, slot)| slot);
        loop {
            if let Some(stop) = taker.stop_before_next() {
                return stop;
            }
            let Some(slot) = next.filter(|slot| taker.reaches(self.orders[*slot].yes_price)) else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use rstest::rstest;

    fn taker(order_type: OrderType, side: Side) -> Taker {
        Taker {
            number: OrderNumber(9),
            account: AccountNumber(1),
            market: MarketNumber(0),
            outcome: Outcome::Yes,
            side,
            order_type,
            limit: Price(5_000),
            expiration: TimeSeconds(0),
            fee: FeeSchedule {
                rate_ppm: 100_000,
                exponent: 0,
            },
            lots_left: Lots(150),
            budget_left: Micros(400_000),
            purse_left: Micros(500_000),
            enough: Lots(80),
            position: None,
            touched: 0,
            done: Traded::default(),
        }
    }

    fn maker(yes_price: u16) -> Order {
        order_of(1, yes_price, Outcome::Yes, Side::Sell)
    }

    #[test]
    fn lots_are_taken_until_none_is_left() {
        let mut taker = taker(OrderType::Gtc, Side::Buy);
        let first = taker.take(&maker(4_000));
        assert_eq!((first.lots, first.stop), (Lots(100), None));
        assert_eq!(first.fee, Micros(100_000));
        let second = taker.take(&maker(5_000));
        assert_eq!((second.lots, second.stop), (Lots(50), Some(Stop::Full)));
        assert_eq!(taker.done.value, Micros(650_000));
        assert_eq!(taker.done.fills, 2);
    }

    #[test]
    fn a_budget_stops_at_its_amount_and_at_its_purse() {
        // 400,000 micros buy 80 lots at 0.50; with 1,000 micros of fee a lot they cost 480,000.
        let mut rich = taker(OrderType::Fak, Side::Buy);
        let take = rich.take(&maker(5_000));
        assert_eq!((take.lots, take.stop), (Lots(80), None));
        assert_eq!(
            (rich.budget_left, rich.purse_left),
            (Micros(0), Micros(20_000))
        );
        assert!(rich.is_full());
        assert_eq!(rich.take(&maker(5_000)).stop, Some(Stop::Full));
        // At 0.39 it would buy 102, but only 100 are offered, and they cost 490,000.
        let mut poor = taker(OrderType::Fak, Side::Buy);
        poor.purse_left = Micros(489_999);
        let take = poor.take(&maker(3_900));
        assert_eq!((take.lots, take.stop), (Lots(99), Some(Stop::FeeStopped)));
        assert_eq!(poor.purse_left, Micros(4_899));
    }

    #[rstest]
    #[case::full(Stop::Full, 1, true)]
    #[case::full_of_nothing(Stop::Full, 0, false)]
    #[case::fee_stopped_with_enough(Stop::FeeStopped, 80, true)]
    #[case::fee_stopped_with_less(Stop::FeeStopped, 79, false)]
    #[case::book_ended(Stop::NoMaker, 80, false)]
    #[case::bound(Stop::TooMany, 80, false)]
    fn when_a_fok_is_whole(#[case] stop: Stop, #[case] lots: u64, #[case] is_whole: bool) {
        let mut taker = taker(OrderType::Fok, Side::Buy);
        taker.done.lots = Lots(lots);
        assert_eq!(taker.is_whole(stop), is_whole);
    }

    #[test]
    fn a_limit_reaches_prices_on_its_side_of_the_ladder() {
        let mut buyer = taker(OrderType::Gtc, Side::Buy);
        assert!(buyer.reaches(Price(5_000)) && !buyer.reaches(Price(5_001)));
        // BUY No at 0.50 is an ask at 0.50.
        buyer.outcome = Outcome::No;
        assert!(buyer.reaches(Price(5_000)) && !buyer.reaches(Price(4_999)));
    }

    #[test]
    fn the_bound_stops_a_taker_that_still_wants_something() {
        let mut taker = taker(OrderType::Fak, Side::Buy);
        assert_eq!(taker.stop_before_next(), None);
        taker.touched = MAX_TOUCHED;
        assert_eq!(taker.stop_before_next(), Some(Stop::TooMany));
        taker.budget_left = Micros(4_999);
        assert_eq!(taker.stop_before_next(), Some(Stop::Full));
    }
}
