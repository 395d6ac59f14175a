//! Records kept in the order they came, found by key, forgotten from the front.

use std::collections::VecDeque;

use crate::table::Table;

/// Numbers go round here, so that a table value is never `u32::MAX`.
const ROUND: u32 = (1 << 31) - 1;

/// A queue of records with an index. Each method that touches the index is given the key's hash.
#[derive(Debug)]
pub(crate) struct Recall<T> {
    records: VecDeque<T>,
    by_key: Table,
    /// Number of the front record, modulo 2^31.
    front: u32,
}

impl<T> Recall<T> {
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

    /// Brings near where a key with this hash is looked for.
    pub(crate) fn bring(&self, hash: u32) {
        self.by_key.bring(hash);
    }

    /// Adds a record whose key is not there yet.
    pub(crate) fn push(&mut self, hash: u32, record: T) {
        let at = u32::try_from(self.records.len()).expect("memory ends before 2^31 records");
        self.by_key.insert(hash, (self.front + at) & ROUND);
        self.records.push_back(record);
    }

    /// Forgets the oldest record; `hash` is that of its key.
    pub(crate) fn pop(&mut self, hash: u32) {
        if self.records.pop_front().is_some() {
            self.by_key.remove(hash, self.front);
            self.front = (self.front + 1) & ROUND;
        }
    }

    fn position(&self, hash: u32, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let at = |number: u32| (number.wrapping_sub(self.front) & ROUND) as usize;
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
        let mut recall = Recall::with_capacity(2);
        recall.front = ROUND - 1;
        for key in 0..5_u32 {
            recall.push(key % 2, key);
        }
        let find = |recall: &Recall<u32>, key: u32| recall.find(key % 2, |at| *at == key).copied();
        assert!((0..5).all(|key| find(&recall, key) == Some(key)));
        recall.pop(0);
        recall.pop(1);
        recall.pop(0);
        let left: Vec<_> = (0..5).filter_map(|key| find(&recall, key)).collect();
        assert_eq!(left, [3, 4]);
        assert_eq!(recall.front(), Some(&3));
        assert_eq!(recall.len(), 2);
    }
}
