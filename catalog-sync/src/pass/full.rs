//! A pass through a whole list, oldest rows first.
//!
//! Each page repeats the last rows of the previous page. If none of them is there, rows were
//! deleted and others slipped before the offset, so the pass goes back. Repeated rows are harmless,
//! because storing a record again changes nothing.

use std::collections::HashSet;

use super::PassStep;
use crate::limits::{PAGE_OVERLAP, PAGE_ROWS};
use crate::upstream::UpstreamPage;

/// State of a pass through a whole list.
#[derive(Clone, Debug, Default)]
pub struct FullPass {
    offset: u64,
    /// Ids of the last page; empty at the start and after a restart.
    last: HashSet<String>,
    /// Rows of the last page that the next one repeats; none when a page is a single row.
    overlap: u64,
    /// Most rows of a page so far; an upstream may send fewer than requested.
    page: u64,
}

impl FullPass {
    /// Continues at `offset`, the value of [`Self::offset`] before a restart, or starts at 0.
    #[must_use]
    pub fn from(offset: u64) -> Self {
        Self {
            // Goes back one page, because rows may have slipped just before the restart.
            offset: offset.saturating_sub(PAGE_ROWS),
            ..Self::default()
        }
    }

    /// Offset of the next request.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Processes the page at [`Self::offset`].
    pub fn take(&mut self, page: &UpstreamPage) -> PassStep {
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
            return PassStep::Again;
        }
        // Rows without an id are indistinguishable, so they never count as new.
        let is_new = ids.iter().any(|id| !self.last.contains(id));
        if rows == 0 || !is_new {
            return PassStep::Done;
        }
        self.overlap = PAGE_OVERLAP.min(rows / 2);
        self.offset = self.offset.saturating_add(rows - self.overlap);
        self.last = ids;
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
            bytes: 0,
        }
    }

    /// Reads `list`, which `change` alters before each page; returns the ids seen.
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
            if pass.take(&page) == PassStep::Done {
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
        assert_eq!(pass.take(&first), PassStep::More);
        assert_eq!(pass.take(&first), PassStep::Done);
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
        assert_eq!(FullPass::from(0).offset(), 0);
        assert_eq!(FullPass::from(40).offset(), 0);
        let mut pass = FullPass::from(450);
        assert_eq!(pass.offset(), 350);
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
