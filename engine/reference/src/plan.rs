//! Plans the effect of a taker on the book without changing anything
//! (docs/verify/rules.md §4, §5, §7).

use foretell_model::{
    AccountNumber, CloseReason, FeeSchedule, Lots, MarketNumber, Micros, OrderId, OrderNumber,
    OrderType, Outcome, Price, Side, TimeNs, TimeSeconds,
};

use crate::exchange::Exchange;
use crate::fees::{charged, covering};
use crate::orders::{Order, in_outcome};

/// An admitted order that reaches the book.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Taker {
    pub(crate) number: OrderNumber,
    pub(crate) id: OrderId,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    /// Limit in the price of its own token.
    pub(crate) limit: Price,
    pub(crate) demand: Demand,
    /// 0 unless GTD.
    pub(crate) expiration: TimeSeconds,
    /// Fee schedule of the market at admission.
    pub(crate) fee: FeeSchedule,
    /// The makers' part of the fees, at admission.
    pub(crate) rebate_ppm: u32,
}

/// Amount that a taker wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demand {
    /// This many shares.
    Shares(Lots),
    /// As many shares as the budget buys, while the fees fit into the free collateral (FOK and FAK
    /// BUY).
    Budget {
        budget: Micros,
        /// Collateral that value and fees may use: what was free at admission, or the reservation of
        /// a delayed order.
        free: Micros,
        /// Signed takerAmount of a FOK in whole lots: enough when a fee stops the spending.
        minimum: Lots,
    },
}

/// One change of the book.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlanStep {
    Close(OrderNumber, CloseReason),
    Fill {
        maker: OrderNumber,
        lots: Lots,
        /// Price of the taker's token.
        price: Price,
        fee: Micros,
    },
}

/// Why matching ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopReason {
    /// The order is filled.
    Full,
    /// No matching order is left.
    BookEmpty,
    /// The bound on visited orders was reached before the order was filled.
    TooManyFills,
    /// The next fee exceeds the free collateral.
    FeeStopped,
}

/// All changes by one taker.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) end: StopReason,
    /// Unfilled shares; 0 for a budget.
    pub(crate) left: Lots,
}

impl Plan {
    pub(crate) fn bought_or_sold(&self) -> Lots {
        self.steps
            .iter()
            .map(|step| match step {
                PlanStep::Fill { lots, .. } => *lots,
                PlanStep::Close(..) => Lots::ZERO,
            })
            .sum()
    }

    /// Whether a FOK with this plan is filled.
    pub(crate) fn fills_completely(&self, demand: Demand) -> bool {
        let had = self.bought_or_sold();
        let enough = match (self.end, demand) {
            (StopReason::Full, _) => true,
            (StopReason::FeeStopped, Demand::Budget { minimum, .. }) => had >= minimum,
            _ => false,
        };
        enough && had > Lots::ZERO
    }
}

impl Exchange {
    /// Why a taker that meets this order does not trade with it: its time has come, or it is its own.
    pub(crate) fn not_filled(
        &self,
        taker: &Taker,
        maker: &Order,
        now: TimeNs,
    ) -> Option<CloseReason> {
        if maker.is_expired(&self.settings, now) {
            Some(CloseReason::Expired)
        } else if maker.account == taker.account {
            Some(CloseReason::SelfTrade)
        } else if self.lease_ended(maker, now) {
            Some(CloseReason::LeaseEnded)
        } else {
            None
        }
    }

    /// Visits orders by price, then arrival. Own and ended orders do not trade: a taker that may
    /// rest closes them when it visits them. Other takers skip them, and close them only if a fill
    /// follows. At most `bound` orders are visited.
    pub(crate) fn plan(&self, taker: &Taker, bound: usize, now: TimeNs) -> Plan {
        let mut steps = Vec::new();
        let mut skipped = Vec::new();
        let mut left = taker.demand;
        let mut end = None;
        let mut met = 0;
        let makers = self.crossing(taker.market, taker.outcome, taker.side, taker.limit);
        for maker in makers.take(bound) {
            met += 1;
            if let Some(reason) = self.not_filled(taker, maker, now) {
                let close = PlanStep::Close(maker.number, reason);
                if taker.order_type.may_rest() {
                    steps.push(close);
                } else {
                    skipped.push(close);
                }
                continue;
            }

            let price = in_outcome(maker.price, maker.outcome, taker.outcome);
            let fill = left.fill(maker.lots, price, taker.side, taker.fee);
            if fill.lots > Lots::ZERO {
                steps.append(&mut skipped);
                steps.push(PlanStep::Fill {
                    maker: maker.number,
                    lots: fill.lots,
                    price,
                    fee: fill.fee,
                });
                left.take(fill.lots.value_at(price), fill);
            }
            end = fill.end;
            if end.is_some() || left.is_exhausted() {
                break;
            }
        }
        let end = end.unwrap_or_else(|| left.stop_after_last(taker.limit, met == bound));
        Plan {
            steps,
            end,
            left: left.shares(),
        }
    }
}

/// The fill of a taker against one maker.
#[derive(Clone, Copy, Debug)]
struct PlannedFill {
    lots: Lots,
    fee: Micros,
    /// Set when matching ends with this fill.
    end: Option<StopReason>,
}

impl Demand {
    /// The fill against a maker with `offered` lots at a price of the taker's own token.
    fn fill(self, offered: Lots, price: Price, side: Side, schedule: FeeSchedule) -> PlannedFill {
        match self {
            Self::Shares(wanted) => {
                let lots = wanted.min(offered);
                let fee = charged(lots, price, schedule);
                PlannedFill {
                    lots,
                    fee: match side {
                        Side::Buy => fee,
                        Side::Sell => fee.min(lots.value_at(price)),
                    },
                    end: None,
                }
            }
            Self::Budget { budget, free, .. } => {
                let within_budget = offered.min(Lots(budget.0 / u64::from(price.0)));
                let lots = max_affordable(free, within_budget, price, schedule);
                let end = if within_budget == Lots::ZERO {
                    Some(StopReason::Full)
                } else if lots < within_budget {
                    Some(StopReason::FeeStopped)
                } else {
                    None
                };
                PlannedFill {
                    lots,
                    fee: charged(lots, price, schedule),
                    end,
                }
            }
        }
    }

    fn take(&mut self, value: Micros, fill: PlannedFill) {
        match self {
            Self::Shares(lots) => *lots -= fill.lots,
            Self::Budget { budget, free, .. } => {
                *budget -= value;
                *free -= value + fill.fee;
            }
        }
    }

    /// Whether no maker at any price could fill more.
    fn is_exhausted(self) -> bool {
        match self {
            Self::Shares(lots) => lots == Lots::ZERO,
            Self::Budget { budget, .. } => budget == Micros::ZERO,
        }
    }

    /// Why matching ended after the last maker: a budget is full when its rest buys nothing at the
    /// limit.
    fn stop_after_last(self, limit: Price, at_bound: bool) -> StopReason {
        let full = match self {
            Self::Shares(lots) => lots == Lots::ZERO,
            Self::Budget { budget, .. } => budget < Lots(1).value_at(limit),
        };
        match (full, at_bound) {
            (true, _) => StopReason::Full,
            (false, true) => StopReason::TooManyFills,
            (false, false) => StopReason::BookEmpty,
        }
    }

    /// Wanted shares; 0 for a budget.
    pub(crate) fn shares(self) -> Lots {
        match self {
            Self::Shares(lots) => lots,
            Self::Budget { .. } => Lots::ZERO,
        }
    }
}

impl Taker {
    /// What the order needs at admission (docs/verify/rules.md §9): micros of a BUY, for every way
    /// to fill it; lots of a SELL.
    pub(crate) fn needs(&self) -> u64 {
        match (self.side, self.demand) {
            (Side::Sell, demand) => demand.shares().0,
            (Side::Buy, Demand::Shares(lots)) => {
                (lots.value_at(self.limit) + covering(lots, self.limit, self.fee)).0
            }
            (Side::Buy, Demand::Budget { budget, .. }) => {
                let lots = Lots(budget.0 / u64::from(self.limit.0));
                (budget + charged(lots, self.limit, self.fee)).0
            }
        }
    }
}

/// The most lots, at most `limit`, whose value plus fee fit into `free`. Both grow with the lots.
fn max_affordable(free: Micros, limit: Lots, price: Price, schedule: FeeSchedule) -> Lots {
    let fits =
        |lots: u64| Lots(lots).value_at(price) + charged(Lots(lots), price, schedule) <= free;
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
