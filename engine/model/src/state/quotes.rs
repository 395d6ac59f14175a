//! Groups of quotes (docs/verify/rules.md §32).

use crate::id::{AccountNumber, MarketNumber, OrderId, Sequence};
use crate::quantity::{Lots, Micros};
use crate::quote::QuoteLimits;
use crate::record::records;
use crate::side::{Outcome, Side};
use crate::time::{TimeMs, TimeNs};

records! {
    /// Sorted by account, then group. Which live orders are its quotes, their records say.
    pub struct QuoteGroup {
        /// The maker.
        pub account: AccountNumber,
        /// Number of the group.
        pub group: u8,
        /// Lease and limits.
        pub limits: QuoteLimits,
        /// Revision of the last set; 0 before the first, as are the next three.
        pub revision: u64,
        /// Digest of the last set.
        pub digest: OrderId,
        /// Command of the last set.
        pub set: Sequence,
        /// When quotes of the last set end at the latest.
        pub valid_until: TimeMs,
        /// When the quotes end unless renewed. They are due while one is live.
        pub until: TimeNs,
        /// Whether a limit was reached.
        pub frozen: bool,
        /// First fill of the window; 0 = none, and the next two are 0.
        pub window_from: TimeNs,
        /// Shares filled in it.
        pub window_lots: Lots,
        /// Their value.
        pub window_value: Micros,
        /// Latest fill that the list of [`QuoteFill`] no longer has; 0 = it has all.
        pub fills_before: Sequence,
    }

    /// The last fill of a group at a token and side: the 64 latest, oldest first. Sorted by account and
    /// group.
    pub struct QuoteFill {
        /// The maker.
        pub account: AccountNumber,
        /// Group.
        pub group: u8,
        /// Market.
        pub market: MarketNumber,
        /// Which of the market's two tokens.
        pub outcome: Outcome,
        /// Side of the quote.
        pub side: Side,
        /// Command of the fill.
        pub sequence: Sequence,
    }

    /// Shares of a market that a group with a net limit traded in its window, in the order of the first
    /// fill. Sorted by account and group.
    pub struct QuoteNet {
        /// The maker.
        pub account: AccountNumber,
        /// Group.
        pub group: u8,
        /// Market.
        pub market: MarketNumber,
        /// Bought Yes and sold No, then sold Yes and bought No.
        pub lots: [Lots; 2],
    }
}
