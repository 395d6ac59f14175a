//! The page of a list: `limit` with `offset`, or with `cursor` in version 2.

use std::cmp::Ordering;

use serde_json::Value as Json;

use core::marker::PhantomData;

use crate::data::read::cursor::{CursorText, PlaceKey, RowKey};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_V2_ROWS, PageBounds};
use crate::read::query::family::Family;
use crate::read::query::fields::{Field, Or};
use crate::read::query::parameter::Parameter;
use crate::read::query::parameters::{ParameterSet, Parameters};
use crate::read::query::reader::Reader;
use crate::read::query::text_form::{Rows, TextForm, Whole, Words};

/// The rows of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitOffset {
    /// Most rows shown.
    pub limit: usize,
    /// Rows skipped before the first.
    pub offset: usize,
}

/// A list of version 1 that comes in pages.
pub trait Listed: Parameters {
    /// Bounds of its page in version 1.
    const PAGE: PageBounds;
}

/// A list of version 2, which comes in pages.
pub trait V2Listed: Parameters {
    /// What a cursor holds of a row.
    type Key: RowKey;
}

/// A list of version 1: its parameters, `limit` and `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V1List<Q> {
    /// The parameters of the list.
    pub query: Q,
    /// The page.
    pub page: LimitOffset,
}

/// A list of version 1 that also goes on by `cursor`, beyond its largest offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V1Walk<Q: V2Listed> {
    /// The parameters of the list.
    pub query: Q,
    /// The page.
    pub page: LimitOffset,
    /// The last row of the page before.
    pub after: Option<Q::Key>,
}

/// A list of version 2: its parameters, `limit` and `cursor`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V2List<Q: V2Listed> {
    /// The parameters of the list.
    pub query: Q,
    /// Most rows of the page, and the rows of the pages before, which only the answer shows.
    pub page: LimitOffset,
    /// The last row of the page before.
    pub after: Option<Q::Key>,
}

pub(crate) const LIMIT: Parameter = Parameter::new("limit", "Maximum number of rows.");
const OFFSET: Parameter = Parameter::new("offset", "Rows to skip.");
pub(crate) const CURSOR: Parameter =
    Parameter::new("cursor", "The `next_cursor` of the page before.");

const V1_CURSOR: Parameter =
    Parameter::new("cursor", "The header `x-next-cursor` of the page before.");

const V2_LIMIT: Or<Rows> = Or(Rows(Whole(1, MAX_V2_ROWS)), "100");

const fn up_to(most: u32) -> Whole {
    Whole(0, most)
}

#[cfg(feature = "documents")]
fn with_default(mut schema: Json, default: u32) -> Json {
    schema["default"] = default.into();
    schema
}

impl<Q: Listed> Parameters for V1List<Q> {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = &ParameterSet::of(&[
        Q::PARAMETERS,
        &[
            Parameter {
                #[cfg(feature = "documents")]
                schema: || with_default(up_to(Q::PAGE.max_rows).schema(), Q::PAGE.default_rows),
                ..LIMIT
            },
            Parameter {
                #[cfg(feature = "documents")]
                schema: || with_default(up_to(Q::PAGE.max_offset).schema(), 0),
                ..OFFSET
            },
        ],
    ]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let PageBounds {
            default_rows,
            max_rows,
            max_offset,
        } = Q::PAGE;
        let limit = reader.optional(&LIMIT, &Rows(up_to(max_rows)))?;
        let offset = reader.optional(&OFFSET, &up_to(max_offset))?;
        Ok(Self {
            query: Q::take(reader)?,
            page: LimitOffset {
                limit: limit.unwrap_or(default_rows as usize),
                offset: offset.unwrap_or(0),
            },
        })
    }
}

impl<Q: Listed + V2Listed> Parameters for V1Walk<Q> {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = &ParameterSet::of(&[
        V1List::<Q>::PARAMETERS,
        &[Parameter {
            #[cfg(feature = "documents")]
            schema: || CursorText::<Q::Key>(PhantomData).schema(),
            ..V1_CURSOR
        }],
    ]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let V1List { query, page } = V1List::<Q>::take(reader)?;
        query.check_page(reader, page.limit)?;
        Ok(Self {
            query,
            page,
            after: reader.optional(&CURSOR, &CursorText(PhantomData))?,
        })
    }
}

impl<Q: V2Listed> Parameters for V2List<Q> {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = &ParameterSet::in_v2(&[
        Q::PARAMETERS,
        &[
            Parameter {
                #[cfg(feature = "documents")]
                schema: || V2_LIMIT.schema(),
                ..LIMIT
            },
            Parameter {
                #[cfg(feature = "documents")]
                schema: || CursorText::<PlaceKey<Q::Key>>(PhantomData).schema(),
                ..CURSOR
            },
        ],
    ]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let limit = V2_LIMIT.take(reader, &LIMIT)?;
        NoOffset::take(reader)?;
        let place = reader.optional(&CURSOR, &CursorText(PhantomData))?;
        let (offset, after) = place.map_or((0, None), |place: PlaceKey<Q::Key>| {
            (place.offset as usize, Some(place.key))
        });
        let reader = reader.in_v2();
        let query = Q::take(&reader)?;
        query.check_page(&reader, limit)?;
        Ok(Self {
            query,
            page: LimitOffset { limit, offset },
            after,
        })
    }
}

/// Refuses an `offset`. Version 2 goes on by cursor, so that who ignores one reads the same rows again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoOffset;

impl Parameters for NoOffset {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = &ParameterSet::of(&[]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        match reader.text(&OFFSET)? {
            Some(_) => {
                let why = "version 2 has no offset, allowed: cursor, the next_cursor of a page";
                Err(ErrorCode::InvalidParameter.with([&OFFSET.name, &why]))
            }
            None => Ok(Self),
        }
    }
}

/// Parameters of version 1 under the names of version 2, of an answer that comes in one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V2<Q>(pub Q);

impl<Q: Parameters> Parameters for V2<Q> {
    const FAMILY: Family = Q::FAMILY;
    const SET: &'static ParameterSet = &ParameterSet::in_v2(&[Q::PARAMETERS]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        Q::take(&reader.in_v2()).map(Self)
    }
}

/// `sortDirection`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

pub(crate) const DIRECTION: Words<Direction> = Words(&[
    ("ASC", Direction::Ascending),
    ("DESC", Direction::Descending),
]);

impl Direction {
    /// Applies the direction to an ascending ordering.
    #[must_use]
    pub const fn apply(self, ordering: Ordering) -> Ordering {
        match self {
            Self::Ascending => ordering,
            Self::Descending => ordering.reverse(),
        }
    }
}

/// The rows of a page, in order. `compare` must be a total order without ties, or paging would
/// repeat some rows and omit others. Sorts only the rows before the page's end.
#[must_use]
pub fn page<T>(
    mut rows: Vec<T>,
    page: LimitOffset,
    mut compare: impl FnMut(&T, &T) -> Ordering,
) -> Vec<T> {
    let end = page.offset.saturating_add(page.limit);
    if page.offset >= rows.len() || page.limit == 0 {
        return Vec::new();
    }
    if end < rows.len() {
        rows.select_nth_unstable_by(end, &mut compare);
        rows.truncate(end);
    }
    if page.offset > 0 {
        rows.select_nth_unstable_by(page.offset, &mut compare);
        rows.drain(..page.offset);
    }
    rows.sort_unstable_by(compare);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_follow_each_other_and_show_each_row_once(
            keys in prop::collection::vec(0..5_u8, 0..60),
            limit in 1..20_usize,
            descending: bool,
        ) {
            let direction = if descending { Direction::Descending } else { Direction::Ascending };
            let compare = |a: &(u8, usize), b: &(u8, usize)| {
                direction.apply(a.0.cmp(&b.0)).then(a.1.cmp(&b.1))
            };
            let rows: Vec<_> = keys.into_iter().zip(0..).collect();
            let mut sorted = rows.clone();
            sorted.sort_by(compare);
            let mut shown = Vec::new();
            for offset in (0..=rows.len()).step_by(limit) {
                shown.extend(page(rows.clone(), LimitOffset { limit, offset }, compare));
            }
            prop_assert_eq!(shown, sorted);
        }
    }

    #[test]
    fn nothing_is_shown_of_nothing_or_behind_the_end() {
        for (limit, offset) in [(0, 0), (5, 3), (0, 2), (5, usize::MAX)] {
            let rows = page(vec![1, 2, 3], LimitOffset { limit, offset }, i32::cmp);
            assert!(rows.is_empty(), "{limit} {offset}");
        }
    }
}
