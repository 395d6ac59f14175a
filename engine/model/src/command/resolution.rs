//! Commands on payouts, policies and who may act in them.

use crate::id::{AccountNumber, MarketNumber, Reference, Sequence, WalletAddress};
use crate::market::Payout;
use crate::record::records;
use crate::update::PolicyUpdate;

records! {
    /// A proposal of a payout. Evidence: its source, at most [`crate::limits::MAX_SOURCE_BYTES`]. The checks
    /// run in the order of docs/verify/rules.md §24.
    pub struct Propose {
        /// The closed market.
        pub market: MarketNumber,
        /// The payout per share.
        pub payout: Payout,
        /// The proposing wallet; `None` = the operator of the frame.
        pub by: Option<AccountNumber>,
        /// SHA-256 of the evidence; zeros without.
        #[serde(serialize_with = "crate::id::as_id")]
        pub evidence: [u8; 32],
        /// Challenge window in seconds, from the policy's shortest to
        /// [`crate::limits::MAX_WINDOW_SECONDS`]; `None` = the policy's shortest.
        pub window_seconds: Option<u32>,
        /// The disputed proposal that it replaces: the sequence of its command.
        pub replaces: Option<Sequence>,
        /// As in `Deposit`; proposals have a scope of their own. The same content: market, payout, window
        /// as sent, wallet and the first 16 bytes of the evidence hash.
        pub reference: Reference,
    }

    /// Closed → resolved: propose and finalise in one. After the checks of section 12 those of a
    /// replaced proposal, `SecondPersonRequired`, `InvalidWindow` (docs/verify/rules.md §24).
    pub struct ResolveMarket {
        /// The market.
        pub market: MarketNumber,
        /// The payout per share.
        pub payout: Payout,
        /// As in [`Propose`].
        pub replaces: Option<Sequence>,
    }

    /// Dispute the proposal of a market. Evidence: the reason. (docs/verify/rules.md §24).
    pub struct Dispute {
        /// The market.
        pub market: MarketNumber,
        /// The payout that the disputer holds right, if any.
        pub counter: Option<Payout>,
        /// The disputing wallet; `None` = the operator of the frame.
        pub by: Option<AccountNumber>,
    }

    /// Withdraw the proposal of a market. `NotPermitted`: neither its
    /// proposer nor an admin; `SamePerson`: its proposer, and somebody disputed it (docs/verify/rules.md §24).
    pub struct WithdrawProposal {
        /// The market.
        pub market: MarketNumber,
        /// The proposing wallet; `None` = the operator of the frame.
        pub by: Option<AccountNumber>,
    }

    /// Finalise the proposal of a market. The last checks are the event group's of
    /// `ResolveMarket` (docs/verify/rules.md §24).
    pub struct Finalise {
        /// The market.
        pub market: MarketNumber,
        /// The proposal: the sequence of its command.
        pub proposal: Sequence,
    }

    /// Change the resolution policy of the site or of a market, whose own policy begins as
    /// that of the site. `InvalidPolicy` is of the result. The same is `Repeated`
    /// (docs/verify/rules.md §24).
    pub struct SetPolicy {
        /// The market; `None` = the site.
        pub market: Option<MarketNumber>,
        /// The new policy; fields that it does not name stay.
        pub policy: PolicyUpdate,
    }

    /// Set what a wallet may do in resolution; neither removes it from the list. Opens
    /// the account. No change is
    /// `Repeated` (docs/verify/rules.md §24).
    pub struct ListWallet {
        /// The market, which has a policy of its own; `None` = the site.
        pub market: Option<MarketNumber>,
        /// The wallet.
        pub wallet: WalletAddress,
        /// Whether it may propose.
        pub propose: bool,
        /// Whether it may dispute.
        pub dispute: bool,
    }
}
