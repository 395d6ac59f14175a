//! A pass through changes: a list by `updatedAt`, newest first, down to the newest row of the last
//! pass.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{PassStep, id_set};
use crate::limits::{PAGE_OVERLAP, UPDATE_OVERLAP};
use crate::upstream::{Position, UpstreamPage};

/// State of a pass through changes.
#[derive(Clone, Debug)]
pub struct UpdatedPass {
    since: Timestamp,
    newest: Option<Timestamp>,
    position: Position,
    /// Ids of the last page.
    last: HashSet<String>,
    /// Rows of the last page that the next one repeats.
    overlap: u64,
}

impl UpdatedPass {
    /// A pass from `position`, the beginning of the list, through rows that changed after `seen`, the
    /// newest `updatedAt` of the previous pass, less [`UPDATE_OVERLAP`].
    #[must_use]
    pub fn since(seen: Timestamp, position: Position) -> Self {
        Self {
            since: seen.checked_sub(UPDATE_OVERLAP).unwrap_or(Timestamp::MIN),
            newest: None,
            position,
            last: HashSet::new(),
            overlap: 0,
        }
    }

    /// Position of the next request.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The newest `updatedAt` so far.
    #[must_use]
    pub const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// Processes the page at [`Self::position`].
    pub fn take(&mut self, page: &UpstreamPage) -> PassStep {
        let times: Vec<Timestamp> = page.rows.iter().filter_map(|row| row.updated).collect();
        if !times.is_sorted_by(|newer, older| newer >= older) {
            return PassStep::Unordered;
        }
        self.newest = self.newest.max(times.first().copied());
        if times.last().is_some_and(|oldest| *oldest < self.since) {
            return PassStep::Done;
        }
        let ids = id_set(page);
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
        let is_new = !ids.is_subset(&self.last);
        self.position = match (&self.position, &page.next_cursor) {
            (Position::Offset(_), _) if rows <= self.overlap && !is_new => return PassStep::Done,
            (Position::Cursor(_), None) => return PassStep::Done,
            _ if rows > 0 && !is_new => return PassStep::Repeats,
            (Position::Cursor(last), next) if last == next => return PassStep::Repeats,
            (Position::Cursor(_), next) => Position::Cursor(next.clone()),
            (Position::Offset(offset), _) => {
                self.overlap = PAGE_OVERLAP.min(rows / 2);
                Position::Offset(offset.saturating_add(rows - self.overlap))
            }
        };
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
            ..UpstreamPage::default()
        }
    }

    fn since(second: i64) -> UpdatedPass {
        UpdatedPass::since(at(second), Position::Offset(0))
    }

    #[test]
    fn it_reads_until_the_rows_are_older_than_what_was_seen() {
        let mut pass = since(1_000);
        assert_eq!(pass.take(&page(&[1_900, 1_800, 1_000])), PassStep::More);
        let second = Position::Offset(2);
        assert_eq!(pass.position(), &second, "a row is asked for again");
        assert_eq!(
            pass.take(&page(&[1_000, 700, 700])),
            PassStep::More,
            "300 s before are read again"
        );
        assert_eq!(pass.take(&page(&[700, 699])), PassStep::Done);
        assert_eq!(pass.newest(), Some(at(1_900)));
    }

    #[test]
    fn a_list_that_ends_is_done_and_one_that_repeats_itself_is_not() {
        let mut pass = since(0);
        assert_eq!(pass.take(&page(&[2_000, 1_999])), PassStep::More);
        assert_eq!(pass.clone().take(&page(&[])), PassStep::Done);
        assert_eq!(pass.clone().take(&page(&[1_999])), PassStep::Done);
        assert_eq!(pass.take(&page(&[2_000, 1_999])), PassStep::Repeats);
        let mut all = UpdatedPass::since(Timestamp::MIN, Position::Offset(0));
        assert_eq!(all.take(&page(&[])), PassStep::Done);

        let mut pass = UpdatedPass::since(at(0), Position::Cursor(None));
        let next = |seconds: &[i64], next: &str| UpstreamPage {
            next_cursor: Some(next.to_owned()),
            ..page(seconds)
        };
        assert_eq!(pass.take(&next(&[2_000, 1_999], "a")), PassStep::More);
        assert_eq!(pass.position(), &Position::Cursor(Some("a".into())));
        assert_eq!(
            pass.clone().take(&next(&[2_000, 1_999], "b")),
            PassStep::Repeats
        );
        assert_eq!(pass.clone().take(&next(&[1_998], "a")), PassStep::Repeats);
        assert_eq!(pass.take(&page(&[1_998])), PassStep::Done);
    }

    #[test]
    fn an_upstream_that_keeps_another_order_is_found_out() {
        let mut pass = since(0);
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
