//! Policies, lists of wallets, proposals.

use crate::id::{AccountNumber, MarketNumber, OperatorNumber, Sequence};
use crate::market::{Payout, ResolutionPolicy};
use crate::record::records;
use crate::time::TimeNs;

records! {
    /// Sorted by market; only markets with a policy of their own.
    pub struct Policy {
        /// The market.
        pub market: MarketNumber,
        /// Its policy.
        pub policy: ResolutionPolicy,
    }

    /// Sorted by market, the site first, then account; at least one flag is set.
    pub struct ListedWallet {
        /// The market; `None` = the site.
        pub market: Option<MarketNumber>,
        /// The wallet's account.
        pub account: AccountNumber,
        /// Whether it may propose.
        pub propose: bool,
        /// Whether it may dispute.
        pub dispute: bool,
    }

    /// Sorted by market.
    pub struct Proposal {
        /// The market.
        pub market: MarketNumber,
        /// Sequence of the proposal's command.
        pub proposal: Sequence,
        /// Time of that command.
        pub time: TimeNs,
        /// The payout.
        pub payout: Payout,
        /// Its operator; 0 for a wallet.
        pub operator: OperatorNumber,
        /// Its wallet.
        pub by: Option<AccountNumber>,
        /// Challenge window in seconds.
        pub window_seconds: u32,
        /// SHA-256 of the evidence.
        #[serde(serialize_with = "crate::id::as_id")]
        pub evidence: [u8; 32],
        /// Whether time finalises it.
        pub by_time: bool,
        /// Whether another operator finalises it.
        pub second_person: bool,
        /// Whether it is disputed.
        pub disputed: bool,
        /// Whether that was by the end of its window, when its event group forbade the payout.
        pub disputed_by_time: bool,
        /// The disputer's payout.
        pub counter: Option<Payout>,
    }
}
