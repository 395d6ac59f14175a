//! `GET /public-search`

use super::filters::owned;
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
}

const KNOWN: &[&str] = &[
    "q",
    "limit_per_type",
    "page",
    "search_tags",
    "search_profiles",
    "creator",
];

impl SearchQuery {
    /// Reads the parameters. A term of only spaces and invisible characters counts as missing.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`]: `q is required`, or the parameter, its value and the allowed
    /// values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(KNOWN)?;
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
        Ok(Self {
            term,
            limit: u32::try_from(limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(u32::MAX),
            page: u32::try_from(page.unwrap_or(1)).unwrap_or(u32::MAX),
            tags: parameters.flag("search_tags")?.unwrap_or(true),
            creator: owned(parameters, &["creator"])?,
        })
    }
}
