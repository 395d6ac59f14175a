//! A log whose rows can be found by id. Rows that follow each other may have one id.
//!
//! A row of such a log begins with its id. A sealed chunk ends with an index (`id_index.rs`); the
//! tail has a hash table in memory. A look-up reads the hash table, then the chunks from the newest
//! on. An unknown id costs about two reads per chunk, because a part of the index has one entry on
//! average.
//!
//! Chosen ids cannot make look-ups slow. Ids crowded into one part are found by binary search,
//! as if there were no parts. A first pair with equal 8 bytes takes some 2^32 hashes to find, and
//! every further one much more. The hash table is keyed.

use core::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Impossible;
use crate::storage::chunk::Chunking;
use crate::storage::id_index::{PREFIX, rows_of};
use crate::storage::log::Log;
use crate::storage::row::LogRow;
use crate::storage::tail_index::TailIndex;

/// A log, and a hash table of its tail's ids.
#[derive(Debug)]
pub(crate) struct IdLog<R> {
    log: Log<R>,
    tail: TailIndex,
    key: RandomState,
}

impl<R: LogRow> IdLog<R> {
    /// An empty log.
    pub(crate) fn new(chunking: Chunking) -> Self {
        Self {
            log: Log::new(chunking),
            tail: TailIndex::default(),
            key: RandomState::default(),
        }
    }

    /// Indexes the tail of a restored log.
    pub(crate) fn index_tail(&mut self) {
        for slot in self.tail_start()..self.log.len() {
            self.add_to_tail(slot);
        }
    }

    /// The rows.
    pub(crate) fn log(&self) -> &Log<R> {
        &self.log
    }

    /// The rows, to restore them and to replace chunks.
    pub(crate) fn log_mut(&mut self) -> &mut Log<R> {
        &mut self.log
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &R) -> Result<(), Impossible> {
        let slot = self.log.len();
        if self.log.push(row)? {
            // The new sealed chunk has its own index.
            self.tail.clear();
        } else {
            self.add_to_tail(slot);
        }
        Ok(())
    }

    /// Of rows with one id the tail's first is indexed: equal hashes would crowd the table.
    fn add_to_tail(&mut self, slot: u64) {
        let row = u32::try_from(slot - self.tail_start()).expect("a chunk has fewer rows");
        if let Some(bytes) = self.log.bytes(slot) {
            let id = &bytes[..R::ID_BYTES];
            if row == 0 || !self.has_id(slot - 1, id) {
                let hash = self.hash(id);
                self.tail.insert(hash, row);
            }
        }
    }

    /// The slot of the first row of the tail.
    fn tail_start(&self) -> u64 {
        let chunks = self.log.chunks();
        u64::from(chunks.sealed_count()) * u64::from(chunks.chunk_rows())
    }

    /// A row with this id, which must be [`LogRow::ID_BYTES`] bytes long.
    pub(crate) fn find(&self, id: &[u8]) -> Option<u64> {
        if id.len() != R::ID_BYTES {
            return None;
        }
        let start = self.tail_start();
        let has_id = |row| self.has_id(start + u64::from(row), id);
        let in_tail = self.tail.find(self.hash(id), has_id);
        let in_tail = in_tail.map(|row| start + u64::from(row));
        in_tail.or_else(|| self.find_sealed(id))
    }

    fn find_sealed(&self, id: &[u8]) -> Option<u64> {
        let prefix = id.first_chunk::<PREFIX>()?;
        let rows = self.log.chunks().chunk_rows() as usize;
        for (number, chunk) in self.log.chunks().sealed().iter().enumerate().rev() {
            let (_, index) = self.log.chunks().parts(chunk)?;
            for row in rows_of(index, rows, prefix) {
                let slot = (number * rows) as u64 + u64::from(row);
                if self.has_id(slot, id) {
                    return Some(slot);
                }
            }
        }
        None
    }

    fn has_id(&self, slot: u64, id: &[u8]) -> bool {
        let row = self.log.chunks().row(slot);
        row.is_some_and(|row| row.starts_with(id))
    }

    fn hash(&self, id: &[u8]) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // half of a hash is a hash
        let half = (self.key.hash_one(id) >> 32) as u32;
        half
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use foretell_model::codec::fixed;

    fixed! {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        struct Entry {
            id: [u8; 12],
            value: u16,
        }
    }
    impl LogRow for Entry {
        const CHUNK_BITS: u32 = 14;
        const ID_BYTES: usize = 12;
    }

    /// Random ids, and ids that share their first bytes.
    fn ids() -> impl Strategy<Value = Vec<[u8; 12]>> {
        let crowded = prop_oneof![Just(0), Just(1), Just(127), Just(128), Just(255)];
        let crowded = (crowded, 0..20_u8).prop_map(|(prefix, rest)| {
            let mut id = [prefix; 12];
            id[11] = rest;
            id
        });
        prop::collection::vec(prop_oneof![crowded, any::<[u8; 12]>()], 0..150)
    }

    proptest! {
        #[test]
        fn the_newest_of_an_id_is_found(ids in ids(), bits in 0..6_u8) {
            let mut log = IdLog::new(Chunking::Bits(bits));
            for (value, id) in (0..).zip(&ids) {
                // For an id twice in the tail either row may be found.
                if log.find(id).is_some() {
                    continue;
                }
                log.push(&Entry { id: *id, value }).unwrap();
                let slot = log.find(id).unwrap();
                prop_assert_eq!(log.log().get(slot), Some(Entry { id: *id, value }));
            }
            let mut again = IdLog { log: log.log, tail: TailIndex::default(), key: log.key };
            again.index_tail();
            for id in &ids {
                let slot = again.find(id).unwrap();
                prop_assert_eq!(again.log().get(slot).unwrap().id, *id);
            }
            prop_assert_eq!(again.find(&[9; 12]), None);
            prop_assert_eq!(again.find(&[1; 3]), None);
        }
    }
}
