//! The state of the exchange as a canonical list of records.
//!
//! Every implementation (the core, the reference, an auditor) lists the variants in the order
//! below, each variant sorted as its doc comment states. Equal states give equal lists, whatever
//! the layout in memory. The records are the whole state: nothing else may influence a later
//! command.

#![allow(missing_docs, reason = "a struct documents its variant")]

mod accounts;
mod background;
mod markets;
mod orders;
mod quotes;
mod references;
mod resolution;
mod system;

pub use accounts::{Account, Accrued, Key, PendingWithdrawal};
pub use background::{Background, BackgroundWork, PendingWork};
pub use markets::{Event, Market, Position, Terms};
pub use orders::{DelayedOrder, Order, OrderIdState, RememberedOrder};
pub use quotes::{QuoteFill, QuoteGroup, QuoteNet};
pub use references::RememberedReference;
pub use resolution::{ListedWallet, Policy, Proposal};
pub use system::{Domain, Operator, Site, System};

use rkyv::{Archive, Deserialize, Serialize};

use crate::record::Record;
use crate::table::table;

table! {
    /// One record of the state.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
    StateRecord, StateKind;
    1 System(System);
    2 Domain(Domain);
    3 Account(Account);
    4 Key(Key);
    5 Event(Event);
    6 Market(Market);
    7 Position(Position);
    8 Order(Order);
    9 RememberedOrder(RememberedOrder);
    10 RememberedReference(RememberedReference);
    11 Site(Site);
    12 Operator(Operator);
    13 Terms(Terms);
    14 Policy(Policy);
    15 ListedWallet(ListedWallet);
    16 Proposal(Proposal);
    17 Accrued(Accrued);
    18 DelayedOrder(DelayedOrder);
    19 PendingWithdrawal(PendingWithdrawal);
    20 Background(Background);
    21 QuoteGroup(QuoteGroup);
    22 QuoteFill(QuoteFill);
    23 QuoteNet(QuoteNet);
}
const _: () = assert!(
    StateRecord::BYTES <= 255,
    "a record has a length of one byte"
);
