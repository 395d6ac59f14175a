//! Commands on orders: place, cancel, decrease, heartbeats.

use crate::id::{AccountNumber, KeyNumber, MarketNumber, OrderId};
use crate::quantity::Lots;
use crate::record::records;
use crate::side::{OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeSeconds};

records! {
    /// A signed order as it reaches the core. Evidence: [`crate::evidence::OrderEvidence`]. The checks run in
    /// this order; the first failure is the answer and changes and journals nothing:
    ///
    /// 1. the market, account and key exist; the key is live and its owner is the account's owner
    ///    (`UnknownMarket`, `UnknownAccount`, `UnknownKey`, `KeyOfAnotherOwner`);
    /// 2. the id is new. A repeat with the same terms and key is [`crate::Verdict::Repeated`], or, when
    ///    the first was killed, its rejection again; other terms are `Duplicate`;
    /// 3. the timestamp is in the window (`TimestampOutOfWindow`); the id memory has room (`Busy`), also
    ///    for this owner (`TooManyOrderIds`);
    /// 4. the system's mode (`SystemPaused`, `CancelOnly`, `PostOnlyMode`), the market's state
    ///    (`MarketNotReady`, `MarketPaused`, `MarketClosed`), a closed-only account's BUY (`ClosedOnlyAccount`);
    /// 5. `PostOnlyNeedsResting` (post-only FOK or FAK), `InvalidExpiration`;
    /// 6. the amounts: `AmountZero`, `AmountTooLarge`, `SizeNotLots`, `PriceOffTick`, in that order;
    /// 7. `SizeBelowMinimum` (GTC, GTD), `MarketableBelowMinimum` (FOK and FAK BUY);
    /// 8. `TooManyLiveOrders` (GTC, GTD), `NotEnoughCollateral` or `NotEnoughShares`.
    ///
    /// Then the checks against the book, which are journalled and use up the id: `CrossesBook` (post-only),
    /// `MarketableBelowMinimum` (a GTC or GTD BUY that crosses), `FokNotFilled`, `FakNoMatch`.
    pub struct PlaceOrder {
        /// EIP-712 hash of the signed order.
        pub order: OrderId,
        /// The maker: the trading wallet.
        pub account: AccountNumber,
        /// The API key of the request.
        pub key: KeyNumber,
        /// The market of its token.
        pub market: MarketNumber,
        /// Which of the market's two tokens.
        pub outcome: Outcome,
        /// Buy or sell that token.
        pub side: Side,
        /// Time in force.
        pub order_type: OrderType,
        /// Rejected if it would cross.
        pub post_only: bool,
        /// Signed makerAmount: micros of collateral for a BUY, micro-shares for a SELL.
        #[serde(serialize_with = "crate::quantity::as_micros")]
        pub maker_amount: u64,
        /// Signed takerAmount: micro-shares for a BUY, micros of collateral for a SELL.
        #[serde(serialize_with = "crate::quantity::as_micros")]
        pub taker_amount: u64,
        /// GTD only; 0 otherwise.
        pub expiration: TimeSeconds,
        /// Signed timestamp.
        pub timestamp: TimeMs,
    }

    /// Cancel one order by id. A cancel
    /// of a delayed order is applied and ends nothing (docs/verify/rules.md §22).
    pub struct CancelOrder {
        /// The requesting owner; must be the owner of the order's account.
        pub owner: AccountNumber,
        /// Id of the order.
        pub order: OrderId,
    }

    /// Make a resting order smaller; it keeps its place in the queue. When it has no more lots than that it is
    /// `Repeated`; below the minimum size of its market it ends (docs/verify/rules.md §15). Rejected in this
    /// order: `UnknownAccount`, `OrderNotFound`, `OrderOfAnotherOwner`, `OrderNotResting`, `AmountZero`.
    pub struct DecreaseOrder {
        /// The requesting owner; must be the owner of the order's account.
        pub owner: AccountNumber,
        /// Id of the order.
        pub order: OrderId,
        /// The unfilled lots that it keeps, above 0.
        pub lots: Lots,
    }

    /// Cancel all orders of all wallets of an owner. When nothing is to cancel, it is
    /// `Repeated` with zeros and not journalled.
    pub struct CancelAll {
        /// The owner.
        pub owner: AccountNumber,
        /// Reason of the cancels: `User`, or `Heartbeat` when issued by the engine's ingress.
        pub heartbeat: bool,
    }

    /// Cancel an owner's orders in a market or one outcome; as `CancelAll` when nothing is to cancel.
    pub struct CancelMarketOrders {
        /// The owner.
        pub owner: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// The outcome; `None` = both.
        pub outcome: Option<Outcome>,
    }

    /// Start or end an owner's heartbeat chain.
    pub struct SetHeartbeat {
        /// The owner.
        pub owner: AccountNumber,
        /// Started or ended.
        pub on: bool,
    }
}
