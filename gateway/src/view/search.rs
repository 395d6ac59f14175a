//! Searches over many rows: in steps, each under a lock hold of its own, keeping only the rows that a
//! page may show.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use foretell_wire::data::{LimitOffset, page};

use crate::app::App;
use crate::http::answer::StatePosition;
use crate::policy::work::rest;
use crate::view::shared_view::ViewState;

/// Rows visited under one lock hold: some lists have millions.
pub(crate) const STEP: usize = 4_096;

/// Calls `step` under a lock hold each until it breaks; other requests run in between. Returns what
/// it breaks with, and the state of the first hold.
pub(crate) async fn in_steps<T>(
    app: &App,
    mut step: impl FnMut(&ViewState) -> ControlFlow<T>,
) -> (T, StatePosition) {
    let mut first = None;
    loop {
        {
            let state = app.shared_view.read();
            let position = *first.get_or_insert(state.position());
            if let ControlFlow::Break(result) = step(&state) {
                return (result, position);
            }
        }
        rest().await;
    }
}

/// Ends the steps if the search is complete.
pub(crate) const fn break_if(is_complete: bool) -> ControlFlow<()> {
    match is_complete {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// A page of a list whose entries have numbers, the newest first. The number of the last entry that was
/// visited is where the next page goes on, so a page costs what it visits.
pub(crate) struct PageBack<R> {
    limit: usize,
    /// Entries that may still be visited.
    left: usize,
    before: Option<u32>,
    rows: Vec<R>,
}

impl<R> PageBack<R> {
    /// Entries visited for a page.
    const MOST_VISITED: usize = 1 << 16;

    /// The page of entries before a number, or of the newest ones.
    pub(crate) const fn new(before: Option<u32>, limit: usize) -> Self {
        Self {
            limit,
            left: Self::MOST_VISITED,
            before,
            rows: Vec::new(),
        }
    }

    /// The number of the last entry visited.
    pub(crate) const fn before(&self) -> Option<u32> {
        self.before
    }

    /// Visits up to `step` of the entries before [`Self::before`]; `row` makes a row of one that is
    /// looked for. Breaks when the page is full or has visited its most.
    pub(crate) fn step<T>(
        &mut self,
        step: usize,
        entries: impl Iterator<Item = (u32, T)>,
        mut row: impl FnMut(T) -> Option<R>,
    ) -> ControlFlow<()> {
        let mut visited = 0;
        for (number, entry) in entries.take(step.min(self.left)) {
            visited += 1;
            self.before = Some(number);
            self.rows.extend(row(entry));
            if self.rows.len() == self.limit {
                return ControlFlow::Break(());
            }
        }
        self.left -= visited;
        if visited < step {
            self.before = self.before.filter(|_| self.left == 0);
        }
        break_if(visited < step)
    }

    /// The rows, and the number before which the next page begins; `None` after the oldest entry.
    pub(crate) fn finish(self) -> (Vec<R>, Option<u32>) {
        (self.rows, self.before.filter(|before| *before > 0))
    }
}

/// The rows of a page among all that are added. Memory is bounded by the page, not by the list.
pub(crate) struct BestRows<K> {
    page: LimitOffset,
    rows: Vec<K>,
}

impl<K> BestRows<K> {
    pub(crate) fn new(page: LimitOffset) -> Self {
        Self {
            page,
            rows: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn push(&mut self, row: K) {
        self.rows.push(row);
    }

    /// Once there are at least `spare` rows more than twice the page's end, keeps those up to the end
    /// and returns the last of them; otherwise does nothing. `compare` is the order of [`page`].
    pub(crate) fn trim(
        &mut self,
        spare: usize,
        compare: impl FnMut(&K, &K) -> Ordering,
    ) -> Option<&K> {
        let LimitOffset { limit, offset } = self.page;
        let limit = limit + offset;
        if self.rows.len() < 2 * limit + spare {
            return None;
        }
        let offset = 0;
        self.rows = page(
            std::mem::take(&mut self.rows),
            LimitOffset { limit, offset },
            compare,
        );
        self.rows.last()
    }

    /// The rows of the page, in order.
    pub(crate) fn finish(&mut self, compare: impl FnMut(&K, &K) -> Ordering) -> Vec<K> {
        page(std::mem::take(&mut self.rows), self.page, compare)
    }
}

/// A page of a list: after some rows, or after one of them.
#[derive(Clone, Copy)]
pub(crate) struct PageFrom<K> {
    pub(crate) page: LimitOffset,
    /// The last row of the page before.
    pub(crate) after: Option<K>,
}

impl<K> PageFrom<K> {
    /// The page after a row, or the first one.
    pub(crate) const fn after(row: Option<K>, limit: usize) -> Self {
        let offset = 0;
        Self {
            page: LimitOffset { limit, offset },
            after: row,
        }
    }

    /// The page with one row more, which shows whether another page follows.
    pub(crate) fn with_next(mut self) -> Self {
        self.page.limit += 1;
        self
    }
}

impl<K> From<LimitOffset> for PageFrom<K> {
    fn from(page: LimitOffset) -> Self {
        Self { page, after: None }
    }
}

/// Removes the row that [`PageFrom::with_next`] added. Returns the page's last row if there was one more.
pub(crate) fn end_page<T>(rows: &mut Vec<T>, limit: usize) -> Option<&T> {
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| has_more)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The pages of the even numbers below 20, and the entries that each visits.
    fn pages(limit: usize, most: usize, step: usize) -> Vec<(Vec<u32>, usize)> {
        let (mut before, mut pages) = (None, Vec::new());
        loop {
            let visited = Cell::new(0);
            let mut page = PageBack::new(before, limit);
            page.left = most;
            loop {
                let end = page.before().unwrap_or(20);
                let entries = (0..end).rev().map(|number| {
                    visited.set(visited.get() + 1);
                    (number, number)
                });
                let row = |number: u32| number.is_multiple_of(2).then_some(number);
                if page.step(step, entries, row).is_break() {
                    break;
                }
            }
            let (rows, next) = page.finish();
            pages.push((rows, visited.get()));
            before = next;
            if next.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn pages_back_have_every_row_once_and_cost_what_they_visit() {
        for (limit, most, step) in [
            (3, 100, 4),
            (3, 100, 100),
            (1, 5, 2),
            (100, 3, 2),
            (100, 100, 20),
        ] {
            let pages = pages(limit, most, step);
            let rows: Vec<u32> = pages.iter().flat_map(|(rows, _)| rows).copied().collect();
            let expected: Vec<u32> = (0..20_u32)
                .rev()
                .filter(|number| number.is_multiple_of(2))
                .collect();
            assert_eq!(rows, expected, "{limit} {most} {step}");
            assert!(pages.iter().all(|(rows, _)| rows.len() <= limit));
            let visited: usize = pages.iter().map(|(_, visited)| visited).sum();
            assert_eq!(visited, 20, "{limit} {most} {step}: {pages:?}");
        }
    }

    #[test]
    fn a_page_of_many_rows_is_found_in_few() {
        let page = LimitOffset {
            limit: 3,
            offset: 2,
        };
        let mut best = BestRows::new(page);
        let mut largest = 0;
        for row in (0..1_000).map(|row| row * 7_919 % 1_000) {
            best.push(row);
            let last = best.trim(4, Ord::cmp).copied();
            assert!(last.is_none_or(|last| best.rows.iter().all(|row| *row <= last)));
            largest = largest.max(best.len());
        }
        assert_eq!(best.finish(Ord::cmp), [2, 3, 4]);
        assert!(largest <= 14, "{largest}");
    }
}
