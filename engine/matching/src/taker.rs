//! An incoming order: what it still wants, and its fills against makers.

use foretell_model::event::OrderClosed;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, CloseReason, Event, FeeSchedule, Lots, MarketNumber, Micros, OrderNumber,
    OrderType, Outcome, Price, Side, TimeSeconds,
};

use crate::fees;
use crate::order_pool::{BookSide, Order, in_yes};

/// The working state of an incoming order.
#[derive(Clone, Debug)]
pub(crate) struct Taker {
    pub(crate) number: OrderNumber,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    /// Limit in the price of its own token.
    pub(crate) limit: Price,
    pub(crate) expiration: TimeSeconds,
    /// Fee schedule at admission.
    pub(crate) fee: FeeSchedule,
    /// Maker's share of the fee at admission.
    pub(crate) rebate_ppm: u32,
    /// Shares still to buy or sell; unused by a budget BUY.
    pub(crate) lots_left: Lots,
    /// Unspent signed amount; budget BUY only.
    pub(crate) budget_left: Micros,
    /// Unspent free collateral at admission, or unspent reservation of a delayed order; budget BUY
    /// only.
    pub(crate) free_left: Micros,
    /// Lots that a FOK BUY stopped by a fee must have received to count as filled.
    pub(crate) minimum_lots: Lots,
    /// Slot of a seller's position, which its free shares keep in use. `NONE` for a buyer, who may
    /// have no position yet.
    pub(crate) position: u32,
    /// Resting orders visited, and those touched by earlier frames of its group.
    pub(crate) visited: usize,
    /// Why its rest does not rest: a delayed order whose cancel was asked.
    pub(crate) cancel: Option<CloseReason>,
    /// It waits if it could trade: not post-only, and its market has a delay.
    pub(crate) may_wait: bool,
    pub(crate) done: FillTotals,
}

/// Totals of the fills so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FillTotals {
    pub(crate) lots: Lots,
    pub(crate) value: Micros,
    pub(crate) fee: Micros,
    /// What makers accrue of the fee.
    pub(crate) rebate: Micros,
    pub(crate) fills: u32,
    /// Full sets created, part of `lots`.
    pub(crate) minted: Lots,
    /// Full sets destroyed, part of `lots`.
    pub(crate) merged: Lots,
    /// Whether a fill was above 0.96 or below 0.04 in Yes prices.
    pub(crate) is_extreme: bool,
}

/// Why the match loop stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopReason {
    /// Fully filled, or the rest of the budget buys nothing.
    Full,
    /// No order is left within the limit.
    NoMaker,
    /// The bound on visited orders is reached.
    TooManyVisited,
    /// A fee used up the free collateral of a budget BUY.
    FeeStopped,
}

/// The fill of a taker against one maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TakerFill {
    pub(crate) lots: Lots,
    pub(crate) fee: Micros,
    pub(crate) stop: Option<StopReason>,
}

impl Taker {
    /// Whether the order spends a budget (FOK or FAK BUY) instead of a number of shares.
    pub(crate) const fn has_budget(&self) -> bool {
        matches!(self.side, Side::Buy) && !self.order_type.may_rest()
    }

    pub(crate) const fn book_side(&self) -> BookSide {
        BookSide::of(self.outcome, self.side)
    }

    /// Whether a maker's Yes price is within the limit.
    pub(crate) const fn reaches(&self, maker: Price) -> bool {
        let limit = in_yes(self.limit, self.outcome);
        match self.book_side() {
            BookSide::Bid => maker.0 <= limit.0,
            BookSide::Ask => maker.0 >= limit.0,
        }
    }

    /// Whether the order is full, as far as known without another maker.
    const fn is_full(&self) -> bool {
        if self.has_budget() {
            self.budget_left.0 < self.limit.0 as u64
        } else {
            self.lots_left.is_zero()
        }
    }

    /// The reason to stop before the next order, if any.
    pub(crate) fn stop_before_next(&self) -> Option<StopReason> {
        (self.visited >= MAX_VISITED_ORDERS).then(|| {
            if self.is_full() {
                StopReason::Full
            } else {
                StopReason::TooManyVisited
            }
        })
    }

    pub(crate) fn stop_without_maker(&self) -> StopReason {
        if self.is_full() {
            StopReason::Full
        } else {
            StopReason::NoMaker
        }
    }

    /// Takes as much as possible of another account's resting order.
    #[inline(always)]
    pub(crate) fn take(&mut self, maker: &Order) -> TakerFill {
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

    fn take_lots(&mut self, offered: Lots, price: Price) -> TakerFill {
        let lots = offered.min(self.lots_left);
        self.lots_left -= lots;
        let fee = fees::fee(self.fee, lots, price);
        let fee = match self.side {
            Side::Buy => fee,
            // At extreme prices the fee can exceed the proceeds.
            Side::Sell => fee.min(lots.value_at(price)),
        };
        let stop = self.lots_left.is_zero().then_some(StopReason::Full);
        TakerFill { lots, fee, stop }
    }

    fn take_for_budget(&mut self, offered: Lots, price: Price) -> TakerFill {
        let wanted = offered.min(Lots(self.budget_left.0 / u64::from(price.0)));
        let lots = fees::affordable(self.fee, wanted, price, self.free_left);
        let fee = fees::fee(self.fee, lots, price);
        self.budget_left -= lots.value_at(price);
        self.free_left -= lots.value_at(price) + fee;
        let stop = if wanted.is_zero() {
            Some(StopReason::Full)
        } else {
            (lots < wanted).then_some(StopReason::FeeStopped)
        };
        TakerFill { lots, fee, stop }
    }

    /// The event of an order that ends with a rest.
    pub(crate) const fn closed(&self, reason: CloseReason) -> Event {
        let lots = if self.has_budget() {
            Lots::ZERO
        } else {
            self.lots_left
        };
        Event::OrderClosed(OrderClosed {
            order: self.number,
            account: self.account,
            lots,
            reason,
        })
    }

    /// Whether a FOK whose match loop stopped for this reason is filled.
    pub(crate) fn is_filled(&self, stop: StopReason) -> bool {
        let minimum = match stop {
            StopReason::Full => Lots(1),
            StopReason::FeeStopped => self.minimum_lots.max(Lots(1)),
            StopReason::NoMaker | StopReason::TooManyVisited => return false,
        };
        self.done.lots >= minimum
    }
}

/// A price that refines a tick of 0.01.
const fn is_extreme(yes_price: Price) -> bool {
    yes_price.0 > 9_600 || yes_price.0 < 400
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use crate::slab::NONE;
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
            rebate_ppm: 0,
            lots_left: Lots(150),
            budget_left: Micros(400_000),
            free_left: Micros(500_000),
            minimum_lots: Lots(80),
            position: NONE,
            visited: 0,
            cancel: None,
            may_wait: false,
            done: FillTotals::default(),
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
        assert_eq!(
            (second.lots, second.stop),
            (Lots(50), Some(StopReason::Full))
        );
        assert_eq!(taker.done.value, Micros(650_000));
        assert_eq!(taker.done.fills, 2);
    }

    #[test]
    fn a_budget_stops_at_its_amount_and_at_its_purse() {
        // 400,000 micros buy 80 lots at 0.50; with a fee of 1,000 micros a lot they cost 480,000.
        let mut rich = taker(OrderType::Fak, Side::Buy);
        let take = rich.take(&maker(5_000));
        assert_eq!((take.lots, take.stop), (Lots(80), None));
        assert_eq!(
            (rich.budget_left, rich.free_left),
            (Micros(0), Micros(20_000))
        );
        assert!(rich.is_full());
        assert_eq!(rich.take(&maker(5_000)).stop, Some(StopReason::Full));
        // At 0.39 the budget buys 102 lots, but only 100 are offered, and they cost 490,000.
        let mut poor = taker(OrderType::Fak, Side::Buy);
        poor.free_left = Micros(489_999);
        let take = poor.take(&maker(3_900));
        assert_eq!(
            (take.lots, take.stop),
            (Lots(99), Some(StopReason::FeeStopped))
        );
        assert_eq!(poor.free_left, Micros(4_899));
    }

    #[rstest]
    #[case::full(StopReason::Full, 1, true)]
    #[case::full_of_nothing(StopReason::Full, 0, false)]
    #[case::fee_stopped_with_enough(StopReason::FeeStopped, 80, true)]
    #[case::fee_stopped_with_less(StopReason::FeeStopped, 79, false)]
    #[case::book_ended(StopReason::NoMaker, 80, false)]
    #[case::bound(StopReason::TooManyVisited, 80, false)]
    fn when_a_fok_is_whole(#[case] stop: StopReason, #[case] lots: u64, #[case] is_filled: bool) {
        let mut taker = taker(OrderType::Fok, Side::Buy);
        taker.done.lots = Lots(lots);
        assert_eq!(taker.is_filled(stop), is_filled);
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
        taker.visited = MAX_VISITED_ORDERS;
        assert_eq!(taker.stop_before_next(), Some(StopReason::TooManyVisited));
        taker.budget_left = Micros(4_999);
        assert_eq!(taker.stop_before_next(), Some(StopReason::Full));
    }
}
