//! Work that goes on in later commands.

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{AccountNumber, EventNumber, KeyNumber, MarketNumber, Sequence};
use crate::quantity::Micros;
use crate::record::records;
use crate::side::{CloseReason, Outcome};

/// Work that continues in `Continue` commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PendingWork {
    /// Cancel the orders of an owner's wallets, wallets in order of kind, orders by number.
    CancelOwner {
        /// The owner.
        owner: AccountNumber,
        /// Only in this market, if any.
        market: Option<MarketNumber>,
        /// Only of this outcome, if any.
        outcome: Option<Outcome>,
        /// Reason of the cancels.
        reason: CloseReason,
        /// The first command of the work.
        first: Sequence,
    },
    /// Cancel a closed market's orders: bids, then asks, each by best price, then by arrival.
    CloseMarket {
        /// The market.
        market: MarketNumber,
    },
    /// Cancel the BUYs of an account that became closed-only, by order number.
    ClosedOnly {
        /// The account.
        account: AccountNumber,
    },
    /// Cancel a cleared market's orders, in the order of `CloseMarket`; both
    /// end with the delayed orders, by number (docs/verify/rules.md §21).
    ClearMarket {
        /// The market.
        market: MarketNumber,
    },
    /// End the quotes of frozen groups, by account and group, then by number.
    FrozenQuotes,
    /// End the quotes that sets with a revoked key placed: wallets of its owner in order of kind, quotes by
    /// number.
    KeyQuotes {
        /// The key.
        key: KeyNumber,
    },
    /// Cancel the orders of a decided event group's questions: in the order of its list, each as
    /// `CloseMarket` (docs/verify/rules.md §11).
    CloseQuestions {
        /// The event group.
        event: EventNumber,
    },
}

/// Work that `Step` commands do (docs/verify/rules.md §23, §25).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum BackgroundWork {
    /// Pay the holders of a resolved market.
    Settlement {
        /// The market.
        market: MarketNumber,
    },
    /// Pay accrued rebates; at most one in the queue.
    Rebates,
}

records! {
    /// Sorted by `first`: the queue. `Step` does the first entry's work.
    pub struct Background {
        /// The command that started it.
        pub first: Sequence,
        /// The work.
        pub work: BackgroundWork,
        /// The next account to look at.
        pub next: AccountNumber,
        /// The account after the last one.
        pub end: AccountNumber,
        /// Paid so far by steps.
        pub paid: Micros,
    }
}
