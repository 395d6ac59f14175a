//! A log whose rows are found by their names, too.
//!
//! A row of such a log begins with its name. A sealed chunk carries an index behind its rows: one
//! entry a row, the first 8 bytes of its name and its place, sorted; and before them, for as many
//! equal parts of all possible names, where the entries of that part end. The tail has a table in
//! memory. A look-up asks the table, then the chunks from the newest on: a name that is nowhere
//! costs a chunk about two reads, because it names a part with one entry on average.
//!
//! Nobody can make look-ups slow by choosing names. Names may crowd into one part, but they are
//! searched by halving, as if there were no parts; a first pair with the same 8 bytes takes some
//! 2^32 hashes to find and every further one much more; and the table's hash is keyed.

use core::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Impossible;
use crate::log::Log;
use crate::row::Row;
use crate::slot_index::SlotIndex;

/// Bytes of a name in an entry.
const PREFIX: usize = 8;
/// Bytes of an entry of a chunk's index: the prefix and the row, both big-endian, so that their
/// order as bytes is the order of the index.
const ENTRY: usize = PREFIX + 4;
/// Bytes of the end of a part, little-endian.
const END: usize = 4;
/// Bytes of a chunk's index for each of its rows.
pub(crate) const INDEX_SIZE: usize = END + ENTRY;

/// A log, and a table of its tail's names.
#[derive(Debug)]
pub(crate) struct NamedLog<R> {
    log: Log<R>,
    tail: SlotIndex,
    key: RandomState,
}

impl<R: Row> NamedLog<R> {
    /// The log with its names.
    pub(crate) fn of(log: Log<R>) -> Self {
        let mut named = Self {
            log,
            tail: SlotIndex::default(),
            key: RandomState::default(),
        };
        let tail = named.log.chunks().tail();
        let rows = (tail.len() / R::SIZE) as u64;
        for slot in named.log.len() - rows..named.log.len() {
            if let Some(name) = named.name(slot) {
                let hash = named.hash(name);
                named.tail.insert(hash, slot);
            }
        }
        named
    }

    /// The rows.
    pub(crate) fn log(&self) -> &Log<R> {
        &self.log
    }

    /// The rows, to exchange chunks.
    pub(crate) fn log_mut(&mut self) -> &mut Log<R> {
        &mut self.log
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &R) -> Result<(), Impossible> {
        let slot = self.log.len();
        if self.log.push(row)? {
            // The chunk has an index of its own now.
            self.tail.clear();
        } else if let Some(name) = self.name(slot) {
            let hash = self.hash(name);
            self.tail.insert(hash, slot);
        }
        Ok(())
    }

    /// The newest row with this name, which is [`Row::NAME`] bytes long.
    pub(crate) fn find(&self, name: &[u8]) -> Option<u64> {
        let bears_name = |slot: u64| self.name(slot) == Some(name);
        let in_tail = self.tail.find(self.hash(name), bears_name);
        in_tail.or_else(|| self.find_sealed(name))
    }

    fn find_sealed(&self, name: &[u8]) -> Option<u64> {
        let prefix = name.first_chunk::<PREFIX>()?;
        let rows = self.log.chunks().chunk_rows();
        for (number, chunk) in self.log.chunks().sealed().iter().enumerate().rev() {
            let index = chunk.as_ref().as_ref().get(rows * R::SIZE..)?;
            for row in rows_of(index, rows, prefix) {
                let slot = (number * rows) as u64 + u64::from(row);
                if self.name(slot) == Some(name) {
                    return Some(slot);
                }
            }
        }
        None
    }

    fn name(&self, slot: u64) -> Option<&[u8]> {
        self.log.chunks().row(slot)?.get(..R::NAME)
    }

    fn hash(&self, name: &[u8]) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // half of a hash is a hash
        let half = (self.key.hash_one(name) >> 32) as u32;
        half
    }
}

/// The rows of a chunk whose names begin with `prefix`, by its index; the newest first.
fn rows_of(index: &[u8], rows: usize, prefix: &[u8; PREFIX]) -> impl Iterator<Item = u32> {
    let entries = part_of(index, rows, prefix).unwrap_or_default();
    let end = entries.partition_point(|entry| entry[..PREFIX] <= prefix[..]);
    let alike = entries[..end].iter().rev();
    let alike = alike.take_while(move |entry| entry.starts_with(prefix));
    alike.filter_map(|entry| Some(u32::from_be_bytes(*entry.last_chunk()?)))
}

/// The entries of the part that `prefix` is in.
fn part_of<'a>(index: &'a [u8], rows: usize, prefix: &[u8; PREFIX]) -> Option<&'a [[u8; ENTRY]]> {
    let (ends, entries) = index.split_at_checked(rows * END)?;
    let (ends, _) = ends.as_chunks::<END>();
    let (entries, _) = entries.as_chunks::<ENTRY>();
    let end = |part: usize| usize::try_from(u32::from_le_bytes(*ends.get(part)?)).ok();
    let part = part(u64::from_be_bytes(*prefix), rows);
    let from = part.checked_sub(1).map_or(Some(0), end)?;
    entries.get(from..end(part)?)
}

/// Which of `parts` equal parts of all names a name is in, by its first bytes.
fn part(prefix: u64, parts: usize) -> usize {
    let part = (u128::from(prefix) * parts as u128) >> u64::BITS;
    usize::try_from(part).expect("it is below the number of parts")
}

/// Appends the index of a chunk's rows to them.
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
    use crate::row::fixed;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Entry {
        name: [u8; 12],
        value: u16,
    }
    fixed!(Entry {
        name: [u8; 12],
        value: u16,
    });
    impl Row for Entry {
        const CHUNK_BITS: u32 = 14;
        const NAME: usize = 12;
    }

    /// Names from everywhere, and names that crowd together and share their first bytes.
    fn names() -> impl Strategy<Value = Vec<[u8; 12]>> {
        let crowded = prop_oneof![Just(0), Just(1), Just(127), Just(128), Just(255)];
        let crowded = (crowded, 0..20_u8).prop_map(|(prefix, rest)| {
            let mut name = [prefix; 12];
            name[11] = rest;
            name
        });
        prop::collection::vec(prop_oneof![crowded, any::<[u8; 12]>()], 0..150)
    }

    proptest! {
        #[test]
        fn the_newest_of_a_name_is_found(names in names(), bits in 0..6_u8) {
            let mut log = NamedLog::of(Log::new(Chunking::Bits(bits)));
            for (value, name) in (0..).zip(&names) {
                // What the tail holds twice the table may show either of.
                if log.find(name).is_some() {
                    continue;
                }
                log.push(&Entry { name: *name, value }).unwrap();
                let slot = log.find(name).unwrap();
                prop_assert_eq!(log.log().get(slot), Some(Entry { name: *name, value }));
            }
            let again = NamedLog::of(log.log);
            for name in &names {
                let slot = again.find(name).unwrap();
                prop_assert_eq!(again.log().get(slot).unwrap().name, *name);
            }
            prop_assert_eq!(again.find(&[9; 12]), None);
            prop_assert_eq!(again.find(&[1; 3]), None);
        }
    }
}
