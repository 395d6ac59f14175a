//! Resting orders, and the book computed from them (docs/verify/rules.md §5).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foretell_model::event::OrderClosed;
use foretell_model::{
    AccountNumber, CloseReason, Event, Lots, MarketNumber, Micros, OrderId, OrderNumber, Outcome,
    Price, Sequence, Settings, Side, TimeNs, TimeSeconds,
};

use crate::exchange::Exchange;
use crate::quote_groups::GroupName;

/// A resting order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) number: OrderNumber,
    pub(crate) id: OrderId,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    /// Limit in the price of its own token.
    pub(crate) price: Price,
    pub(crate) lots: Lots,
    /// 0 unless GTD.
    pub(crate) expiration: TimeSeconds,
    /// The command that put it into the book: its own, or that of its release.
    pub(crate) arrival: Sequence,
    /// Of a quote.
    pub(crate) group: Option<u8>,
}

impl Order {
    /// Reserved collateral: for a BUY its value at its limit.
    pub(crate) fn reserved_collateral(&self) -> Micros {
        match self.side {
            Side::Buy => self.lots.value_at(self.price),
            Side::Sell => Micros::ZERO,
        }
    }

    /// Reserved shares of its own token: for a SELL its unfilled lots.
    pub(crate) fn reserved_shares(&self) -> Lots {
        match self.side {
            Side::Buy => Lots::ZERO,
            Side::Sell => self.lots,
        }
    }

    /// When it expires; `None` unless GTD.
    pub(crate) fn due(&self, settings: &Settings) -> Option<TimeNs> {
        (self.expiration != TimeSeconds(0)).then(|| due(self.expiration, settings))
    }

    pub(crate) fn is_expired(&self, settings: &Settings, now: TimeNs) -> bool {
        self.due(settings).is_some_and(|due| due <= now)
    }

    pub(crate) fn is_bid(&self) -> bool {
        is_bid(self.outcome, self.side)
    }

    pub(crate) fn yes_price(&self) -> Price {
        in_outcome(self.price, self.outcome, Outcome::Yes)
    }

    /// The group of quotes that it is in.
    pub(crate) fn group_name(&self) -> Option<GroupName> {
        self.group.map(|group| (self.account, group))
    }

    fn book_key(&self) -> BookKey {
        let from_best = if self.is_bid() {
            self.yes_price().complement()
        } else {
            self.yes_price()
        };
        let (market, is_bid) = (self.market, self.is_bid());
        (market, is_bid, from_best, self.arrival, self.number)
    }
}

/// Sorts the orders of each side of each book: best price first, then arrival.
type BookKey = (MarketNumber, bool, Price, Sequence, OrderNumber);

/// All resting orders.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct LiveOrders {
    orders: BTreeMap<OrderNumber, Order>,
    book: BTreeSet<BookKey>,
    of_account: HashMap<AccountNumber, BTreeSet<OrderNumber>>,
    /// Of each group that has live quotes.
    of_group: BTreeMap<GroupName, BTreeSet<OrderNumber>>,
    /// GTD orders, the first to end first.
    expiring: BTreeSet<(TimeSeconds, OrderNumber)>,
}

impl LiveOrders {
    pub(crate) fn values(&self) -> impl Iterator<Item = &Order> {
        self.orders.values()
    }

    pub(crate) fn get(&self, number: OrderNumber) -> Option<&Order> {
        self.orders.get(&number)
    }

    /// The orders of an account, by number.
    pub(crate) fn of_account(&self, account: AccountNumber) -> impl Iterator<Item = &Order> {
        let own = self.of_account.get(&account).into_iter().flatten();
        own.map(|number| &self.orders[number])
    }

    /// The quotes of a group, by number.
    pub(crate) fn of_group(&self, group: GroupName) -> impl Iterator<Item = &Order> {
        let quotes = self.of_group.get(&group).into_iter().flatten();
        quotes.map(|number| &self.orders[number])
    }

    /// The groups that have live quotes.
    pub(crate) fn quoting_groups(&self) -> impl Iterator<Item = GroupName> {
        self.of_group.keys().copied()
    }

    /// GTD orders, the first to end first.
    pub(crate) fn expiring(&self) -> impl Iterator<Item = &Order> {
        let numbers = self.expiring.iter().map(|(_, number)| number);
        numbers.map(|number| &self.orders[number])
    }

    pub(crate) fn insert(&mut self, order: Order) {
        let number = order.number;
        self.book.insert(order.book_key());
        let own = self.of_account.entry(order.account).or_default();
        own.insert(number);
        if let Some(group) = order.group_name() {
            self.of_group.entry(group).or_default().insert(number);
        }
        if order.expiration != TimeSeconds(0) {
            self.expiring.insert((order.expiration, number));
        }
        self.orders.insert(number, order);
    }

    fn remove(&mut self, number: OrderNumber) -> Option<Order> {
        let order = self.orders.remove(&number)?;
        self.book.remove(&order.book_key());
        self.expiring.remove(&(order.expiration, number));
        if let Some(own) = self.of_account.get_mut(&order.account) {
            own.remove(&number);
            if own.is_empty() {
                self.of_account.remove(&order.account);
            }
        }
        if let Some(group) = order.group_name()
            && let Some(quotes) = self.of_group.get_mut(&group)
        {
            quotes.remove(&number);
            if quotes.is_empty() {
                self.of_group.remove(&group);
            }
        }
        Some(order)
    }

    /// Takes lots from what a live order has left; the order as it is then.
    pub(crate) fn reduce(&mut self, number: OrderNumber, lots: Lots) -> Order {
        let order = self.orders.get_mut(&number);
        let order = order.expect("a plan names live orders");
        order.lots -= lots;
        order.clone()
    }
}

/// When an order with this expiration expires: the safety margin earlier.
pub(crate) fn due(expiration: TimeSeconds, settings: &Settings) -> TimeNs {
    TimeSeconds(expiration.0.saturating_sub(settings.gtd_safety_seconds)).start()
}

/// Buying Yes and selling No both bid for Yes.
pub(crate) fn is_bid(outcome: Outcome, side: Side) -> bool {
    (outcome == Outcome::Yes) == (side == Side::Buy)
}

/// Converts a price of one outcome's token to the price of another's.
pub(crate) fn in_outcome(price: Price, from: Outcome, to: Outcome) -> Price {
    if from == to {
        price
    } else {
        price.complement()
    }
}

impl Exchange {
    /// One side of a market's book, best price first, then arrival.
    pub(crate) fn book_side(
        &self,
        market: MarketNumber,
        bids: bool,
    ) -> impl Iterator<Item = &Order> {
        let first = (market, bids, Price(0), Sequence(0), OrderNumber(0));
        let last = (Price(u16::MAX), Sequence(u64::MAX), OrderNumber::LAST);
        let last = (market, bids, last.0, last.1, last.2);
        let side = self.orders.book.range(first..=last);
        side.map(|(.., number)| &self.orders.orders[number])
    }

    /// The resting orders that an order at this limit could trade with, best first.
    pub(crate) fn crossing(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        side: Side,
        limit: Price,
    ) -> impl Iterator<Item = &Order> {
        let bidding = is_bid(outcome, side);
        let limit = in_outcome(limit, outcome, Outcome::Yes);
        let opposite = self.book_side(market, !bidding);
        opposite.take_while(move |maker| match bidding {
            true => maker.yes_price() <= limit,
            false => maker.yes_price() >= limit,
        })
    }

    /// Resting and delayed orders.
    pub(crate) fn live_orders(&self, account: AccountNumber) -> u32 {
        let resting = self.orders.of_account(account).count();
        let delayed = self.delayed.of_account(account).count();
        u32::try_from(resting + delayed).expect("live orders are capped by a u32")
    }

    /// Closes a live order with an unfilled rest and frees its reservation.
    pub(crate) fn close_order(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
        events: &mut Vec<Event>,
    ) {
        if self.delayed.get(number).is_some() {
            self.close_delayed_order(number, reason, events);
            return;
        }
        let order = self.end_order(number);
        self.account_mut(order.account).free += order.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] += order.reserved_shares();
        events.push(Event::OrderClosed(OrderClosed {
            order: number,
            account: order.account,
            lots: order.lots,
            reason,
        }));
    }

    /// Removes a resting order from the book.
    pub(crate) fn end_order(&mut self, number: OrderNumber) -> Order {
        self.order_ids.order_ended(number);
        self.orders.remove(number).expect("only live orders end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_one_place_on_the_ladder_of_yes() {
        for (outcome, side, bid) in [
            (Outcome::Yes, Side::Buy, true),
            (Outcome::Yes, Side::Sell, false),
            (Outcome::No, Side::Buy, false),
            (Outcome::No, Side::Sell, true),
        ] {
            assert_eq!(is_bid(outcome, side), bid);
        }
    }

    #[test]
    fn due_comes_before_the_expiration_and_saturates() {
        let settings = Settings::default();
        assert_eq!(due(TimeSeconds(100), &settings), TimeNs(40_000_000_000));
        assert_eq!(due(TimeSeconds(59), &settings), TimeNs(0));
        assert_eq!(due(TimeSeconds(u64::MAX), &settings), TimeNs(u64::MAX));
    }
}
