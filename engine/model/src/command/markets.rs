//! Commands on markets and their terms.

use crate::id::{ConditionId, ContentDigest, EventNumber, MarketNumber, SlugDigest, TokenId};
use crate::market::{FeeSchedule, Hold, MarketTerms, Opening, QuestionIndex};
use crate::quantity::{Lots, Tick};
use crate::record::records;
use crate::tail::Tail;
use crate::update::TermsUpdate;

records! {
    /// A market registration, whole or not at all. Its description is evidence of the frame. Without
    /// details in the tail it is `InvalidTerms`. The same tokens, event group, index and content under a known
    /// condition id are `Repeated` and change nothing (docs/verify/rules.md §12).
    pub struct RegisterMarket {
        /// The condition id; registration is idempotent by it.
        pub condition: ConditionId,
        /// Tokens of `[Yes, No]`.
        pub tokens: [TokenId; 2],
        /// The initial tick.
        pub tick: Tick,
        /// Whether 0.01 becomes 0.001 after a trade above 0.96 or below 0.04 (docs/verify/rules.md §3).
        pub tick_refines: bool,
        /// Minimum size of a GTC or GTD order.
        pub minimum_size: Lots,
        /// Taker fee.
        pub fee: FeeSchedule,
        /// The neg-risk event group whose next question this market is; `None` = plain market.
        pub event: Option<EventNumber>,
        /// Its bit in signed conversions; `None` = its place in the question list. All questions of an event
        /// group have one, or none has (`InvalidQuestionIndex`).
        pub index: Option<QuestionIndex>,
        /// Whether the tail has its [`MarketDetails`]; those without are all zero.
        pub has_details: bool,
    }

    /// What the fields of a [`RegisterMarket`] have no room for: its tail.
    #[derive(Default)]
    pub struct MarketDetails {
        /// Clock, delay and rebate, as [`SetTerms`] would set them.
        pub terms: MarketTerms,
        /// When it opens.
        pub opening: Opening,
        /// Its slug, which names one market.
        pub slug: SlugDigest,
        /// Whether it is not registered without the slug (`SlugTaken`).
        pub needs_slug: bool,
        /// What is registered, by which a repeat is told from another registration.
        pub content: ContentDigest,
    }

    /// Change words of a market; the edit is the evidence (docs/verify/rules.md §26).
    pub struct DescribeMarket {
        /// The market.
        pub market: MarketNumber,
        /// Its new slug; `None` = it stays.
        pub slug: Option<SlugDigest>,
    }

    /// Put a hold on a market: active → paused. A paused market can get the other hold
    /// (`InvalidTransition` otherwise). The sync puts the upstream's alone, others the operator's
    /// (`OperatorRole`; docs/verify/rules.md §12).
    pub struct PauseMarket {
        /// The market.
        pub market: MarketNumber,
        /// Whose hold.
        pub hold: Hold,
    }

    /// Lift a hold of a market; without the other one paused → active. As in [`PauseMarket`], but an admin
    /// lifts the upstream's, too.
    pub struct ResumeMarket {
        /// The market.
        pub market: MarketNumber,
        /// Whose hold.
        pub hold: Hold,
    }

    /// Hide a market, or show it again.
    pub struct ArchiveMarket {
        /// The market.
        pub market: MarketNumber,
        /// Hidden or not.
        pub archived: bool,
    }

    /// Refine the tick; one that does not divide it is `InvalidTick`.
    pub struct SetTick {
        /// The market.
        pub market: MarketNumber,
        /// The new tick.
        pub tick: Tick,
    }

    /// Change the minimum order size.
    pub struct SetMinimumSize {
        /// The market.
        pub market: MarketNumber,
        /// The new minimum, at least one lot.
        pub minimum_size: Lots,
    }

    /// Change the taker fee.
    pub struct SetFee {
        /// The market.
        pub market: MarketNumber,
        /// The new schedule.
        pub fee: FeeSchedule,
    }

    /// Change terms of a market. The result is checked. Equal terms are `Repeated`
    /// (docs/verify/rules.md §21).
    pub struct SetTerms {
        /// The market.
        pub market: MarketNumber,
        /// The new terms; those that it does not name stay.
        pub terms: TermsUpdate,
    }
}

impl RegisterMarket {
    /// Its details, from the start of the bytes beside it, and the evidence after them; `None` for bytes
    /// that are no details.
    #[must_use]
    pub fn details<'a>(&self, beside: &'a [u8]) -> Option<(MarketDetails, &'a [u8])> {
        if !self.has_details {
            return Some((MarketDetails::default(), beside));
        }
        let (tail, evidence) = Tail::split(beside, 1)?;
        Some((tail.get(0)?, evidence))
    }
}
