//! Filters by the tags and series of an event group, which apply to its markets as well.

use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;

/// Filters by tags and series; they combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFilter {
    /// One of these tags: `tag`, `tag_slug`.
    pub tag_slugs: Option<Vec<String>>,
    /// One of these tags, or all of them.
    pub tag_ids: Option<Vec<u64>>,
    /// Whether all of [`Self::tag_ids`] are needed.
    pub all_tags: bool,
    /// Whether tags related to the named ones count, too.
    pub related_tags: bool,
    /// None of these tags.
    pub exclude_tag_ids: Vec<u64>,
    /// One of these series.
    pub series_slugs: Option<Vec<String>>,
    /// One of these series.
    pub series_ids: Option<Vec<u64>>,
    /// Recurrence of a series.
    pub recurrence: Option<String>,
}

/// Names of the filters.
pub(super) const GROUP_FILTERS: &[&str] = &[
    "tag",
    "tag_id",
    "tag_slug",
    "tag_match",
    "related_tags",
    "exclude_tag_id",
    "series_slug",
    "series_id",
    "recurrence",
];

impl GroupFilter {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        let [tag_slugs, tags] = [parameters.texts("tag_slug")?, parameters.texts("tag")?];
        if tag_slugs.is_some() && tags.is_some() {
            return Err(CatalogError::BadRequest(
                "tag_slug or tag is given more than once, allowed: once".to_owned(),
            ));
        }
        let filter = Self {
            tag_slugs: tag_slugs.or(tags),
            tag_ids: parameters.ids("tag_id")?,
            all_tags: parameters.word("tag_match", &["any", "all"])? == Some("all"),
            related_tags: parameters.flag("related_tags")?.unwrap_or(false),
            exclude_tag_ids: parameters.ids("exclude_tag_id")?.unwrap_or_default(),
            series_slugs: parameters.texts("series_slug")?,
            series_ids: parameters.ids("series_id")?,
            recurrence: parameters.text(&["recurrence"])?.map(str::to_owned),
        };
        if filter.all_tags && filter.tag_ids.is_none() {
            return Err(wrong("tag_match", "all", "only with tag_id"));
        }
        let names_tags = filter.tag_slugs.is_some() || filter.tag_ids.is_some();
        match filter.related_tags && !names_tags {
            true => Err(wrong(
                "related_tags",
                "true",
                "only with tag_id or tag_slug",
            )),
            false => Ok(filter),
        }
    }
}
