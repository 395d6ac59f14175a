//! Parameters that several lists share.

use super::order::Column;
use super::parameters::{Parameters, amount, wrong};
use crate::error::CatalogError;
use crate::record::read_date;
use crate::sort_key::{MISSING, sortable};

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
    /// Required `featured`.
    pub featured: Option<bool>,
    /// Required `cyom`.
    pub cyom: Option<bool>,
}

impl FlagFilter {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Ok(Self {
            active: parameters.flag("active")?,
            closed: parameters.flag("closed")?,
            archived: parameters.flag("archived")?,
            featured: parameters.flag("featured")?,
            cyom: parameters.flag("cyom")?,
        })
    }
}

/// An inclusive range of a column's values; a missing value is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The column.
    pub column: Column,
    /// Smallest value: microseconds since 1970, or the key of an amount.
    pub(crate) min: i64,
    /// Largest value.
    pub(crate) max: i64,
}

/// Names of the smallest and the largest value of a column, and whether it is a date.
const RANGES: [(Column, bool, &[&str], &[&str]); 4] = [
    (
        Column::StartDate,
        true,
        &["start_date_min"],
        &["start_date_max"],
    ),
    (Column::EndDate, true, &["end_date_min"], &["end_date_max"]),
    (
        Column::Volume,
        false,
        &["volume_min", "volume_num_min"],
        &["volume_max", "volume_num_max"],
    ),
    (
        Column::Liquidity,
        false,
        &["liquidity_min", "liquidity_num_min"],
        &["liquidity_max", "liquidity_num_max"],
    ),
];

impl Range {
    /// The ranges that a request names.
    pub(super) fn of(parameters: &Parameters) -> Result<Vec<Self>, CatalogError> {
        let mut ranges = Vec::new();
        for (column, is_date, min, max) in RANGES {
            let bound = |names: &[&'static str]| -> Result<Option<i64>, CatalogError> {
                match is_date {
                    true => date(parameters, names),
                    false => amount_key(parameters, names),
                }
            };
            let (min, max) = (bound(min)?, bound(max)?);
            if min.is_some() || max.is_some() {
                ranges.push(Self {
                    column,
                    min: min.unwrap_or(MISSING),
                    max: max.unwrap_or(i64::MAX),
                });
            }
        }
        Ok(ranges)
    }

    /// The range from the value of `name` up.
    pub(super) fn at_least(
        parameters: &Parameters,
        name: &'static str,
        column: Column,
    ) -> Result<Option<Self>, CatalogError> {
        let min = amount_key(parameters, &[name])?;
        Ok(min.map(|min| Self {
            column,
            min,
            max: i64::MAX,
        }))
    }
}

fn date(parameters: &Parameters, names: &[&'static str]) -> Result<Option<i64>, CatalogError> {
    let Some((name, text)) = parameters.named(names)? else {
        return Ok(None);
    };
    // A plus that was not escaped arrives as a space.
    let date = read_date(text).or_else(|| read_date(&text.replace(' ', "+")));
    let date = date.ok_or_else(|| wrong(name, text, "a date: 2026-01-31, 2026-01-31T12:00:00Z"));
    date.map(|date| Some(date.as_microsecond()))
}

fn amount_key(
    parameters: &Parameters,
    names: &[&'static str],
) -> Result<Option<i64>, CatalogError> {
    let Some((name, text)) = parameters.named(names)? else {
        return Ok(None);
    };
    let amount = amount(text).ok_or_else(|| wrong(name, text, "a decimal number"));
    amount.map(|amount| Some(sortable(amount)))
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
