//! Errors of the trading and operator surfaces: a code and its values (docs/api/errors.md).
//!
//! [`crate::error_code`] has the texts. Clients match on the fixed ones; every other names the
//! field, the value and the allowed range. [`crate::rejection`] translates the core's rejections.

use core::fmt::Display;

use foretell_model::{OrderId, Price, Tick, WalletAddress};

use crate::decimal::Decimal;
use crate::error_code::ErrorCode;
use crate::limits::MAX_QUOTED_CHARACTERS;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// An error without a variant of its own: its code, and a value for each part in `<>` of the
    /// code's text.
    Coded(ErrorCode, Vec<String>),

    // The request itself.
    /// The body exceeds the route's limit.
    BodyTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The route does not read bodies of this media type.
    UnsupportedMediaType {
        /// The media type, quoted.
        given: String,
    },
    /// Unknown path.
    NotFound,
    /// A path of the family that this exchange does not have (rewards, rfq, …).
    NotSupported,
    /// The route cannot read the body.
    InvalidBody(String),
    /// The body has a duplicate key.
    RepeatedJsonKey(String),
    /// A field of the body, or a parameter, is wrong.
    Field(FieldError),
    /// A parameter that is allowed once is repeated.
    RepeatedParameter(&'static str),
    /// The query string is too long, has too many parameters, or is not percent-encoded UTF-8.
    InvalidQuery(&'static str),
    /// Too many entries in a list.
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
    Unauthorized,
    /// The L1 headers do not prove ownership of the address.
    UnauthorizedL1,
    /// `X-Chain-Id` names another chain.
    WrongChain {
        /// The chain in the header, quoted.
        given: String,
        /// The chain of this deployment.
        ours: u64,
    },
    /// The (address, nonce) pair was revoked; its key is never issued again.
    NonceRevoked,
    /// The address has the maximum number of keys.
    TooManyKeys,
    /// The address is bound to an owner, so it cannot own keys.
    NotAnOwner,
    /// `GET /auth/derive-api-key` for a key that was never created or is revoked.
    KeyNotFound,

    // The order as sent.
    /// The body is not JSON, or not an order.
    InvalidOrderPayload,
    /// The order has a duplicate key.
    RepeatedOrderField(String),
    /// A field of an order is wrong.
    OrderField(FieldError),
    /// More than 15 orders in one request.
    TooManyOrders(usize),
    /// The order was signed with the old order version.
    OrderVersionMismatch,
    /// `owner` is not the API key that signed the request.
    OwnerNotKeyOwner,
    /// The signer is not the key's address (for deposit wallets: not the wallet).
    SignerNotKeyAddress,
    /// The maker is not a wallet of the key's owner with that signature type.
    MakerNotBound {
        /// The maker.
        maker: WalletAddress,
        /// The signature type.
        signature_type: u8,
    },
    /// `conditionId` is not the condition of the order's token.
    ConditionOfAnotherToken {
        /// The given condition.
        given: foretell_model::ConditionId,
        /// The token's condition.
        expected: foretell_model::ConditionId,
    },
    /// No market has the order's token.
    UnknownOrderToken(String),

    // The core's rejections of an order.
    /// The signed timestamp is outside the allowed window; all in milliseconds.
    TimestampOutOfWindow {
        /// The signed timestamp.
        given: u64,
        /// First allowed timestamp.
        from: u64,
        /// Last allowed timestamp.
        to: u64,
    },
    /// The price is not a multiple of the tick.
    PriceOffTick {
        /// The order.
        order: OrderId,
        /// The signed ratio.
        price: Decimal,
        /// The market's tick.
        tick: Tick,
    },
    /// The price is below the lowest or above the highest allowed price.
    PriceOffGrid {
        /// The order.
        order: OrderId,
        /// The signed ratio.
        price: Decimal,
        /// The market's tick.
        tick: Tick,
    },
    /// The size is below the market's minimum.
    SizeBelowMinimum {
        /// The order.
        order: OrderId,
        /// In shares.
        size: Decimal,
        /// In shares.
        minimum: Decimal,
    },
    /// The size is not a multiple of a lot.
    SizeNotLots {
        /// The order.
        order: OrderId,
        /// In shares.
        size: Decimal,
    },
    /// An amount is 0.
    OrderAmountZero {
        /// The order.
        order: OrderId,
    },
    /// The amounts exceed the maximum order.
    OrderTooLarge {
        /// The order.
        order: OrderId,
    },
    /// The order id was used with other terms.
    Duplicated {
        /// The order.
        order: OrderId,
    },
    /// Post-only on an order type that cannot rest.
    PostOnlyNeedsResting {
        /// The order.
        order: OrderId,
    },
    /// The account has the maximum number of live orders.
    TooManyLiveOrders {
        /// The order.
        order: OrderId,
        /// Number of live orders.
        live: u64,
        /// Maximum number of live orders.
        cap: u64,
    },
    /// The owner has the maximum number of remembered order ids.
    TooManyOrderIds {
        /// The order.
        order: OrderId,
        /// Number of remembered ids.
        held: u64,
        /// Maximum number of remembered ids.
        allowed: u64,
    },
    /// A post-only order would cross the book.
    CrossesBook {
        /// The order.
        order: OrderId,
    },
    /// Too little free collateral; in whole units.
    NotEnoughBalance {
        /// The amount the order needs.
        needed: Decimal,
        /// The free amount.
        available: Decimal,
    },
    /// Too few free shares; in whole units.
    NotEnoughShares {
        /// The shares the order needs.
        needed: Decimal,
        /// The free shares.
        available: Decimal,
    },
    /// The maker has never had a deposit.
    NoAccount {
        /// The wallet.
        wallet: WalletAddress,
    },
    /// GTD with an expiration in the past or too near, or an expiration on another order type.
    InvalidExpiration,
    /// A FOK cannot be filled completely.
    FokNotFilled,
    /// A FAK matches no order.
    FakNoMatch,
    /// A marketable BUY below the minimum; in whole units.
    MarketableBelowMinimum {
        /// The amount it would spend.
        amount: Decimal,
        /// The minimum.
        minimum: Decimal,
    },
    /// The market is paused.
    ConditionPaused,
    /// The system is paused.
    SystemPaused,
    /// The market is registered but not active yet.
    MarketNotReady,
    /// The market is closed or resolved.
    MarketClosed,
    /// The account is closed-only: it may only reduce positions.
    ClosedOnly {
        /// The account.
        wallet: WalletAddress,
    },
    /// The system accepts cancels only.
    CancelOnly,
    /// The system accepts post-only orders only.
    PostOnlyMode,

    // Reads.
    /// Not a token id in either form.
    InvalidTokenId,
    /// Not a side.
    InvalidSide,
    /// No market has the token.
    NoOrderbook,
    /// No such market.
    MarketNotFound,
    /// No such order, or it belongs to another client.
    OrderNotFound,
    /// The price is undefined: one side of the book, or a last trade, is missing.
    NoPrice(&'static str),
    /// A cursor that this exchange did not issue.
    InvalidCursor,

    // Account actions and operator commands.
    /// The content is not allowed.
    InvalidContent(String),
    /// The operator token is missing or wrong.
    OperatorUnauthorized,

    // The service.
    /// The client exceeded the limit of a rate window.
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
    Busy,
    /// The engine's disk is nearly full: no new orders.
    DiskLow,
    /// The engine does not answer.
    EngineUnavailable,
    /// The engine is replaying its journal.
    Recovering,
    /// This gateway's view cannot follow the journal any more, so reads are off.
    ViewStopped(u64),
    /// The command was applied, but the view that would show its effect has stopped.
    DoneUnshown {
        /// Sequence of the command.
        sequence: u64,
        /// The sequence that the view cannot follow.
        stopped: u64,
    },
    /// The command was applied at this sequence; the view does not reach it in time.
    DoneNotYetShown(u64),
    /// The engine died while the request was in flight.
    OutcomeUnknown,
    /// The disk did not take the snapshot that an operator requested.
    SnapshotFailed,
    /// The snapshot that an operator requested takes longer than an answer may.
    SnapshotTimeout,
    /// The view did not reach `x-min-sequence` in time.
    SequenceNotReached(u64),
    /// `x-min-sequence` is far above the durable sequence.
    SequenceTooFarAhead {
        /// The requested sequence.
        asked: u64,
        /// The durable sequence.
        durable: u64,
    },
    /// The maximum number of requests is waiting for a sequence.
    TooManyWaiters,
    /// An internal bug; the log has the details.
    Internal,
}

impl Display for ApiError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut fill = |values: &[&dyn Display]| fill(f, self.code().text(), values);
        match self {
            Self::Coded(_, values) => {
                let values: Vec<&dyn Display> = values.iter().map(|it| it as _).collect();
                fill(&values)
            }
            Self::BodyTooLarge { limit } => fill(&[limit]),
            Self::UnsupportedMediaType { given } => fill(&[given]),
            Self::InvalidBody(text)
            | Self::RepeatedJsonKey(text)
            | Self::RepeatedOrderField(text)
            | Self::UnknownOrderToken(text)
            | Self::InvalidContent(text) => fill(&[text]),
            Self::RepeatedParameter(text) | Self::InvalidQuery(text) | Self::NoPrice(text) => {
                fill(&[text])
            }
            Self::Field(problem) | Self::OrderField(problem) => match &problem.value {
                Some(value) => fill(&[&problem.field, value, &problem.allowed]),
                None => fill(&[&problem.field, &problem.allowed]),
            },
            Self::TooManyEntries {
                field,
                count,
                allowed,
            } => fill(&[field, count, allowed]),
            Self::WrongChain { given, ours } => fill(&[given, ours]),
            Self::TooManyOrders(count) => fill(&[count]),
            Self::MakerNotBound {
                maker,
                signature_type,
            } => fill(&[maker, signature_type]),
            Self::ConditionOfAnotherToken { given, expected } => fill(&[given, expected]),
            Self::TimestampOutOfWindow { given, from, to } => fill(&[given, from, to]),
            Self::PriceOffTick { order, price, tick } => fill(&[order, price, &tick.text()]),
            Self::PriceOffGrid { order, price, tick } => {
                let (lowest, highest) = (tick.text(), Price(tick.units()).complement());
                fill(&[order, price, &lowest, &lowest, &Decimal::from(highest)])
            }
            Self::SizeBelowMinimum {
                order,
                size,
                minimum,
            } => fill(&[order, size, minimum]),
            Self::SizeNotLots { order, size } => fill(&[order, size]),
            Self::OrderAmountZero { order }
            | Self::OrderTooLarge { order }
            | Self::Duplicated { order }
            | Self::PostOnlyNeedsResting { order }
            | Self::CrossesBook { order } => fill(&[order]),
            Self::TooManyLiveOrders { order, live, cap } => fill(&[order, live, cap]),
            Self::TooManyOrderIds {
                order,
                held,
                allowed,
            } => fill(&[order, held, allowed]),
            Self::NotEnoughBalance { needed, available }
            | Self::NotEnoughShares { needed, available } => fill(&[needed, available]),
            Self::NoAccount { wallet } | Self::ClosedOnly { wallet } => fill(&[wallet]),
            Self::MarketableBelowMinimum { amount, minimum } => fill(&[amount, minimum]),
            Self::RateLimited {
                scope,
                limit,
                window,
                retry_after,
            } => fill(&[scope, limit, window, retry_after]),
            Self::ViewStopped(sequence)
            | Self::SequenceNotReached(sequence)
            | Self::DoneNotYetShown(sequence) => fill(&[sequence]),
            Self::DoneUnshown { sequence, stopped } => fill(&[sequence, stopped]),
            Self::SequenceTooFarAhead { asked, durable } => fill(&[asked, durable]),
            _ => fill(&[]),
        }
    }
}

/// Writes the text of a code with these values in place of its parts in `<>`.
fn fill(
    f: &mut core::fmt::Formatter<'_>,
    mut text: &str,
    values: &[&dyn Display],
) -> core::fmt::Result {
    let mut values = values.iter();
    while let Some((before, (_, after))) = text
        .split_once('<')
        .and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
    {
        let value = values.next();
        debug_assert!(value.is_some(), "a value for each part of {text}");
        f.write_str(before)?;
        value.map_or(Ok(()), |value| value.fmt(f))?;
        text = after;
    }
    debug_assert!(values.next().is_none(), "a part for each value");
    f.write_str(text)
}

impl core::error::Error for ApiError {}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self::Coded(code, Vec::new())
    }
}

impl ApiError {
    /// The code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Coded(code, _) => *code,
            Self::BodyTooLarge { .. } => ErrorCode::BodyTooLarge,
            Self::UnsupportedMediaType { .. } => ErrorCode::UnsupportedMediaType,
            Self::NotFound => ErrorCode::NotFound,
            Self::NotSupported => ErrorCode::NotSupported,
            Self::InvalidBody(_) => ErrorCode::InvalidBody,
            Self::RepeatedJsonKey(_) => ErrorCode::RepeatedJsonKey,
            Self::Field(FieldError { value: None, .. }) => ErrorCode::MissingField,
            Self::Field(_) => ErrorCode::InvalidField,
            Self::RepeatedParameter(_) => ErrorCode::RepeatedParameter,
            Self::InvalidQuery(_) => ErrorCode::InvalidQuery,
            Self::TooManyEntries { .. } => ErrorCode::TooManyEntries,
            Self::Unauthorized => ErrorCode::Unauthorized,
            Self::UnauthorizedL1 => ErrorCode::UnauthorizedL1,
            Self::WrongChain { .. } => ErrorCode::WrongChain,
            Self::NonceRevoked => ErrorCode::NonceRevoked,
            Self::TooManyKeys => ErrorCode::TooManyKeys,
            Self::NotAnOwner => ErrorCode::NotAnOwner,
            Self::KeyNotFound => ErrorCode::KeyNotDerivable,
            Self::InvalidOrderPayload => ErrorCode::InvalidOrderPayload,
            Self::RepeatedOrderField(_) => ErrorCode::RepeatedOrderField,
            Self::OrderField(FieldError { value: None, .. }) => ErrorCode::MissingOrderField,
            Self::OrderField(_) => ErrorCode::InvalidOrderField,
            Self::TooManyOrders(_) => ErrorCode::TooManyOrders,
            Self::OrderVersionMismatch => ErrorCode::OrderVersionMismatch,
            Self::OwnerNotKeyOwner => ErrorCode::OwnerNotKeyOwner,
            Self::SignerNotKeyAddress => ErrorCode::SignerNotKeyAddress,
            Self::MakerNotBound { .. } => ErrorCode::MakerNotBound,
            Self::ConditionOfAnotherToken { .. } => ErrorCode::ConditionOfAnotherToken,
            Self::UnknownOrderToken(_) => ErrorCode::UnknownOrderToken,
            Self::TimestampOutOfWindow { .. } => ErrorCode::TimestampOutOfWindow,
            Self::PriceOffTick { .. } => ErrorCode::PriceOffTick,
            Self::PriceOffGrid { .. } => ErrorCode::PriceOutOfRange,
            Self::SizeBelowMinimum { .. } => ErrorCode::SizeBelowMinimum,
            Self::SizeNotLots { .. } => ErrorCode::SizeNotLots,
            Self::OrderAmountZero { .. } => ErrorCode::InvalidAmount,
            Self::OrderTooLarge { .. } => ErrorCode::OrderTooLarge,
            Self::Duplicated { .. } => ErrorCode::DuplicateOrder,
            Self::PostOnlyNeedsResting { .. } => ErrorCode::PostOnlyNeedsResting,
            Self::TooManyLiveOrders { .. } => ErrorCode::TooManyLiveOrders,
            Self::TooManyOrderIds { .. } => ErrorCode::TooManyOrderIds,
            Self::CrossesBook { .. } => ErrorCode::CrossesBook,
            Self::NotEnoughBalance { .. } => ErrorCode::InsufficientBalance,
            Self::NotEnoughShares { .. } => ErrorCode::InsufficientShares,
            Self::NoAccount { .. } => ErrorCode::NoAccount,
            Self::InvalidExpiration => ErrorCode::InvalidExpiration,
            Self::FokNotFilled => ErrorCode::FokNotFilled,
            Self::FakNoMatch => ErrorCode::FakNoMatch,
            Self::MarketableBelowMinimum { .. } => ErrorCode::MarketableBelowMinimum,
            Self::ConditionPaused => ErrorCode::MarketPaused,
            Self::SystemPaused => ErrorCode::SystemPaused,
            Self::MarketNotReady => ErrorCode::MarketNotReady,
            Self::MarketClosed => ErrorCode::MarketClosed,
            Self::ClosedOnly { .. } => ErrorCode::ClosedOnly,
            Self::CancelOnly => ErrorCode::CancelOnly,
            Self::PostOnlyMode => ErrorCode::PostOnlyMode,
            Self::InvalidTokenId => ErrorCode::InvalidTokenId,
            Self::InvalidSide => ErrorCode::InvalidSide,
            Self::NoOrderbook => ErrorCode::OrderbookNotFound,
            Self::MarketNotFound => ErrorCode::MarketNotFound,
            Self::OrderNotFound => ErrorCode::OrderNotFound,
            Self::NoPrice(_) => ErrorCode::NoPrice,
            Self::InvalidCursor => ErrorCode::InvalidCursor,
            Self::InvalidContent(_) => ErrorCode::InvalidContent,
            Self::OperatorUnauthorized => ErrorCode::OperatorUnauthorized,
            Self::RateLimited { .. } => ErrorCode::RateLimited,
            Self::Busy => ErrorCode::Busy,
            Self::DiskLow => ErrorCode::DiskLow,
            Self::EngineUnavailable => ErrorCode::EngineUnavailable,
            Self::Recovering => ErrorCode::Recovering,
            Self::ViewStopped(_) => ErrorCode::ViewStopped,
            Self::DoneUnshown { .. } => ErrorCode::DoneUnshown,
            Self::OutcomeUnknown => ErrorCode::OutcomeUnknown,
            Self::SnapshotFailed => ErrorCode::SnapshotFailed,
            Self::SnapshotTimeout => ErrorCode::SnapshotTimeout,
            Self::SequenceNotReached(_) => ErrorCode::SequenceNotReached,
            Self::DoneNotYetShown(_) => ErrorCode::DoneNotYetShown,
            Self::SequenceTooFarAhead { .. } => ErrorCode::SequenceTooFarAhead,
            Self::TooManyWaiters => ErrorCode::TooManyWaiters,
            Self::Internal => ErrorCode::Internal,
        }
    }

    /// The HTTP status (docs/api/errors.md §2).
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.code().status()
    }

    /// Seconds for the `Retry-After` header, where there is one.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            _ => self.code().retry_after(),
        }
    }

    /// A time range whose start and end contradict each other.
    pub(crate) fn invalid_time_range(problem: String) -> Self {
        Self::Coded(ErrorCode::InvalidTimeRange, vec![problem])
    }

    /// The text of `error`.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
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
