//! `GET /series` and `GET /tags`.

use super::filters::{Page, owned};
use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;

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

/// Sort order of series or tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmallOrder {
    /// The column.
    pub column: SmallColumn,
    /// Smallest first.
    pub ascending: bool,
}

impl SmallOrder {
    fn of(parameters: &Parameters, title: &str) -> Result<Self, CatalogError> {
        let names = parameters.list("order")?.unwrap_or_default();
        let allowed = format!("one of id, slug, {title}, createdAt, updatedAt");
        let column = match names[..] {
            [] | ["id"] => SmallColumn::Id,
            ["slug"] => SmallColumn::Slug,
            ["createdAt" | "created_at"] => SmallColumn::CreatedAt,
            ["updatedAt" | "updated_at"] => SmallColumn::UpdatedAt,
            [name] if name == title => SmallColumn::Title,
            _ => return Err(wrong("order", &names.join(","), &allowed)),
        };
        Ok(Self {
            column,
            ascending: parameters.flag("ascending")?.unwrap_or(false),
        })
    }
}

/// Parameters of `GET /series`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesQuery {
    /// The page.
    pub page: Page,
    /// Sort order.
    pub order: SmallOrder,
    /// Filter by creator of one of its events: an address or a site.
    pub creator: Option<String>,
    /// Filter by any of several slugs.
    pub slugs: Option<Vec<String>>,
    /// Filter by `closed`.
    pub closed: Option<bool>,
    /// Filter by recurrence.
    pub recurrence: Option<String>,
    /// Filter by the ids of its stored categories.
    pub category_ids: Option<Vec<String>>,
    /// Filter by the labels of its stored categories.
    pub category_labels: Option<Vec<String>>,
    /// Whether to leave out `events`.
    pub exclude_events: bool,
}

impl SeriesQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&[&[
            "limit",
            "offset",
            "creator",
            "slug",
            "closed",
            "recurrence",
            "order",
            "ascending",
            "categories_ids",
            "categories_labels",
            "exclude_events",
            "locale",
        ]])?;
        parameters.locale()?;
        Ok(Self {
            page: Page::of(parameters)?,
            order: SmallOrder::of(parameters, "title")?,
            creator: owned(parameters, &["creator"])?,
            slugs: parameters.texts("slug")?,
            closed: parameters.flag("closed")?,
            recurrence: owned(parameters, &["recurrence"])?,
            category_ids: parameters.texts("categories_ids")?,
            category_labels: parameters.texts("categories_labels")?,
            exclude_events: parameters.flag("exclude_events")?.unwrap_or(false),
        })
    }
}

/// Parameters of `GET /tags`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagsQuery {
    /// The page.
    pub page: Page,
    /// Sort order.
    pub order: SmallOrder,
    /// Filter by creator of one of its events: an address or a site.
    pub creator: Option<String>,
    /// Filter by `isCarousel`.
    pub is_carousel: Option<bool>,
    /// Whether to add the stored `templates`.
    pub include_template: bool,
}

impl TagsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&[&[
            "limit",
            "offset",
            "creator",
            "order",
            "ascending",
            "is_carousel",
            "include_template",
            "locale",
        ]])?;
        parameters.locale()?;
        Ok(Self {
            page: Page::of(parameters)?,
            order: SmallOrder::of(parameters, "label")?,
            creator: owned(parameters, &["creator"])?,
            is_carousel: parameters.flag("is_carousel")?,
            include_template: parameters.flag("include_template")?.unwrap_or(false),
        })
    }
}
