//! A hash table from long ids to rows of a log's tail, 8 bytes an entry: it stays in the cache.
//!
//! The ids are not stored: the caller compares an id with that of the row.

use hashbrown::HashTable;

/// Rows of the tail, found by a 32-bit hash of their ids. The hash must be keyed, or clients must
/// not be able to choose the ids; otherwise chosen ids could make every look-up long.
#[derive(Debug, Default)]
pub(crate) struct TailIndex {
    table: HashTable<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    /// From the first row of the tail on.
    row: u32,
}

impl TailIndex {
    /// The row with this hash for which `has_id` holds.
    pub(crate) fn find(&self, hash: u32, has_id: impl Fn(u32) -> bool) -> Option<u32> {
        let found = self.table.find(spread(hash), |entry| {
            entry.hash == hash && has_id(entry.row)
        });
        found.map(|entry| entry.row)
    }

    /// Adds a row whose id is not in the table.
    pub(crate) fn insert(&mut self, hash: u32, row: u32) {
        let entry = Entry { hash, row };
        self.table
            .insert_unique(spread(hash), entry, |entry| spread(entry.hash));
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }
}

/// The table uses the low bits for buckets and the high bits for tags: both must depend on all 32
/// bits of the hash.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_one_hash_are_told_apart_by_id() {
        let ids = ["a", "b", "c"];
        let has_id = |row: u32, id: &str| ids[row as usize] == id;
        let mut index = TailIndex::default();
        for row in 0..3 {
            index.insert(7, row);
        }
        for (row, id) in (0..).zip(ids) {
            assert_eq!(index.find(7, |row| has_id(row, id)), Some(row));
        }
        assert_eq!(index.find(7, |row| has_id(row, "d")), None);
        assert_eq!(index.find(8, |_| true), None);
    }

    #[test]
    fn rows_survive_growth() {
        let mut index = TailIndex::default();
        for row in 0..10_000 {
            index.insert(row / 3, row);
        }
        for row in 0..10_000 {
            assert_eq!(index.find(row / 3, |found| found == row), Some(row));
        }
    }
}
