//! `GET /events`

use super::filters::{FlagFilter, Page, id, owned};
use super::order::Order;
use super::parameters::Parameters;
use crate::error::CatalogError;

/// Parameters of `GET /events`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsQuery {
    /// The page.
    pub page: Page,
    /// Filter by lifecycle.
    pub flags: FlagFilter,
    /// Filter by tag: `tag`, `tag_slug`.
    pub tag_slug: Option<String>,
    /// Filter by tag.
    pub tag_id: Option<u64>,
    /// Filter by series.
    pub series_slug: Option<String>,
    /// Filter by slug.
    pub slug: Option<String>,
    /// Sort order.
    pub order: Order,
    /// Filter by creator of the event or of one of its markets: an address or a site.
    pub creator: Option<String>,
}

const KNOWN: &[&str] = &[
    "limit",
    "offset",
    "active",
    "closed",
    "archived",
    "tag",
    "tag_id",
    "tag_slug",
    "series_slug",
    "slug",
    "order",
    "ascending",
    "creator",
];

impl EventsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(KNOWN)?;
        Ok(Self {
            page: Page::of(parameters)?,
            flags: FlagFilter::of(parameters)?,
            tag_slug: owned(parameters, &["tag_slug", "tag"])?,
            tag_id: id(parameters, "tag_id")?,
            series_slug: owned(parameters, &["series_slug"])?,
            slug: owned(parameters, &["slug"])?,
            order: Order::of(parameters)?,
            creator: owned(parameters, &["creator"])?,
        })
    }
}
