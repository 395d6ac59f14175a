//! Proposals, payouts, policies.

use crate::id::{AccountNumber, MarketNumber};
use crate::market::{Payout, ResolutionPolicy};
use crate::quantity::Micros;
use crate::record::records;
use crate::time::TimeNs;

records! {
    /// A payout was proposed; evidence hash and window are in the command. The number of the
    /// proposal is the frame's sequence.
    pub struct Proposed {
        /// The market.
        pub market: MarketNumber,
        /// The payout per share.
        pub payout: Payout,
        /// End of the challenge window.
        pub challenge_ends: TimeNs,
        /// Whether time finalises it.
        pub by_time: bool,
        /// Whether another operator than the proposer finalises it.
        pub second_person: bool,
    }

    /// The proposal of a market is disputed, by a command or because its event group forbids it.
    pub struct Disputed {
        /// The market.
        pub market: MarketNumber,
        /// The payout that the disputer holds right.
        pub counter: Option<Payout>,
    }

    /// `Step` commands pay the holders of a market, among the accounts below `accounts`.
    pub struct SettlementStarted {
        /// The market.
        pub market: MarketNumber,
        /// Number of accounts.
        pub accounts: u32,
    }

    /// Nobody holds shares of a resolved market any more.
    pub struct MarketSettled {
        /// The market.
        pub market: MarketNumber,
        /// What its steps paid; redeems are not counted.
        pub paid: Micros,
    }

    /// A resolution policy was set.
    pub struct PolicySet {
        /// The market; `None` = the site.
        pub market: Option<MarketNumber>,
        /// The policy.
        pub policy: ResolutionPolicy,
    }

    /// What a wallet may do in resolution.
    pub struct WalletListed {
        /// The market; `None` = the site.
        pub market: Option<MarketNumber>,
        /// The wallet's account.
        pub account: AccountNumber,
        /// Whether it may propose.
        pub propose: bool,
        /// Whether it may dispute.
        pub dispute: bool,
    }
}
