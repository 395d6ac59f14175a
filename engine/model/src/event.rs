//! All events of the exchange. A view that folds events (and reads the fields of placing and
//! registering commands) needs no rules of the exchange.
//!
//! A frame is one command and the events it caused, in order. The frame of a placed order ends with
//! exactly one of `OrderRested`, `OrderCompleted`, `OrderClosed` for its own number, `OrderDelayed`;
//! only a `TickSet` may follow. A delayed order ends the same way in the frame of its release. When the book kills the order, `OrderKilled` is the only event.

use crate::id::{
    AccountNumber, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber, MarketNumber,
    OperatorNumber, OrderNumber, Sequence, WalletAddress,
};
use crate::market::{
    FeeSchedule, MarketState, MarketTerms, Payout, QuestionSet, ResolutionPolicy, SystemMode,
    WalletKind,
};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::rejection::RejectionReason;
use crate::settings::PaymentSettings;
use crate::side::{CloseReason, MatchKind};
use crate::time::TimeNs;

/// One trade of the frame's taker with one resting order. The taker's fields are in the frame's
/// command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// The resting order.
    pub maker_order: OrderNumber,
    /// Its account.
    pub maker: AccountNumber,
    /// The kind of match; with the taker's side and outcome it gives the maker's.
    pub kind: MatchKind,
    /// The maker's limit, in Yes prices. The No price is its complement.
    pub yes_price: Price,
    /// Shares traded, above 0.
    pub lots: Lots,
    /// Unfilled lots of the maker; 0 = completed.
    pub maker_left: Lots,
    /// Paid by the taker in addition to the value (BUY) or out of it (SELL).
    pub fee: Micros,
    /// The part of the fee that the maker accrues, at most the fee; the fee account gets the rest
    /// (docs/verify/rules.md §23).
    pub rebate: Micros,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// 1: a trade.
    Fill(Fill),
    /// 2: the frame's order rests at its limit. A BUY reserves lots × price, a SELL the lots.
    OrderRested {
        /// Unfilled lots.
        lots: Lots,
        /// The limit in the price of its own token.
        price: Price,
    },
    /// 3: the frame's order is filled, or is a budget BUY that is full (docs/verify/rules.md §4).
    OrderCompleted,
    /// 4: an order ended with an unfilled rest. For a resting order, its reservation is released.
    /// For the frame's own order (number = the frame's sequence, or released in the frame), this is
    /// its rest. For a delayed order that is not the frame's, all it reserved is free again.
    OrderClosed {
        /// The order.
        order: OrderNumber,
        /// The account.
        account: AccountNumber,
        /// Unfilled lots; 0 for a budget BUY, whose unspent budget follows from its fills.
        lots: Lots,
        /// The reason.
        reason: CloseReason,
    },
    /// 5: the book killed the frame's order; its id is used up.
    OrderKilled {
        /// The reason.
        reason: RejectionReason,
        /// As in [`crate::Rejection::details`].
        details: [u64; 2],
    },

    /// 6: the frame's order waits out the market's delay (docs/verify/rules.md §22). A BUY reserves
    /// collateral, a SELL its lots.
    OrderDelayed {
        /// The limit in the price of its own token.
        price: Price,
        /// Its lots; 0 for a budget BUY.
        lots: Lots,
        /// Reserved: micros of a BUY, lots of a SELL.
        reserved: u64,
        /// When it meets the book.
        due: TimeNs,
    },
    /// 7: a delayed order is due: all it reserved is free again, and it is the frame's order from
    /// here on. The other events of the frame are those of a placed order.
    OrderReleased {
        /// The order.
        order: OrderNumber,
        /// Its account.
        account: AccountNumber,
        /// Its market.
        market: MarketNumber,
    },
    /// 8: a delayed order was asked to be cancelled: it still meets the book, and its rest does not
    /// rest (docs/verify/rules.md §22).
    CancelRequested {
        /// The order.
        order: OrderNumber,
        /// Its account.
        account: AccountNumber,
        /// The reason of its later close.
        reason: CloseReason,
    },

    /// 10: an account was opened.
    AccountOpened {
        /// Its number.
        account: AccountNumber,
        /// Its address.
        wallet: WalletAddress,
    },
    /// 11: collateral was deposited.
    Deposited {
        /// The credited account.
        account: AccountNumber,
        /// The amount.
        amount: Micros,
    },
    /// 12: collateral was withdrawn.
    Withdrawn {
        /// The debited account.
        account: AccountNumber,
        /// The amount.
        amount: Micros,
    },
    /// 13: fees were withdrawn.
    FeesWithdrawn {
        /// The amount.
        amount: Micros,
    },
    /// 14: a wallet was bound to an owner.
    WalletBound {
        /// The owner.
        owner: AccountNumber,
        /// The wallet.
        wallet: AccountNumber,
        /// The wallet kind.
        kind: WalletKind,
    },
    /// 15: a wallet was unbound and is its own owner again.
    WalletUnbound {
        /// The previous owner.
        owner: AccountNumber,
        /// The wallet.
        wallet: AccountNumber,
    },
    /// 16: an account's closed-only flag changed.
    ClosedOnlySet {
        /// The account.
        account: AccountNumber,
        /// Set or cleared.
        closed_only: bool,
    },
    /// 17: a key was registered; the key and its nonce are in the command.
    KeyRegistered {
        /// Its number.
        key: KeyNumber,
        /// Its owner.
        owner: AccountNumber,
    },
    /// 18: a key was revoked.
    KeyRevoked {
        /// The key.
        key: KeyNumber,
    },
    /// 19: an owner's heartbeat chain started or ended.
    HeartbeatSet {
        /// The owner.
        owner: AccountNumber,
        /// Started or ended.
        on: bool,
    },
    /// 20: collateral was split into full sets.
    Split {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Number of sets in lots.
        lots: Lots,
    },
    /// 21: full sets were merged into collateral.
    Merged {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Number of sets in lots.
        lots: Lots,
    },
    /// 22: holdings of a resolved market were redeemed.
    Redeemed {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Burned lots of `[Yes, No]`.
        lots: [Lots; 2],
        /// Collateral paid.
        payout: Micros,
    },
    /// 23: No of some questions was converted into collateral and Yes of the others.
    Converted {
        /// The account.
        account: AccountNumber,
        /// The event group.
        event: EventNumber,
        /// The questions whose No was converted.
        questions: QuestionSet,
        /// Lots of each question.
        lots: Lots,
        /// Collateral received: lots × (k − 1), in whole units.
        collateral: Micros,
    },

    /// 24: a withdrawal waits for a second person: its amount moves from free to reserved
    /// (docs/verify/rules.md §27).
    WithdrawalHeld {
        /// The account.
        account: AccountNumber,
        /// The amount.
        amount: Micros,
    },
    /// 25: a held withdrawal no longer waits: its amount moves from reserved to free. A confirmed
    /// one is `Withdrawn` next.
    WithdrawalReleased {
        /// The account.
        account: AccountNumber,
        /// The amount.
        amount: Micros,
        /// The command that asked for it.
        asked: Sequence,
    },
    /// 26: a payment of rebates started, to the accounts below `accounts`.
    RebatePaymentStarted {
        /// Number of accounts.
        accounts: u32,
    },
    /// 27: what an account accrued moved to its free collateral.
    RebatePaid {
        /// The account.
        account: AccountNumber,
        /// The amount, above 0.
        amount: Micros,
    },
    /// 28: a payment of rebates ended.
    RebatePaymentEnded {
        /// The sum of its `RebatePaid`.
        paid: Micros,
    },

    /// 30: an event group was registered.
    EventRegistered {
        /// Its number.
        event: EventNumber,
        /// Its catalog id.
        id: EventId,
    },
    /// 31: the question list of an event group is final.
    EventFrozen {
        /// The event group.
        event: EventNumber,
    },
    /// 32: a market was registered; its rules are in the command.
    MarketRegistered {
        /// Its number.
        market: MarketNumber,
        /// Its condition id.
        condition: ConditionId,
        /// Its index in the question list of its event group; 0 for a plain market.
        question: u32,
    },
    /// 33: a market changed state.
    MarketStateSet {
        /// The market.
        market: MarketNumber,
        /// The new state.
        state: MarketState,
    },
    /// 34: a market was resolved (its state is `Resolved` now).
    MarketResolved {
        /// The market.
        market: MarketNumber,
        /// The payout per share.
        payout: Payout,
    },
    /// 35: a market was hidden or shown.
    MarketArchived {
        /// The market.
        market: MarketNumber,
        /// Hidden or not.
        archived: bool,
    },
    /// 36: a market's tick was refined, by command or by a trade near 0 or 1.
    TickSet {
        /// The market.
        market: MarketNumber,
        /// The new tick.
        tick: Tick,
    },
    /// 37: a market's minimum order size changed.
    MinimumSizeSet {
        /// The market.
        market: MarketNumber,
        /// The new minimum.
        minimum_size: Lots,
    },
    /// 38: a market's fee changed.
    FeeSet {
        /// The market.
        market: MarketNumber,
        /// The new schedule.
        fee: FeeSchedule,
    },

    /// 39: a market's terms were replaced.
    TermsSet {
        /// The market.
        market: MarketNumber,
        /// The new terms.
        terms: MarketTerms,
    },
    /// 40: a market's book is cleared; its orders end in this frame and in `Continue`.
    MarketCleared {
        /// The market.
        market: MarketNumber,
    },
    /// 41: a payout was proposed; evidence hash and window are in the command. The number of the
    /// proposal is the frame's sequence.
    Proposed {
        /// The market.
        market: MarketNumber,
        /// The payout per share.
        payout: Payout,
        /// End of the challenge window.
        challenge_ends: TimeNs,
        /// Whether time finalises it.
        by_time: bool,
        /// Whether another operator than the proposer finalises it.
        second_person: bool,
    },
    /// 42: the proposal of a market is disputed, by a command or because its event group forbids it.
    Disputed {
        /// The market.
        market: MarketNumber,
        /// The payout that the disputer holds right.
        counter: Option<Payout>,
    },
    /// 43: the proposal of a market was withdrawn.
    ProposalWithdrawn {
        /// The market.
        market: MarketNumber,
    },
    /// 44: `Step` commands pay the holders of a market, among the accounts below `accounts`.
    SettlementStarted {
        /// The market.
        market: MarketNumber,
        /// Number of accounts.
        accounts: u32,
    },
    /// 45: nobody holds shares of a resolved market any more.
    MarketSettled {
        /// The market.
        market: MarketNumber,
        /// What its steps paid; redeems are not counted.
        paid: Micros,
    },
    /// 46: a resolution policy was set.
    PolicySet {
        /// The market; `None` = the site.
        market: Option<MarketNumber>,
        /// The policy.
        policy: ResolutionPolicy,
    },
    /// 47: a market's own policy and list were removed.
    PolicyCleared {
        /// The market.
        market: MarketNumber,
    },
    /// 48: what a wallet may do in resolution.
    WalletListed {
        /// The market; `None` = the site.
        market: Option<MarketNumber>,
        /// The wallet's account.
        account: AccountNumber,
        /// Whether it may propose.
        propose: bool,
        /// Whether it may dispute.
        dispute: bool,
    },

    /// 50: the system's mode changed.
    ModeSet {
        /// The new mode.
        mode: SystemMode,
    },
    /// 51: the settings were replaced by those of the command.
    SettingsChanged,
    /// 52: other rules apply from the next command on.
    RulesSwitched {
        /// Their number.
        rules: u32,
    },
    /// 53: a divergence was accepted; its sequence is in the command.
    DivergenceAccepted,
    /// 54: a signing domain was registered; its text is evidence of the frame.
    DomainRegistered {
        /// Its number.
        domain: DomainNumber,
    },
    /// 55: more of this command's work follows in `Continue` commands.
    WorkPending,
    /// 56: the journal attests a snapshot; its hash is in the command.
    StateAttested,
    /// 57: the settings of payments changed.
    PaymentsSet {
        /// All settings in force.
        payments: PaymentSettings,
    },
    /// 58: an operator was added; name, role and token hash are in the command.
    OperatorAdded {
        /// Its number.
        operator: OperatorNumber,
    },
    /// 59: an operator was revoked.
    OperatorRevoked {
        /// Its number.
        operator: OperatorNumber,
    },
    /// 60: words of an event group changed; the edit is evidence of the frame.
    EventDescribed {
        /// The event group.
        event: EventNumber,
    },
    /// 61: words of a market changed; the edit is evidence of the frame.
    MarketDescribed {
        /// The market.
        market: MarketNumber,
    },
    /// 62: the profile of a wallet changed; the edit is evidence of the frame.
    WalletDescribed {
        /// The wallet.
        wallet: WalletAddress,
    },
}

impl Event {
    /// The pinned number of the event.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::Fill(_) => 1,
            Self::OrderRested { .. } => 2,
            Self::OrderCompleted => 3,
            Self::OrderClosed { .. } => 4,
            Self::OrderKilled { .. } => 5,
            Self::OrderDelayed { .. } => 6,
            Self::OrderReleased { .. } => 7,
            Self::CancelRequested { .. } => 8,
            Self::AccountOpened { .. } => 10,
            Self::Deposited { .. } => 11,
            Self::Withdrawn { .. } => 12,
            Self::FeesWithdrawn { .. } => 13,
            Self::WalletBound { .. } => 14,
            Self::WalletUnbound { .. } => 15,
            Self::ClosedOnlySet { .. } => 16,
            Self::KeyRegistered { .. } => 17,
            Self::KeyRevoked { .. } => 18,
            Self::HeartbeatSet { .. } => 19,
            Self::Split { .. } => 20,
            Self::Merged { .. } => 21,
            Self::Redeemed { .. } => 22,
            Self::Converted { .. } => 23,
            Self::WithdrawalHeld { .. } => 24,
            Self::WithdrawalReleased { .. } => 25,
            Self::RebatePaymentStarted { .. } => 26,
            Self::RebatePaid { .. } => 27,
            Self::RebatePaymentEnded { .. } => 28,
            Self::EventRegistered { .. } => 30,
            Self::EventFrozen { .. } => 31,
            Self::MarketRegistered { .. } => 32,
            Self::MarketStateSet { .. } => 33,
            Self::MarketResolved { .. } => 34,
            Self::MarketArchived { .. } => 35,
            Self::TickSet { .. } => 36,
            Self::MinimumSizeSet { .. } => 37,
            Self::FeeSet { .. } => 38,
            Self::TermsSet { .. } => 39,
            Self::MarketCleared { .. } => 40,
            Self::Proposed { .. } => 41,
            Self::Disputed { .. } => 42,
            Self::ProposalWithdrawn { .. } => 43,
            Self::SettlementStarted { .. } => 44,
            Self::MarketSettled { .. } => 45,
            Self::PolicySet { .. } => 46,
            Self::PolicyCleared { .. } => 47,
            Self::WalletListed { .. } => 48,
            Self::ModeSet { .. } => 50,
            Self::SettingsChanged => 51,
            Self::RulesSwitched { .. } => 52,
            Self::DivergenceAccepted => 53,
            Self::DomainRegistered { .. } => 54,
            Self::WorkPending => 55,
            Self::StateAttested => 56,
            Self::PaymentsSet { .. } => 57,
            Self::OperatorAdded { .. } => 58,
            Self::OperatorRevoked { .. } => 59,
            Self::EventDescribed { .. } => 60,
            Self::MarketDescribed { .. } => 61,
            Self::WalletDescribed { .. } => 62,
        }
    }
}
