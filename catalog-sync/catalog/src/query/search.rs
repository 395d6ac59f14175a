//! `GET /public-search`

use foretell_wire::read::query::family::Family;
use foretell_wire::read::query::text_form::Words;
use foretell_wire::values;
use foretell_wire::values::Readable as _;
use foretell_wire::{ApiError, ErrorCode, parameters};

use super::filters::FlagFilter;
use super::forms::{Entry, Flag, Id, LIMIT, MAX_ENTRIES, PAGE, STATUS, Term, Text};
use super::groups::GroupFilter;
use super::order::{Column, Order};

const SORT: Words<Column> = Words(&[
    ("volume", Column::Volume),
    ("volume_24hr", Column::Volume24hr),
    ("liquidity", Column::Liquidity),
    ("competitive", Column::Competitive),
    ("start_date", Column::StartDate),
    ("end_date", Column::EndDate),
]);

const ZERO: Words<()> = Words(&[("0", ())]);
values! {
    True { reads (): str { "enum": ["true", "1"] }, "true, 1", |text| Flag::read(text).filter(|flag| *flag).map(drop); }
}

parameters! {
    /// Parameters of `GET /public-search`. The last ones allow what answers are: fresh, with short
    /// events without markets.
    pub struct SearchQuery: Catalog check check_all {
        /// Search term.
        pub(crate) term: String = required(Term) as "q",
        /// Maximum rows per type.
        pub limit: usize = or(LIMIT, "25") as "limit_per_type",
        /// Page number, from 1.
        pub page: usize = or(PAGE, "1"),
        /// Include tags in the search.
        pub tags: bool = or(Flag, "true") as "search_tags",
        /// Checked, without effect.
        pub profiles: bool = or(Flag, "false") as "search_profiles",
        /// Wallet address of a creator, or a site of `[catalog.sites]`.
        pub creator: Option<String> = optional(Text),
        /// Lifecycle of the events.
        pub closed: Option<bool> = or(STATUS, "all") as "events_status",
        /// Tag slugs of the events.
        pub tag_slugs: Vec<String> = list(Entry, MAX_ENTRIES) as "events_tag",
        /// Events without these tags.
        pub exclude_tag_ids: Vec<u64> = list(Id, MAX_ENTRIES) as "exclude_tag_id",
        /// Recurrence of a series of the events.
        pub recurrence: Option<String> = optional(Text),
        /// Sort column of the events; without it, by rank.
        pub sort: Option<Column> = optional(SORT),
        /// Smallest first; 400 without `sort`.
        pub ascending: Option<bool> = optional(Flag),
        /// Answers hold no markets.
        pub keep_closed_markets: Option<()> = optional(ZERO),
        /// Answers are always fresh.
        pub cache: Option<bool> = optional(Flag),
        /// Events are always short.
        pub optimized: Option<()> = optional(True),
    }
}

impl SearchQuery {
    /// A term of only spaces and invisible characters counts as missing.
    fn check_all(&self) -> Result<(), ApiError> {
        if self.term.is_empty() {
            return Err(Family::Catalog.missing("q", Term::ALLOWED));
        }
        match (self.sort, self.ascending) {
            (None, Some(_)) => {
                let problem = "ascending needs sort: without it events are ordered by rank";
                Err(ErrorCode::InvalidCatalogParameter.with([&problem]))
            }
            _ => Ok(()),
        }
    }

    /// Filter of the events by lifecycle.
    pub(crate) fn flags(&self) -> FlagFilter {
        FlagFilter {
            closed: self.closed,
            ..FlagFilter::default()
        }
    }

    /// Filter of the events by tags and recurrence.
    pub(crate) fn groups(&self) -> GroupFilter {
        GroupFilter {
            tag_slugs: self.tag_slugs.clone(),
            exclude_tag_ids: self.exclude_tag_ids.clone(),
            recurrence: self.recurrence.clone(),
            ..GroupFilter::default()
        }
    }

    /// Sort order of the events; `None` for the rank of their match.
    pub(crate) fn order(&self) -> Option<Order> {
        self.sort.map(|column| Order {
            columns: vec![column],
            ascending: self.ascending.unwrap_or(false),
        })
    }

    /// Whether an option filters or sorts the events.
    pub(crate) fn has_event_filter(&self) -> bool {
        let nothing = (FlagFilter::default(), GroupFilter::default());
        (self.flags(), self.groups()) != nothing || self.sort.is_some()
    }
}
