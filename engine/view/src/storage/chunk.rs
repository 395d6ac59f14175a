//! Rows of equal length in chunks of a fixed number of rows.
//!
//! A full chunk is sealed: it never changes again, and the journal alone determines its bytes. So
//! every process that folds the same journal has the same chunks, and may replace its own copy by a
//! mapping of a shared file.

use std::sync::Arc;

use foretell_model::codec::{Stored, put_bytes};

use crate::storage::id_index;
use crate::storage::slot;

/// The bytes of a sealed chunk, on the heap or in a mapped file.
pub type ChunkBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The number of rows per chunk. A history is read with the value it was written with.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Chunking {
    /// The default of each log: chunks of 1 to 5 MB.
    #[default]
    Standard,
    /// 2 to the power of this (at most 20) rows in every log: for tests of chunk borders.
    Bits(u8),
    /// The same with a maximum log length: for tests of a full log. A snapshot stores only the
    /// chunk size, so the restored view has [`Chunking::Bits`].
    Bounded {
        /// As in [`Chunking::Bits`].
        bits: u8,
        /// Maximum number of rows of a log.
        rows: u64,
    },
}

impl Chunking {
    /// Maximum binary logarithm of the rows per chunk.
    const MAX_BITS: u8 = 20;

    /// The binary logarithm for a log with this default.
    pub(crate) fn bits(self, standard: u32) -> u32 {
        match self {
            Self::Standard => standard,
            Self::Bits(bits) | Self::Bounded { bits, .. } => u32::from(bits.min(Self::MAX_BITS)),
        }
    }

    /// Maximum length of a log with 2 to the power of `bits` rows per chunk. Slots have 48 bits
    /// when stored, chunk numbers 32.
    const fn most_rows(self, bits: u32) -> u64 {
        let numbered = (u32::MAX as u64) << bits;
        let most = if numbered < slot::END {
            numbered
        } else {
            slot::END
        };
        match self {
            Self::Bounded { rows, .. } if rows < most => rows,
            _ => most,
        }
    }
}

/// The bytes of a log: sealed chunks and an open tail.
pub(crate) struct Chunks {
    bits: u32,
    row_size: usize,
    has_ids: bool,
    rows: u64,
    most_rows: u64,
    sealed: Vec<ChunkBytes>,
    /// The rows of the last, partial chunk.
    tail: Vec<u8>,
}

impl Chunks {
    pub(crate) fn new(chunking: Chunking, bits: u32, row_size: usize, has_ids: bool) -> Self {
        let bits = chunking.bits(bits);
        Self {
            bits,
            row_size,
            has_ids,
            rows: 0,
            most_rows: chunking.most_rows(bits),
            sealed: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Restores a log from its parts; `None` when their lengths do not match.
    pub(crate) fn restore(mut self, sealed: Vec<ChunkBytes>, tail: &[u8]) -> Option<Self> {
        let whole = |chunk: &ChunkBytes| chunk.as_ref().as_ref().len() == self.chunk_size();
        let tail_rows = tail.len() / self.row_size;
        let fits = sealed.iter().all(whole)
            && tail.len().is_multiple_of(self.row_size)
            && tail_rows < 1 << self.bits;
        let rows = sealed.len().checked_mul(1 << self.bits)?;
        self.rows = u64::try_from(rows.checked_add(tail_rows)?).ok()?;
        self.sealed = sealed;
        self.tail = tail.to_vec();
        (fits && self.rows <= self.most_rows).then_some(self)
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    /// Maximum number of rows.
    #[cfg(test)]
    pub(crate) fn most_rows(&self) -> u64 {
        self.most_rows
    }

    /// Number of sealed chunks.
    pub(crate) fn sealed_count(&self) -> u32 {
        u32::try_from(self.rows >> self.bits).expect("no log has more chunks")
    }

    /// Rows per chunk.
    pub(crate) fn chunk_rows(&self) -> u32 {
        1 << self.bits
    }

    fn chunk_size(&self) -> usize {
        let index = if self.has_ids {
            id_index::INDEX_SIZE
        } else {
            0
        };
        (self.row_size + index) << self.bits
    }

    /// A row; `None` past the end.
    pub(crate) fn row(&self, slot: u64) -> Option<&[u8]> {
        let chunk = slot::count(slot >> self.bits);
        let bytes = match self.sealed.get(chunk) {
            Some(chunk) => chunk.as_ref().as_ref(),
            None if chunk == self.sealed.len() => &self.tail,
            None => return None,
        };
        let row = slot::count(slot & ((1 << self.bits) - 1));
        bytes.get(row * self.row_size..(row + 1) * self.row_size)
    }

    /// Appends the row written by `put`. Returns whether it filled a chunk; `None` when the log is
    /// full.
    pub(crate) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Option<bool> {
        if self.rows == self.most_rows {
            return None;
        }
        self.rows += 1;
        put(&mut self.tail);
        let full = self.tail.len() == self.row_size << self.bits;
        if full {
            self.seal();
        }
        Some(full)
    }

    fn seal(&mut self) {
        let mut chunk = std::mem::take(&mut self.tail);
        if self.has_ids {
            id_index::append_index(&mut chunk, self.row_size);
        }
        self.tail.reserve_exact(chunk.len());
        self.sealed.push(Arc::new(chunk));
    }

    /// Appends the number of sealed chunks, and the tail.
    pub(crate) fn put_tail(&self, out: &mut Vec<u8>) {
        self.sealed_count().put(out);
        put_bytes(&self.tail, out);
    }

    pub(crate) fn sealed(&self) -> &[ChunkBytes] {
        &self.sealed
    }

    pub(crate) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Replaces the bytes of a chunk by another copy and returns the old ones.
    pub(crate) fn replace(&mut self, number: u32, bytes: ChunkBytes) -> Option<ChunkBytes> {
        let place = self.sealed.get_mut(number as usize)?;
        Some(std::mem::replace(place, bytes))
    }
}

impl core::fmt::Debug for Chunks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chunks")
            .field("rows", &self.rows)
            .field("sealed", &self.sealed.len())
            .finish_non_exhaustive()
    }
}
