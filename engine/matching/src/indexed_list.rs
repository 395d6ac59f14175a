//! A list of records, in order of arrival, with an index by key. None is ever removed.

use crate::table::Table;

/// The records and their index. Methods that use the index take the hash of the key.
#[derive(Debug)]
pub(crate) struct IndexedList<T> {
    records: Vec<T>,
    by_key: Table,
}

impl<T> IndexedList<T> {
    pub(crate) fn with_capacity(records: usize) -> Self {
        Self {
            records: Vec::with_capacity(records),
            by_key: Table::with_capacity(records),
        }
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.records.iter()
    }

    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        let at = |number: u32| &self.records[number as usize];
        self.by_key.find(hash, |number| is_it(at(number))).map(at)
    }

    pub(crate) fn find_mut(&mut self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        let is_at = |number: u32| is_it(&self.records[number as usize]);
        let found = self.by_key.find(hash, is_at)?;
        self.records.get_mut(found as usize)
    }

    /// Prefetches the index entry of a key with this hash.
    pub(crate) fn prefetch(&self, hash: u32) {
        self.by_key.prefetch(hash);
    }

    /// Appends a record whose key is not in the index yet.
    pub(crate) fn push(&mut self, hash: u32, record: T) {
        let number = u32::try_from(self.records.len()).expect("memory ends before 2^31 records");
        self.by_key.insert(hash, number);
        self.records.push(record);
    }
}
