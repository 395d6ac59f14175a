//! The plan of an order: one walk over the opposite side of the book, which changes nothing
//! (docs/verify/rules.md §4 to §7).

use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, CloseReason, FeeSchedule, Lots, MarketNumber, Micros, OrderNumber, OrderType,
    Outcome, Price, RejectionReason, Side, TimeNs, TimeSeconds,
};

use crate::expiry::is_expired;
use crate::fees;
use crate::ladder::{Ladder, next_order};
use crate::order_pool::{BookSide, Order, OrderPool, in_yes};
use crate::quotes::QuoteGroups;
use crate::slab::NONE;

/// An admitted order, or a delayed one that is released.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) number: OrderNumber,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    /// Limit in the price of its own token.
    pub(crate) limit: Price,
    pub(crate) demand: Demand,
    pub(crate) expiration: TimeSeconds,
    /// Fee schedule at admission.
    pub(crate) fee: FeeSchedule,
    /// Maker's share of the fee at admission.
    pub(crate) rebate_ppm: u32,
    /// Slot of a seller's position, which its free shares keep in use. `NONE` for a buyer, who may
    /// have no position yet.
    pub(crate) position: u32,
    /// Slot in the id memory.
    pub(crate) id_slot: u32,
}

/// What an order wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demand {
    Shares(Lots),
    /// What this amount buys: a FOK or FAK BUY.
    Budget {
        amount: Micros,
        /// What amount and fees may use: free collateral at admission, or the reservation of a
        /// delayed order.
        free: Micros,
        /// Lots that a FOK stopped by a fee must receive to count as filled.
        minimum: Lots,
    },
}

/// One change of the book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A trade with the resting order in a slot.
    Fill { slot: u32, lots: Lots, fee: Micros },
    /// The end of the resting order in a slot.
    Close { slot: u32, reason: CloseReason },
}

/// Why the walk stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Fully filled, or the rest of the budget buys nothing.
    Full,
    /// No order is left within the limit.
    NoMaker,
    /// The bound on visited orders is reached.
    TooManyVisited,
    /// A fee used up the free collateral of a budget.
    FeeStopped,
    /// An order that may wait could trade.
    CouldTrade,
}

/// Sums of the fills of an order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Totals {
    pub(crate) lots: Lots,
    pub(crate) value: Micros,
    pub(crate) fee: Micros,
    pub(crate) fills: u32,
    /// Full sets created by a BUY or destroyed by a SELL, part of `lots`.
    pub(crate) sets: Lots,
    /// Whether a fill was above 0.96 or below 0.04, which refines a tick of 0.01.
    pub(crate) is_extreme: bool,
}

/// What an order does to the book, but for its steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) stop: Stop,
    /// What the order still wants.
    pub(crate) left: Demand,
    pub(crate) totals: Totals,
    /// Resting orders visited, and those visited before.
    pub(crate) visited: usize,
}

/// The book that an order meets, and the time of its command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Book<'a> {
    pub(crate) ladder: &'a Ladder,
    pub(crate) orders: &'a OrderPool,
    pub(crate) quotes: &'a QuoteGroups,
    pub(crate) now: TimeNs,
    /// Seconds before its expiration at which an order is expired.
    pub(crate) safety: u64,
}

/// The trade with one maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Taken {
    lots: Lots,
    fee: Micros,
    stop: Option<Stop>,
}

impl Plan {
    /// Visits makers by price, then arrival, until the order stops; `steps` receives the changes. An
    /// order that may rest closes own and expired orders as it meets them; another one only when a
    /// fill follows. An order that may wait stops where it could trade.
    #[inline(always)]
    pub(crate) fn of(
        incoming: &Incoming,
        book: &Book<'_>,
        visited: usize,
        may_wait: bool,
        steps: &mut Vec<Step>,
    ) -> Self {
        let mut plan = Self {
            stop: Stop::NoMaker,
            left: incoming.demand,
            totals: Totals::default(),
            visited,
        };
        steps.clear();
        let side = incoming.book_side().opposite();
        let mut next = incoming.first_maker(book.ladder);
        let mut to_last_fill = 0;
        plan.stop = loop {
            let is_over = plan.visited >= MAX_VISITED_ORDERS;
            let Some(slot) = next.filter(|_| !is_over) else {
                break match (plan.left.is_met(incoming.limit), is_over) {
                    (true, _) => Stop::Full,
                    (false, true) => Stop::TooManyVisited,
                    (false, false) => Stop::NoMaker,
                };
            };
            plan.visited += 1;
            let maker = &book.orders[slot];
            if let Some(reason) = book.skip_reason(incoming, maker) {
                steps.push(Step::Close { slot, reason });
            } else if may_wait {
                break Stop::CouldTrade;
            } else {
                let Taken { lots, fee, stop } = plan.take(incoming, maker);
                if !lots.is_zero() {
                    steps.push(Step::Fill { slot, lots, fee });
                    to_last_fill = steps.len();
                }
                if let Some(stop) = stop {
                    break stop;
                }
            }
            next = next_order(book.ladder, book.orders, slot, side)
                .filter(|slot| incoming.reaches(book.orders[*slot].yes_price));
        };
        if !incoming.order_type.may_rest() {
            steps.truncate(to_last_fill);
        }
        plan
    }

    /// Takes as much as possible of another account's resting order.
    #[inline(always)]
    fn take(&mut self, incoming: &Incoming, maker: &Order) -> Taken {
        let price = in_yes(maker.yes_price, incoming.outcome);
        let taken = self.left.take(incoming, maker.lots, price);
        if !taken.lots.is_zero() {
            let totals = &mut self.totals;
            totals.lots += taken.lots;
            totals.value += taken.lots.value_at(price);
            totals.fee += taken.fee;
            totals.fills += 1;
            totals.is_extreme |= is_extreme(price);
            if maker.outcome != incoming.outcome {
                totals.sets += taken.lots;
            }
        }
        taken
    }

    /// Why a FOK or FAK with this plan is not executed: as a kill, and as a close of a released one.
    pub(crate) fn unfilled(&self, incoming: &Incoming) -> Option<(RejectionReason, CloseReason)> {
        match incoming.order_type {
            OrderType::Fok if !self.is_whole() => {
                Some((RejectionReason::FokNotFilled, CloseReason::FokNotFilled))
            }
            OrderType::Fak if self.totals.fills == 0 => {
                Some((RejectionReason::FakNoMatch, CloseReason::FakRest))
            }
            _ => None,
        }
    }

    /// Whether a FOK with this plan is filled.
    fn is_whole(&self) -> bool {
        let minimum = match (self.stop, self.left) {
            (Stop::Full, _) => Lots(1),
            (Stop::FeeStopped, Demand::Budget { minimum, .. }) => minimum.max(Lots(1)),
            _ => return false,
        };
        self.totals.lots >= minimum
    }
}

impl Book<'_> {
    /// The reason why a resting order does not trade with the incoming one, if any.
    fn skip_reason(&self, incoming: &Incoming, maker: &Order) -> Option<CloseReason> {
        if is_expired(maker.expiration, self.now, self.safety) {
            Some(CloseReason::Expired)
        } else if maker.account == incoming.account {
            Some(CloseReason::SelfTrade)
        } else if maker.group != NONE && self.quotes[maker.group].record.until <= self.now {
            Some(CloseReason::LeaseEnded)
        } else {
            None
        }
    }
}

impl Incoming {
    const fn book_side(&self) -> BookSide {
        BookSide::of(self.outcome, self.side)
    }

    /// Whether a maker's Yes price is within the limit.
    const fn reaches(&self, maker: Price) -> bool {
        let limit = in_yes(self.limit, self.outcome);
        self.book_side().reaches(limit, maker)
    }

    /// The first order of the opposite side, if it is within the limit.
    #[inline(always)]
    pub(crate) fn first_maker(&self, ladder: &Ladder) -> Option<u32> {
        let best = ladder.best_level(self.book_side().opposite());
        best.filter(|(price, _)| self.reaches(*price))
            .map(|(_, slot)| slot)
    }

    /// Its entry in the order pool, not linked yet.
    #[inline(always)]
    pub(crate) const fn entry(&self, lots: Lots) -> Order {
        Order {
            lots,
            number: self.number,
            expiration: self.expiration,
            account: self.account,
            market: self.market,
            position: self.position,
            id_slot: self.id_slot,
            group: NONE,
            next: NONE,
            previous: NONE,
            account_next: NONE,
            account_previous: NONE,
            yes_price: in_yes(self.limit, self.outcome),
            outcome: self.outcome,
            side: self.side,
        }
    }
}

impl Demand {
    /// Wanted shares; 0 of a budget.
    pub(crate) const fn lots(self) -> Lots {
        match self {
            Self::Shares(lots) => lots,
            Self::Budget { .. } => Lots::ZERO,
        }
    }

    /// What an order needs free (docs/verify/rules.md §9): micros of a BUY, lots of a SELL.
    pub(crate) fn needs(self, side: Side, limit: Price, fee: FeeSchedule) -> u64 {
        match self {
            Self::Shares(lots) if side == Side::Sell => lots.0,
            Self::Shares(lots) => (lots.value_at(limit) + fees::fee_bound(fee, lots, limit)).0,
            Self::Budget { amount, .. } => {
                let lots = Lots(amount.0 / u64::from(limit.0));
                (amount + fees::fee(fee, lots, limit)).0
            }
        }
    }

    /// Whether nothing is left to buy or sell, as far as known without a maker.
    const fn is_met(self, limit: Price) -> bool {
        match self {
            Self::Shares(lots) => lots.is_zero(),
            Self::Budget { amount, .. } => amount.0 < limit.0 as u64,
        }
    }

    /// Takes as much of the offer as it wants and may.
    #[inline(always)]
    fn take(&mut self, incoming: &Incoming, offered: Lots, price: Price) -> Taken {
        match self {
            Self::Shares(left) => {
                let lots = offered.min(*left);
                *left -= lots;
                let fee = fees::fee(incoming.fee, lots, price);
                let fee = match incoming.side {
                    Side::Buy => fee,
                    // At extreme prices the fee can exceed the proceeds.
                    Side::Sell => fee.min(lots.value_at(price)),
                };
                let stop = left.is_zero().then_some(Stop::Full);
                Taken { lots, fee, stop }
            }
            Self::Budget { amount, free, .. } => {
                let wanted = offered.min(Lots(amount.0 / u64::from(price.0)));
                let lots = fees::affordable(incoming.fee, wanted, price, *free);
                let fee = fees::fee(incoming.fee, lots, price);
                *amount -= lots.value_at(price);
                *free -= lots.value_at(price) + fee;
                let stop = if wanted.is_zero() {
                    Some(Stop::Full)
                } else {
                    (lots < wanted).then_some(Stop::FeeStopped)
                };
                Taken { lots, fee, stop }
            }
        }
    }
}

/// A price that refines a tick of 0.01, of either outcome.
const fn is_extreme(price: Price) -> bool {
    price.0 > 9_600 || price.0 < 400
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use crate::table::KeyHasher;
    use foretell_model::Tick;
    use rstest::rstest;

    fn incoming(order_type: OrderType, demand: Demand) -> Incoming {
        Incoming {
            number: OrderNumber(9),
            account: AccountNumber(1),
            market: MarketNumber(0),
            outcome: Outcome::Yes,
            side: Side::Buy,
            order_type,
            limit: Price(5_000),
            demand,
            expiration: TimeSeconds(0),
            fee: FeeSchedule {
                rate_ppm: 100_000,
                exponent: 0,
            },
            rebate_ppm: 0,
            position: NONE,
            id_slot: 0,
        }
    }

    const fn budget(amount: u64, free: u64) -> Demand {
        Demand::Budget {
            amount: Micros(amount),
            free: Micros(free),
            minimum: Lots(80),
        }
    }

    /// The plan against asks of 100 lots at these prices; account 1 is the incoming order's own.
    fn planned(
        incoming: &Incoming,
        asks: &[(u16, u32)],
        visited: usize,
        may_wait: bool,
    ) -> (Plan, Vec<Step>) {
        let (mut ladder, mut orders) = (Ladder::new(Tick::Hundredth), OrderPool::with_capacity(8));
        for (number, (price, account)) in (1..).zip(asks) {
            let mut ask = order_of(number, *price, Outcome::Yes, Side::Sell);
            ask.account = AccountNumber(*account);
            let slot = orders.insert(ask);
            ladder.append(slot, &mut orders);
        }
        let book = Book {
            ladder: &ladder,
            orders: &orders,
            quotes: &QuoteGroups::new(KeyHasher::new(1)),
            now: TimeNs(0),
            safety: 60,
        };
        let mut steps = vec![];
        let plan = Plan::of(incoming, &book, visited, may_wait, &mut steps);
        (plan, steps)
    }

    const fn fill(slot: u32, lots: u64, fee: u64) -> Step {
        let (lots, fee) = (Lots(lots), Micros(fee));
        Step::Fill { slot, lots, fee }
    }

    const CLOSE: Step = Step::Close {
        slot: 1,
        reason: CloseReason::SelfTrade,
    };

    #[test]
    fn lots_are_taken_until_none_is_left() {
        let order = incoming(OrderType::Gtc, Demand::Shares(Lots(150)));
        let asks = [(4_000, 0), (5_000, 0), (5_000, 0)];
        let (plan, steps) = planned(&order, &asks, 0, false);
        assert_eq!(steps, [fill(0, 100, 100_000), fill(1, 50, 50_000)]);
        assert_eq!((plan.stop, plan.visited), (Stop::Full, 2));
        assert_eq!(plan.totals.value, Micros(650_000));
        assert_eq!(plan.left, Demand::Shares(Lots(0)));
    }

    #[test]
    fn a_budget_stops_at_its_amount_and_at_what_is_free() {
        // 400,000 micros buy 80 lots at 0.50; with a fee of 1,000 micros a lot they cost 480,000.
        let rich = incoming(OrderType::Fak, budget(400_000, 500_000));
        let (plan, steps) = planned(&rich, &[(5_000, 0), (5_000, 0)], 0, false);
        assert_eq!(steps, [fill(0, 80, 80_000)]);
        assert_eq!((plan.stop, plan.left), (Stop::Full, budget(0, 20_000)));
        // At 0.39 the budget buys 102 lots, but only 100 are offered, and they cost 490,000.
        let poor = incoming(OrderType::Fak, budget(400_000, 489_999));
        let (plan, steps) = planned(&poor, &[(3_900, 0), (5_000, 0)], 0, false);
        assert_eq!(steps, [fill(0, 99, 99_000)]);
        assert_eq!(plan.stop, Stop::FeeStopped);
        assert_eq!(plan.left, budget(13_900, 4_899));
    }

    #[rstest]
    #[case::closes_as_it_meets(OrderType::Gtc, &[(4_000, 0), (4_500, 1)], &[fill(0, 100, 100_000), CLOSE])]
    #[case::closes_before_a_fill(OrderType::Fak, &[(4_000, 0), (4_500, 1), (5_000, 0)],
        &[fill(0, 100, 100_000), CLOSE, fill(2, 50, 50_000)])]
    #[case::closes_none_after_the_last(OrderType::Fak, &[(4_000, 0), (4_500, 1)], &[fill(0, 100, 100_000)])]
    fn own_orders_do_not_trade(
        #[case] order_type: OrderType,
        #[case] asks: &[(u16, u32)],
        #[case] steps: &[Step],
    ) {
        let order = incoming(order_type, Demand::Shares(Lots(150)));
        assert_eq!(planned(&order, asks, 0, false).1, steps);
    }

    #[test]
    fn an_order_that_may_wait_stops_where_it_could_trade() {
        let order = incoming(OrderType::Fak, budget(5_000, 5_000));
        let asks = [(4_000, 1), (4_000, 0), (4_000, 0)];
        let (plan, _) = planned(&order, &asks, 0, true);
        assert_eq!((plan.stop, plan.visited), (Stop::CouldTrade, 2));
        let (plan, _) = planned(&order, &[(4_000, 1), (5_100, 0)], 0, true);
        assert_eq!((plan.stop, plan.visited), (Stop::NoMaker, 1));
    }

    #[rstest]
    #[case::full(Stop::Full, 1, true)]
    #[case::full_of_nothing(Stop::Full, 0, false)]
    #[case::fee_stopped_with_enough(Stop::FeeStopped, 80, true)]
    #[case::fee_stopped_with_less(Stop::FeeStopped, 79, false)]
    #[case::book_ended(Stop::NoMaker, 80, false)]
    #[case::bound(Stop::TooManyVisited, 80, false)]
    fn when_a_fok_is_whole(#[case] stop: Stop, #[case] lots: u64, #[case] is_whole: bool) {
        let order = incoming(OrderType::Fok, budget(400_000, 500_000));
        let (mut plan, _) = planned(&order, &[], 0, false);
        plan.stop = stop;
        plan.totals.lots = Lots(lots);
        assert_eq!(plan.unfilled(&order).is_none(), is_whole);
    }

    #[test]
    fn a_limit_reaches_prices_on_its_side_of_the_ladder() {
        let mut buyer = incoming(OrderType::Gtc, Demand::Shares(Lots(1)));
        assert!(buyer.reaches(Price(5_000)) && !buyer.reaches(Price(5_001)));
        // BUY No at 0.50 is an ask at 0.50.
        buyer.outcome = Outcome::No;
        assert!(buyer.reaches(Price(5_000)) && !buyer.reaches(Price(4_999)));
    }

    #[rstest]
    #[case::a_budget_is_left(5_000, Stop::TooManyVisited)]
    #[case::too_little_for_a_lot(4_999, Stop::Full)]
    fn the_bound_stops_an_order_that_still_wants_something(
        #[case] amount: u64,
        #[case] stop: Stop,
    ) {
        let order = incoming(OrderType::Fak, budget(amount, 500_000));
        for asks in [&[][..], &[(5_000, 0)]] {
            let (plan, steps) = planned(&order, asks, MAX_VISITED_ORDERS, false);
            assert_eq!((plan.stop, steps.len()), (stop, 0));
        }
    }
}
