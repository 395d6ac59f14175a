//! `GET /events`

use super::filters::{FlagFilter, Page, Range, owned};
use super::groups::{GROUP_FILTERS, GroupFilter};
use super::keyset::{self, Cursor};
use super::order::Order;
use super::parameters::Parameters;
use crate::error::CatalogError;

/// Parameters of `GET /events`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsQuery {
    /// The page.
    pub page: Page,
    /// The row that the page follows, on keyset paths.
    pub after: Option<Cursor>,
    /// Filter by lifecycle.
    pub flags: FlagFilter,
    /// Filter by tags and series.
    pub groups: GroupFilter,
    /// Filter by ranges of dates and amounts.
    pub ranges: Vec<Range>,
    /// Filter by any of several ids.
    pub ids: Option<Vec<u64>>,
    /// Filter by any of several slugs.
    pub slugs: Option<Vec<String>>,
    /// Filter by any of several games.
    pub game_ids: Option<Vec<String>>,
    /// Sort order.
    pub order: Order,
    /// Filter by creator of the event or of one of its markets: an address or a site.
    pub creator: Option<String>,
    /// Stored fields to add.
    pub extras: EventExtras,
}

/// Fields of the original record that an event has on request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventExtras {
    /// `chats`
    pub chats: bool,
    /// `templates`
    pub templates: bool,
}

impl EventExtras {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Ok(Self {
            chats: parameters.flag("include_chat")?.unwrap_or(false),
            templates: parameters.flag("include_template")?.unwrap_or(false),
        })
    }
}

const KNOWN: &[&str] = &[
    "limit",
    "active",
    "closed",
    "archived",
    "id",
    "slug",
    "order",
    "ascending",
    "creator",
    "featured",
    "cyom",
    "start_date_min",
    "start_date_max",
    "end_date_min",
    "end_date_max",
    "volume_min",
    "volume_max",
    "volume_num_min",
    "volume_num_max",
    "liquidity_min",
    "liquidity_max",
    "liquidity_num_min",
    "liquidity_num_max",
    "game_id",
    "include_chat",
    "include_template",
    "locale",
];

impl EventsQuery {
    /// Reads the parameters of `GET /events`.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, false)
    }

    /// Reads the parameters of `GET /events/keyset`.
    ///
    /// # Errors
    /// Those of [`Self::of`].
    pub fn of_keyset(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, true)
    }

    fn read(parameters: &Parameters, is_keyset: bool) -> Result<Self, CatalogError> {
        parameters.only(&[KNOWN, GROUP_FILTERS, &[keyset::name(is_keyset)]])?;
        parameters.locale()?;
        let order = Order::of(parameters)?;
        Ok(Self {
            page: Page::of(parameters)?,
            after: keyset::after(parameters, &order, is_keyset)?,
            flags: FlagFilter::of(parameters)?,
            groups: GroupFilter::of(parameters)?,
            ranges: Range::of(parameters)?,
            ids: parameters.ids("id")?,
            slugs: parameters.texts("slug")?,
            game_ids: parameters.texts("game_id")?,
            order,
            creator: owned(parameters, &["creator"])?,
            extras: EventExtras::of(parameters)?,
        })
    }
}
