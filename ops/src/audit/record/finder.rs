//! Where a key's entry lies in a list, by the key's hash: a table that can be told in advance what it
//! will be asked, which the standard library's cannot. The core has one like it, but the record shares
//! nothing with the core.

use foretell_memory::near::bring;

/// Places in a list by the hashes of the keys there. Nothing is ever removed.
///
/// Open addressing, at most half full: a place is the upper half of its hash and the place's number, one
/// up, so that 0 is nobody's.
#[derive(Debug)]
pub(super) struct Finder {
    slots: Vec<u64>,
    len: usize,
}

const UPPER: u64 = !(u32::MAX as u64);
/// Slots of an empty table.
const FEWEST: usize = 1_024;

impl Default for Finder {
    fn default() -> Self {
        Self {
            slots: vec![0; FEWEST],
            len: 0,
        }
    }
}

impl Finder {
    /// Asks for the memory in which a hash is searched first, and does not wait for it.
    #[inline]
    pub(super) fn foresee(&self, hash: u64) {
        bring(&self.slots[self.home(hash)]);
    }

    /// The place under this hash for which `is_it` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = self.home(hash);
        while self.slots[at] != 0 {
            let slot = self.slots[at];
            if (slot ^ hash) & UPPER == 0 {
                let place = place_of(slot);
                if is_it(place) {
                    return Some(place);
                }
            }
            at = (at + 1) & self.mask();
        }
        None
    }

    /// Adds a place whose key is not there yet.
    ///
    /// # Panics
    /// With 2^32 places.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, place: usize) {
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let number = u32::try_from(place + 1).expect("fewer than 2^32 keys");
        self.put(hash & UPPER | u64::from(number), self.home(hash));
        self.len += 1;
    }

    fn put(&mut self, slot: u64, home: usize) {
        let mut at = home;
        while self.slots[at] != 0 {
            at = (at + 1) & self.mask();
        }
        self.slots[at] = slot;
    }

    /// Slots know the upper half of their hash alone, so that is what says where they belong.
    fn grow(&mut self) {
        let doubled = vec![0; self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, doubled) {
            if slot != 0 {
                self.put(slot, self.home(slot));
            }
        }
    }

    fn home(&self, hash: u64) -> usize {
        usize::try_from(hash >> 32).expect("foretell runs on 64-bit systems") & self.mask()
    }

    fn mask(&self) -> usize {
        self.slots.len() - 1
    }
}

fn place_of(slot: u64) -> usize {
    usize::try_from(slot & !UPPER).expect("foretell runs on 64-bit systems") - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Many keys of few hashes, so that places share homes and upper halves.
    #[test]
    fn every_key_is_found_at_its_place_and_no_other_is() {
        for hashes in [1, 7, 4_099, u64::MAX] {
            let hash = |key: u64| (key % hashes).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let (mut finder, mut keys) = (Finder::default(), Vec::new());
            let mut known = BTreeMap::new();
            for step in 0..if hashes == 1 { 700 } else { 5_000_u64 } {
                let key = step * step % 6_007;
                finder.foresee(hash(key));
                let found = finder.find(hash(key), |place| keys[place] == key);
                assert_eq!(found, known.get(&key).copied());
                if found.is_none() {
                    finder.insert(hash(key), keys.len());
                    known.insert(key, keys.len());
                    keys.push(key);
                }
            }
            assert!(known.len() > 300);
            for (key, place) in &known {
                let found = finder.find(hash(*key), |place| keys[place] == *key);
                assert_eq!(found, Some(*place));
            }
            assert_eq!(finder.find(hash(9_999), |_| false), None);
        }
    }

    #[test]
    fn a_run_goes_around_the_end_before_and_after_the_table_grows() {
        let mut finder = Finder::default();
        // Homes: the last slot, whatever the size of the table, and one before it.
        let hash = |key: usize| (u64::from(u32::MAX) - (key as u64 % 2)) << 32;
        for key in 0..700 {
            assert_eq!(finder.find(hash(key), |place| place == key), None);
            finder.insert(hash(key), key);
        }
        for key in 0..700 {
            assert_eq!(finder.find(hash(key), |place| place == key), Some(key));
        }
    }
}
