//! A pass through a whole list, oldest rows first.
//!
//! By offset, each page repeats the last rows of the previous page. If none of them is there, rows
//! were deleted and others slipped before the offset, so the pass goes back. Repeated rows are
//! harmless, because storing a record again changes nothing.

use std::collections::HashSet;

use super::{PassStep, id_set};
use crate::limits::{MAX_PAGE_ROWS, MAX_STALLED_PAGES, PAGE_OVERLAP, PAGE_ROWS};
use crate::upstream::{Position, UpstreamPage};

/// State of a pass through a whole list.
#[derive(Clone, Debug)]
pub struct FullPass {
    position: Position,
    /// Ids of the last page; empty at the start and after a restart.
    last: HashSet<String>,
    /// Rows of the last page that the next one repeats; none when a page is a single row.
    overlap: u64,
    /// Most rows of a page so far; an upstream may send fewer than requested.
    page: u64,
    /// Pages by offset since the last new row that repeat the last page.
    stalled: u32,
    /// Cursors so far.
    cursors: HashSet<String>,
}

impl FullPass {
    /// Begins at `position`, which is that of an earlier pass after a restart.
    #[must_use]
    pub fn from(position: Position) -> Self {
        Self {
            position: match position {
                // Goes back one page, because rows may have slipped just before the restart.
                Position::Offset(offset) => Position::Offset(offset.saturating_sub(PAGE_ROWS)),
                cursor @ Position::Cursor(_) => cursor,
            },
            last: HashSet::new(),
            overlap: 0,
            page: 0,
            stalled: 0,
            cursors: HashSet::new(),
        }
    }

    /// Position of the next request.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Processes the page at [`Self::position`].
    pub fn take(&mut self, page: &UpstreamPage) -> PassStep {
        let ids = id_set(page);
        let step = match self.position {
            Position::Offset(offset) => self.by_offset(offset, page, &ids),
            Position::Cursor(_) => self.by_cursor(page, &ids),
        };
        if step == PassStep::More {
            self.last = ids;
        }
        step
    }

    fn by_offset(&mut self, offset: u64, page: &UpstreamPage, ids: &HashSet<String>) -> PassStep {
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
        self.page = self.page.max(rows);
        // Rows without an id are indistinguishable, so they never count as new.
        let is_new = !ids.is_subset(&self.last);
        // The end of the list repeats the rows before it, and no more.
        if rows > 0 && !is_new && rows <= self.overlap {
            return PassStep::Done;
        }
        // Without a new row, a page shows the end of the list, unless it is the last one again. An empty page is beyond
        // the end of a list that became shorter; the pass goes back until it finds rows.
        let is_stalled = rows > 0 && *ids == self.last;
        self.stalled = match is_new {
            true => 0,
            false => self.stalled + u32::from(is_stalled),
        };
        if self.stalled > MAX_STALLED_PAGES {
            // More rows than requested, and always the same: the whole list in one page.
            let is_whole = rows > PAGE_ROWS && page.rows.len() < MAX_PAGE_ROWS;
            return if is_whole {
                PassStep::Done
            } else {
                PassStep::Repeats
            };
        }
        let overlaps = offset > 0 && self.overlap > 0;
        if overlaps && !self.last.is_empty() && self.last.is_disjoint(ids) {
            self.position = Position::Offset(offset.saturating_sub(self.page.max(1)));
            return PassStep::Again;
        }
        if rows == 0 {
            return PassStep::Done;
        }
        self.overlap = PAGE_OVERLAP.min(rows / 2);
        self.position = Position::Offset(offset.saturating_add(rows - self.overlap));
        PassStep::More
    }

    fn by_cursor(&mut self, page: &UpstreamPage, ids: &HashSet<String>) -> PassStep {
        let repeats = !page.rows.is_empty() && ids.is_subset(&self.last);
        let Some(next) = &page.next_cursor else {
            return if repeats {
                PassStep::Repeats
            } else {
                PassStep::Done
            };
        };
        // The next page begins after the last row, also after one that was not read.
        let is_cut = page.rows.len() >= MAX_PAGE_ROWS;
        if is_cut || repeats || !self.cursors.insert(next.clone()) {
            return PassStep::Repeats;
        }
        self.position = Position::Cursor(Some(next.clone()));
        PassStep::More
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::upstream::PageRow;

    fn page(list: &[u64], offset: u64, limit: u64) -> UpstreamPage {
        let skipped = list.iter().skip(usize::try_from(offset).unwrap());
        let row = |id: &u64| PageRow {
            id: id.to_string(),
            updated: None,
            content: Ok(Vec::new()),
        };
        let limit = usize::try_from(limit).unwrap();
        UpstreamPage {
            rows: skipped.take(limit).map(row).collect(),
            ..UpstreamPage::default()
        }
    }

    fn offset(pass: &FullPass) -> u64 {
        match pass.position() {
            Position::Offset(offset) => *offset,
            cursor @ Position::Cursor(_) => panic!("{cursor:?}"),
        }
    }

    fn from(offset: u64) -> FullPass {
        FullPass::from(Position::Offset(offset))
    }

    /// Reads `list`, which `change` alters before each page; returns the ids seen.
    fn read(
        mut list: Vec<u64>,
        limit: u64,
        mut change: impl FnMut(usize, &mut Vec<u64>),
    ) -> BTreeSet<u64> {
        let (mut pass, mut seen) = (from(0), BTreeSet::new());
        for number in 0..10_000 {
            change(number, &mut list);
            let page = page(&list, offset(&pass), limit);
            seen.extend(page.rows.iter().map(|row| row.id.parse::<u64>().unwrap()));
            match pass.take(&page) {
                PassStep::Done => return seen,
                PassStep::Repeats => panic!("nothing is repeated"),
                _ => {}
            }
        }
        panic!("the pass does not end");
    }

    fn all(ids: std::ops::Range<u64>) -> Vec<u64> {
        ids.collect()
    }

    #[test]
    fn every_row_of_a_quiet_list_is_read_whatever_a_page_holds() {
        for rows in [0, 1, 2, 9, 10, 99, 100, 101, 190, 250, 1_000] {
            for limit in [1, 2, 5, 10, 11, 100] {
                let seen = read(all(0..rows), limit, |_, _| {});
                assert_eq!(
                    seen.len(),
                    usize::try_from(rows).unwrap(),
                    "{rows} by {limit}"
                );
            }
        }
    }

    #[test]
    fn an_upstream_that_ignores_the_offset_is_found_out() {
        let mut pass = from(0);
        let first = page(&all(0..350), 0, 100);
        let steps = [(); 4].map(|()| pass.take(&first));
        let expected = [
            PassStep::More,
            PassStep::More,
            PassStep::More,
            PassStep::Repeats,
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn an_upstream_that_sends_all_in_one_page_is_read_whole() {
        let mut pass = from(0);
        let first = page(&all(0..350), 0, 350);
        let steps = [(); 4].map(|()| pass.take(&first));
        assert_eq!(steps[3], PassStep::Done);
    }

    #[test]
    fn a_list_that_ends_before_its_end_is_found_out() {
        let mut pass = from(0);
        for _ in 0..20 {
            let at = offset(&pass);
            let cut = if at == 0 { all(0..350) } else { Vec::new() };
            match pass.take(&page(&cut, 0, 100)) {
                PassStep::Done => panic!("100 rows are not all"),
                PassStep::Repeats => return,
                _ => {}
            }
        }
        panic!("the pass does not end");
    }

    #[test]
    fn cursors_lead_through_a_list_once() {
        let at = |list: std::ops::Range<u64>, next: Option<&str>| UpstreamPage {
            next_cursor: next.map(str::to_owned),
            is_wrapped: true,
            ..page(&all(list), 0, 100)
        };
        let mut pass = FullPass::from(Position::Cursor(None));
        assert_eq!(pass.take(&at(0..100, Some("a"))), PassStep::More);
        assert_eq!(pass.position(), &Position::Cursor(Some("a".into())));
        assert_eq!(
            pass.take(&at(0..0, Some("b"))),
            PassStep::More,
            "a filter may leave a page empty"
        );
        assert_eq!(
            pass.take(&at(100..103, Some("c"))),
            PassStep::More,
            "and a short one is not the last"
        );
        assert_eq!(pass.clone().take(&at(103..110, None)), PassStep::Done);
        assert_eq!(pass.clone().take(&at(0..0, None)), PassStep::Done);
        assert_eq!(
            pass.clone().take(&at(103..110, Some("a"))),
            PassStep::Repeats,
            "a cursor again"
        );
        assert_eq!(
            pass.clone().take(&at(100..103, Some("d"))),
            PassStep::Repeats,
            "a page again"
        );
        assert_eq!(pass.take(&at(100..103, None)), PassStep::Repeats);
    }

    #[test]
    fn rows_that_slip_past_are_fetched() {
        // A hundred rows at the front are deleted just before the third page.
        let gone = |number, list: &mut Vec<u64>| {
            if number == 2 {
                list.drain(..100);
            }
        };
        let seen = read(all(0..1_000), 100, gone);
        assert_eq!(
            seen.len(),
            1_000,
            "all were there while they were read, or stayed"
        );
        // The list becomes shorter than the requested offset.
        let seen = read(all(0..200), 100, |number, list| {
            if number == 1 {
                list.drain(..50);
                list.truncate(60);
            }
        });
        assert!(all(50..110).iter().all(|id| seen.contains(id)));
    }

    #[test]
    fn a_pass_goes_on_after_a_restart_a_page_before_its_place() {
        assert_eq!(offset(&from(0)), 0);
        assert_eq!(offset(&from(40)), 0);
        let mut pass = from(450);
        assert_eq!(offset(&pass), 350);
        assert_eq!(pass.take(&page(&all(0..500), 350, 100)), PassStep::More);
        assert_eq!(pass.take(&UpstreamPage::default()), PassStep::Again);
    }

    proptest! {
        /// Rows are added at both ends and deleted anywhere during the pass. The pass must read
        /// every row that is always there.
        #[test]
        fn what_stays_is_read(
            rows in 0..600_u64,
            limit in 20..120_u64,
            changes in prop::collection::vec((0..3_u8, 0..1_000_usize, 0..9_usize), 0..20),
        ) {
            let mut gone = BTreeSet::new();
            let mut fresh = 10_000;
            let seen = read(all(0..rows), limit, |number, list| {
                let Some(&(what, at, count)) = changes.get(number) else { return };
                match what {
                    0 => list.splice(0..0, (0..count).map(|_| { fresh += 1; fresh })).for_each(drop),
                    1 => list.extend((0..count).map(|_| { fresh += 1; fresh })),
                    _ => {
                        let at = at.min(list.len());
                        let end = (at + count).min(list.len());
                        gone.extend(list.drain(at..end));
                    }
                }
            });
            for id in (0..rows).filter(|id| !gone.contains(id)) {
                prop_assert!(seen.contains(&id), "{} was never read", id);
            }
        }
    }
}
