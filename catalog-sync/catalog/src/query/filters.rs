//! Parameters that several lists share.

use std::borrow::Cow;

use foretell_wire::parameters;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::family::Family;
use foretell_wire::read::query::parameters::Parameters as _;
use foretell_wire::read::query::text_form::TextForm;

use super::forms::{Amount, Date, Flag, LIMIT, LastDate, OFFSET};
use super::order::Column;
use crate::sort_key::MISSING;

parameters! {
    /// The requested page of a list.
    #[derive(Copy)]
    pub struct Page: Catalog {
        /// Maximum number of rows.
        pub limit: usize = or(LIMIT, "100"),
        /// Rows to skip.
        pub offset: usize = or(OFFSET, "0"),
    }

    /// Filters by lifecycle; `None` matches everything.
    #[derive(Copy, Default)]
    pub struct FlagFilter: Catalog {
        /// Filter by `active`.
        pub active: Option<bool> = optional(Flag),
        /// Filter by `closed`.
        pub closed: Option<bool> = family_or(Closed, "false"),
        /// Filter by `archived`.
        pub archived: Option<bool> = optional(Flag),
        /// Filter by `featured`.
        pub featured: Option<bool> = optional(Flag),
        /// Filter by `cyom`.
        pub cyom: Option<bool> = optional(Flag),
    }

    /// Bounds of dates, in microseconds since 1970, and of amounts, as their keys.
    #[derive(Copy, Default)]
    pub struct Bounds: Catalog {
        /// Earliest `start_date`, inclusive.
        pub(crate) start_date_min: Option<i64> = optional(Date),
        /// Latest `start_date`, inclusive; of a day without a time, its end.
        pub(crate) start_date_max: Option<i64> = optional(LastDate),
        /// Earliest `end_date`, inclusive.
        pub(crate) end_date_min: Option<i64> = optional(Date),
        /// Latest `end_date`, inclusive; of a day without a time, its end.
        pub(crate) end_date_max: Option<i64> = optional(LastDate),
        /// Smallest stored volume, inclusive.
        pub(crate) volume_min: Option<i64> = optional(Amount) or "volume_num_min",
        /// Largest stored volume, inclusive.
        pub(crate) volume_max: Option<i64> = optional(Amount) or "volume_num_max",
        /// Smallest stored liquidity, inclusive.
        pub(crate) liquidity_min: Option<i64> = optional(Amount) or "liquidity_num_min",
        /// Largest stored liquidity, inclusive.
        pub(crate) liquidity_max: Option<i64> = optional(Amount) or "liquidity_num_max",
    }
}

/// A flag that filters lists by `closed`; in the API family `any` is no filter.
#[derive(Clone, Copy, Debug)]
struct Closed;

impl TextForm for Closed {
    type Value = Option<bool>;

    fn read(&self, text: &str) -> Option<Self::Value> {
        TextForm::read(&Flag, text).map(Some)
    }

    fn read_in_family(&self, text: &str) -> Option<Self::Value> {
        (text == "any").then_some(None)
    }

    fn allowed(&self, family: Family) -> Cow<'static, str> {
        TextForm::allowed(&Flag, family)
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> serde_json::Value {
        TextForm::schema(&Flag)
    }
}

/// The first page.
impl Default for Page {
    fn default() -> Self {
        Self::read(&Query::default()).expect("every parameter has a default")
    }
}

impl Bounds {
    /// The ranges of the columns that have a bound.
    pub(crate) fn ranges(&self) -> Vec<Range> {
        let columns = [
            (Column::StartDate, self.start_date_min, self.start_date_max),
            (Column::EndDate, self.end_date_min, self.end_date_max),
            (Column::Volume, self.volume_min, self.volume_max),
            (Column::Liquidity, self.liquidity_min, self.liquidity_max),
        ];
        let ranges = columns.into_iter();
        ranges
            .filter_map(|(column, min, max)| Range::of(column, min, max))
            .collect()
    }
}

/// An inclusive range of a column's values; a missing value is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The column.
    pub(crate) column: Column,
    /// Smallest value: microseconds since 1970, or the key of an amount.
    pub(crate) min: i64,
    /// Largest value.
    pub(crate) max: i64,
}

impl Range {
    /// The range of a column's values; `None` without a bound.
    pub(super) fn of(column: Column, min: Option<i64>, max: Option<i64>) -> Option<Self> {
        (min.is_some() || max.is_some()).then(|| Self {
            column,
            min: min.unwrap_or(MISSING),
            max: max.unwrap_or(i64::MAX),
        })
    }
}
