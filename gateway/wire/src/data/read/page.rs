//! Selects the page of a sorted list.

use crate::errors::api_error::ApiError;
use std::cmp::Ordering;

use crate::data::read::parameters::Parameters;
use crate::limits::PageBounds;

/// `limit` and `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitOffset {
    /// Most rows shown.
    pub limit: usize,
    /// Rows skipped before the first.
    pub offset: usize,
}

/// `sortDirection`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl LimitOffset {
    /// Reads `limit` and `offset`.
    pub(crate) fn of(parameters: &Parameters<'_>, bounds: PageBounds) -> Result<Self, ApiError> {
        Ok(Self {
            limit: parameters.whole("limit", bounds.default_rows, bounds.max_rows)?,
            offset: parameters.whole("offset", 0, bounds.max_offset)?,
        })
    }
}

impl Direction {
    pub(crate) fn of(parameters: &Parameters<'_>) -> Result<Self, ApiError> {
        let words = [("ASC", Self::Ascending), ("DESC", Self::Descending)];
        let given = parameters.choice("sortDirection", &words)?;
        Ok(given.unwrap_or(Self::Descending))
    }

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
