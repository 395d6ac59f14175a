//! Live orders, resting or delayed, seen alike (docs/verify/rules.md §22).

use std::collections::BTreeMap;

use foretell_model::{AccountNumber, MarketNumber, OrderNumber, Outcome, Side};

use crate::delayed_orders::DelayedOrder;
use crate::exchange::Exchange;
use crate::orders::Order;

/// A live order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LiveOrder<'a> {
    Resting(&'a Order),
    Delayed(&'a DelayedOrder),
}

impl LiveOrder<'_> {
    pub(crate) const fn number(self) -> OrderNumber {
        match self {
            Self::Resting(order) => order.number,
            Self::Delayed(delayed) => delayed.order.number,
        }
    }

    pub(crate) const fn account(self) -> AccountNumber {
        match self {
            Self::Resting(order) => order.account,
            Self::Delayed(delayed) => delayed.order.account,
        }
    }

    pub(crate) const fn market(self) -> MarketNumber {
        match self {
            Self::Resting(order) => order.market,
            Self::Delayed(delayed) => delayed.order.market,
        }
    }

    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Resting(order) => order.outcome,
            Self::Delayed(delayed) => delayed.order.outcome,
        }
    }

    pub(crate) const fn side(self) -> Side {
        match self {
            Self::Resting(order) => order.side,
            Self::Delayed(delayed) => delayed.order.side,
        }
    }

    /// Whether a cancel of it was asked for.
    pub(crate) const fn is_asked(self) -> bool {
        match self {
            Self::Resting(_) => false,
            Self::Delayed(delayed) => delayed.cancel.is_some(),
        }
    }
}

impl Exchange {
    pub(crate) fn live_order(&self, number: OrderNumber) -> Option<LiveOrder<'_>> {
        let delayed = self.delayed.get(number).map(LiveOrder::Delayed);
        delayed.or_else(|| self.orders.get(number).map(LiveOrder::Resting))
    }

    /// The live orders of an account, by number.
    pub(crate) fn live_orders_of(&self, account: AccountNumber) -> Vec<LiveOrder<'_>> {
        let resting = self.orders.of_account(account).map(LiveOrder::Resting);
        let delayed = self.delayed.of_account(account).map(LiveOrder::Delayed);
        let by_number: BTreeMap<_, _> = resting
            .chain(delayed)
            .map(|order| (order.number(), order))
            .collect();
        by_number.into_values().collect()
    }
}
