//! `GET /markets`

use foretell_model::ConditionId;
use foretell_wire::values::Condition;
use foretell_wire::{ApiError, parameters};

use super::filters::{Bounds, FlagFilter, Page, Range};
use super::forms::{
    AddressText, Amount, Entry, Flag, Id, LOCALE, Locale, MAX_ENTRIES, MAX_LONG_IDS, QuestionId,
    Text, TokenText,
};
use super::groups::GroupFilter;
use super::keyset::KeysetPage;
use super::order::{Column, Order};

parameters! {
    /// Parameters of `GET /markets`.
    #[derive(Default)]
    pub struct MarketsQuery: Catalog {
        /// The page.
        pub page: Page = group(),
        /// The markets.
        pub filter: MarketsFilter = group(),
    }

    /// Parameters of `GET /markets/keyset`.
    pub struct MarketsKeysetQuery: Catalog check check_cursor {
        /// The page.
        pub page: KeysetPage = group(),
        /// The markets.
        pub filter: MarketsFilter = group(),
    }

    /// Selection and order of markets; filters combine with AND.
    #[derive(Default)]
    pub struct MarketsFilter: Catalog {
        /// Filter by lifecycle.
        pub flags: FlagFilter = group(),
        /// Event id.
        pub event_id: Option<u64> = optional(Id),
        /// Event slug.
        pub event_slug: Option<String> = optional(Text) or "eventSlug",
        /// Condition id.
        pub condition_id: Option<ConditionId> = optional(Condition) as "conditionId" or "condition_id",
        /// Condition ids.
        pub condition_ids: Vec<ConditionId> = list(Condition, MAX_LONG_IDS),
        /// Token ids.
        pub clob_token_ids: Vec<String> = list(TokenText, MAX_ENTRIES),
        /// Ids of markets.
        pub ids: Vec<u64> = list(Id, MAX_ENTRIES) as "id",
        /// Slugs of markets.
        pub slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "slug",
        /// Sort order.
        pub order: Order = group(),
        /// Wallet address of a creator, or a site of `[catalog.sites]`.
        pub creator: Option<String> = optional(Text),
        /// Filter by tags and series of the event.
        pub groups: GroupFilter = group(),
        /// Filter by dates and amounts.
        pub bounds: Bounds = group(),
        /// Question ids.
        pub question_ids: Vec<String> = list(QuestionId, MAX_LONG_IDS),
        /// Addresses of market makers.
        pub market_makers: Vec<String> = list(AddressText, MAX_LONG_IDS) as "market_maker_address",
        /// Game ids of the market or its event.
        pub game_ids: Vec<String> = list(Entry, MAX_ENTRIES) as "game_id",
        /// Sports market types.
        pub sports_market_types: Vec<String> = list(Entry, MAX_ENTRIES),
        /// States of the resolution.
        pub uma_resolution_status: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Smallest `rewardsMinSize`, inclusive.
        pub(crate) rewards_min_size: Option<i64> = optional(Amount),
        /// Add `tags` of the event.
        pub include_tag: bool = or(Flag, "false"),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }
}

impl MarketsKeysetQuery {
    fn check_cursor(&self) -> Result<(), ApiError> {
        self.page.check(&self.filter.order)
    }
}

impl MarketsFilter {
    /// The ranges of the columns that have a bound.
    pub(crate) fn ranges(&self) -> Vec<Range> {
        let mut ranges = self.bounds.ranges();
        ranges.extend(Range::of(
            Column::RewardsMinSize,
            self.rewards_min_size,
            None,
        ));
        ranges
    }
}
