//! Answers of the exchange to commands.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{
    AccountNumber, DomainNumber, EventNumber, KeyNumber, MarketNumber, OperatorNumber, Sequence,
};
use crate::quantity::{Lots, Micros};
use crate::quote::QuotesResult;
use crate::rejection::Rejection;
use crate::time::TimeNs;

/// State of a placed order right after its command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum OrderStatus {
    /// Nothing traded; the order rests.
    Live,
    /// Something traded; the rest may rest or not.
    Matched,
    /// The book killed it; journalled, and its id is used up.
    Killed(Rejection),
    /// Nothing traded and nothing rests: it skipped or cancelled orders up to the bound on visited
    /// orders.
    Unmatched,
    /// It waits out the market's delay; its funds are reserved (docs/verify/rules.md §22).
    Delayed,
}

/// Immediate result of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct OrderResult {
    /// The state of the order.
    pub status: OrderStatus,
    /// Shares traded.
    pub lots: Lots,
    /// Value of the traded shares, without the fee.
    pub value: Micros,
    /// The fee.
    pub fee: Micros,
    /// Number of fills; their indices are 0 to `fills` − 1.
    pub fills: u32,
}

/// The result of an applied command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum CommandOutcome {
    /// No further data.
    Done,
    /// A placed order.
    Order(OrderResult),
    /// A cancel, or a time command that expired, cleared or closed: the orders ended by this
    /// command; more follow when work is pending. 0 for a delayed order, which only notes the cancel.
    Cancelled {
        /// Number of orders.
        orders: u32,
    },
    /// The unfilled lots of an order that was decreased; 0 when it ended.
    Left(Lots),
    /// The account of a deposit, withdrawal, closed-only change or binding (the wallet's account).
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
    /// An operator was added.
    Operator(OperatorNumber),
    /// A withdrawal of this account waits (docs/verify/rules.md §27, §30).
    Waits(AccountNumber),
    /// A withdrawal of this account ended without a payment; of repeats alone.
    Released(AccountNumber),
    /// A set of quotes.
    Quotes(QuotesResult),
    /// The lease of a group: when its quotes end unless renewed, and how many are live.
    Lease {
        /// The end.
        until: TimeNs,
        /// Live quotes.
        quotes: u8,
    },
}

/// The answer to a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Verdict {
    /// Applied: the command takes the next sequence and is journalled with its events.
    Applied(CommandOutcome),
    /// The same request was applied before, at `first`; its continued work ended at `last`. Nothing
    /// is changed or journalled. For an order the outcome is `Done`; the view has its current
    /// state.
    Repeated {
        /// The command that applied the request.
        first: Sequence,
        /// Its last `Continue`, otherwise `first`.
        last: Sequence,
        /// The outcome of the original command.
        outcome: CommandOutcome,
    },
    /// Rejected: nothing is changed or journalled.
    Rejected(Rejection),
}
