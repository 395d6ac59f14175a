//! From a long name to the place of what bears it, at 16 bytes an entry.
//!
//! The name itself is not stored: the caller compares it with what stands at the place.

use hashbrown::HashTable;

/// Places found by a 32-bit hash of their names. The hash must be keyed, or be of names that
/// nobody can choose, or a chosen set of names makes every look-up long.
#[derive(Debug, Default)]
pub(crate) struct SlotIndex {
    table: HashTable<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    slot: u64,
}

impl SlotIndex {
    /// The place with this hash for which `bears_name` holds.
    pub(crate) fn find(&self, hash: u32, bears_name: impl Fn(u64) -> bool) -> Option<u64> {
        let found = self.table.find(spread(hash), |entry| {
            entry.hash == hash && bears_name(entry.slot)
        });
        found.map(|entry| entry.slot)
    }

    /// Adds a place; its name is not in the index.
    pub(crate) fn insert(&mut self, hash: u32, slot: u64) {
        self.table
            .insert_unique(spread(hash), Entry { hash, slot }, |entry| {
                spread(entry.hash)
            });
    }

    /// Forgets all places.
    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }
}

/// The table takes its buckets from the low bits and its tags from the high ones: both need all
/// 32 bits of the hash.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::count;

    #[test]
    fn places_with_one_hash_are_told_apart_by_name() {
        let names = ["a", "b", "c"];
        let mut index = SlotIndex::default();
        for slot in 0..3 {
            index.insert(7, slot);
        }
        for (slot, name) in (0..).zip(names) {
            assert_eq!(index.find(7, |slot| names[count(slot)] == name), Some(slot));
        }
        assert_eq!(index.find(7, |slot| names[count(slot)] == "d"), None);
        assert_eq!(index.find(8, |_| true), None);
    }

    #[test]
    fn places_survive_growth() {
        let mut index = SlotIndex::default();
        for slot in 0..10_000_u32 {
            index.insert(slot / 3, slot.into());
        }
        for slot in 0..10_000_u32 {
            let found = index.find(slot / 3, |found| found == u64::from(slot));
            assert_eq!(found, Some(slot.into()));
        }
    }
}
