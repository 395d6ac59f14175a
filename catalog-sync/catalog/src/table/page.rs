//! The rows of one page of a list.

use std::ops::{Range as Window, RangeInclusive};

use super::place::Place;
use super::ranking::Ranking;
use super::rows::{Rows, WantedFlags};
use crate::query::{Column, FlagFilter, Order, Page, Range};

/// The parameters of a list.
pub(crate) struct ListRequest<'q> {
    pub(crate) flags: FlagFilter,
    pub(crate) order: &'q Order,
    pub(crate) page: Page,
    /// The rows before it are left out.
    pub(crate) after: Option<&'q Place>,
    pub(crate) ranges: &'q [Range],
    /// The selected records without duplicates; `None` for all.
    pub(crate) selection: Option<Vec<i64>>,
}

impl Rows {
    /// The page of the rows that pass `keep`.
    pub(crate) fn page(&self, request: &ListRequest<'_>, keep: impl Fn(u32) -> bool) -> Vec<u32> {
        let wanted = WantedFlags::from(request.flags);
        let within = |row: u32| {
            request
                .ranges
                .iter()
                .all(|range| self.is_within(row, range))
        };
        let Page { limit, offset } = request.page;
        let by = self.rankings(request.order);
        let Some((first, rest)) = by.split_first() else {
            // The table is empty.
            return Vec::new();
        };
        let ascending = request.order.ascending;
        let follows = |row: u32| {
            let after = request.after;
            after.is_none_or(|place| self.is_after(row, place, &by, ascending))
        };
        let keep =
            |row: &u32| self.has(*row, wanted) && within(*row) && follows(*row) && keep(*row);
        let kept: Vec<u32> = match &request.selection {
            Some(ids) => {
                let rows = ids.iter().filter_map(|id| self.row_of(*id));
                rows.filter(keep).collect()
            }
            // Rankings already break ties by id.
            None if rest.len() <= 1 => {
                let mut rows = self.that_follow(first, request.after, &by, ascending);
                let mut rows_back = rows.clone().rev();
                let next: &mut dyn Iterator<Item = u32> = match ascending {
                    true => &mut rows,
                    false => &mut rows_back,
                };
                return next.filter(keep).skip(offset).take(limit).collect();
            }
            None => first.sorted().iter().copied().filter(keep).collect(),
        };
        let mut page = Vec::with_capacity(limit);
        arrange(kept, &by, ascending, offset..offset + limit, &mut page);
        page
    }

    /// The rows of a ranking that come after a place, the smallest first.
    fn that_follow<'r>(
        &self,
        ranking: &'r Ranking,
        after: Option<&Place>,
        by: &[&Ranking],
        ascending: bool,
    ) -> impl DoubleEndedIterator<Item = u32> + Clone + 'r {
        let sorted = ranking.sorted();
        let rows = match after {
            None => sorted,
            Some(place) => {
                let is_after = |row: &u32| self.is_after(*row, place, by, ascending);
                let end = sorted.partition_point(|row| is_after(row) != ascending);
                if ascending {
                    &sorted[end..]
                } else {
                    &sorted[..end]
                }
            }
        };
        rows.iter().copied()
    }

    /// The rankings of a sort order, ending with the id, which is unique.
    pub(super) fn rankings(&self, order: &Order) -> Vec<&Ranking> {
        let columns = order.before_id().chain([Column::Id]);
        columns.filter_map(|column| self.ranking(column)).collect()
    }
}

/// Appends the rows of a sort window to a page.
///
/// Partitions the rows by the first ranking. Only groups of equal rows that cross an end of the
/// window are sorted by the next ranking. So a page costs about one pass through the rows per
/// ranking, wherever the window is.
fn arrange(
    rows: Vec<u32>,
    by: &[&Ranking],
    ascending: bool,
    window: Window<usize>,
    page: &mut Vec<u32>,
) {
    let window = window.start.min(rows.len())..window.end.min(rows.len());
    if window.is_empty() {
        return;
    }
    let Some((first, rest)) = by.split_first().filter(|_| rows.len() > 1) else {
        page.extend_from_slice(&rows[window]);
        return;
    };
    let rank = |row: u32| match ascending {
        true => first.rank(row),
        false => !first.rank(row),
    };
    let of_all = rank(rows[0]);
    if rows.iter().all(|row| rank(*row) == of_all) {
        return arrange(rows, rest, ascending, window, page);
    }
    let mut ranked: Vec<(u32, u32)> = rows.into_iter().map(|row| (rank(row), row)).collect();
    let ranks = ranks_within(&mut ranked, &window);
    let less = ranked.iter().filter(|(rank, _)| rank < ranks.start());
    let mut place = less.count();
    ranked.retain(|(rank, _)| ranks.contains(rank));
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    for equal in ranked.chunk_by(|one, other| one.0 == other.0) {
        let start = window.start.max(place) - place;
        let rows = equal.iter().map(|(_, row)| *row).collect();
        arrange(rows, rest, ascending, start..window.end - place, page);
        place += equal.len();
    }
}

/// The lowest and highest rank in a non-empty window.
fn ranks_within(ranked: &mut [(u32, u32)], window: &Window<usize>) -> RangeInclusive<u32> {
    let rank = |(rank, _): &(u32, u32)| *rank;
    let (_, (lowest, _), behind) = ranked.select_nth_unstable_by_key(window.start, rank);
    let last = match window.len() {
        1 => *lowest,
        rows => behind.select_nth_unstable_by_key(rows - 2, rank).1.0,
    };
    *lowest..=last
}
