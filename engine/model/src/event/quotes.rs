//! What happens to quotes (docs/verify/rules.md §32). Those that end or get smaller are ordinary orders.

use crate::id::{AccountNumber, OrderNumber};
use crate::quantity::Lots;
use crate::quote::QuoteLimits;
use crate::record::records;
use crate::rejection::RejectionReason;
use crate::time::TimeNs;

records! {
    /// The frame's set of quotes is that of its group.
    pub struct QuotesSet {
        /// When its quotes end unless renewed.
        pub until: TimeNs,
    }

    /// A quote of the frame's set rests, at the back of its queue. Its limit is in the set.
    pub struct QuotePlaced {
        /// Its number; its index is the quote's.
        pub order: OrderNumber,
        /// Its lots: what the quote has above those that kept their place.
        pub lots: Lots,
    }

    /// A quote of the frame's set was not placed.
    pub struct QuoteRefused {
        /// Its index.
        pub index: u8,
        /// Why: one of [`crate::quote::QuotesResult::REASONS`].
        pub reason: RejectionReason,
    }

    /// The lease of a group was renewed.
    pub struct QuotesRenewed {
        /// When its quotes end unless renewed.
        pub until: TimeNs,
    }

    /// Lease and limits of a group were set.
    pub struct QuoteLimitsSet {
        /// The maker.
        pub account: AccountNumber,
        /// Group.
        pub group: u8,
        /// Lease and limits.
        pub limits: QuoteLimits,
        /// Whether the group is frozen.
        pub frozen: bool,
    }

    /// The fill before reached a limit of its group. Its quotes end in `Continue`, before anything else.
    pub struct QuotesFrozen {
        /// The maker.
        pub account: AccountNumber,
        /// Group.
        pub group: u8,
    }
}
