//! Markets, event groups and their terms.

use crate::id::{ConditionId, EventId, EventNumber, MarketNumber};
use crate::market::{FeeSchedule, HoldSet, MarketState, MarketTerms, Payout};
use crate::quantity::{Lots, Tick};
use crate::record::records;

records! {
    /// An event group was registered.
    pub struct EventRegistered {
        /// Its number.
        pub event: EventNumber,
        /// Its catalog id.
        pub id: EventId,
        /// Its outside question, closed ([`crate::outside`]).
        pub outside: MarketNumber,
    }

    /// A market was registered; its rules are in the command.
    pub struct MarketRegistered {
        /// Its number.
        pub market: MarketNumber,
        /// Its condition id.
        pub condition: ConditionId,
        /// Its index in the question list of its event group; 0 for a plain market.
        pub question: u32,
        /// Whether its slug is its own: it named one, and no other market has it.
        pub has_slug: bool,
    }

    /// A market changed state.
    pub struct MarketStateSet {
        /// The market.
        pub market: MarketNumber,
        /// The new state.
        pub state: MarketState,
        /// The holds, of a paused market.
        pub holds: HoldSet,
    }

    /// A market was resolved (its state is `Resolved` now).
    pub struct MarketResolved {
        /// The market.
        pub market: MarketNumber,
        /// The payout per share.
        pub payout: Payout,
    }

    /// A market was hidden or shown.
    pub struct MarketArchived {
        /// The market.
        pub market: MarketNumber,
        /// Hidden or not.
        pub archived: bool,
    }

    /// A market's tick was refined, by command or by a trade near 0 or 1.
    pub struct TickSet {
        /// The market.
        pub market: MarketNumber,
        /// The new tick.
        pub tick: Tick,
    }

    /// A market's minimum order size changed.
    pub struct MinimumSizeSet {
        /// The market.
        pub market: MarketNumber,
        /// The new minimum.
        pub minimum_size: Lots,
    }

    /// A market's fee changed.
    pub struct FeeSet {
        /// The market.
        pub market: MarketNumber,
        /// The new schedule.
        pub fee: FeeSchedule,
    }

    /// A market's terms were replaced.
    pub struct TermsSet {
        /// The market.
        pub market: MarketNumber,
        /// The new terms.
        pub terms: MarketTerms,
        /// Whether its book is cleared at its game start.
        pub clear_armed: bool,
    }
}
