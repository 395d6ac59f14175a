//! All events of the exchange. A view that folds events (and reads the fields of placing and
//! registering commands) needs no rules of the exchange.
//!
//! A frame is one command and the events it caused, in order. The frame of a placed order ends with
//! exactly one of `OrderRested`, `OrderCompleted`, `OrderClosed` for its own number; only a
//! `TickSet` may follow. When the book kills the order, `OrderKilled` is the only event.

use crate::id::{
    AccountNumber, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber, MarketNumber,
    OrderNumber, WalletAddress,
};
use crate::market::{FeeSchedule, MarketState, Payout, QuestionSet, SystemMode, WalletKind};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::rejection::RejectionReason;
use crate::side::{CloseReason, MatchKind};

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
    /// For the frame's own order (number = the frame's sequence), this is its rest.
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
        /// As in [`crate::Rejection::details`]; zeros under rules 1.
        details: [u64; 2],
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
            Self::EventRegistered { .. } => 30,
            Self::EventFrozen { .. } => 31,
            Self::MarketRegistered { .. } => 32,
            Self::MarketStateSet { .. } => 33,
            Self::MarketResolved { .. } => 34,
            Self::MarketArchived { .. } => 35,
            Self::TickSet { .. } => 36,
            Self::MinimumSizeSet { .. } => 37,
            Self::FeeSet { .. } => 38,
            Self::ModeSet { .. } => 50,
            Self::SettingsChanged => 51,
            Self::RulesSwitched { .. } => 52,
            Self::DivergenceAccepted => 53,
            Self::DomainRegistered { .. } => 54,
            Self::WorkPending => 55,
            Self::StateAttested => 56,
        }
    }
}
