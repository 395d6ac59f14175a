//! The operator surface: commands in, answers out (docs/api/operator.md).
//!
//! Unlike the trading surface, it rejects unknown fields, so that a misspelt option of an operator
//! is not silently ignored. Collateral is a decimal text in whole units (`"amount": "100.5"`), and
//! so are shares.

mod answer;
mod description;
mod register;
mod request;
mod strict;

pub use answer::{AccountAnswer, CommandAnswer, PositionAnswer, StatusAnswer};
pub use description::{
    DomainDescription, EventDescription, EventSummary, MarketDescription, registered_end_date,
};
pub use register::{EventRegistration, MarketRegistration, read_event, read_market};
pub use request::{
    Archive, Binding, ClosedOnly, Domain, FeeChange, FeesWithdrawal, KeyRevocation, MinimumChange,
    Resolution, SettingsChange, TickChange, Transfer, mode_word, payout_word, read_archive,
    read_binding, read_closed_only, read_domain, read_fee, read_fees_withdrawal,
    read_key_revocation, read_market_name, read_minimum, read_mode, read_resolution, read_settings,
    read_tick, read_transfer, read_unbinding, wallet_kind_word,
};
