//! What the exchange answers to a command.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{AccountNumber, DomainNumber, EventNumber, KeyNumber, MarketNumber, Sequence};
use crate::quantity::{Lots, Micros};
use crate::refusal::Refusal;

/// How a placed order stands right after its command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum OrderStatus {
    /// Nothing traded and it rests.
    Live,
    /// Something traded, whatever became of the rest.
    Matched,
    /// The book refused it; journalled, the id is burned.
    Killed(Refusal),
    /// Nothing traded and nothing rests: every order it met was stepped over or cancelled until
    /// the bound on touched orders stopped it.
    Unmatched,
}

/// What an order did at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct OrderResult {
    /// Where it stands.
    pub status: OrderStatus,
    /// Shares traded.
    pub lots: Lots,
    /// Their value, without the fee.
    pub value: Micros,
    /// The fee.
    pub fee: Micros,
    /// Number of fills, indices 0 to this − 1.
    pub fills: u32,
}

/// The result of an applied command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Outcome {
    /// Nothing more to say.
    Done,
    /// A placed order.
    Order(OrderResult),
    /// A cancel: how many orders ended in this command; more follow when work is pending.
    Cancelled {
        /// How many.
        orders: u32,
    },
    /// An account was named: deposit, withdrawal, closed-only, binding (the wallet's).
    Account(AccountNumber),
    /// A key was registered.
    Key(KeyNumber),
    /// An event was registered.
    Event(EventNumber),
    /// A market was registered.
    Market(MarketNumber),
    /// A domain was registered.
    Domain(DomainNumber),
    /// Collateral received by a merge, redeem or convert, or paid by a split.
    Collateral(Micros),
}

/// The answer to a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Verdict {
    /// Done; the command takes the next sequence and is journalled with its events.
    Applied(Outcome),
    /// The same request was applied before, at `first` (and, with continued work, up to `last`).
    /// Nothing is changed or journalled. For an order the outcome is `Done`: how it stands now is
    /// the view's to tell.
    Repeated {
        /// The command that did it.
        first: Sequence,
        /// The last `Continue` of it, else `first`.
        last: Sequence,
        /// What it answered.
        outcome: Outcome,
    },
    /// No. Nothing is changed or journalled.
    Refused(Refusal),
}
