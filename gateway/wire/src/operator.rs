//! The operator surface: commands in, answers out (docs/api/operator.md).
//!
//! Unlike the trading surface, it rejects unknown fields, so that a misspelt option of an operator
//! is not silently ignored. Collateral is a decimal text in whole units (`"amount": "100.5"`), and
//! so are shares.

mod answer;
mod description;
mod form;
mod reader;
mod register;
mod request;

pub use answer::{
    AccountAnswer, CommandAnswer, MarketRow, MarketRows, PositionAnswer, SnapshotAnswer,
    StatusAnswer,
};
pub use description::{EventDescription, EventSummary, MarketDescription, registered_end_date};
pub use form::{
    Address, Amount, Condition, Key, PlainForm, Shares, TickSize, mode_word, payout_word,
    wallet_kind_word,
};
pub use reader::read;
pub use register::{EventRegistration, MarketRegistration, MarketTerms};
pub use request::{
    Archive, Binding, ClosedOnly, FeeChange, FeesWithdrawal, KeyRevocation, MarketName,
    MinimumChange, ModeChange, OperatorCommand, Resolution, SettingsChange, TickChange, Transfer,
    WalletName,
};
