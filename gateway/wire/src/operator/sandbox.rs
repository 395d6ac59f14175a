//! Requests and answers of a sandbox: its wallets, its orders that nobody signs, its clock (docs/start/sandbox.md).

use foretell_model::{
    ApiKey, Lots, Micros, OrderType, Price, Side, TimeMs, TimeNs, TokenId, WalletAddress,
    WalletKind,
};
use serde::{Deserialize, Serialize};

use crate::operator::values::{Clock, Kind, LimitPrice, Number, TradedToken};
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::text::ids::TokenRef;
use crate::values::{self, Address, Amount, Flag, Key, Optional, Shares};

bodies! { OPERATOR: WalletCreation, UnsignedOrder, ClockMove }

/// A wallet to create, with an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalletCreation {
    /// Its kind; eoa by default.
    #[serde(with = "Optional::<Kind>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<WalletKind>,
    /// Collateral to deposit, above 0; none by default.
    #[serde(with = "Optional::<Amount>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Micros>,
}

/// A new wallet. Its private key and its secret are made at random for tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreatedWallet {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub success: bool,
    /// Sequence of the last command.
    pub sequence: u64,
    /// The owner: the address of the private key.
    #[schemars(with = "values::Wallet")]
    pub address: String,
    /// The private key, 0x and 64 hex digits.
    #[schemars(with = "values::Hash")]
    pub private_key: String,
    /// The kind of the trading wallet.
    #[serde(with = "Kind")]
    pub kind: WalletKind,
    /// Its number in orders.
    pub signature_type: u8,
    /// The trading wallet: the owner itself, unless the kind says otherwise.
    #[schemars(with = "values::Wallet")]
    pub funder: String,
    /// An API key of the owner.
    #[serde(with = "Key")]
    pub api_key: ApiKey,
    /// Its secret.
    pub secret: String,
    /// Its passphrase.
    pub passphrase: String,
}

/// An order that nobody signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnsignedOrder {
    /// The trading wallet. Its owner has an API key.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// The token.
    #[serde(with = "TradedToken")]
    pub token_id: TokenRef,
    /// Buy or sell.
    #[serde(with = "values::Side")]
    pub side: Side,
    /// Limit price of a share.
    #[serde(with = "LimitPrice")]
    pub price: Micros,
    /// Number of shares. A FOK or FAK buy spends at most `size` × `price`.
    #[serde(with = "Shares")]
    pub size: Lots,
    /// Type of the order, GTC by default.
    #[serde(with = "Optional::<values::OrderType>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_type: Option<OrderType>,
    /// When a GTD order expires, Unix seconds in engine time.
    #[serde(with = "Optional::<Number>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// Reject the order if it would cross; false by default.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_only: Option<bool>,
}

/// A move of the clock. Without any field it only reports.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockMove {
    /// Milliseconds to advance.
    #[serde(with = "Optional::<Number>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advance_ms: Option<u64>,
    /// Engine time to advance to, in place of `advance_ms`.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeMs>,
    /// Whether engine time stands from then on; as before by default.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen: Option<bool>,
}

/// The clock of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClockAnswer {
    /// Engine time, ISO 8601.
    #[serde(with = "values::Iso")]
    pub now: TimeNs,
    /// Wall time, ISO 8601.
    #[serde(with = "values::Iso")]
    pub wall: TimeNs,
    /// Whether engine time stands.
    pub frozen: bool,
}

/// Answer to a move of the clock, after all that fell due has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClockMoved {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub success: bool,
    /// Sequence of the last command that followed.
    pub sequence: u64,
    /// The clock after it.
    #[serde(flatten)]
    pub clock: ClockAnswer,
    /// What happened, in its order; the first 1,000.
    pub happened: Vec<Happening>,
    /// How many more happened.
    pub more: u64,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// An order expired.
    OrderExpired,
    /// An order was cancelled for another reason: a missed heartbeat, the market's closing, the end of a lease.
    OrderCancelled,
    /// The state of a market changed.
    MarketChanged,
    /// The book of a market was cleared at the start of its game.
    MarketCleared,
    /// A market was resolved.
    MarketResolved,
}

/// One thing that happened while the clock moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Happening {
    /// What it is.
    pub what: What,
    /// Sequence of its command.
    pub sequence: u64,
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<values::Hash>")]
    pub order: Option<String>,
    /// Condition of the market.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<values::Hash>")]
    pub market: Option<String>,
    /// The reason, the new state or the payout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Why an order filled, or did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The order.
    pub order: String,
    /// Where it stands.
    pub status: OrderFate,
    /// What happened to it, in a few sentences.
    pub text: String,
    /// The code of its rejection; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// When the exchange received it, ISO 8601 in engine time.
    #[serde(with = "values::Iso")]
    pub received: TimeNs,
    /// The order and the book that it met; absent when it was rejected before it met a book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<MetBook>,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderFate {
    /// It rests in the book.
    Live,
    /// It waits out the taker delay of its market.
    Delayed,
    /// It is filled.
    Matched,
    /// The book killed it on arrival.
    Killed,
    /// It ended with an unfilled rest.
    Ended,
    /// It was rejected before it met the book.
    Rejected,
}

/// An order, and the book of its token just before it arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetBook {
    /// Sequence of the frame in which the order met the book: its own, or that of the end of its delay.
    pub sequence: u64,
    /// Its token.
    #[serde(with = "values::Token")]
    pub token_id: TokenId,
    /// Its side.
    #[serde(with = "values::Side")]
    pub side: Side,
    /// Its type.
    #[serde(with = "values::OrderType")]
    pub order_type: OrderType,
    /// Its limit.
    #[serde(with = "values::Amount")]
    pub price: Price,
    /// Its shares.
    #[serde(with = "values::Amount")]
    pub size: Lots,
    /// Shares that it has traded.
    #[serde(with = "values::Amount")]
    pub matched: Lots,
    /// Shares of others that its limit reached.
    #[serde(with = "values::Amount")]
    pub reached: Lots,
    /// Shares of its own account that its limit reached.
    #[serde(with = "values::Amount")]
    pub own: Lots,
    /// Bids, best first, at most ten.
    pub bids: Vec<MetLevel>,
    /// Asks, best first, at most ten.
    pub asks: Vec<MetLevel>,
}

/// A level of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetLevel {
    /// Price of a share.
    #[serde(with = "values::Amount")]
    pub price: Price,
    /// Shares.
    #[serde(with = "values::Amount")]
    pub size: Lots,
}

/// Answer of `GET /sandbox/rejections`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rejections {
    /// The newest orders that a check rejected or the book killed, newest first, at most 1,000.
    pub rejections: Vec<Explanation>,
}
