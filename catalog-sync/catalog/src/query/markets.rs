//! `GET /markets`

use super::filters::{FlagFilter, Page, Range, id, owned};
use super::groups::{GROUP_FILTERS, GroupFilter};
use super::keyset::{self, Cursor};
use super::order::{Column, Order};
use super::parameters::Parameters;
use crate::error::CatalogError;

/// Parameters of `GET /markets`; filters combine with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarketsQuery {
    /// The page.
    pub page: Page,
    /// The row that the page follows, on keyset paths.
    pub after: Option<Cursor>,
    /// Filter by lifecycle.
    pub flags: FlagFilter,
    /// Filter by tags and series of the event.
    pub groups: GroupFilter,
    /// Filter by ranges of dates and amounts.
    pub ranges: Vec<Range>,
    /// Filter by any of several questions.
    pub question_ids: Option<Vec<String>>,
    /// Filter by any of several market makers.
    pub market_makers: Option<Vec<String>>,
    /// Filter by any of several games of the market or its event.
    pub game_ids: Option<Vec<String>>,
    /// Filter by any of several types.
    pub sports_market_types: Option<Vec<String>>,
    /// Filter by any of several states of the upstream's resolution.
    pub uma_resolution_status: Option<Vec<String>>,
    /// Whether to add the tags of the event.
    pub include_tag: bool,
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
    /// Filter by any of several slugs.
    pub slugs: Option<Vec<String>>,
    /// Sort order.
    pub order: Order,
    /// Filter by creator: an address or a site.
    pub creator: Option<String>,
}

const KNOWN: &[&str] = &[
    "limit",
    "active",
    "closed",
    "archived",
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
    "question_ids",
    "market_maker_address",
    "game_id",
    "sports_market_types",
    "uma_resolution_status",
    "rewards_min_size",
    "include_tag",
    "locale",
];

impl MarketsQuery {
    /// Reads the parameters of `GET /markets`.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, false)
    }

    /// Reads the parameters of `GET /markets/keyset`.
    ///
    /// # Errors
    /// Those of [`Self::of`].
    pub fn of_keyset(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, true)
    }

    fn read(parameters: &Parameters, is_keyset: bool) -> Result<Self, CatalogError> {
        parameters.only(&[KNOWN, GROUP_FILTERS, &[keyset::name(is_keyset)]])?;
        parameters.locale()?;
        let mut ranges = Range::of(parameters)?;
        ranges.extend(Range::at_least(
            parameters,
            "rewards_min_size",
            Column::RewardsMinSize,
        )?);
        let order = Order::of(parameters)?;
        Ok(Self {
            page: Page::of(parameters)?,
            after: keyset::after(parameters, &order, is_keyset)?,
            flags: FlagFilter::of(parameters)?,
            groups: GroupFilter::of(parameters)?,
            ranges,
            question_ids: parameters.texts("question_ids")?,
            market_makers: parameters.texts("market_maker_address")?,
            game_ids: parameters.texts("game_id")?,
            sports_market_types: parameters.texts("sports_market_types")?,
            uma_resolution_status: parameters.texts("uma_resolution_status")?,
            include_tag: parameters.flag("include_tag")?.unwrap_or(false),
            event_id: id(parameters, "event_id")?,
            event_slug: owned(parameters, &["event_slug", "eventSlug"])?,
            condition_id: owned(parameters, &["conditionId", "condition_id"])?,
            condition_ids: parameters.texts("condition_ids")?,
            clob_token_ids: parameters.texts("clob_token_ids")?,
            ids: parameters.ids("id")?,
            slugs: parameters.texts("slug")?,
            order,
            creator: owned(parameters, &["creator"])?,
        })
    }
}
