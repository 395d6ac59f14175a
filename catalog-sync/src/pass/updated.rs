//! What changed since last time: a list by `updatedAt`, newest first, until it is older than what
//! was seen then.

use std::collections::HashSet;

use jiff::Timestamp;

use super::Next;
use crate::limits::{PAGE_OVERLAP, UPDATE_OVERLAP};
use crate::upstream::Page;

/// Where a pass over the changes stands.
#[derive(Clone, Debug)]
pub struct UpdatedPass {
    since: Timestamp,
    newest: Option<Timestamp>,
    offset: u64,
    last: HashSet<String>,
}

impl UpdatedPass {
    /// A pass over what changed after `seen`, the newest `updatedAt` of the pass before, and a
    /// little before it.
    #[must_use]
    pub fn since(seen: Timestamp) -> Self {
        Self {
            since: seen.checked_sub(UPDATE_OVERLAP).unwrap_or(Timestamp::MIN),
            newest: None,
            offset: 0,
            last: HashSet::new(),
        }
    }

    /// Rows to pass over in the next request.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The newest `updatedAt` so far.
    #[must_use]
    pub const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// Takes the page that began at [`Self::offset`].
    pub fn take(&mut self, page: &Page) -> Next {
        let times: Vec<Timestamp> = page.rows.iter().filter_map(|row| row.updated).collect();
        if !times.is_sorted_by(|newer, older| newer >= older) {
            return Next::Unordered;
        }
        self.newest = self.newest.max(times.first().copied());
        let ids: HashSet<String> = page.rows.iter().map(|row| row.id.clone()).collect();
        if ids.is_subset(&self.last) || times.last().is_some_and(|oldest| *oldest < self.since) {
            return Next::Done;
        }
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
        self.offset = self
            .offset
            .saturating_add(rows - PAGE_OVERLAP.min(rows / 2));
        self.last = ids;
        Next::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::Row;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_770_000_000 + second).unwrap()
    }

    fn page(seconds: &[i64]) -> Page {
        let row = |second: &i64| Row {
            id: second.to_string(),
            updated: Some(at(*second)),
            content: Ok(Vec::new()),
        };
        Page {
            rows: seconds.iter().map(row).collect(),
            bytes: 0,
        }
    }

    #[test]
    fn it_reads_until_the_rows_are_older_than_what_was_seen() {
        let mut pass = UpdatedPass::since(at(1_000));
        assert_eq!(pass.take(&page(&[1_900, 1_800, 1_000])), Next::More);
        assert_eq!(pass.offset(), 2, "a row is asked for again");
        assert_eq!(
            pass.take(&page(&[1_000, 700, 700])),
            Next::More,
            "300 s before are read again"
        );
        assert_eq!(pass.take(&page(&[700, 699])), Next::Done);
        assert_eq!(pass.newest(), Some(at(1_900)));
    }

    #[test]
    fn a_list_that_ends_or_repeats_itself_is_done() {
        let mut pass = UpdatedPass::since(at(0));
        assert_eq!(pass.take(&page(&[2_000, 1_999])), Next::More);
        assert_eq!(pass.clone().take(&page(&[])), Next::Done);
        assert_eq!(pass.take(&page(&[2_000, 1_999])), Next::Done);
        assert_eq!(
            UpdatedPass::since(Timestamp::MIN).take(&page(&[])),
            Next::Done
        );
    }

    #[test]
    fn an_upstream_that_keeps_another_order_is_found_out() {
        let mut pass = UpdatedPass::since(at(0));
        assert_eq!(pass.take(&page(&[1_000, 2_000, 1_500])), Next::Unordered);
        let mut undated = page(&[3_000, 2_000]);
        undated.rows[0].updated = None;
        assert_eq!(
            pass.take(&undated),
            Next::More,
            "what has no time decides nothing"
        );
    }
}
