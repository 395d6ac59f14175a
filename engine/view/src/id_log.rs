//! A log whose rows can be found by id.
//!
//! A row of such a log begins with its id. A sealed chunk ends with a sorted index: one entry per
//! row, made of the first 8 bytes of its id and its row number. Before the entries stands a
//! partition table: the range of ids is split into as many equal parts as there are rows, and the
//! table has the end of each part's entries. The tail has a hash table in memory. A look-up reads
//! the hash table, then the chunks from the newest on. An unknown id costs about two reads per
//! chunk, because a part has one entry on average.
//!
//! Chosen ids cannot make look-ups slow. Ids crowded into one part are found by binary search,
//! as if there were no parts. A first pair with equal 8 bytes takes some 2^32 hashes to find, and
//! every further one much more. The hash table is keyed.

use core::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Impossible;
use crate::log::Log;
use crate::row::LogRow;
use crate::slot_index::SlotIndex;

/// Bytes of an id in an index entry.
const PREFIX: usize = 8;
/// Bytes of an index entry: the prefix and the row number, both big-endian, so that byte order is
/// index order.
const ENTRY: usize = PREFIX + 4;
/// Bytes of a partition-table entry, little-endian.
const END: usize = 4;
/// Bytes of a chunk's index per row.
pub(crate) const INDEX_SIZE: usize = END + ENTRY;

/// A log, and a hash table of its tail's ids.
#[derive(Debug)]
pub(crate) struct IdLog<R> {
    log: Log<R>,
    tail: SlotIndex,
    key: RandomState,
}

impl<R: LogRow> IdLog<R> {
    /// Indexes the tail of a log.
    pub(crate) fn of(log: Log<R>) -> Self {
        let mut indexed = Self {
            log,
            tail: SlotIndex::default(),
            key: RandomState::default(),
        };
        let tail = indexed.log.chunks().tail();
        let rows = (tail.len() / R::SIZE) as u64;
        for slot in indexed.log.len() - rows..indexed.log.len() {
            if let Some(id) = indexed.id(slot) {
                let hash = indexed.hash(id);
                indexed.tail.insert(hash, slot);
            }
        }
        indexed
    }

    /// The rows.
    pub(crate) fn log(&self) -> &Log<R> {
        &self.log
    }

    /// The rows, for replacing chunks.
    pub(crate) fn log_mut(&mut self) -> &mut Log<R> {
        &mut self.log
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &R) -> Result<(), Impossible> {
        let slot = self.log.len();
        if self.log.push(row)? {
            // The new sealed chunk has its own index.
            self.tail.clear();
        } else if let Some(id) = self.id(slot) {
            let hash = self.hash(id);
            self.tail.insert(hash, slot);
        }
        Ok(())
    }

    /// The newest row with this id, which must be [`LogRow::ID_BYTES`] bytes long.
    pub(crate) fn find(&self, id: &[u8]) -> Option<u64> {
        let has_id = |slot: u64| self.id(slot) == Some(id);
        let in_tail = self.tail.find(self.hash(id), has_id);
        in_tail.or_else(|| self.find_sealed(id))
    }

    fn find_sealed(&self, id: &[u8]) -> Option<u64> {
        let prefix = id.first_chunk::<PREFIX>()?;
        let rows = self.log.chunks().chunk_rows();
        for (number, chunk) in self.log.chunks().sealed().iter().enumerate().rev() {
            let index = chunk.as_ref().as_ref().get(rows * R::SIZE..)?;
            for row in rows_of(index, rows, prefix) {
                let slot = (number * rows) as u64 + u64::from(row);
                if self.id(slot) == Some(id) {
                    return Some(slot);
                }
            }
        }
        None
    }

    fn id(&self, slot: u64) -> Option<&[u8]> {
        self.log.chunks().row(slot)?.get(..R::ID_BYTES)
    }

    fn hash(&self, id: &[u8]) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // half of a hash is a hash
        let half = (self.key.hash_one(id) >> 32) as u32;
        half
    }
}

/// The rows of a chunk whose ids begin with `prefix`, newest first.
fn rows_of(index: &[u8], rows: usize, prefix: &[u8; PREFIX]) -> impl Iterator<Item = u32> {
    let entries = part_of(index, rows, prefix).unwrap_or_default();
    let end = entries.partition_point(|entry| entry[..PREFIX] <= prefix[..]);
    let alike = entries[..end].iter().rev();
    let alike = alike.take_while(move |entry| entry.starts_with(prefix));
    alike.filter_map(|entry| Some(u32::from_be_bytes(*entry.last_chunk()?)))
}

/// The index entries of the part that contains `prefix`.
fn part_of<'a>(index: &'a [u8], rows: usize, prefix: &[u8; PREFIX]) -> Option<&'a [[u8; ENTRY]]> {
    let (ends, entries) = index.split_at_checked(rows * END)?;
    let (ends, _) = ends.as_chunks::<END>();
    let (entries, _) = entries.as_chunks::<ENTRY>();
    let end = |part: usize| usize::try_from(u32::from_le_bytes(*ends.get(part)?)).ok();
    let part = part(u64::from_be_bytes(*prefix), rows);
    let from = part.checked_sub(1).map_or(Some(0), end)?;
    entries.get(from..end(part)?)
}

/// The part, of `parts` equal ones, that contains an id with these first bytes.
fn part(prefix: u64, parts: usize) -> usize {
    let part = (u128::from(prefix) * parts as u128) >> u64::BITS;
    usize::try_from(part).expect("it is below the number of parts")
}

/// Appends the index to the rows of a chunk.
pub(crate) fn append_index(chunk: &mut Vec<u8>, row_size: usize) {
    let mut entries: Vec<(u64, u32)> = (0..)
        .zip(chunk.chunks_exact(row_size))
        .map(|(row, bytes)| {
            let prefix = bytes.first_chunk().copied().unwrap_or_default();
            (u64::from_be_bytes(prefix), row)
        })
        .collect();
    entries.sort_unstable();
    chunk.reserve_exact(entries.len() * INDEX_SIZE);
    let mut end = 0_u32;
    let mut left = entries.iter().peekable();
    for at in 0..entries.len() {
        while left
            .next_if(|entry| part(entry.0, entries.len()) == at)
            .is_some()
        {
            end += 1;
        }
        chunk.extend_from_slice(&end.to_le_bytes());
    }
    for (prefix, row) in entries {
        chunk.extend_from_slice(&prefix.to_be_bytes());
        chunk.extend_from_slice(&row.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunking;
    use foretell_model::codec::fixed;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Entry {
        id: [u8; 12],
        value: u16,
    }
    fixed!(Entry {
        id: [u8; 12],
        value: u16,
    });
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
            let mut log = IdLog::of(Log::new(Chunking::Bits(bits)));
            for (value, id) in (0..).zip(&ids) {
                // For an id twice in the tail either row may be found.
                if log.find(id).is_some() {
                    continue;
                }
                log.push(&Entry { id: *id, value }).unwrap();
                let slot = log.find(id).unwrap();
                prop_assert_eq!(log.log().get(slot), Some(Entry { id: *id, value }));
            }
            let again = IdLog::of(log.log);
            for id in &ids {
                let slot = again.find(id).unwrap();
                prop_assert_eq!(again.log().get(slot).unwrap().id, *id);
            }
            prop_assert_eq!(again.find(&[9; 12]), None);
            prop_assert_eq!(again.find(&[1; 3]), None);
        }
    }
}
