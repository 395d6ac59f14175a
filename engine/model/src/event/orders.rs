//! What happens to orders.

use crate::id::{AccountNumber, MarketNumber, OrderNumber};
use crate::quantity::{Lots, Micros, Price};
use crate::record::records;
use crate::rejection::RejectionReason;
use crate::side::{CloseReason, MatchKind};
use crate::time::TimeNs;

records! {
    /// One trade of the frame's taker with one resting order. The taker's fields are in the frame's
    /// command.
    pub struct Fill {
        /// The resting order.
        pub maker_order: OrderNumber,
        /// Its account.
        pub maker: AccountNumber,
        /// The kind of match; with the taker's side and outcome it gives the maker's.
        pub kind: MatchKind,
        /// The maker's limit, in Yes prices. The No price is its complement.
        pub yes_price: Price,
        /// Shares traded, above 0.
        pub lots: Lots,
        /// Unfilled lots of the maker; 0 = completed.
        pub maker_left: Lots,
        /// Paid by the taker in addition to the value (BUY) or out of it (SELL).
        pub fee: Micros,
        /// The part of the fee that the maker accrues, at most the fee; the fee account gets the rest
        /// (docs/verify/rules.md §23).
        pub rebate: Micros,
    }

    /// The frame's order rests at its limit. A BUY reserves lots × price, a SELL the lots.
    pub struct OrderRested {
        /// Unfilled lots.
        pub lots: Lots,
        /// The limit in the price of its own token.
        pub price: Price,
    }

    /// An order ended with an unfilled rest. For a resting order, its reservation is released.
    /// For the frame's own order (number = the frame's sequence, or released in the frame), this is
    /// its rest. For a delayed order that is not the frame's, all it reserved is free again.
    pub struct OrderClosed {
        /// The order.
        pub order: OrderNumber,
        /// The account.
        pub account: AccountNumber,
        /// Unfilled lots; 0 for a budget BUY, whose unspent budget follows from its fills.
        pub lots: Lots,
        /// The reason.
        pub reason: CloseReason,
    }

    /// A resting order has fewer unfilled lots than before, at its place in the queue; the reservation of
    /// the others is released.
    pub struct OrderDecreased {
        /// The order.
        pub order: OrderNumber,
        /// Its account.
        pub account: AccountNumber,
        /// Its unfilled lots now, above 0.
        pub lots: Lots,
    }

    /// The book killed the frame's order; its id is used up.
    pub struct OrderKilled {
        /// The reason.
        pub reason: RejectionReason,
        /// As in [`crate::Rejection::details`].
        pub details: [u64; 2],
    }

    /// The frame's order waits out the market's delay (docs/verify/rules.md §22). A BUY reserves
    /// collateral, a SELL its lots.
    pub struct OrderDelayed {
        /// The limit in the price of its own token.
        pub price: Price,
        /// Its lots; 0 for a budget BUY.
        pub lots: Lots,
        /// Reserved: micros of a BUY, lots of a SELL.
        pub reserved: u64,
        /// When it meets the book.
        pub due: TimeNs,
    }

    /// A delayed order is due: all it reserved is free again, and it is the frame's order from
    /// here on. The other events of the frame are those of a placed order.
    pub struct OrderReleased {
        /// The order.
        pub order: OrderNumber,
        /// Its account.
        pub account: AccountNumber,
        /// Its market.
        pub market: MarketNumber,
    }

    /// A delayed order was asked to be cancelled: it still meets the book, and its rest does not
    /// rest (docs/verify/rules.md §22).
    pub struct CancelRequested {
        /// The order.
        pub order: OrderNumber,
        /// Its account.
        pub account: AccountNumber,
        /// The reason of its later close.
        pub reason: CloseReason,
    }
}
