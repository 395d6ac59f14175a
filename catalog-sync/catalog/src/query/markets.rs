//! `GET /markets`

use super::filters::{FlagFilter, Page, id, owned};
use super::order::Order;
use super::parameters::{Parameters, whole, wrong};
use crate::error::CatalogError;

/// Parameters of `GET /markets`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarketsQuery {
    /// The page.
    pub page: Page,
    /// Filter by lifecycle.
    pub flags: FlagFilter,
    /// Filter by a tag of the event: `tag`, `tag_slug`.
    pub tag_slug: Option<String>,
    /// Filter by a tag of the event.
    pub tag_id: Option<u64>,
    /// Filter by event.
    pub event_id: Option<u64>,
    /// Filter by event: `event_slug`, `eventSlug`.
    pub event_slug: Option<String>,
    /// Filter by condition: `conditionId`, `condition_id`.
    pub condition_id: Option<String>,
    /// Filter by any of several conditions.
    pub condition_ids: Option<Vec<String>>,
    /// Filter by any of several tokens.
    pub clob_token_ids: Option<Vec<String>>,
    /// Filter by any of several ids.
    pub ids: Option<Vec<u64>>,
    /// Filter by slug.
    pub slug: Option<String>,
    /// Sort order.
    pub order: Order,
    /// Filter by creator: an address or a site.
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
    "event_id",
    "event_slug",
    "eventSlug",
    "conditionId",
    "condition_id",
    "condition_ids",
    "clob_token_ids",
    "id",
    "slug",
    "order",
    "ascending",
    "creator",
];

impl MarketsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(KNOWN)?;
        let texts = |name| -> Result<Option<Vec<String>>, CatalogError> {
            let entries = parameters.list(name)?;
            Ok(entries.map(|entries| entries.into_iter().map(str::to_owned).collect()))
        };
        Ok(Self {
            page: Page::of(parameters)?,
            flags: FlagFilter::of(parameters)?,
            tag_slug: owned(parameters, &["tag_slug", "tag"])?,
            tag_id: id(parameters, "tag_id")?,
            event_id: id(parameters, "event_id")?,
            event_slug: owned(parameters, &["event_slug", "eventSlug"])?,
            condition_id: owned(parameters, &["conditionId", "condition_id"])?,
            condition_ids: texts("condition_ids")?,
            clob_token_ids: texts("clob_token_ids")?,
            ids: parameters.list("id")?.map(numbers).transpose()?,
            slug: owned(parameters, &["slug"])?,
            order: Order::of(parameters)?,
            creator: owned(parameters, &["creator"])?,
        })
    }
}

fn numbers(entries: Vec<&str>) -> Result<Vec<u64>, CatalogError> {
    let number = |text| whole(text).ok_or_else(|| wrong("id", text, "whole numbers"));
    entries.into_iter().map(number).collect()
}
