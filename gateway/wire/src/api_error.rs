//! Errors of the trading and operator surfaces: status, text, `Retry-After` (docs/api/errors.md).
//!
//! Clients match on the fixed texts. Every other text names the field, the value and the allowed
//! range. [`crate::rejection`] translates the core's own rejections.

use serde::Serialize;
use thiserror::Error;

use foretell_model::{OrderId, Price, Tick, WalletAddress};

use crate::decimal::Decimal;

/// A missing field, or a field with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name in the interface.
    pub field: &'static str,
    /// The value, shortened and escaped; `None` = the field is missing.
    pub value: Option<String>,
    /// The allowed values.
    pub allowed: &'static str,
}

impl FieldError {
    /// The problem of a required field that is absent or null.
    #[must_use]
    pub const fn missing(field: &'static str, allowed: &'static str) -> Self {
        Self {
            field,
            value: None,
            allowed,
        }
    }

    /// The problem of a field with a wrong value.
    #[must_use]
    pub fn wrong(field: &'static str, value: &str, allowed: &'static str) -> Self {
        Self {
            field,
            value: Some(quoted(value)),
            allowed,
        }
    }
}

impl core::fmt::Display for FieldError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} is {value}, allowed: {}", self.field, self.allowed),
            None => write!(f, "{} is missing, allowed: {}", self.field, self.allowed),
        }
    }
}

/// Most characters of a client's text that an answer repeats.
const MAX_QUOTED_CHARACTERS: usize = 48;

/// Quotes a client's text for an answer: cut, with every control, invisible and direction-changing
/// character escaped, so that it cannot forge a line of a log or a page.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("'");
    for character in text.chars().take(MAX_QUOTED_CHARACTERS) {
        match character {
            '\'' | '"' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(MAX_QUOTED_CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown.push('\'');
    shown
}

/// An error as a client sees it. [`core::fmt::Display`] is the text of its `error`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApiError {
    // The request itself.
    /// The body exceeds the route's limit.
    #[error("the body is too large, allowed: {limit} bytes")]
    BodyTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The route does not read bodies of this media type.
    #[error("the content type is {given}, allowed: application/json")]
    UnsupportedMediaType {
        /// The media type, quoted.
        given: String,
    },
    /// The path exists, but not with this method.
    #[error("method not allowed, allowed: {allowed}")]
    MethodNotAllowed {
        /// The allowed methods, also for the `Allow` header.
        allowed: &'static str,
    },
    /// Unknown path.
    #[error("not found")]
    NotFound,
    /// A path of the family that this exchange does not have (rewards, rfq, …).
    #[error("not supported")]
    NotSupported,
    /// The route cannot read the body.
    #[error("invalid body: {0}")]
    InvalidBody(String),
    /// The body has a duplicate key.
    #[error("invalid body: the key {0} stands twice")]
    DuplicateKey(String),
    /// A field of the body, or a parameter, is wrong.
    #[error("{0}")]
    Field(FieldError),
    /// A parameter that is allowed once is repeated.
    #[error("the parameter {0} stands more than once, allowed: once")]
    RepeatedParameter(&'static str),
    /// The query string is too long, has too many parameters, or is not percent-encoded UTF-8.
    #[error("invalid query: {0}")]
    InvalidQuery(&'static str),
    /// Too many entries in a list.
    #[error("{field} has {count} entries, allowed: {allowed}")]
    TooManyEntries {
        /// The list's name.
        field: &'static str,
        /// Number of entries.
        count: usize,
        /// Allowed number of entries, as text (`1 to 20`).
        allowed: &'static str,
    },

    // Credentials.
    /// Unknown key, wrong passphrase or wrong signature, indistinguishable
    /// (docs/api/authentication.md §3).
    #[error("Unauthorized/Invalid api key")]
    Unauthorized,
    /// The L1 headers do not prove ownership of the address.
    #[error("Invalid L1 Request headers")]
    UnauthorizedL1,
    /// `X-Chain-Id` names another chain.
    #[error("the chain is {given}, allowed: {ours}")]
    WrongChain {
        /// The chain in the header, quoted.
        given: String,
        /// The chain of this deployment.
        ours: u64,
    },
    /// The (address, nonce) pair was revoked; its key is never issued again.
    #[error("Could not create api key: nonce revoked")]
    NonceRevoked,
    /// The address has the maximum number of keys.
    #[error("Could not create api key: the address has 16 live keys, allowed: 16")]
    TooManyKeys,
    /// The address is bound to an owner, so it cannot own keys.
    #[error("Could not create api key: the address is a wallet of another owner")]
    NotAnOwner,
    /// `GET /auth/derive-api-key` for a key that was never created or is revoked.
    #[error("Could not derive api key!")]
    KeyNotFound,

    // The order as sent.
    /// The body is not JSON, or not an order.
    #[error("invalid order payload")]
    InvalidOrderPayload,
    /// The order has a duplicate key.
    #[error("invalid order payload: the key {0} stands twice")]
    DuplicateOrderKey(String),
    /// A field of an order is wrong.
    #[error("invalid order payload: {0}")]
    OrderField(FieldError),
    /// More than 15 orders in one request.
    #[error("Too many orders in payload: {0}, max allowed: 15")]
    TooManyOrders(usize),
    /// The order was signed with the old order version.
    #[error("order_version_mismatch")]
    OrderVersionMismatch,
    /// `owner` is not the API key that signed the request.
    #[error("the order owner has to be the owner of the API KEY")]
    OwnerNotKeyOwner,
    /// The signer is not the key's address (for deposit wallets: not the wallet).
    #[error("the order signer address has to be the address of the API KEY")]
    SignerNotKeyAddress,
    /// The maker is not a wallet of the key's owner with that signature type.
    #[error(
        "the order maker {maker} is not a wallet of the API KEY's address with signatureType {signature_type}"
    )]
    MakerNotBound {
        /// The maker.
        maker: WalletAddress,
        /// The signature type.
        signature_type: u8,
    },
    /// A check of the signature failed.
    #[error("invalid signature: {0}")]
    InvalidSignature(&'static str),
    /// `conditionId` is not the condition of the order's token.
    #[error("conditionId is {given}, allowed: {expected}, the condition of the tokenId")]
    ConditionOfAnotherToken {
        /// The given condition.
        given: foretell_model::ConditionId,
        /// The token's condition.
        expected: foretell_model::ConditionId,
    },
    /// No market has the order's token.
    #[error("tokenId is {0}, allowed: a token of a registered market")]
    UnknownOrderToken(String),

    // The core's rejections of an order.
    /// The signed timestamp is outside the allowed window; all in milliseconds.
    #[error("invalid order timestamp: {given}, allowed {from}..{to}")]
    TimestampOutOfWindow {
        /// The signed timestamp.
        given: u64,
        /// First allowed timestamp.
        from: u64,
        /// Last allowed timestamp.
        to: u64,
    },
    /// The price is not a multiple of the tick.
    #[error("order {order} is invalid. Price ({price}) breaks minimum tick size rule: {}", tick.text())]
    PriceOffTick {
        /// The order.
        order: OrderId,
        /// The signed ratio.
        price: Decimal,
        /// The market's tick.
        tick: Tick,
    },
    /// The price is below the lowest or above the highest allowed price.
    #[error(
        "order {order} is invalid. Price ({price}) breaks minimum tick size rule: {}, allowed: {} to {}",
        tick.text(), tick.text(), Decimal::from(Price(tick.units()).complement())
    )]
    PriceOffGrid {
        /// The order.
        order: OrderId,
        /// The signed ratio.
        price: Decimal,
        /// The market's tick.
        tick: Tick,
    },
    /// The size is below the market's minimum.
    #[error("order {order} is invalid. Size ({size}) lower than the minimum: {minimum}")]
    SizeBelowMinimum {
        /// The order.
        order: OrderId,
        /// In shares.
        size: Decimal,
        /// In shares.
        minimum: Decimal,
    },
    /// The size is not a multiple of a lot.
    #[error("order {order} is invalid. Size ({size}) has more than two decimals")]
    SizeNotLots {
        /// The order.
        order: OrderId,
        /// In shares.
        size: Decimal,
    },
    /// An amount is 0.
    #[error("order {order} is invalid. makerAmount and takerAmount are allowed above 0 only")]
    OrderAmountZero {
        /// The order.
        order: OrderId,
    },
    /// The amounts exceed the maximum order.
    #[error(
        "order {order} is invalid. makerAmount and takerAmount are allowed up to 1000000000000000 only"
    )]
    OrderTooLarge {
        /// The order.
        order: OrderId,
    },
    /// The order id was used with other terms.
    #[error("order {order} is invalid. Duplicated.")]
    Duplicated {
        /// The order.
        order: OrderId,
    },
    /// Post-only on an order type that cannot rest.
    #[error("order {order} is invalid. postOnly is allowed with GTC and GTD only")]
    PostOnlyNeedsResting {
        /// The order.
        order: OrderId,
    },
    /// The account has the maximum number of live orders.
    #[error("order {order} is invalid. The account has {live} live orders, allowed: {cap}")]
    TooManyLiveOrders {
        /// The order.
        order: OrderId,
        /// Number of live orders.
        live: u64,
        /// Maximum number of live orders.
        cap: u64,
    },
    /// The owner has the maximum number of remembered order ids.
    #[error(
        "order {order} is invalid. The owner has {held} order ids remembered, allowed: {allowed}; an id is remembered until its timestamp has left the window, retry later"
    )]
    TooManyOrderIds {
        /// The order.
        order: OrderId,
        /// Number of remembered ids.
        held: u64,
        /// Maximum number of remembered ids.
        allowed: u64,
    },
    /// A post-only order would cross the book.
    #[error("order {order} crosses the book")]
    CrossesBook {
        /// The order.
        order: OrderId,
    },
    /// Too little free collateral or too few free shares; in whole units.
    #[error("not enough balance / allowance: needed {needed}, available {available}")]
    NotEnoughBalance {
        /// The amount the order needs.
        needed: Decimal,
        /// The free amount.
        available: Decimal,
    },
    /// The maker has never had a deposit.
    #[error("not enough balance / allowance: {wallet} has no account, available 0")]
    NoAccount {
        /// The wallet.
        wallet: WalletAddress,
    },
    /// GTD with an expiration in the past or too near, or an expiration on another order type.
    #[error("invalid expiration")]
    InvalidExpiration,
    /// A FOK cannot be filled completely.
    #[error("order couldn't be fully filled. FOK orders are fully filled or killed.")]
    FokNotFilled,
    /// A FAK matches no order.
    #[error(
        "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found."
    )]
    FakNoMatch,
    /// A marketable BUY below the minimum; in whole units.
    #[error("invalid amount for a marketable BUY order (${amount}), min size: ${minimum}")]
    MarketableBelowMinimum {
        /// The amount it would spend.
        amount: Decimal,
        /// The minimum.
        minimum: Decimal,
    },
    /// The market is paused.
    #[error("condition_paused")]
    ConditionPaused,
    /// The system is paused.
    #[error("system_paused")]
    SystemPaused,
    /// The market is registered but not active yet.
    #[error("the market is not yet ready to process new orders")]
    MarketNotReady,
    /// The market is closed or resolved.
    #[error("market is closed")]
    MarketClosed,
    /// The account is closed-only: it may only reduce positions.
    #[error("'{wallet}' address in closed only mode")]
    ClosedOnly {
        /// The account.
        wallet: WalletAddress,
    },
    /// The system accepts cancels only.
    #[error(
        "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed."
    )]
    CancelOnly,
    /// The system accepts post-only orders only.
    #[error("post-only mode: only post-only orders and cancels are allowed")]
    PostOnlyMode,

    // Reads.
    /// Not a token id in either form.
    #[error("Invalid token id")]
    InvalidTokenId,
    /// Not a side.
    #[error("Invalid side")]
    InvalidSide,
    /// No market has the token.
    #[error("No orderbook exists for the requested token id")]
    NoOrderbook,
    /// No such market.
    #[error("market not found")]
    MarketNotFound,
    /// No such order, or it belongs to another client.
    #[error("order not found")]
    OrderNotFound,
    /// The price is undefined: one side of the book, or a last trade, is missing.
    #[error("no {0} exists for the requested token id")]
    NoPrice(&'static str),
    /// A cursor that this exchange did not issue.
    #[error("invalid next_cursor")]
    InvalidCursor,

    // Account actions and operator commands; texts in `refusal.rs`.
    /// The named object does not exist.
    #[error("{0}")]
    Unknown(&'static str),
    /// The named object or its state conflicts with the request.
    #[error("{0}")]
    Conflict(String),
    /// The content is not allowed.
    #[error("{0}")]
    InvalidContent(String),
    /// The operator token is missing or wrong.
    #[error("unauthorized: operator token")]
    OperatorUnauthorized,

    // The service.
    /// The client exceeded the limit of a rate window.
    #[error(
        "rate limit exceeded: {scope}, allowed: {limit} in {window} s, retry in {retry_after} s"
    )]
    RateLimited {
        /// The limit's scope.
        scope: &'static str,
        /// Requests allowed per window.
        limit: u32,
        /// Length of the window in seconds.
        window: u64,
        /// Seconds until the next attempt, at least 1.
        retry_after: u32,
    },
    /// The command ring or the memory for ids is full.
    #[error("busy: retry later")]
    Busy,
    /// The engine's disk is nearly full: no new orders.
    #[error("busy: disk nearly full, cancels are allowed")]
    DiskLow,
    /// The engine does not answer.
    #[error("the engine is away: retry later")]
    EngineUnavailable,
    /// The engine is replaying its journal.
    #[error("the engine is recovering: retry later")]
    Recovering,
    /// This gateway's view cannot follow the journal any more, so reads are off.
    #[error(
        "reads are stopped: this gateway cannot follow the journal at sequence {0}; cancels and orders are taken"
    )]
    ViewStopped(u64),
    /// The command was applied, but the view that would show its effect has stopped.
    #[error(
        "done at sequence {sequence}; what it did is not shown: this gateway cannot follow the journal at sequence {stopped}"
    )]
    DoneUnshown {
        /// Sequence of the command.
        sequence: u64,
        /// The sequence that the view cannot follow.
        stopped: u64,
    },
    /// The engine died while the request was in flight.
    #[error("outcome unknown: query or retry with the same id")]
    OutcomeUnknown,
    /// The disk did not take the snapshot that an operator requested.
    #[error("the snapshot could not be written: the engine's log says why")]
    SnapshotFailed,
    /// The snapshot that an operator requested takes longer than an answer may.
    #[error("the snapshot is not written yet: look for it in the status")]
    SnapshotTimeout,
    /// The view did not reach `x-min-sequence` in time.
    #[error("not yet at sequence {0}")]
    SequenceNotReached(u64),
    /// `x-min-sequence` is far above the durable sequence.
    #[error("x-min-sequence is {asked}, allowed: at most 1000000 above {durable}")]
    SequenceTooFarAhead {
        /// The requested sequence.
        asked: u64,
        /// The durable sequence.
        durable: u64,
    },
    /// The maximum number of requests is waiting for a sequence.
    #[error("busy: too many requests wait for a sequence")]
    TooManyWaiters,
    /// An internal bug; the log has the details.
    #[error("internal error")]
    Internal,
}

impl ApiError {
    /// The HTTP status (docs/api/errors.md §2).
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Unauthorized | Self::UnauthorizedL1 | Self::OperatorUnauthorized => 401,
            Self::NotFound
            | Self::NotSupported
            | Self::KeyNotFound
            | Self::NoOrderbook
            | Self::MarketNotFound
            | Self::OrderNotFound
            | Self::NoPrice(_)
            | Self::Unknown(_) => 404,
            Self::MethodNotAllowed { .. } => 405,
            Self::ConditionPaused | Self::SystemPaused | Self::Conflict(_) => 409,
            Self::BodyTooLarge { .. } => 413,
            Self::UnsupportedMediaType { .. } => 415,
            Self::Recovering => 425,
            Self::RateLimited { .. } => 429,
            Self::Internal => 500,
            Self::CancelOnly
            | Self::PostOnlyMode
            | Self::Busy
            | Self::DiskLow
            | Self::EngineUnavailable
            | Self::OutcomeUnknown
            | Self::SnapshotFailed
            | Self::ViewStopped(_)
            | Self::DoneUnshown { .. }
            | Self::SnapshotTimeout
            | Self::SequenceNotReached(_)
            | Self::TooManyWaiters => 503,
            _ => 400,
        }
    }

    /// Seconds for the `Retry-After` header, where there is one.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            Self::CancelOnly | Self::PostOnlyMode | Self::DiskLow => Some(5),
            _ if matches!(self.status(), 425 | 503) => Some(1),
            _ => None,
        }
    }

    /// The text of `error`.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
    }

    /// The body of the answer: `{"error": text}`.
    #[must_use]
    pub fn body(&self) -> String {
        #[derive(Serialize)]
        struct Body {
            error: String,
        }
        crate::json_text(&Body { error: self.text() })
    }
}

impl From<FieldError> for ApiError {
    fn from(problem: FieldError) -> Self {
        Self::Field(problem)
    }
}

#[cfg(test)]
#[path = "api_error_tests.rs"]
mod tests;
