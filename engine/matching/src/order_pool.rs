//! Live orders: one record each in a slab, linked into their level and into their account's list.
//! A delayed order is in no level.

use foretell_model::{
    AccountNumber, Lots, MarketNumber, Micros, OrderNumber, Outcome, Price, Side, TimeSeconds,
};

use crate::slab::{NONE, Slab};

/// Mark of a delayed order, in place of its neighbour in a level. Memory ends before this slot.
const DELAYED: u32 = NONE - 1;

/// Side of the ladder in Yes prices: a bid buys Yes or sells No, an ask sells Yes or buys No.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BookSide {
    Bid,
    Ask,
}

impl BookSide {
    pub(crate) const fn of(outcome: Outcome, side: Side) -> Self {
        match (outcome, side) {
            (Outcome::Yes, Side::Buy) | (Outcome::No, Side::Sell) => Self::Bid,
            (Outcome::Yes, Side::Sell) | (Outcome::No, Side::Buy) => Self::Ask,
        }
    }

    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::Bid => Self::Ask,
            Self::Ask => Self::Bid,
        }
    }

    /// Whether an order of this side with such a limit trades with one at `maker`, both in Yes prices.
    pub(crate) const fn reaches(self, limit: Price, maker: Price) -> bool {
        match self {
            Self::Bid => maker.0 <= limit.0,
            Self::Ask => maker.0 >= limit.0,
        }
    }
}

/// Converts a price of one outcome's token to a Yes price, and back: the map is its own inverse.
pub(crate) const fn in_yes(price: Price, outcome: Outcome) -> Price {
    match outcome {
        Outcome::Yes => price,
        Outcome::No => price.complement(),
    }
}

/// A live order. Its id and terms are in the id memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Order {
    /// Unfilled lots, above 0; 0 for a delayed budget BUY.
    pub(crate) lots: Lots,
    pub(crate) number: OrderNumber,
    /// Above 0 for GTD, otherwise 0.
    pub(crate) expiration: TimeSeconds,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    /// Slot of a seller's position in the market; saves a lookup per fill. `NONE` for a buyer.
    pub(crate) position: u32,
    /// Slot in the id memory.
    pub(crate) id_slot: u32,
    /// Slot of a quote's group; `NONE` of another order.
    pub(crate) group: u32,
    /// Neighbours in the level, by arrival. A delayed order has a mark and its slot in the delayed
    /// queue.
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// Neighbours in the account's list, by number.
    pub(crate) account_next: u32,
    pub(crate) account_previous: u32,
    pub(crate) yes_price: Price,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
}

// One cache line.
const _: () = assert!(size_of::<Order>() == 64);

impl Order {
    pub(crate) const fn book_side(&self) -> BookSide {
        BookSide::of(self.outcome, self.side)
    }

    /// The limit in the price of the order's own token.
    pub(crate) const fn own_price(&self) -> Price {
        in_yes(self.yes_price, self.outcome)
    }

    /// Slot in the delayed queue of an order that waits.
    pub(crate) fn delayed(&self) -> Option<u32> {
        (self.next == DELAYED).then_some(self.previous)
    }

    pub(crate) const fn mark_delayed(&mut self, at: u32) {
        (self.next, self.previous) = (DELAYED, at);
    }

    /// Collateral that a resting BUY reserves: lots × price.
    pub(crate) const fn reserved_value(&self) -> Micros {
        self.lots.value_at(self.own_price())
    }
}

/// All live orders.
pub(crate) type OrderPool = Slab<Order>;

/// An order for the tests of the structures that link orders.
#[cfg(test)]
pub(crate) fn order_of(number: u64, yes_price: u16, outcome: Outcome, side: Side) -> Order {
    Order {
        lots: Lots(100),
        number: OrderNumber(number),
        expiration: TimeSeconds(0),
        account: AccountNumber(0),
        market: MarketNumber(0),
        position: NONE,
        id_slot: 0,
        group: NONE,
        next: NONE,
        previous: NONE,
        account_next: NONE,
        account_previous: NONE,
        yes_price: Price(yes_price),
        outcome,
        side,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_order_stands_mirrored_in_the_ladder() {
        let buy_no = order_of(1, 6_000, Outcome::No, Side::Buy);
        assert_eq!(buy_no.book_side(), BookSide::Ask);
        assert_eq!(buy_no.own_price(), Price(4_000));
        assert_eq!(buy_no.reserved_value(), Micros(400_000));
        let sell_no = order_of(2, 6_000, Outcome::No, Side::Sell);
        assert_eq!(sell_no.book_side(), BookSide::Bid);
        assert_eq!(buy_no.book_side().opposite(), sell_no.book_side());
    }
}
