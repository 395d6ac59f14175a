//! The words of the exchange: ids, quantities, prices, commands, events, refusals, limits.
//!
//! One type per unit, and only the arithmetic that means something. Everything else in the
//! workspace speaks in these words; nothing here knows a disk, JSON, a clock or a thread.
//!
//! Read [`command`] for what can be asked of the exchange, [`event`] for what can happen to it,
//! [`refusal`] for why it may say no, and [`limits`] for every bound in one place.

pub mod command;
pub mod digest;
pub mod event;
pub mod evidence;
pub mod frame;
pub mod id;
pub mod limits;
pub mod market;
pub mod quantity;
pub mod refusal;
pub mod settings;
pub mod side;
mod state_codec;
mod state_record;
pub mod time;
pub mod verdict;

pub use command::{Command, PlaceOrder};
pub use event::{Event, Fill};
pub use frame::{FramePlace, FrameRef};
pub use id::{
    AccountNumber, ApiKey, ConditionId, Digest16, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OrderId, OrderNumber, Reference, Sequence, TokenId, TradeIndex, WalletAddress,
};
pub use market::{FeeSchedule, MarketState, Payout, QuestionSet, SystemMode, WalletKind};
pub use quantity::{Lots, Micros, Price, Tick};
pub use refusal::{Refusal, RefusalReason};
pub use settings::Settings;
pub use side::{CloseReason, MatchKind, OrderType, Outcome, Side};
pub use time::{TimeMs, TimeNs, TimeSeconds};
pub use verdict::{OrderResult, OrderStatus, Outcome as CommandOutcome, Verdict};
