//! Orders that rest or wait, and remembered ids.

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{AccountNumber, KeyNumber, MarketNumber, OrderId, OrderNumber};
use crate::market::FeeSchedule;
use crate::quantity::{Lots, Micros, Price};
use crate::record::records;
use crate::rejection::RejectionReason;
use crate::side::{CloseReason, OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeNs, TimeSeconds};

/// State of a remembered order id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OrderIdState {
    /// The order rests.
    Live,
    /// The order ended.
    Done,
    /// The book killed the order.
    Killed {
        /// The reason.
        reason: RejectionReason,
        /// The marketable minimum that the order was below; 0 for other reasons.
        minimum: Micros,
    },
}

records! {
    /// Sorted by market; bids then asks of its ladder, best price first, then arrival.
    pub struct Order {
        /// Number.
        pub order: OrderNumber,
        /// Id.
        pub id: OrderId,
        /// Account.
        pub account: AccountNumber,
        /// Market.
        pub market: MarketNumber,
        /// Outcome of the token.
        pub outcome: Outcome,
        /// Side in the order's token.
        pub side: Side,
        /// Limit in the price of the order's token.
        pub price: Price,
        /// Unfilled lots.
        pub lots: Lots,
        /// Signed expiration of a GTD order; 0 otherwise.
        pub expiration: TimeSeconds,
        /// Of a quote, its account's group.
        pub group: Option<u8>,
    }

    /// Sorted by number. An id is remembered from its placement. Its *second* is timestamp / 1000.
    /// Ids wait in an expiry queue ordered by (second, number). An id is *due* when the time of the
    /// command in ms exceeds (second + 1) · 1000 + `timestamp_past_ms`. An applied placement first
    /// removes up to `EVICTED_PER_COMMAND` due ids from the front of the expiry queue: an id that is
    /// not live is evicted, a live one is evicted when its order ends. A placement is `Busy` when
    /// the expiry queue holds `remembered_order_ids` or more ids and its front is not due.
    ///
    /// An owner's *share* is max(1, `remembered_order_ids` / `ORDER_ID_SHARES`), and it
    /// *holds* the ids of the expiry queue with its own keys. A placement is not `Busy` while its owner
    /// holds fewer than its share and fewer than `RESERVED_ORDER_IDS`. Checked next: it is
    /// `TooManyOrderIds` when its owner holds its share or more and the front is not due.
    ///
    /// The id of a quote is never in the expiry queue: it is remembered while the quote is live.
    pub struct RememberedOrder {
        /// Number.
        pub order: OrderNumber,
        /// Id.
        pub id: OrderId,
        /// Signed timestamp.
        pub timestamp: TimeMs,
        /// Whether the id is in the expiry queue.
        pub in_expiry_queue: bool,
        /// Order type: a term that a repeat must share, as are the next three.
        pub order_type: OrderType,
        /// Expiration.
        pub expiration: TimeSeconds,
        /// Post-only flag.
        pub post_only: bool,
        /// Key.
        pub key: KeyNumber,
        /// State of the id.
        pub state: OrderIdState,
    }

    /// Sorted by number. An order that waits out a market's delay (docs/verify/rules.md §22). Its
    /// reservation is part of the account's or position's `reserved`, and it counts as live.
    pub struct DelayedOrder {
        /// Number.
        pub order: OrderNumber,
        /// Id.
        pub id: OrderId,
        /// Account.
        pub account: AccountNumber,
        /// Market.
        pub market: MarketNumber,
        /// Outcome of the token.
        pub outcome: Outcome,
        /// Side in the order's token.
        pub side: Side,
        /// Order type.
        pub order_type: OrderType,
        /// Limit in the price of the order's token.
        pub price: Price,
        /// Lots; 0 for a budget BUY.
        pub lots: Lots,
        /// makerAmount of a budget BUY; 0 otherwise.
        pub budget: Micros,
        /// takerAmount of a FOK BUY rounded down to a lot; 0 otherwise.
        pub minimum_lots: Lots,
        /// Signed expiration of a GTD order; 0 otherwise.
        pub expiration: TimeSeconds,
        /// When it meets the book.
        pub due: TimeNs,
        /// Fee schedule at admission.
        pub fee: FeeSchedule,
        /// Maker's share of the fee at admission.
        pub rebate_ppm: u32,
        /// Reserved: micros of a BUY, lots of a SELL.
        pub reserved: u64,
        /// Reason of the first cancel that asked for it.
        pub cancel: Option<CloseReason>,
    }
}
