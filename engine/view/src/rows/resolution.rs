//! Proposals, and who may propose and dispute (docs/verify/rules.md §24).

use std::collections::BTreeMap;

use foretell_model::codec::stored;
use foretell_model::limits::MIN_DISPUTE_SECONDS;
use foretell_model::{
    AccountNumber, MarketNumber, OperatorNumber, Payout, ResolutionPolicy, Sequence, TimeNs,
};

stored! {
    /// A proposed payout of a closed market.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Proposal {
        /// Its number: the sequence of its command.
        pub number: Sequence,
        /// When it was made.
        pub time: TimeNs,
        /// The payout per share.
        pub payout: Payout,
        /// The proposing operator; none for a wallet's proposal.
        pub operator: OperatorNumber,
        /// The proposing wallet; `None` for an operator's proposal.
        pub wallet: Option<AccountNumber>,
        /// Its challenge window in seconds.
        pub window_seconds: u32,
        /// End of the challenge window.
        pub challenge_ends: TimeNs,
        /// SHA-256 of the evidence; zeros without.
        pub evidence: [u8; 32],
        /// Its source, as given: a URL or text.
        pub source: Box<[u8]>,
        /// Whether time finalises it.
        pub by_time: bool,
        /// Whether another operator than the proposer finalises it.
        pub second_person: bool,
    }
}

stored! {
    /// The dispute of a proposal.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Dispute {
        /// When it was disputed.
        pub time: TimeNs,
        /// The disputing operator; none for a wallet, and when the event group forbids the payout.
        pub operator: OperatorNumber,
        /// The disputing wallet.
        pub wallet: Option<AccountNumber>,
        /// The payout that the disputer holds right.
        pub counter: Option<Payout>,
        /// The reason, as given.
        pub reason: Box<[u8]>,
    }
}

stored! {
    /// What a listed wallet may do; at least one of both.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ListedWallet {
        /// Whether it may propose.
        pub propose: bool,
        /// Whether it may dispute.
        pub dispute: bool,
    }
}

stored! {
    /// A policy and its list of wallets.
    #[derive(Clone, PartialEq, Eq, Default, Debug)]
    pub struct Policy {
        /// The policy.
        pub policy: ResolutionPolicy,
        /// Wallets that may propose or dispute.
        pub wallets: BTreeMap<AccountNumber, ListedWallet>,
    }
}

impl Policy {
    pub(crate) fn list(&mut self, account: AccountNumber, listed: ListedWallet) {
        if listed.propose || listed.dispute {
            self.wallets.insert(account, listed);
        } else {
            self.wallets.remove(&account);
        }
    }
}

stored! {
    /// Policies, proposals and disputes of all markets.
    #[derive(Clone, PartialEq, Eq, Default, Debug)]
    pub struct Resolutions {
        /// The policy of markets without one of their own.
        pub site: Policy,
        pub(crate) policies: BTreeMap<MarketNumber, Policy>,
        pub(crate) proposals: BTreeMap<MarketNumber, Proposal>,
        /// Disputes of those proposals.
        pub(crate) disputes: BTreeMap<MarketNumber, Dispute>,
        pub(crate) finalised: BTreeMap<MarketNumber, Proposal>,
    }
}

impl Resolutions {
    /// The present proposal of a closed market.
    #[must_use]
    pub fn proposal(&self, market: MarketNumber) -> Option<&Proposal> {
        self.proposals.get(&market)
    }

    /// The dispute of that proposal.
    #[must_use]
    pub fn dispute(&self, market: MarketNumber) -> Option<&Dispute> {
        self.disputes.get(&market)
    }

    /// The proposal by which a market was resolved; `None` after a resolution in one step.
    #[must_use]
    pub fn finalised(&self, market: MarketNumber) -> Option<&Proposal> {
        self.finalised.get(&market)
    }

    /// The market's own policy.
    #[must_use]
    pub fn own_policy(&self, market: MarketNumber) -> Option<&Policy> {
        self.policies.get(&market)
    }

    /// The policy in force for a market: its own, otherwise that of the site.
    #[must_use]
    pub fn policy_of(&self, market: MarketNumber) -> &Policy {
        self.policies.get(&market).unwrap_or(&self.site)
    }

    /// All present proposals, by market.
    pub fn proposals(&self) -> impl ExactSizeIterator<Item = (MarketNumber, &Proposal)> {
        (self.proposals.iter()).map(|(&market, proposal)| (market, proposal))
    }

    /// All own policies, by market.
    pub fn own_policies(&self) -> impl ExactSizeIterator<Item = (MarketNumber, &Policy)> {
        (self.policies.iter()).map(|(&market, policy)| (market, policy))
    }

    /// Somebody can dispute again since a time (docs/verify/rules.md §24). Work for each proposal, once a
    /// start or a restore.
    pub(crate) fn reopen(&mut self, at: TimeNs) {
        for proposal in self.proposals.values_mut() {
            let least = proposal.window_seconds.min(MIN_DISPUTE_SECONDS);
            let ends = at.0.saturating_add(u64::from(least) * 1_000_000_000);
            proposal.challenge_ends = proposal.challenge_ends.max(TimeNs(ends));
        }
    }

    /// Ends the present proposal of a market.
    pub(crate) fn take_proposal(&mut self, market: MarketNumber) -> Option<Proposal> {
        self.disputes.remove(&market);
        self.proposals.remove(&market)
    }
}
