//! The shared types of the exchange: ids, quantities, prices, commands, events, rejections, limits.
//!
//! One type per unit, with only the meaningful arithmetic. The rest of the workspace uses these
//! types. Deliberately absent: disk, JSON, clock and threads.
//!
//! [`command`] lists what can be asked and by whom, [`event`] what can happen, [`state`] what is known after
//! it, [`rejection`] the reasons
//! for a rejection, and [`limits`] every bound.

pub mod codec;
pub mod command;
pub mod digest;
mod durability;
pub mod event;
pub mod evidence;
pub mod frame;
pub mod id;
pub mod limits;
pub mod market;
pub mod operator;
pub mod outside;
pub mod quantity;
pub mod quote;
pub mod record;
pub mod rejection;
pub mod settings;
pub mod side;
pub mod state;
mod table;
pub mod tail;
pub mod time;
pub mod update;
pub mod verdict;
pub mod words;

pub use command::{Command, CommandKind, PlaceOrder};
pub use durability::Durability;
pub use event::{Event, EventKind, Fill};
pub use frame::{CommandStamp, FramePosition, FrameRef};
pub use id::{
    AccountNumber, ApiKey, Branch, ConditionId, ContentDigest, DomainNumber, EventId, EventNumber,
    KeyNumber, MarketNumber, OperatorNumber, OrderId, OrderNumber, Reference, Sequence, SlugDigest,
    TokenId, TradeIndex, WalletAddress,
};
pub use market::{
    FeeSchedule, Hold, HoldSet, MarketState, MarketTerms, Opening, Payout, QuestionIndex,
    QuestionSet, ResolutionPolicy, SystemMode, WalletKind,
};
pub use operator::{OperatorName, OperatorRole, RoleSet};
pub use quantity::{Lots, Micros, Price, Tick};
pub use rejection::{Rejection, RejectionReason};
pub use settings::{PaymentSettings, Settings};
pub use side::{CloseReason, MatchKind, OrderType, Outcome, Side};
pub use time::{SandboxClock, TimeMs, TimeNs, TimeSeconds};
pub use update::{PaymentsUpdate, PolicyUpdate, SettingsUpdate, TermsUpdate};
pub use verdict::{CommandOutcome, OrderResult, OrderStatus, Verdict};
