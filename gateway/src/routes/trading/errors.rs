//! Errors of the handlers of the trading surface, beside those of the parts of their requests.

use foretell_wire::ErrorCode as E;

/// Of a read of one token.
pub(super) const TOKEN: &[E] = &[E::OrderbookNotFound];
/// Of a read of the market of a token.
pub(super) const MARKET_OF_TOKEN: &[E] = &[E::MarketNotFound];
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
/// Of an order: what the exchange's rejection or its result becomes.
pub(super) const ORDER_ANSWERS: &[E] = &[E::PriceOutOfRange, E::TooManyFills, E::ExchangeClock];
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
pub(super) const HEARTBEAT: &[E] = &[E::WrongHeartbeat];

/// Of a withdrawal: its signature.
pub(super) const SIGNED: &[E] = &[E::InvalidSignature];

pub(super) const NO_KEY: &[E] = &[E::KeyNotDerivable];
