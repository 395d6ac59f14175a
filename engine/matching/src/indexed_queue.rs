//! A FIFO of records with an index by key.

use std::collections::VecDeque;

use crate::table::Table;

/// Mask of record numbers; keeps every table value below `u32::MAX`.
const NUMBER_MASK: u32 = (1 << 31) - 1;

/// A queue of records with an index. Methods that use the index take the hash of the key.
#[derive(Debug)]
pub(crate) struct IndexedQueue<T> {
    records: VecDeque<T>,
    by_key: Table,
    /// Number of the front record, modulo 2^31.
    front: u32,
}

impl<T> IndexedQueue<T> {
    pub(crate) fn with_capacity(records: usize) -> Self {
        Self {
            records: VecDeque::with_capacity(records),
            by_key: Table::with_capacity(records),
            front: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn front(&self) -> Option<&T> {
        self.records.front()
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.records.iter()
    }

    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        self.position(hash, is_it).map(|at| &self.records[at])
    }

    pub(crate) fn find_mut(&mut self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        self.position(hash, is_it).map(|at| &mut self.records[at])
    }

    /// Prefetches the index entry of a key with this hash.
    pub(crate) fn prefetch(&self, hash: u32) {
        self.by_key.prefetch(hash);
    }

    /// Appends a record whose key is not in the index yet.
    pub(crate) fn push(&mut self, hash: u32, record: T) {
        let at = u32::try_from(self.records.len()).expect("memory ends before 2^31 records");
        self.by_key.insert(hash, (self.front + at) & NUMBER_MASK);
        self.records.push_back(record);
    }

    /// Evicts the oldest record; `hash` is the hash of its key.
    pub(crate) fn pop(&mut self, hash: u32) {
        if self.records.pop_front().is_some() {
            self.by_key.remove(hash, self.front);
            self.front = (self.front + 1) & NUMBER_MASK;
        }
    }

    fn position(&self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let at = |number: u32| (number.wrapping_sub(self.front) & NUMBER_MASK) as usize;
        self.by_key
            .find(hash, |number| is_it(&self.records[at(number)]))
            .map(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_until_they_are_forgotten_also_around_the_number_end() {
        let mut indexed_queue = IndexedQueue::with_capacity(2);
        indexed_queue.front = NUMBER_MASK - 1;
        for key in 0..5_u32 {
            indexed_queue.push(key % 2, key);
        }
        let find = |indexed_queue: &IndexedQueue<u32>, key: u32| {
            indexed_queue.find(key % 2, |at| *at == key).copied()
        };
        assert!((0..5).all(|key| find(&indexed_queue, key) == Some(key)));
        indexed_queue.pop(0);
        indexed_queue.pop(1);
        indexed_queue.pop(0);
        let left: Vec<_> = (0..5).filter_map(|key| find(&indexed_queue, key)).collect();
        assert_eq!(left, [3, 4]);
        assert_eq!(indexed_queue.front(), Some(&3));
        assert_eq!(indexed_queue.len(), 2);
    }
}
