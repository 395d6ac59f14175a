//! The list of orders that wait out a delay (docs/verify/rules.md §22).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foretell_model::{
    AccountNumber, CloseReason, Lots, MarketNumber, Micros, OrderNumber, Side, TimeNs, TimeSeconds,
};

use crate::plan::Taker;

/// An order that waits. It is live, but not in the book.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DelayedOrder {
    /// As admitted.
    pub(crate) order: Taker,
    /// When it meets the book.
    pub(crate) due: TimeNs,
    /// Micros of a BUY, lots of a SELL.
    pub(crate) reserved: u64,
    /// Reason of the first cancel that asked for it.
    pub(crate) cancel: Option<CloseReason>,
}

impl DelayedOrder {
    /// Reserved collateral: that of a BUY.
    pub(crate) const fn reserved_collateral(&self) -> Micros {
        match self.order.side {
            Side::Buy => Micros(self.reserved),
            Side::Sell => Micros::ZERO,
        }
    }

    /// Reserved shares of its own token: those of a SELL.
    pub(crate) const fn reserved_shares(&self) -> Lots {
        match self.order.side {
            Side::Buy => Lots::ZERO,
            Side::Sell => Lots(self.reserved),
        }
    }
}

/// All delayed orders.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct DelayedOrders {
    orders: BTreeMap<OrderNumber, DelayedOrder>,
    of_account: HashMap<AccountNumber, BTreeSet<OrderNumber>>,
    /// Those of each market, the first to be released first.
    of_market: BTreeMap<MarketNumber, BTreeSet<(TimeNs, OrderNumber)>>,
    /// GTD orders, the first to end first.
    expiring: BTreeSet<(TimeSeconds, OrderNumber)>,
}

impl DelayedOrders {
    /// By number.
    pub(crate) fn values(&self) -> impl Iterator<Item = &DelayedOrder> {
        self.orders.values()
    }

    pub(crate) fn get(&self, number: OrderNumber) -> Option<&DelayedOrder> {
        self.orders.get(&number)
    }

    /// The orders of an account, by number.
    pub(crate) fn of_account(&self, account: AccountNumber) -> impl Iterator<Item = &DelayedOrder> {
        let own = self.of_account.get(&account).into_iter().flatten();
        own.map(|number| &self.orders[number])
    }

    /// Markets with delayed orders: the first due time of each, and its order.
    pub(crate) fn first_of_markets(
        &self,
    ) -> impl Iterator<Item = (MarketNumber, TimeNs, OrderNumber)> {
        self.of_market.iter().filter_map(|(market, orders)| {
            let (due, number) = orders.first()?;
            Some((*market, *due, *number))
        })
    }

    /// The orders of a market, by number.
    pub(crate) fn of_market(&self, market: MarketNumber) -> Vec<OrderNumber> {
        let orders = self.of_market.get(&market).into_iter().flatten();
        let mut numbers: Vec<_> = orders.map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The GTD order that ends first.
    pub(crate) fn first_to_expire(&self) -> Option<(TimeSeconds, OrderNumber)> {
        self.expiring.first().copied()
    }

    pub(crate) fn insert(&mut self, delayed: DelayedOrder) {
        let order = &delayed.order;
        let number = order.number;
        self.of_account
            .entry(order.account)
            .or_default()
            .insert(number);
        self.of_market
            .entry(order.market)
            .or_default()
            .insert((delayed.due, number));
        if order.expiration != TimeSeconds(0) {
            self.expiring.insert((order.expiration, number));
        }
        self.orders.insert(number, delayed);
    }

    pub(crate) fn remove(&mut self, number: OrderNumber) -> DelayedOrder {
        let delayed = self.orders.remove(&number);
        let delayed = delayed.expect("only delayed orders are removed");
        let order = &delayed.order;
        if let Some(own) = self.of_account.get_mut(&order.account) {
            own.remove(&number);
            if own.is_empty() {
                self.of_account.remove(&order.account);
            }
        }
        if let Some(others) = self.of_market.get_mut(&order.market) {
            others.remove(&(delayed.due, number));
            if others.is_empty() {
                self.of_market.remove(&order.market);
            }
        }
        self.expiring.remove(&(order.expiration, number));
        delayed
    }

    /// Notes a cancel; the first one stays.
    pub(crate) fn ask_for_cancel(&mut self, number: OrderNumber, reason: CloseReason) {
        if let Some(delayed) = self.orders.get_mut(&number) {
            delayed.cancel.get_or_insert(reason);
        }
    }
}
