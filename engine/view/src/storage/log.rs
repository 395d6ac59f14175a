//! A log: append-only rows of one type.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::borrow::Cow;

use foretell_memory::prefetch;

use crate::error::Impossible;
use crate::storage::chunk::{Chunking, Chunks};
use crate::storage::row::LogRow;

/// Rows in the order they were added; the index of a row, from 0, is its slot.
pub struct Log<R> {
    chunks: Chunks,
    row: PhantomData<fn() -> R>,
}

impl<R: LogRow> Log<R> {
    /// An empty log.
    pub(crate) fn new(chunking: Chunking) -> Self {
        Self {
            chunks: Chunks::new::<R>(chunking),
            row: PhantomData,
        }
    }

    /// Number of rows; also the slot of the next row.
    pub(crate) fn len(&self) -> u64 {
        self.chunks.len()
    }

    /// The row at a slot. `None` after the end, and for invalid bytes, which only a mapped chunk
    /// can contain.
    pub(crate) fn get(&self, slot: u64) -> Option<R> {
        R::take(&mut &*self.chunks.row(slot)?).ok()
    }

    /// The bytes of a row, for callers that read few fields; `None` for a packed one.
    pub(crate) fn bytes(&self, slot: u64) -> Option<&[u8]> {
        match self.chunks.row(slot)? {
            Cow::Borrowed(row) => Some(row),
            Cow::Owned(_) => None,
        }
    }

    /// Prefetches bytes of a row that are on at most two cache lines.
    pub(crate) fn prefetch(&self, slot: u64, bytes: Range<usize>) {
        if let Some(row) = self.bytes(slot) {
            prefetch::short_slice(&row[bytes]);
        }
    }

    /// Appends a row. Returns whether it filled a chunk, so that the tail is empty again.
    pub(crate) fn push(&mut self, row: &R) -> Result<bool, Impossible> {
        let sealed = self.chunks.push(|tail| row.put(tail));
        sealed.ok_or(Impossible::Full)
    }

    /// Number of first rows that satisfy `early`, which must hold for a prefix of the log.
    pub(crate) fn partition_point(&self, early: impl Fn(&R) -> bool) -> u64 {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle).is_some_and(|row| early(&row)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    pub(crate) fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    pub(crate) fn chunks_mut(&mut self) -> &mut Chunks {
        &mut self.chunks
    }
}

impl<R> fmt::Debug for Log<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::storage::chunk::ChunkBytes;
    use crate::storage::slot::count;
    use foretell_model::codec::fixed;

    fixed! {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        struct Pair {
            key: u16,
            time: u64,
        }
    }
    impl LogRow for Pair {
        const CHUNK_BITS: u32 = 14;
    }

    fn filled(bits: u8, rows: &[Pair]) -> Log<Pair> {
        let mut log = Log::new(Chunking::Bits(bits));
        for (slot, row) in (0..).zip(rows) {
            assert_eq!(log.len(), slot);
            let filled = log.push(row).unwrap();
            assert_eq!(filled, (slot + 1) % (1 << bits) == 0);
        }
        log
    }

    fn rows() -> impl Strategy<Value = Vec<Pair>> {
        let pairs = prop::collection::vec((any::<u16>(), 0..40_u64), 0..200);
        pairs.prop_map(|pairs| {
            let mut time = 0;
            let pair = |(key, later)| {
                time += later;
                Pair { key, time }
            };
            pairs.into_iter().map(pair).collect()
        })
    }

    proptest! {
        #[test]
        fn a_log_is_a_list(rows in rows(), bits in 0..5_u8, time in 0..5_000_u64) {
            let log = filled(bits, &rows);
            prop_assert_eq!(log.len(), rows.len() as u64);
            for (slot, row) in (0..).zip(&rows) {
                prop_assert_eq!(log.get(slot), Some(*row));
            }
            prop_assert_eq!(log.get(log.len()), None);
            prop_assert_eq!(log.get(log.len() + (1 << 32)), None);
            prop_assert_eq!(log.get(u64::MAX), None);
            prop_assert_eq!(
                count(log.partition_point(|row| row.time < time)),
                rows.partition_point(|row| row.time < time)
            );
        }

        #[test]
        fn a_log_goes_on_from_its_parts(rows in rows(), bits in 0..5_u8, cut in any::<prop::sample::Index>()) {
            let cut = if rows.is_empty() { 0 } else { cut.index(rows.len()) };
            let whole = filled(bits, &rows);
            let half = filled(bits, &rows[..cut]);
            let sealed = half.chunks().sealed().to_vec();
            let tail = half.chunks().tail();
            let mut log = Log::<Pair>::new(Chunking::Bits(bits));
            log.chunks.restore(sealed, tail).unwrap();
            for row in &rows[cut..] {
                log.push(row).unwrap();
            }
            prop_assert_eq!(log.chunks().tail(), whole.chunks().tail());
            prop_assert_eq!(log.chunks().sealed().len(), whole.chunks().sealed().len());
            for (one, other) in log.chunks().sealed().iter().zip(whole.chunks().sealed()) {
                prop_assert_eq!(one.as_ref().as_ref(), other.as_ref().as_ref());
            }
        }
    }

    #[test]
    fn parts_of_other_lengths_are_refused() {
        let rows = [Pair { key: 1, time: 2 }; 9];
        let log = filled(2, &rows);
        let sealed = log.chunks().sealed();
        let tail = log.chunks().tail();
        assert_eq!((sealed.len(), tail.len()), (2, 10));
        let restored = |bits, sealed: &[ChunkBytes], tail: &[u8]| {
            let mut log = Log::<Pair>::new(Chunking::Bits(bits));
            log.chunks.restore(sealed.to_vec(), tail).is_some()
        };
        assert!(restored(2, sealed, tail));
        assert!(!restored(2, sealed, &tail[1..]));
        assert!(!restored(2, &[], &[0; 40]));
        assert!(!restored(2, &[Arc::new([0; 39])], &[]));
        assert!(!restored(1, sealed, &[]));
    }

    #[test]
    fn a_log_takes_as_many_rows_as_it_is_said_to_and_no_more() {
        let row = Pair { key: 1, time: 2 };
        let chunking = Chunking::Bounded { bits: 1, rows: 5 };
        let mut log = Log::new(chunking);
        for _ in 0..5 {
            log.push(&row).unwrap();
        }
        assert_eq!(log.push(&row), Err(Impossible::Full));
        assert_eq!((log.len(), log.get(4)), (5, Some(row)));
        // Without the test's bound: more than any exchange ever writes.
        let standard = Log::<Pair>::new(Chunking::Standard);
        assert_eq!(standard.chunks().most_rows(), u64::from(u32::MAX) << 14);
    }

    #[test]
    fn a_chunk_gives_way_to_another_copy() {
        let mut log = filled(1, &[Pair { key: 1, time: 2 }; 5]);
        let copy = log.chunks().sealed()[1].as_ref().as_ref().to_vec();
        assert!(
            log.chunks_mut()
                .replace(2, Arc::new(copy.clone()))
                .is_none()
        );
        let old = log.chunks_mut().replace(1, Arc::new(copy.clone())).unwrap();
        assert_eq!(old.as_ref().as_ref(), copy);
        assert_eq!(log.get(3), Some(Pair { key: 1, time: 2 }));
    }
}
