//! Everything that can happen, flat. A view that folds these (and reads the placing and
//! registering commands for their fields) needs to know no rule of the exchange.
//!
//! A frame is one command and the events it caused, in the order they happened. A placed order
//! ends its frame with exactly one of `OrderRested`, `OrderCompleted`, `OrderClosed` of its own number
//! (only a `TickSet` may follow), or, when the book refused it, its only event is `OrderKilled`.

use crate::id::{
    AccountNumber, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber, MarketNumber,
    OrderNumber, WalletAddress,
};
use crate::market::{FeeSchedule, MarketState, Payout, QuestionSet, SystemMode, WalletKind};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::refusal::RefusalReason;
use crate::side::{CloseReason, MatchKind};

/// One trade of the frame's taker with one resting order. Everything about the taker is in the
/// frame's command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// The resting order.
    pub maker_order: OrderNumber,
    /// Its account.
    pub maker: AccountNumber,
    /// How they met; with the taker's side and outcome it gives the maker's.
    pub kind: MatchKind,
    /// The maker's limit, in Yes prices. The No price is its complement.
    pub yes_price: Price,
    /// Shares traded, above 0.
    pub lots: Lots,
    /// What the maker has left; 0 = it is completed.
    pub maker_left: Lots,
    /// Paid by the taker beside the value (BUY) or out of it (SELL).
    pub fee: Micros,
}

/// One thing that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// 1: a trade.
    Fill(Fill),
    /// 2: the frame's order rests at its limit with this much left. A BUY reserves
    /// lots × price, a SELL the lots.
    OrderRested {
        /// What is left.
        lots: Lots,
        /// Its limit in its own token.
        price: Price,
    },
    /// 3: the frame's order is done: filled, or a budget BUY that is full (protocol 2).
    OrderCompleted,
    /// 4: an order ended with something unfilled. For a resting order: what it had reserved is
    /// free again. For the frame's own order (same number as the frame's sequence): its rest.
    OrderClosed {
        /// Which.
        order: OrderNumber,
        /// Whose.
        account: AccountNumber,
        /// What was unfilled; for the rest of a budget BUY 0, its unspent budget being plain.
        lots: Lots,
        /// Why.
        reason: CloseReason,
    },
    /// 5: the book refused the frame's order; its id is burned.
    OrderKilled {
        /// Why.
        reason: RefusalReason,
        /// As in [`crate::Refusal::details`]; zeros under rules 1.
        details: [u64; 2],
    },

    /// 10: an account got its number.
    AccountOpened {
        /// Its number.
        account: AccountNumber,
        /// Its address.
        wallet: WalletAddress,
    },
    /// 11: collateral came in.
    Deposited {
        /// To whom.
        account: AccountNumber,
        /// How much.
        amount: Micros,
    },
    /// 12: collateral went out.
    Withdrawn {
        /// From whom.
        account: AccountNumber,
        /// How much.
        amount: Micros,
    },
    /// 13: fees went out.
    FeesWithdrawn {
        /// How much.
        amount: Micros,
    },
    /// 14: a wallet got an owner.
    WalletBound {
        /// The owner.
        owner: AccountNumber,
        /// The wallet.
        wallet: AccountNumber,
        /// What it is.
        kind: WalletKind,
    },
    /// 15: a wallet is its own owner again.
    WalletUnbound {
        /// The owner it had.
        owner: AccountNumber,
        /// The wallet.
        wallet: AccountNumber,
    },
    /// 16: an account's closed-only mark changed.
    ClosedOnlySet {
        /// Whose.
        account: AccountNumber,
        /// On or off.
        closed_only: bool,
    },
    /// 17: a key got its number; the key and its nonce are in the command.
    KeyRegistered {
        /// Its number.
        key: KeyNumber,
        /// Its owner.
        owner: AccountNumber,
    },
    /// 18: a key is dead.
    KeyRevoked {
        /// Which.
        key: KeyNumber,
    },
    /// 19: an owner's heartbeat chain began or ended.
    HeartbeatSet {
        /// Whose.
        owner: AccountNumber,
        /// On or off.
        on: bool,
    },
    /// 20: collateral became full sets.
    Split {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// How many.
        lots: Lots,
    },
    /// 21: full sets became collateral.
    Merged {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// How many.
        lots: Lots,
    },
    /// 22: holdings of a resolved market became their payout.
    Redeemed {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// Burned, of `[Yes, No]`.
        lots: [Lots; 2],
        /// Paid.
        payout: Micros,
    },
    /// 23: No of some questions became collateral and Yes of the others.
    Converted {
        /// Whose.
        account: AccountNumber,
        /// Which event.
        event: EventNumber,
        /// The questions whose No was given.
        questions: QuestionSet,
        /// How many lots of each.
        lots: Lots,
        /// Collateral received: lots × (k − 1), in whole units.
        collateral: Micros,
    },

    /// 30: an event got its number.
    EventRegistered {
        /// Its number.
        event: EventNumber,
        /// Its catalog id.
        id: EventId,
    },
    /// 31: an event's question list is final.
    EventFrozen {
        /// Which.
        event: EventNumber,
    },
    /// 32: a market got its number; its rules are in the command.
    MarketRegistered {
        /// Its number.
        market: MarketNumber,
        /// Its condition id.
        condition: ConditionId,
        /// Which question of its event it is; 0 for a plain market.
        question: u32,
    },
    /// 33: a market changed state.
    MarketStateSet {
        /// Which.
        market: MarketNumber,
        /// The new state.
        state: MarketState,
    },
    /// 34: a market pays (its state is `Resolved` now).
    MarketResolved {
        /// Which.
        market: MarketNumber,
        /// How.
        payout: Payout,
    },
    /// 35: a market is hidden or shown.
    MarketArchived {
        /// Which.
        market: MarketNumber,
        /// Hidden or not.
        archived: bool,
    },
    /// 36: a market's tick became finer, by command or by a trade near 0 or 1.
    TickSet {
        /// Which.
        market: MarketNumber,
        /// The new tick.
        tick: Tick,
    },
    /// 37: a market's minimum order size changed.
    MinimumSizeSet {
        /// Which.
        market: MarketNumber,
        /// The new minimum.
        minimum_size: Lots,
    },
    /// 38: a market's fee changed.
    FeeSet {
        /// Which.
        market: MarketNumber,
        /// The new schedule.
        fee: FeeSchedule,
    },

    /// 50: the system's mode changed.
    ModeSet {
        /// The new mode.
        mode: SystemMode,
    },
    /// 51: the settings are those of the command.
    SettingsChanged,
    /// 52: other rules from the next command on.
    RulesSwitched {
        /// Their number.
        rules: u32,
    },
    /// 53: a divergence was accepted; which one is in the command.
    DivergenceAccepted,
    /// 54: a signing domain; its text is evidence of the frame.
    DomainRegistered {
        /// Its number.
        domain: DomainNumber,
    },
    /// 55: more of this command's work follows in `Continue` commands.
    WorkPending,
    /// 56: the journal vouches for a snapshot; which one is in the command.
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
