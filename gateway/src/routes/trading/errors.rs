//! Errors of the handlers of the trading surface, beside those of the parts of their requests.

use foretell_wire::ErrorCode as E;

/// Of a read of one token.
pub(super) const TOKEN: &[E] = &[E::OrderbookNotFound];
/// Of a read of a token's price.
pub(super) const QUOTE: &[E] = &[E::OrderbookNotFound, E::NoPrice];
pub(super) const HISTORY: &[E] = &[
    E::InvalidTimeRange,
    E::TooManyPoints,
    E::InvalidTokenId,
    E::TooManyEntries,
];
pub(super) const TRADES: &[E] = &[E::InvalidTimeRange];
pub(super) const CHECKPOINT: &[E] = &[E::CheckpointNotFound];

/// Of an order: the gateway's checks.
pub(super) const ORDER: &[E] = &[
    E::OrderVersionMismatch,
    E::OwnerNotKeyOwner,
    E::UnknownOrderToken,
    E::ConditionOfAnotherToken,
    E::MarketAmountsTooFine,
    E::SignerNotKeyAddress,
    E::MakerNotBound,
    E::InvalidSignature,
    E::NoAccount,
];
/// Of an order: the exchange's checks, before the book and against it.
pub(super) const REJECTED_ORDER: &[E] = &[
    E::OrderbookNotFound,
    E::Unauthorized,
    E::InvalidAmount,
    E::OrderTooLarge,
    E::SizeNotLots,
    E::PriceOffTick,
    E::PriceOutOfRange,
    E::SizeBelowMinimum,
    E::MarketableBelowMinimum,
    E::InvalidExpiration,
    E::PostOnlyNeedsResting,
    E::CrossesBook,
    E::FokNotFilled,
    E::FakNoMatch,
    E::TooManyFills,
    E::TooManyLiveOrders,
    E::TooManyOrderIds,
    E::TimestampOutOfWindow,
    E::ExchangeClock,
    E::DuplicateOrder,
    E::ClosedOnly,
    E::PostOnlyMode,
    E::InsufficientBalance,
    E::InsufficientShares,
];
/// Of what takes risk in a market.
pub(super) const TRADING: &[E] = &[
    E::CancelOnly,
    E::SystemPaused,
    E::MarketNotReady,
    E::MarketPaused,
    E::MarketClosed,
];

pub(super) const CANCEL_MARKET: &[E] =
    &[E::InvalidTokenId, E::MarketNotFound, E::OrderbookNotFound];
pub(super) const DECREASE: &[E] = &[E::OrderNotFound, E::OrderOfAnotherOwner, E::OrderNotResting];
pub(super) const QUOTES: &[E] = &[
    E::SignerNotKeyAddress,
    E::MakerNotBound,
    E::InvalidSignature,
    E::NoAccount,
    E::InvalidQuote,
    E::ValueOutOfRange,
    E::RevisionOutOfRange,
    E::GroupFrozen,
];
pub(super) const QUOTES_HEARTBEAT: &[E] = &[E::NoLiveQuotes, E::RevisionOutOfRange];
pub(super) const QUOTE_LIMITS: &[E] = &[E::InvalidQuoteLimits];
pub(super) const HEARTBEAT: &[E] = &[E::WrongHeartbeat];

pub(super) const WITHDRAWAL: &[E] = &[
    E::InvalidSignature,
    E::WalletOfAnotherOwner,
    E::ValidityOutOfRange,
    E::InsufficientBalance,
    E::TooManyWithdrawals,
    E::WithdrawalsShut,
];
pub(super) const CANCEL_WITHDRAWAL: &[E] = &[
    E::WithdrawalNotFound,
    E::WithdrawalClaimed,
    E::WithdrawalsShut,
];

/// Of every account action.
pub(super) const ACTION: &[E] = &[E::ReferenceReused];
/// Of an action whose reference is kept for a while, which takes room.
pub(super) const REFERENCE_ROOM: &[E] = &[E::TooManyReferences];
pub(super) const SETS: &[E] = &[E::MarketNotFound, E::AmountZero, E::AmountTooLarge];
pub(super) const SPLIT: &[E] = &[E::ClosedOnly, E::InsufficientBalance];
pub(super) const MERGE: &[E] = &[E::MarketNotReady, E::MarketClosed, E::InsufficientShares];
pub(super) const REDEEM: &[E] = &[E::MarketNotFound, E::NotResolved, E::NothingToRedeem];
pub(super) const CONVERT: &[E] = &[
    E::EventNotFound,
    E::AmountZero,
    E::AmountTooLarge,
    E::CancelOnly,
    E::SystemPaused,
    E::InvalidQuestions,
    E::EventNotActive,
    E::ClosedOnly,
    E::InsufficientShares,
];

pub(super) const NEW_KEY: &[E] = &[E::NotAnOwner, E::NonceRevoked, E::KeyTaken, E::TooManyKeys];
pub(super) const NO_KEY: &[E] = &[E::KeyNotDerivable];
pub(super) const KEY: &[E] = &[E::KeyNotFound];
