//! Live orders, and the book as a reading of them (protocol 3).

use foretell_model::{
    AccountNumber, CloseReason, Event, Lots, MarketNumber, Micros, OrderId, OrderNumber, Outcome,
    Price, Settings, Side, TimeNs, TimeSeconds,
};

use crate::exchange::Exchange;

/// A resting order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) number: OrderNumber,
    pub(crate) id: OrderId,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    /// Limit in its own token.
    pub(crate) price: Price,
    pub(crate) lots: Lots,
    /// 0 unless GTD.
    pub(crate) expiration: TimeSeconds,
}

impl Order {
    /// Collateral it reserves: a BUY its value at its limit.
    pub(crate) fn reserved_collateral(&self) -> Micros {
        match self.side {
            Side::Buy => self.lots.value_at(self.price),
            Side::Sell => Micros::ZERO,
        }
    }

    /// Shares of its own token it reserves: a SELL what it has left.
    pub(crate) fn reserved_shares(&self) -> Lots {
        match self.side {
            Side::Buy => Lots::ZERO,
            Side::Sell => self.lots,
        }
    }

    /// When it ends by itself; `None` unless GTD.
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
}

/// When an order with this expiration ends: the safety margin before it.
pub(crate) fn due(expiration: TimeSeconds, settings: &Settings) -> TimeNs {
    TimeSeconds(expiration.0.saturating_sub(settings.gtd_safety_seconds)).start()
}

/// Buying Yes and selling No both bid for Yes.
pub(crate) fn is_bid(outcome: Outcome, side: Side) -> bool {
    (outcome == Outcome::Yes) == (side == Side::Buy)
}

/// A price of one outcome's token as a price of another's.
pub(crate) fn in_outcome(price: Price, from: Outcome, to: Outcome) -> Price {
    if from == to {
        price
    } else {
        price.complement()
    }
}

impl Exchange {
    /// One side of a market's book, best price first, then arrival.
    pub(crate) fn book_side(&self, market: MarketNumber, bids: bool) -> Vec<&Order> {
        let mut orders: Vec<_> = self
            .orders
            .values()
            .filter(|order| order.market == market && order.is_bid() == bids)
            .collect();
        orders.sort_by_key(|order| {
            let from_best = if bids {
                order.yes_price().complement()
            } else {
                order.yes_price()
            };
            (from_best, order.number)
        });
        orders
    }

    /// The resting orders that an order at this limit could trade with, best first.
    pub(crate) fn crossing(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        side: Side,
        limit: Price,
    ) -> Vec<&Order> {
        let bidding = is_bid(outcome, side);
        let limit = in_outcome(limit, outcome, Outcome::Yes);
        let mut opposite = self.book_side(market, !bidding);
        opposite.retain(|maker| match bidding {
            true => maker.yes_price() <= limit,
            false => maker.yes_price() >= limit,
        });
        opposite
    }

    pub(crate) fn live_orders(&self, account: AccountNumber) -> u32 {
        let count = self
            .orders
            .values()
            .filter(|order| order.account == account)
            .count();
        u32::try_from(count).expect("live orders are capped by a u32")
    }

    /// Ends a resting order with something unfilled; what it reserved is free again.
    pub(crate) fn close_order(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
        events: &mut Vec<Event>,
    ) {
        let order = self.end_order(number);
        self.account_mut(order.account).free += order.reserved_collateral();
        self.shares(order.account, order.market)[order.outcome.index()] += order.reserved_shares();
        events.push(Event::OrderClosed {
            order: number,
            account: order.account,
            lots: order.lots,
            reason,
        });
    }

    /// Takes a resting order out of the book.
    pub(crate) fn end_order(&mut self, number: OrderNumber) -> Order {
        self.order_ended(number);
        self.orders.remove(&number).expect("only live orders end")
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
