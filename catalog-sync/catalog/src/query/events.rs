//! `GET /events`

use foretell_wire::{ApiError, parameters};

use super::filters::{Bounds, FlagFilter, Page};
use super::forms::{Entry, Flag, Id, LOCALE, Locale, MAX_ENTRIES, Text};
use super::groups::GroupFilter;
use super::keyset::KeysetPage;
use super::order::Order;

parameters! {
    /// Parameters of `GET /events`.
    #[derive(Default)]
    pub struct EventsQuery: Catalog {
        /// The page.
        pub page: Page = group(),
        /// The events.
        pub filter: EventsFilter = group(),
    }

    /// Parameters of `GET /events/keyset`.
    pub struct EventsKeysetQuery: Catalog check check_cursor {
        /// The page.
        pub page: KeysetPage = group(),
        /// The events.
        pub filter: EventsFilter = group(),
    }

    /// Selection and order of events; filters combine with AND.
    #[derive(Default)]
    pub struct EventsFilter: Catalog {
        /// Filter by lifecycle.
        pub flags: FlagFilter = group(),
        /// Ids of events.
        pub ids: Vec<u64> = list(Id, MAX_ENTRIES) as "id",
        /// Slugs of events.
        pub slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "slug",
        /// Sort order.
        pub order: Order = group(),
        /// Wallet address of a creator of the event or of one of its markets, or a site of
        /// `[catalog.sites]`.
        pub creator: Option<String> = optional(Text),
        /// Filter by tags and series.
        pub groups: GroupFilter = group(),
        /// Filter by dates and amounts.
        pub bounds: Bounds = group(),
        /// Game ids.
        pub game_ids: Vec<String> = list(Entry, MAX_ENTRIES) as "game_id",
        /// Stored fields to add.
        pub extras: EventExtras = group(),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }

    /// Fields of the original record that an event has on request.
    #[derive(Copy, Default)]
    pub struct EventExtras: Catalog {
        /// Add stored `chats`.
        pub chats: bool = or(Flag, "false") as "include_chat",
        /// Add stored `templates`.
        pub templates: bool = or(Flag, "false") as "include_template",
    }
}

impl EventsKeysetQuery {
    fn check_cursor(&self) -> Result<(), ApiError> {
        self.page.check(&self.filter.order)
    }
}
