//! `GET /series` and `GET /tags`.

use foretell_wire::parameters;
use foretell_wire::read::query::text_form::Words;

use super::filters::Page;
use super::forms::{Entry, Flag, LOCALE, Locale, MAX_ENTRIES, Text};

/// Sort columns of series and of tags; ties by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallColumn {
    /// `id`
    #[default]
    Id,
    /// `slug`
    Slug,
    /// `title` of series, `label` of tags.
    Title,
    /// `createdAt`
    CreatedAt,
    /// `updatedAt`
    UpdatedAt,
}

const fn columns(title: &'static str) -> [(&'static str, SmallColumn); 7] {
    [
        ("id", SmallColumn::Id),
        ("slug", SmallColumn::Slug),
        (title, SmallColumn::Title),
        ("createdAt", SmallColumn::CreatedAt),
        ("created_at", SmallColumn::CreatedAt),
        ("updatedAt", SmallColumn::UpdatedAt),
        ("updated_at", SmallColumn::UpdatedAt),
    ]
}

const SERIES_COLUMN: Words<SmallColumn> = Words(&columns("title"));
const TAG_COLUMN: Words<SmallColumn> = Words(&columns("label"));

parameters! {
    /// Parameters of `GET /series`; filters combine with AND.
    #[derive(Default)]
    pub struct SeriesQuery: Catalog {
        /// The page.
        pub page: Page = group(),
        /// Wallet address of a creator of one of its events, or a site of `[catalog.sites]`.
        pub creator: Option<String> = optional(Text),
        /// Slugs.
        pub slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "slug",
        /// Filter by `closed`.
        pub closed: Option<bool> = optional(Flag),
        /// Filter by recurrence.
        pub recurrence: Option<String> = optional(Text),
        /// Ids of stored categories.
        pub category_ids: Vec<String> = list(Entry, MAX_ENTRIES) as "categories_ids",
        /// Labels of stored categories.
        pub category_labels: Vec<String> = list(Entry, MAX_ENTRIES) as "categories_labels",
        /// Leave `events` empty.
        pub exclude_events: bool = or(Flag, "false"),
        /// Sort column.
        pub order: SmallColumn = or(SERIES_COLUMN, "id"),
        /// Smallest first.
        pub ascending: bool = or(Flag, "false"),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }

    /// Parameters of `GET /tags`; filters combine with AND.
    #[derive(Default)]
    pub struct TagsQuery: Catalog {
        /// The page.
        pub page: Page = group(),
        /// Wallet address of a creator of one of its events, or a site of `[catalog.sites]`.
        pub creator: Option<String> = optional(Text),
        /// Filter by stored `isCarousel`.
        pub is_carousel: Option<bool> = optional(Flag),
        /// Add stored `templates`.
        pub include_template: bool = or(Flag, "false"),
        /// Sort column.
        pub order: SmallColumn = or(TAG_COLUMN, "id"),
        /// Smallest first.
        pub ascending: bool = or(Flag, "false"),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }
}
