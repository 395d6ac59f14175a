//! `GET /public-search`

use super::filters::{FlagFilter, owned};
use super::groups::GroupFilter;
use super::order::{Column, Order};
use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;
use crate::search_text::normalised;

/// Most characters of a search term.
const MAX_TERM: usize = 256;
/// Default rows per result type.
const DEFAULT_LIMIT: u64 = 25;

/// Parameters of `GET /public-search`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The normalised search term, 1 to 256 characters.
    pub(crate) term: String,
    /// Rows per result type, 1 to 500.
    pub limit: u32,
    /// The page, from 1.
    pub page: u32,
    /// Whether to search tags.
    pub tags: bool,
    /// Filter by creator of an event: an address or a site.
    pub creator: Option<String>,
    /// Filter of events by lifecycle.
    pub flags: FlagFilter,
    /// Filter of events by tags and recurrence.
    pub groups: GroupFilter,
    /// Sort order of events; `None` for the rank of their match.
    pub sort: Option<Order>,
}

const KNOWN: &[&str] = &[
    "q",
    "limit_per_type",
    "page",
    "search_tags",
    "search_profiles",
    "creator",
    "events_status",
    "events_tag",
    "exclude_tag_id",
    "recurrence",
    "sort",
    "ascending",
    "keep_closed_markets",
    "cache",
    "optimized",
];

/// The order of events that `sort` names.
fn sort(parameters: &Parameters) -> Result<Option<Order>, CatalogError> {
    const NAMES: [&str; 6] = [
        "volume",
        "volume_24hr",
        "liquidity",
        "competitive",
        "start_date",
        "end_date",
    ];
    let ascending = parameters.flag("ascending")?;
    let Some(name) = parameters.word("sort", &NAMES)? else {
        return match ascending {
            Some(_) => Err(CatalogError::BadRequest(
                "ascending needs sort: without it events are ordered by rank".to_owned(),
            )),
            None => Ok(None),
        };
    };
    Ok(Column::of(name).map(|column| Order {
        columns: vec![column],
        ascending: ascending.unwrap_or(false),
    }))
}

/// Checks the options that allow one value only: answers hold short events without markets.
fn fixed(parameters: &Parameters) -> Result<(), CatalogError> {
    parameters.flag("cache")?;
    parameters.word("keep_closed_markets", &["0"])?;
    parameters.word("optimized", &["true", "1"]).map(|_| ())
}

impl SearchQuery {
    /// Whether an option filters or sorts the events.
    pub(crate) fn has_event_filter(&self) -> bool {
        let all = (&FlagFilter::default(), &GroupFilter::default());
        (&self.flags, &self.groups) != all || self.sort.is_some()
    }

    /// Reads the parameters. A term of only spaces and invisible characters counts as missing.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`]: `q is required`, or the parameter, its value and the allowed
    /// values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&[KNOWN])?;
        let text = parameters.text(&["q"])?.unwrap_or_default();
        if text.chars().nth(MAX_TERM).is_some() {
            return Err(wrong("q", text, "1 to 256 characters"));
        }
        let term = normalised(text);
        if term.is_empty() {
            return Err(CatalogError::BadRequest("q is required".to_owned()));
        }
        let limit = parameters.number("limit_per_type", 1..=500, "1 to 500")?;
        let page = parameters.number("page", 1..=1_000_000, "1 to 1000000")?;
        parameters.flag("search_profiles")?;
        fixed(parameters)?;
        let status = parameters.word("events_status", &["active", "closed", "all"])?;
        Ok(Self {
            term,
            limit: u32::try_from(limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(u32::MAX),
            page: u32::try_from(page.unwrap_or(1)).unwrap_or(u32::MAX),
            tags: parameters.flag("search_tags")?.unwrap_or(true),
            creator: owned(parameters, &["creator"])?,
            flags: FlagFilter {
                closed: match status {
                    Some("active") => Some(false),
                    Some("closed") => Some(true),
                    _ => None,
                },
                ..FlagFilter::default()
            },
            groups: GroupFilter {
                tag_slugs: parameters.texts("events_tag")?,
                exclude_tag_ids: parameters.ids("exclude_tag_id")?.unwrap_or_default(),
                recurrence: owned(parameters, &["recurrence"])?,
                ..GroupFilter::default()
            },
            sort: sort(parameters)?,
        })
    }
}
