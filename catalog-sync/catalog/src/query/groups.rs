//! Filters by the tags and series of an event group, which apply to its markets as well.

use foretell_wire::read::query::family::Family;
use foretell_wire::read::query::text_form::Words;
use foretell_wire::{ApiError, parameters};

use super::forms::{Entry, Flag, Id, MAX_ENTRIES, Text};

parameters! {
    /// Filters by tags and series; they combine with AND.
    #[derive(Default)]
    pub struct GroupFilter: Catalog check check_tags {
        /// Tag slugs.
        pub tag_slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "tag_slug" or "tag",
        /// Tag ids.
        pub tag_ids: Vec<u64> = list(Id, MAX_ENTRIES) as "tag_id",
        /// Whether one or all of `tag_id` are needed; `all` is 400 without `tag_id`.
        pub all_tags: bool = or(Words(&[("any", false), ("all", true)]), "any") as "tag_match",
        /// Tags related to `tag_id` or `tag_slug` count as well; 400 without one of them. `1` and `0`
        /// are accepted.
        pub related_tags: bool = or(Flag, "false"),
        /// Events without these tags.
        pub exclude_tag_ids: Vec<u64> = list(Id, MAX_ENTRIES) as "exclude_tag_id",
        /// Series slugs.
        pub series_slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "series_slug",
        /// Series ids.
        pub series_ids: Vec<u64> = list(Id, MAX_ENTRIES) as "series_id",
        /// Recurrence of a series of the event, such as `weekly`.
        pub recurrence: Option<String> = optional(Text),
    }
}

impl GroupFilter {
    fn check_tags(&self) -> Result<(), ApiError> {
        let wrong = |name, value, allowed| Err(Family::Catalog.wrong(name, value, allowed));
        if self.all_tags && self.tag_ids.is_empty() {
            return wrong("tag_match", "all", "only with tag_id");
        }
        match self.related_tags && self.tag_slugs.is_empty() && self.tag_ids.is_empty() {
            true => wrong("related_tags", "true", "only with tag_id or tag_slug"),
            false => Ok(()),
        }
    }
}
