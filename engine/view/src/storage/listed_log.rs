//! A log whose rows are listed, such as the actions of each account.

use crate::error::Impossible;
use crate::storage::chunk::Chunking;
use crate::storage::list::Lists;
use crate::storage::log::Log;
use crate::storage::row::LogRow;

/// A log, and lists of its rows by a dense number. Each row is in one list.
#[derive(Debug)]
pub(crate) struct ListedLog<R> {
    pub(crate) rows: Log<R>,
    pub(crate) lists: Lists,
}

impl<R: LogRow> ListedLog<R> {
    pub(crate) fn new(chunking: Chunking) -> Self {
        Self {
            rows: Log::new(chunking),
            lists: Lists::new(chunking),
        }
    }

    /// Appends a row to the list with this number.
    pub(crate) fn push(&mut self, list: usize, row: &R) -> Result<(), Impossible> {
        self.lists.push(list, self.rows.len())?;
        self.rows.push(row)?;
        Ok(())
    }

    /// Length of a list.
    pub(crate) fn count(&self, list: usize) -> u64 {
        self.lists.list(list).len()
    }

    /// Number of oldest rows of a list that satisfy `early`, which must hold for a prefix of it.
    pub(crate) fn count_while(&self, list: usize, early: impl Fn(&R) -> bool) -> u64 {
        let early = |slot| self.rows.get(slot).is_some_and(|row| early(&row));
        self.lists.list(list).partition_point(early)
    }

    /// The row of a list at an index, the oldest at 0.
    pub(crate) fn get(&self, list: usize, index: u64) -> Option<R> {
        self.rows.get(self.lists.list(list).get(index)?)
    }

    /// The `end` oldest rows of a list, newest first.
    pub(crate) fn newest_first(&self, list: usize, end: u64) -> impl Iterator<Item = R> {
        let slots = self.lists.list(list).newest_first(end);
        slots.filter_map(|slot| self.rows.get(slot))
    }
}
