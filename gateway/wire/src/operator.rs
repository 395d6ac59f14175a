//! The operator surface: commands in, answers out (docs/api/operator.md).
//!
//! Unlike the trading surface, it rejects unknown fields, so that a misspelt option of an operator
//! is not silently ignored. Collateral is a decimal text in whole units (`"amount": "100.5"`), and
//! so are shares.

mod acts;
mod answer;
pub mod markets;
mod payments;
mod people;
mod profile;
mod queries;
pub(crate) mod reason;
mod request;
mod sandbox;
pub(crate) mod values;

pub use acts::{Act, EachAct, MarketOf, OperatorCommand, SNAPSHOT_PATH, each_act};
pub use answer::{
    AccountAnswer, AccountRow, AccountRows, CommandAnswer, EventRow, EventRows, MarketRow,
    MarketRows, PositionAnswer, SnapshotAnswer, StatusAnswer,
};
pub use markets::clock::TermsChange;
pub use markets::description::{
    EventDescription, EventSummary, MarketDescription, OWN_IDS, registered_end_date,
    registered_market_id,
};
pub use markets::market_terms::MarketTerms;
pub use markets::payout_name::{PayoutName, payout_label};
pub use markets::register::{EventEdit, EventRegistration, MarketEdit, MarketRegistration};
pub use markets::resolution::{
    ClosedRow, DisputeRequest, DisputeRow, Finalisation, PolicyChange, ProposalRequest,
    ProposalWithdrawal, ReviewRow, ReviewRows, WalletListing,
};
pub use payments::{
    Nothing, OperatorWithdrawal, OperatorWithdrawals, PaymentsChange, WithdrawalName,
    WithdrawalPayment, WithdrawalPlace,
};
pub use people::{
    Me, OperatorAdded, OperatorAddition, OperatorRevocation, OperatorRow, OperatorRows,
};
pub use profile::ProfileEdit;
pub use queries::{
    AccountsQuery, ActsQuery, EventsQuery, FiguresQuery, MarketsQuery, OwnerQuery, WithdrawalsQuery,
};
pub use reason::read_reason;
pub use request::*;
pub use sandbox::{
    ClockAnswer, ClockMove, ClockMoved, CreatedWallet, Explanation, Happening, MetBook, MetLevel,
    OrderFate, Rejections, UnsignedOrder, WalletCreation, What,
};
pub use values::{clock_text, end_of, hold_words, payout_word, role_words, wallet_kind_word};

pub use crate::values::{Address, Amount, Collateral, Condition, Readable, TickSize};
