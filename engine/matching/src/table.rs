//! A hash table from keys stored elsewhere to `u32` values.
//!
//! Open addressing, linear probing, deletion by backward shift: no tombstones, so a table within
//! its capacity never allocates. An entry is 8 bytes: the 32-bit hash, which also determines the
//! home bucket, and the value.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use foretell_memory::prefetch;

/// Hashes keys of up to 16 bytes with the random key of the process, so that clients cannot choose
/// colliding keys. Bucket positions are not part of the state.
#[derive(Clone, Debug)]
pub(crate) struct KeyHasher {
    state: FixedState,
    /// Random pad that hides the inputs of the hash function.
    pad: u128,
}

impl KeyHasher {
    pub(crate) fn new(index_key: u64) -> Self {
        let state = FixedState::with_seed(index_key);
        let pad = u128::from(state.hash_one(1_u64)) << 64 | u128::from(state.hash_one(2_u64));
        Self { state, pad }
    }

    /// The hash of 16 bytes.
    pub(crate) fn number(&self, key: u128) -> u32 {
        upper_half(self.state.hash_one(key ^ self.pad))
    }

    /// The hash of a 32-byte name. All bytes are hashed: names are mostly hashes already, but
    /// catalogs and tests also use counters at either end.
    #[inline(always)]
    pub(crate) fn name(&self, name: &[u8; 32]) -> u32 {
        let (halves, _) = name.as_chunks::<16>();
        let mut hasher = self.state.build_hasher();
        for half in halves {
            hasher.write_u128(u128::from_le_bytes(*half) ^ self.pad);
        }
        upper_half(hasher.finish())
    }

    /// The hash of a name within a scope number, such as a reference in its scope.
    pub(crate) fn scoped(&self, scope: u32, name: &[u8; 32]) -> u32 {
        self.number(u128::from(scope) << 32 | u128::from(self.name(name)))
    }
}

/// The table. 0 is the empty entry, so values are stored plus one.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<u64>,
    len: usize,
}

impl Table {
    /// Prefetch distance of checks over all keys.
    pub(crate) const PREFETCH_DISTANCE: usize = 16;

    /// Reserves space for `keys` keys at half load.
    pub(crate) fn with_capacity(keys: usize) -> Self {
        Self {
            entries: vec![0; (keys * 2).next_power_of_two().max(16)],
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The value under `hash` for which `is_it` holds.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if tag(entry) == hash && is_it(value(entry)) {
                return Some(value(entry));
            }
            at = self.after(at);
        }
    }

    /// Prefetches the home bucket of a hash.
    pub(crate) fn prefetch(&self, hash: u32) {
        if let Some(entry) = self.entries.get(self.home(hash)) {
            prefetch::item(entry);
        }
    }

    /// The first value under `hash`, without comparing keys.
    pub(crate) fn guess(&self, hash: u32) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Adds a value that is not in the table; it must be below `u32::MAX`.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u32, value: u32) {
        if self.len >= self.entries.len() / 2 {
            self.grow();
        }
        self.place(u64::from(hash) << 32 | (u64::from(value) + 1));
        self.len += 1;
    }

    /// Removes a value that is in the table.
    pub(crate) fn remove(&mut self, hash: u32, removed: u32) {
        let mut hole = self.home(hash);
        while tag(self.entries[hole]) != hash || value(self.entries[hole]) != removed {
            assert_ne!(
                self.entries[hole], 0,
                "a key that is removed is in its table"
            );
            hole = self.after(hole);
        }
        // An entry after the hole moves into it unless that would put it before its home bucket.
        let mut at = self.after(hole);
        while self.entries[at] != 0 {
            let home = self.home(tag(self.entries[at]));
            if self.distance(home, at) >= self.distance(hole, at) {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
            at = self.after(at);
        }
        self.entries[hole] = 0;
        self.len -= 1;
    }

    fn place(&mut self, entry: u64) {
        let mut at = self.home(tag(entry));
        while self.entries[at] != 0 {
            at = self.after(at);
        }
        self.entries[at] = entry;
    }

    fn grow(&mut self) {
        let doubled = vec![0; self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, doubled) {
            if entry != 0 {
                self.place(entry);
            }
        }
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.entries.len() - 1)
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    /// Steps forward from `from` to `to`, wrapping at the end.
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.entries.len() - 1)
    }
}

fn tag(entry: u64) -> u32 {
    upper_half(entry)
}

fn upper_half(word: u64) -> u32 {
    u32::try_from(word >> 32).expect("32 bits are left")
}

/// Meaningless for the empty entry, which no caller passes.
fn value(entry: u64) -> u32 {
    u32::try_from(entry & u64::from(u32::MAX))
        .expect("32 bits are left")
        .wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Few distinct hashes, so that runs are long, wrap around the end and share tags.
        #[test]
        fn behaves_as_a_map(steps in prop::collection::vec((0_u32..40, any::<bool>()), 1..400)) {
            let hash = |key: u32| (key % 7).wrapping_mul(0x0400_0001).wrapping_sub(3);
            let mut table = Table::with_capacity(4);
            let mut model = BTreeMap::new();
            for (key, add) in steps {
                if add && !model.contains_key(&key) {
                    table.insert(hash(key), key);
                    model.insert(key, ());
                } else if !add && model.remove(&key).is_some() {
                    table.remove(hash(key), key);
                }
                prop_assert_eq!(table.len(), model.len());
                for probe in 0..40 {
                    let found = table.find(hash(probe), |value| value == probe);
                    prop_assert_eq!(found, model.get(&probe).map(|()| probe));
                }
            }
        }
    }

    #[test]
    fn names_that_differ_in_few_bytes_hash_apart() {
        let hasher = KeyHasher::new(7);
        let mut seen = std::collections::BTreeSet::new();
        for byte in 0..=255_u8 {
            let mut first = [0; 32];
            first[0] = byte;
            let mut last = [1; 32];
            last[31] = byte;
            seen.extend([first, last, [byte; 32]].map(|name| hasher.name(&name)));
        }
        // [0; 32] and [1; 32] are each listed twice; one accidental collision is allowed.
        assert!(seen.len() >= 3 * 256 - 3, "{}", seen.len());
    }
}
