//! A whole list, oldest first.
//!
//! Each page begins a few rows before the end of the one before. When none of those rows is there,
//! the list has become shorter in between and rows slipped past: the pass goes back. Rows that come
//! twice are harmless, since putting a record again changes nothing.

use std::collections::HashSet;

use super::Next;
use crate::limits::{PAGE_OVERLAP, PAGE_ROWS};
use crate::upstream::Page;

/// Where a pass over a whole list stands.
#[derive(Clone, Debug, Default)]
pub struct FullPass {
    offset: u64,
    /// Ids of the last page; empty at the beginning and after a restart.
    last: HashSet<String>,
    /// Rows of the last page that the next one begins with; none when a page is a single row.
    overlap: u64,
    /// Most rows that one page brought: an upstream may give fewer than asked for.
    page: u64,
}

impl FullPass {
    /// A pass that goes on from `offset`, as [`Self::offset`] said before a restart, or from 0.
    #[must_use]
    pub fn from(offset: u64) -> Self {
        Self {
            // What slipped past just before the restart is looked for, too.
            offset: offset.saturating_sub(PAGE_ROWS),
            ..Self::default()
        }
    }

    /// Rows to pass over in the next request.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the page that began at [`Self::offset`].
    pub fn take(&mut self, page: &Page) -> Next {
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
        self.page = self.page.max(rows);
        let ids: HashSet<String> = page
            .rows
            .iter()
            .map(|row| row.id.clone())
            .filter(|id| !id.is_empty())
            .collect();
        let overlaps = self.offset > 0 && self.overlap > 0;
        let slipped = overlaps && !self.last.is_empty() && self.last.is_disjoint(&ids);
        if slipped {
            self.offset = self.offset.saturating_sub(self.page.max(1));
            return Next::Again;
        }
        // Rows without an id cannot be told apart, so they alone never keep a pass going.
        let is_new = ids.iter().any(|id| !self.last.contains(id));
        if rows == 0 || !is_new {
            return Next::Done;
        }
        self.overlap = PAGE_OVERLAP.min(rows / 2);
        self.offset = self.offset.saturating_add(rows - self.overlap);
        self.last = ids;
        Next::More
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::upstream::Row;

    fn page(list: &[u64], offset: u64, limit: u64) -> Page {
        let skipped = list.iter().skip(usize::try_from(offset).unwrap());
        let row = |id: &u64| Row {
            id: id.to_string(),
            updated: None,
            content: Ok(Vec::new()),
        };
        let limit = usize::try_from(limit).unwrap();
        Page {
            rows: skipped.take(limit).map(row).collect(),
            bytes: 0,
        }
    }

    /// Reads `list`, which `change` alters before each page; every id that was seen.
    fn read(
        mut list: Vec<u64>,
        limit: u64,
        mut change: impl FnMut(usize, &mut Vec<u64>),
    ) -> BTreeSet<u64> {
        let (mut pass, mut seen) = (FullPass::default(), BTreeSet::new());
        for number in 0..10_000 {
            change(number, &mut list);
            let page = page(&list, pass.offset(), limit);
            seen.extend(page.rows.iter().map(|row| row.id.parse::<u64>().unwrap()));
            if pass.take(&page) == Next::Done {
                return seen;
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
    fn an_upstream_that_ignores_the_offset_ends_the_pass() {
        let mut pass = FullPass::default();
        let first = page(&all(0..500), 0, 100);
        assert_eq!(pass.take(&first), Next::More);
        assert_eq!(pass.take(&first), Next::Done);
    }

    #[test]
    fn rows_that_slip_past_are_fetched() {
        // A hundred rows at the front go away just before the third page.
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
        // And when the list ends before the place that is asked for.
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
        assert_eq!(FullPass::from(0).offset(), 0);
        assert_eq!(FullPass::from(40).offset(), 0);
        let mut pass = FullPass::from(450);
        assert_eq!(pass.offset(), 350);
        assert_eq!(pass.take(&page(&all(0..500), 350, 100)), Next::More);
        assert_eq!(pass.take(&Page::default()), Next::Again);
    }

    proptest! {
        /// Rows come at both ends and go away anywhere while the list is read: what was there all
        /// the time is read.
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
