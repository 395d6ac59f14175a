//! Proposals, payouts, policies.

use crate::id::{AccountNumber, MarketNumber};
use crate::market::{Payout, ResolutionPolicy};
use crate::quantity::Micros;
use crate::time::TimeNs;

/// A payout was proposed; evidence hash and window are in the command. The number of the
/// proposal is the frame's sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disputed {
    /// The market.
    pub market: MarketNumber,
    /// The payout that the disputer holds right.
    pub counter: Option<Payout>,
}

/// `Step` commands pay the holders of a market, among the accounts below `accounts`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettlementStarted {
    /// The market.
    pub market: MarketNumber,
    /// Number of accounts.
    pub accounts: u32,
}

/// Nobody holds shares of a resolved market any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarketSettled {
    /// The market.
    pub market: MarketNumber,
    /// What its steps paid; redeems are not counted.
    pub paid: Micros,
}

/// A resolution policy was set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicySet {
    /// The market; `None` = the site.
    pub market: Option<MarketNumber>,
    /// The policy.
    pub policy: ResolutionPolicy,
}

/// What a wallet may do in resolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
