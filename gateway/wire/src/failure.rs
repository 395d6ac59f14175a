//! Every failure of the trading and operator surfaces: status, text, `Retry-After` (protocol 10).
//!
//! Clients match on the fixed texts; every other text names the field, the value and what is
//! allowed. What the exchange itself refuses is translated in [`crate::refusal`].

use serde::Serialize;
use thiserror::Error;

use foretell_model::{OrderId, Price, Tick, WalletAddress};

use crate::decimal::Decimal;

/// A field that is missing or holds what it must not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// Its name as in the interface.
    pub field: &'static str,
    /// What it holds, shortened and escaped; `None` = the field is missing.
    pub value: Option<String>,
    /// What is allowed.
    pub allowed: &'static str,
}

impl FieldProblem {
    /// A required field is absent or null.
    #[must_use]
    pub const fn missing(field: &'static str, allowed: &'static str) -> Self {
        Self {
            field,
            value: None,
            allowed,
        }
    }

    /// A field holds `value`.
    #[must_use]
    pub fn wrong(field: &'static str, value: &str, allowed: &'static str) -> Self {
        Self {
            field,
            value: Some(quoted(value)),
            allowed,
        }
    }
}

impl core::fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} is {value}, allowed: {}", self.field, self.allowed),
            None => write!(f, "{} is missing, allowed: {}", self.field, self.allowed),
        }
    }
}

/// Characters of a client's own text that are repeated to it.
const SHOWN_CHARACTERS: usize = 48;

/// A client's text as it is repeated in an answer: quoted, cut, and with every control, invisible
/// and direction-changing character escaped, so that it cannot forge a line of a log or a page.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("'");
    for character in text.chars().take(SHOWN_CHARACTERS) {
        match character {
            '\'' | '"' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown.push('\'');
    shown
}

/// A failure as a client sees it. [`core::fmt::Display`] is the text of its `error`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    // The request as such.
    /// The body is longer than the route allows.
    #[error("the body is too large, allowed: {limit} bytes")]
    BodyTooLarge {
        /// Bytes allowed.
        limit: usize,
    },
    /// The body is not of a type the route reads.
    #[error("the content type is {given}, allowed: application/json")]
    UnsupportedMediaType {
        /// What was sent, quoted.
        given: String,
    },
    /// The path exists, the method does not.
    #[error("method not allowed, allowed: {allowed}")]
    MethodNotAllowed {
        /// For the `Allow` header too.
        allowed: &'static str,
    },
    /// No such path.
    #[error("not found")]
    NotFound,
    /// A path of the family that this exchange does not have (rewards, rfq, …).
    #[error("not supported")]
    NotSupported,
    /// The body is not what the route reads.
    #[error("invalid body: {0}")]
    InvalidBody(String),
    /// A key stands twice in the body.
    #[error("invalid body: the key {0} stands twice")]
    DuplicateKey(String),
    /// A field of the body, or a parameter, is wrong.
    #[error("{0}")]
    Field(FieldProblem),
    /// A parameter that may stand once stands several times.
    #[error("the parameter {0} stands more than once, allowed: once")]
    RepeatedParameter(&'static str),
    /// The query string is too long, has too many parameters, or is not percent-encoded UTF-8.
    #[error("invalid query: {0}")]
    InvalidQuery(&'static str),
    /// Too many entries in a list.
    #[error("{field} has {count} entries, allowed: {allowed}")]
    TooManyEntries {
        /// Which list.
        field: &'static str,
        /// How many it has.
        count: usize,
        /// How many it may have, as text (`1 to 20`).
        allowed: &'static str,
    },

    // Credentials.
    /// Unknown key, wrong passphrase or wrong signature: one and the same (protocol 7).
    #[error("Unauthorized/Invalid api key")]
    Unauthorized,
    /// The L1 headers do not prove the address.
    #[error("Invalid L1 Request headers")]
    UnauthorizedL1,
    /// `X-Chain-Id` names another chain.
    #[error("the chain is {given}, allowed: {ours}")]
    WrongChain {
        /// What was sent, quoted.
        given: String,
        /// The chain of this deployment.
        ours: u64,
    },
    /// The (address, nonce) was revoked and is never issued again.
    #[error("Could not create api key: nonce revoked")]
    NonceRevoked,
    /// The address has as many keys as it may.
    #[error("Could not create api key: the address has 16 live keys, allowed: 16")]
    TooManyKeys,
    /// The address is bound to an owner and cannot own keys.
    #[error("Could not create api key: the address is a wallet of another owner")]
    NotAnOwner,
    /// `GET /auth/derive-api-key` for a key that was never created, or is revoked.
    #[error("Could not derive api key!")]
    KeyNotFound,

    // The order as it was sent.
    /// The body is not JSON, or not an order.
    #[error("invalid order payload")]
    InvalidOrderPayload,
    /// A key stands twice in an order.
    #[error("invalid order payload: the key {0} stands twice")]
    DuplicateOrderKey(String),
    /// A field of an order is wrong.
    #[error("invalid order payload: {0}")]
    OrderField(FieldProblem),
    /// More than 15 orders at once.
    #[error("Too many orders in payload: {0}, max allowed: 15")]
    TooManyOrders(usize),
    /// The old version of the signed order.
    #[error("order_version_mismatch")]
    OrderVersionMismatch,
    /// `owner` is not the key the request is signed with.
    #[error("the order owner has to be the owner of the API KEY")]
    OwnerNotKeyOwner,
    /// The signer is not the key's address (or, for deposit wallets, not its wallet).
    #[error("the order signer address has to be the address of the API KEY")]
    SignerNotKeyAddress,
    /// The maker is not a wallet of the key's owner of that signature type.
    #[error(
        "the order maker {maker} is not a wallet of the API KEY's address with signatureType {signature_type}"
    )]
    MakerNotBound {
        /// The wallet named.
        maker: WalletAddress,
        /// The type named.
        signature_type: u8,
    },
    /// A check of the signature failed.
    #[error("invalid signature: {0}")]
    InvalidSignature(&'static str),
    /// `conditionId` is not the condition of the order's token.
    #[error("conditionId is {given}, allowed: {expected}, the condition of the tokenId")]
    ConditionOfAnotherToken {
        /// What was sent.
        given: foretell_model::ConditionId,
        /// The condition of the token.
        expected: foretell_model::ConditionId,
    },
    /// No market has the order's token.
    #[error("tokenId is {0}, allowed: a token of a registered market")]
    UnknownOrderToken(String),

    // The order as the exchange judges it.
    /// The signed timestamp is outside the window; all in milliseconds.
    #[error("invalid order timestamp: {given}, allowed {from}..{to}")]
    TimestampOutOfWindow {
        /// What was signed.
        given: u64,
        /// First allowed.
        from: u64,
        /// Last allowed.
        to: u64,
    },
    /// The price is off the grid.
    #[error("order {order} is invalid. Price ({price}) breaks minimum tick size rule: {}", tick.text())]
    PriceOffTick {
        /// The order.
        order: OrderId,
        /// The signed ratio.
        price: Decimal,
        /// The market's tick.
        tick: Tick,
    },
    /// The price is below the lowest or above the highest of the grid.
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
    /// Below the market's minimum.
    #[error("order {order} is invalid. Size ({size}) lower than the minimum: {minimum}")]
    SizeBelowMinimum {
        /// The order.
        order: OrderId,
        /// In shares.
        size: Decimal,
        /// In shares.
        minimum: Decimal,
    },
    /// Finer than a lot.
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
    /// Larger than an order may be.
    #[error(
        "order {order} is invalid. makerAmount and takerAmount are allowed up to 1000000000000000 only"
    )]
    OrderTooLarge {
        /// The order.
        order: OrderId,
    },
    /// The id was used with other terms.
    #[error("order {order} is invalid. Duplicated.")]
    Duplicated {
        /// The order.
        order: OrderId,
    },
    /// post-only on an order that cannot rest.
    #[error("order {order} is invalid. postOnly is allowed with GTC and GTD only")]
    PostOnlyNeedsResting {
        /// The order.
        order: OrderId,
    },
    /// The account has as many live orders as it may.
    #[error("order {order} is invalid. The account has {live} live orders, allowed: {cap}")]
    TooManyLiveOrders {
        /// The order.
        order: OrderId,
        /// How many it has.
        live: u64,
        /// How many it may have.
        cap: u64,
    },
    /// The owner has as many order ids remembered as it may.
    #[error(
        "order {order} is invalid. The owner has {held} order ids remembered, allowed: {allowed}; an id is remembered until its timestamp has left the window, retry later"
    )]
    TooManyOrderIds {
        /// The order.
        order: OrderId,
        /// How many it has.
        held: u64,
        /// How many it may have.
        allowed: u64,
    },
    /// post-only would cross.
    #[error("order {order} crosses the book")]
    CrossesBook {
        /// The order.
        order: OrderId,
    },
    /// Too little free collateral or too few free shares, in whole units.
    #[error("not enough balance / allowance: needed {needed}, available {available}")]
    NotEnoughBalance {
        /// What it takes.
        needed: Decimal,
        /// What is free.
        available: Decimal,
    },
    /// The maker never had a deposit.
    #[error("not enough balance / allowance: {wallet} has no account, available 0")]
    NoAccount {
        /// The wallet.
        wallet: WalletAddress,
    },
    /// GTD in the past (or too near), or an expiration on another type.
    #[error("invalid expiration")]
    InvalidExpiration,
    /// A FOK cannot be filled whole.
    #[error("order couldn't be fully filled. FOK orders are fully filled or killed.")]
    FokNotFilled,
    /// A FAK finds nothing.
    #[error(
        "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found."
    )]
    FakNoMatch,
    /// A marketable BUY below the minimum, in whole units.
    #[error("invalid amount for a marketable BUY order (${amount}), min size: ${minimum}")]
    MarketableBelowMinimum {
        /// What it would spend.
        amount: Decimal,
        /// What it must.
        minimum: Decimal,
    },
    /// The market is paused.
    #[error("condition_paused")]
    ConditionPaused,
    /// The system is paused.
    #[error("system_paused")]
    SystemPaused,
    /// The market is registered only.
    #[error("the market is not yet ready to process new orders")]
    MarketNotReady,
    /// The market is closed or resolved.
    #[error("market is closed")]
    MarketClosed,
    /// The account may only reduce.
    #[error("'{wallet}' address in closed only mode")]
    ClosedOnly {
        /// The account.
        wallet: WalletAddress,
    },
    /// The system takes cancels only.
    #[error(
        "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed."
    )]
    CancelOnly,
    /// The system takes post-only orders only.
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
    /// No such order, or not the caller's.
    #[error("order not found")]
    OrderNotFound,
    /// One side of the book, or a trade, is missing: there is no such price.
    #[error("no {0} exists for the requested token id")]
    NoPrice(&'static str),
    /// Not a cursor of ours.
    #[error("invalid next_cursor")]
    InvalidCursor,

    // Account actions and operator commands; texts in `refusal.rs`.
    /// The thing named does not exist.
    #[error("{0}")]
    Unknown(&'static str),
    /// The thing named, or its state, stands against it.
    #[error("{0}")]
    Conflict(String),
    /// The content is not allowed.
    #[error("{0}")]
    Rejected(String),
    /// The operator token is missing or wrong.
    #[error("unauthorized: operator token")]
    OperatorUnauthorized,

    // The service.
    /// More requests than the cap of their window allows.
    #[error(
        "rate limit exceeded: {scope}, allowed: {limit} in {window} s, retry in {retry_after} s"
    )]
    RateLimited {
        /// What is counted together.
        scope: &'static str,
        /// What its window takes.
        limit: u32,
        /// Length of the window in seconds.
        window: u64,
        /// Seconds, at least 1.
        retry_after: u32,
    },
    /// The ring or the id memory is full.
    #[error("busy: retry later")]
    Busy,
    /// The disk of the engine is nearly full: no new orders.
    #[error("busy: disk nearly full, cancels are allowed")]
    DiskLow,
    /// The engine does not answer.
    #[error("the engine is away: retry later")]
    EngineAway,
    /// The engine is reading its journal.
    #[error("the engine is recovering: retry later")]
    Recovering,
    /// The view of this gateway cannot follow the journal any more: it shows nothing.
    #[error(
        "reads are stopped: this gateway cannot follow the journal at sequence {0}; cancels and orders are taken"
    )]
    ViewStopped(u64),
    /// The command was carried out, and the view that would show what it did is stopped.
    #[error(
        "done at sequence {sequence}; what it did is not shown: this gateway cannot follow the journal at sequence {stopped}"
    )]
    DoneUnshown {
        /// Where the command stands in the journal.
        sequence: u64,
        /// What the view cannot follow.
        stopped: u64,
    },
    /// The engine died with the request in flight.
    #[error("outcome unknown: query or retry with the same id")]
    OutcomeUnknown,
    /// The disk did not take the snapshot an operator asked for.
    #[error("the snapshot could not be written: the engine's log says why")]
    SnapshotFailed,
    /// The snapshot an operator asked for takes longer than an answer may.
    #[error("the snapshot is not written yet: look for it in the status")]
    SnapshotLate,
    /// `x-min-sequence` was not reached in time.
    #[error("not yet at sequence {0}")]
    NotYetAtSequence(u64),
    /// `x-min-sequence` is absurdly far ahead.
    #[error("x-min-sequence is {asked}, allowed: at most 1000000 above {durable}")]
    SequenceTooFarAhead {
        /// What was asked.
        asked: u64,
        /// What is durable.
        durable: u64,
    },
    /// As many requests wait for a sequence as may.
    #[error("busy: too many requests wait for a sequence")]
    TooManyWaiters,
    /// A mistake of ours; the log has the rest.
    #[error("internal error")]
    Internal,
}

impl Failure {
    /// The HTTP status (protocol 10).
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
            | Self::EngineAway
            | Self::OutcomeUnknown
            | Self::SnapshotFailed
            | Self::ViewStopped(_)
            | Self::DoneUnshown { .. }
            | Self::SnapshotLate
            | Self::NotYetAtSequence(_)
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

impl From<FieldProblem> for Failure {
    fn from(problem: FieldProblem) -> Self {
        Self::Field(problem)
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
