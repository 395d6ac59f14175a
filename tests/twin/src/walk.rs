//! What a taker would do to the book, worked out without changing anything (protocol 2, 3, 4).

use foretell_model::limits::MAX_TOUCHED;
use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{
    AccountNumber, CloseReason, FeeSchedule, Lots, MarketNumber, Micros, OrderNumber, OrderType,
    Outcome, Price, Side, TimeNs,
};

use crate::exchange::Exchange;
use crate::fees::charged;
use crate::orders::in_outcome;

/// An order that has been admitted and meets the book.
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
    pub(crate) wants: Wants,
    /// Of the market at admission.
    pub(crate) fee: FeeSchedule,
}

/// What a taker is after.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wants {
    /// This many shares.
    Shares(Lots),
    /// As many shares as the budget buys, while the fees fit into the purse too (FOK and FAK BUY).
    Budget {
        budget: Micros,
        /// What was free at admission.
        purse: Micros,
        /// Signed takerAmount in micro-shares: what a FOK that a fee stopped must have received.
        at_least: u64,
    },
}

/// One thing to do to the book.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Close(OrderNumber, CloseReason),
    Fill {
        maker: OrderNumber,
        lots: Lots,
        /// In the taker's token.
        price: Price,
        fee: Micros,
    },
}

/// Why the walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Everything wanted was had.
    Full,
    /// The book has nothing more for it.
    BookEmpty,
    /// The bound on touched orders was reached with something left.
    TooManyFills,
    /// The next fee does not fit into the purse.
    FeeStopped,
}

/// The whole of what a taker would do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
    /// Unfilled shares; 0 for a budget.
    pub(crate) left: Lots,
}

impl Plan {
    pub(crate) fn bought_or_sold(&self) -> Lots {
        self.steps
            .iter()
            .map(|step| match step {
                Step::Fill { lots, .. } => *lots,
                Step::Close(..) => Lots::ZERO,
            })
            .sum()
    }

    /// Whether a FOK may go ahead with it.
    pub(crate) fn fills_whole(&self, wants: Wants) -> bool {
        let had = self.bought_or_sold();
        let enough = match (self.end, wants) {
            (End::Full, _) => true,
            (End::FeeStopped, Wants::Budget { at_least, .. }) => {
                had >= Lots(at_least / MICROS_PER_LOT)
            }
            _ => false,
        };
        enough && had > Lots::ZERO
    }
}

impl Exchange {
    /// Price, then arrival. Own orders and orders whose time has come do not trade: a taker that
    /// may rest closes them as it meets them; another steps over them, and they are closed only if
    /// a fill comes after them.
    pub(crate) fn walk(&self, taker: &Taker, now: TimeNs) -> Plan {
        let mut steps = Vec::new();
        let mut stepped_over = Vec::new();
        let mut left = taker.wants;
        let mut end = None;
        let makers = self.crossing(taker.market, taker.outcome, taker.side, taker.limit);
        for maker in makers.iter().take(MAX_TOUCHED) {
            let expired = maker.is_expired(&self.settings, now);
            if expired || maker.account == taker.account {
                let reason = if expired {
                    CloseReason::Expired
                } else {
                    CloseReason::SelfTrade
                };
                let close = Step::Close(maker.number, reason);
                if taker.order_type.may_rest() {
                    steps.push(close);
                } else {
                    stepped_over.push(close);
                }
                continue;
            }

            let price = in_outcome(maker.price, maker.outcome, taker.outcome);
            let bite = left.bite(maker.lots, price, taker.side, taker.fee);
            if bite.lots > Lots::ZERO {
                steps.append(&mut stepped_over);
                steps.push(Step::Fill {
                    maker: maker.number,
                    lots: bite.lots,
                    price,
                    fee: bite.fee,
                });
                left.take(bite.lots.value_at(price), bite);
            }
            end = bite.end;
            if end.is_some() || left.nothing_at_any_price() {
                break;
            }
        }
        let end = end.unwrap_or_else(|| left.end_of_book(taker.limit, makers.len()));
        Plan {
            steps,
            end,
            left: left.shares(),
        }
    }
}

/// What a taker has of one maker.
#[derive(Clone, Copy, Debug)]
struct Bite {
    lots: Lots,
    fee: Micros,
    /// Whether the walk is over with it.
    end: Option<End>,
}

impl Wants {
    /// How much to take of a maker with `offered` lots at a price of the taker's own token.
    fn bite(self, offered: Lots, price: Price, side: Side, schedule: FeeSchedule) -> Bite {
        match self {
            Self::Shares(wanted) => {
                let lots = wanted.min(offered);
                let fee = charged(lots, price, schedule);
                Bite {
                    lots,
                    fee: match side {
                        Side::Buy => fee,
                        Side::Sell => fee.min(lots.value_at(price)),
                    },
                    end: None,
                }
            }
            Self::Budget { budget, purse, .. } => {
                let within_budget = offered.min(Lots(budget.0 / u64::from(price.0)));
                let lots = most_within(purse, within_budget, price, schedule);
                let end = if within_budget == Lots::ZERO {
                    Some(End::Full)
                } else if lots < within_budget {
                    Some(End::FeeStopped)
                } else {
                    None
                };
                Bite {
                    lots,
                    fee: charged(lots, price, schedule),
                    end,
                }
            }
        }
    }

    fn take(&mut self, value: Micros, bite: Bite) {
        match self {
            Self::Shares(lots) => *lots -= bite.lots,
            Self::Budget { budget, purse, .. } => {
                *budget -= value;
                *purse -= value + bite.fee;
            }
        }
    }

    /// Whether no maker, however cheap, could be of use any more.
    fn nothing_at_any_price(self) -> bool {
        match self {
            Self::Shares(lots) => lots == Lots::ZERO,
            Self::Budget { budget, .. } => budget == Micros::ZERO,
        }
    }

    /// The end of a walk that met everything it could meet: a budget is full when the rest of it
    /// buys nothing at the limit.
    fn end_of_book(self, limit: Price, makers: usize) -> End {
        let full = match self {
            Self::Shares(lots) => lots == Lots::ZERO,
            Self::Budget { budget, .. } => budget < Lots(1).value_at(limit),
        };
        match (full, makers >= MAX_TOUCHED) {
            (true, _) => End::Full,
            (false, true) => End::TooManyFills,
            (false, false) => End::BookEmpty,
        }
    }

    fn shares(self) -> Lots {
        match self {
            Self::Shares(lots) => lots,
            Self::Budget { .. } => Lots::ZERO,
        }
    }
}

/// The most lots, at most `limit`, whose value and fee fit into the purse. Both grow with the lots.
fn most_within(purse: Micros, limit: Lots, price: Price, schedule: FeeSchedule) -> Lots {
    let fits =
        |lots: u64| Lots(lots).value_at(price) + charged(Lots(lots), price, schedule) <= purse;
    let (mut fitting, mut beyond) = (0, limit.0 + 1);
    while fitting + 1 < beyond {
        let middle = fitting.midpoint(beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Lots(fitting)
}
