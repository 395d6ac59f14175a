//! A hash table from long ids to slots, 16 bytes an entry.
//!
//! The ids are not stored: the caller compares an id with the row at the slot.

use hashbrown::HashTable;

/// Slots found by a 32-bit hash of their ids. The hash must be keyed, or clients must not be able
/// to choose the ids; otherwise chosen ids could make every look-up long.
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
    /// The slot with this hash for which `bears_name` holds.
    pub(crate) fn find(&self, hash: u32, has_id: impl Fn(u64) -> bool) -> Option<u64> {
        let found = self.table.find(spread(hash), |entry| {
            entry.hash == hash && has_id(entry.slot)
        });
        found.map(|entry| entry.slot)
    }

    /// Adds a slot whose id is not in the table.
    pub(crate) fn insert(&mut self, hash: u32, slot: u64) {
        self.table
            .insert_unique(spread(hash), Entry { hash, slot }, |entry| {
                spread(entry.hash)
            });
    }

    /// Removes all slots.
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
    use crate::storage::slot::count;

    #[test]
    fn places_with_one_hash_are_told_apart_by_name() {
        let ids = ["a", "b", "c"];
        let mut index = SlotIndex::default();
        for slot in 0..3 {
            index.insert(7, slot);
        }
        for (slot, id) in (0..).zip(ids) {
            assert_eq!(index.find(7, |slot| ids[count(slot)] == id), Some(slot));
        }
        assert_eq!(index.find(7, |slot| ids[count(slot)] == "d"), None);
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
