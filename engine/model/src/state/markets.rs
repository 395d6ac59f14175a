//! Event groups, markets, positions, terms.

use crate::id::{
    AccountNumber, ConditionId, ContentDigest, EventId, EventNumber, MarketNumber, SlugDigest,
    TokenId,
};
use crate::market::{FeeSchedule, HoldSet, MarketState, MarketTerms, Payout, QuestionIndex};
use crate::quantity::{Lots, Tick};
use crate::record::records;

records! {
    /// Sorted by number.
    pub struct Event {
        /// Number.
        pub event: EventNumber,
        /// Catalog id.
        pub id: EventId,
        /// Whether the question list is final.
        pub frozen: bool,
        /// Number of questions.
        pub questions: u32,
        /// `c`, the lots ever converted: every convert of n lots adds n. For every unresolved
        /// question supply(Yes) − supply(No) = c (docs/verify/rules.md §11).
        pub converted: Lots,
        /// Its outside question.
        pub outside: MarketNumber,
    }

    /// Sorted by number.
    pub struct Market {
        /// Number.
        pub market: MarketNumber,
        /// Condition id.
        pub condition: ConditionId,
        /// Tokens.
        pub tokens: [TokenId; 2],
        /// Tick.
        pub tick: Tick,
        /// Whether the tick may refine.
        pub tick_refines: bool,
        /// Minimum size.
        pub minimum_size: Lots,
        /// Fee.
        pub fee: FeeSchedule,
        /// Event group and place in its question list, or [`crate::outside::OUTSIDE_INDEX`].
        pub question: Option<(EventNumber, u32)>,
        /// Its bit in signed conversions, if its event group has its own.
        pub index: Option<QuestionIndex>,
        /// State.
        pub state: MarketState,
        /// Its holds, while it is paused.
        pub holds: HoldSet,
        /// Payout, once resolved.
        pub payout: Option<Payout>,
        /// Whether the market is hidden.
        pub archived: bool,
        /// Shares in existence, of `[Yes, No]`.
        pub supply: [Lots; 2],
        /// Its slug, which no other market has; zeros without.
        pub slug: SlugDigest,
        /// What was registered.
        pub content: ContentDigest,
    }

    /// Sorted by account, then market; only positions with shares.
    pub struct Position {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Free shares of `[Yes, No]`.
        pub free: [Lots; 2],
        /// Shares of `[Yes, No]` reserved by live SELLs.
        pub reserved: [Lots; 2],
    }

    /// Sorted by market; only terms that are not all zero.
    pub struct Terms {
        /// The market.
        pub market: MarketNumber,
        /// The terms.
        pub terms: MarketTerms,
        /// Whether the clear is armed (docs/verify/rules.md §21).
        pub clear_armed: bool,
    }
}
