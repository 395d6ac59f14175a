//! A pass through changes: a list by `updatedAt`, newest first, down to the newest row of the last
//! pass.

use std::collections::HashSet;

use jiff::Timestamp;

use super::PassStep;
use crate::limits::{PAGE_OVERLAP, UPDATE_OVERLAP};
use crate::upstream::UpstreamPage;

/// State of a pass through changes.
#[derive(Clone, Debug)]
pub struct UpdatedPass {
    since: Timestamp,
    newest: Option<Timestamp>,
    offset: u64,
    last: HashSet<String>,
}

impl UpdatedPass {
    /// A pass through rows that changed after `seen`, the newest `updatedAt` of the previous pass,
    /// less [`UPDATE_OVERLAP`].
    #[must_use]
    pub fn since(seen: Timestamp) -> Self {
        Self {
            since: seen.checked_sub(UPDATE_OVERLAP).unwrap_or(Timestamp::MIN),
            newest: None,
            offset: 0,
            last: HashSet::new(),
        }
    }

    /// Offset of the next request.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The newest `updatedAt` so far.
    #[must_use]
    pub const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// Processes the page at [`Self::offset`].
    pub fn take(&mut self, page: &UpstreamPage) -> PassStep {
        let times: Vec<Timestamp> = page.rows.iter().filter_map(|row| row.updated).collect();
        if !times.is_sorted_by(|newer, older| newer >= older) {
            return PassStep::Unordered;
        }
        self.newest = self.newest.max(times.first().copied());
        let ids: HashSet<String> = page.rows.iter().map(|row| row.id.clone()).collect();
        if ids.is_subset(&self.last) || times.last().is_some_and(|oldest| *oldest < self.since) {
            return PassStep::Done;
        }
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
        self.offset = self
            .offset
            .saturating_add(rows - PAGE_OVERLAP.min(rows / 2));
        self.last = ids;
        PassStep::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::PageRow;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_770_000_000 + second).unwrap()
    }

    fn page(seconds: &[i64]) -> UpstreamPage {
        let row = |second: &i64| PageRow {
            id: second.to_string(),
            updated: Some(at(*second)),
            content: Ok(Vec::new()),
        };
        UpstreamPage {
            rows: seconds.iter().map(row).collect(),
            bytes: 0,
        }
    }

    #[test]
    fn it_reads_until_the_rows_are_older_than_what_was_seen() {
        let mut pass = UpdatedPass::since(at(1_000));
        assert_eq!(pass.take(&page(&[1_900, 1_800, 1_000])), PassStep::More);
        assert_eq!(pass.offset(), 2, "a row is asked for again");
        assert_eq!(
            pass.take(&page(&[1_000, 700, 700])),
            PassStep::More,
            "300 s before are read again"
        );
        assert_eq!(pass.take(&page(&[700, 699])), PassStep::Done);
        assert_eq!(pass.newest(), Some(at(1_900)));
    }

    #[test]
    fn a_list_that_ends_or_repeats_itself_is_done() {
        let mut pass = UpdatedPass::since(at(0));
        assert_eq!(pass.take(&page(&[2_000, 1_999])), PassStep::More);
        assert_eq!(pass.clone().take(&page(&[])), PassStep::Done);
        assert_eq!(pass.take(&page(&[2_000, 1_999])), PassStep::Done);
        assert_eq!(
            UpdatedPass::since(Timestamp::MIN).take(&page(&[])),
            PassStep::Done
        );
    }

    #[test]
    fn an_upstream_that_keeps_another_order_is_found_out() {
        let mut pass = UpdatedPass::since(at(0));
        assert_eq!(
            pass.take(&page(&[1_000, 2_000, 1_500])),
            PassStep::Unordered
        );
        let mut undated = page(&[3_000, 2_000]);
        undated.rows[0].updated = None;
        assert_eq!(
            pass.take(&undated),
            PassStep::More,
            "what has no time decides nothing"
        );
    }
}
