//! Parameters that several lists share.

use super::parameters::Parameters;
use crate::error::CatalogError;

/// Allowed rows of a page.
const LIMIT: std::ops::RangeInclusive<u64> = 1..=500;
/// Default rows of a page.
const DEFAULT_LIMIT: u64 = 100;
/// Highest offset.
const MAX_OFFSET: u64 = u32::MAX as u64;

/// The requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Most rows, 1 to 500.
    pub limit: u32,
    /// Rows to skip.
    pub offset: u32,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            limit: 100,
            offset: 0,
        }
    }
}

impl Page {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        let limit = parameters.number("limit", LIMIT, "1 to 500")?;
        let offset = parameters.number("offset", 0..=MAX_OFFSET, "0 to 4294967295")?;
        Ok(Self {
            limit: u32::try_from(limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(u32::MAX),
            offset: u32::try_from(offset.unwrap_or(0)).unwrap_or(u32::MAX),
        })
    }
}

/// Filters by lifecycle; `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagFilter {
    /// Required `active`.
    pub active: Option<bool>,
    /// Required `closed`.
    pub closed: Option<bool>,
    /// Required `archived`.
    pub archived: Option<bool>,
}

impl FlagFilter {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Ok(Self {
            active: parameters.flag("active")?,
            closed: parameters.flag("closed")?,
            archived: parameters.flag("archived")?,
        })
    }
}

/// An id of another record: 1 to 63 bits.
pub(super) fn id(parameters: &Parameters, name: &'static str) -> Result<Option<u64>, CatalogError> {
    parameters.number(name, 0..=u64::MAX, "a whole number")
}

/// An optional text, owned.
pub(super) fn owned(
    parameters: &Parameters,
    names: &[&'static str],
) -> Result<Option<String>, CatalogError> {
    Ok(parameters.text(names)?.map(str::to_owned))
}
