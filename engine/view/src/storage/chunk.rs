//! Rows of equal length in chunks of a fixed number of rows.
//!
//! A full chunk is sealed: it never changes again, and the journal alone determines its bytes, but
//! for places of frames: a start of the engine moves frames that nothing proves to be on the disk, and
//! readers that have them keep the old places, which stay readable. So every process that folds the
//! same journal has the same chunks, and may replace its own copy by a mapping of a shared file. Rows
//! of some logs are packed in sealed chunks.

use std::borrow::Cow;
use std::sync::Arc;

use foretell_model::codec::{Stored, put_bytes};

use crate::storage::id_index;
use crate::storage::packed_rows;
use crate::storage::row::LogRow;
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

/// The layout of a sealed chunk: its rows, then their index by id.
#[derive(Clone, Copy, Debug)]
struct ChunkLayout {
    /// Binary logarithm of its number of rows.
    bits: u32,
    row_size: usize,
    index_size: usize,
    is_packed: bool,
}

impl ChunkLayout {
    /// The layout of 2 to the power of `bits` of these rows.
    fn of<R: LogRow>(bits: u32) -> Self {
        Self {
            bits,
            row_size: R::SIZE,
            index_size: match R::ID_BYTES {
                0 => 0,
                _ => id_index::INDEX_SIZE << bits,
            },
            is_packed: R::IS_PACKED,
        }
    }

    /// The rows and their index.
    fn parts(self, chunk: &[u8]) -> Option<(&[u8], &[u8])> {
        chunk.split_at_checked(chunk.len().checked_sub(self.index_size)?)
    }

    /// Whether a chunk has the length of its rows and their index.
    fn is_whole(self, chunk: &[u8]) -> bool {
        self.parts(chunk)
            .is_some_and(|(rows, _)| match self.is_packed {
                true => packed_rows::is_whole(rows, 1 << self.bits),
                false => rows.len() == self.row_size << self.bits,
            })
    }

    /// A row. It is borrowed unless the chunk is packed.
    fn row(self, chunk: &[u8], row: usize) -> Option<Cow<'_, [u8]>> {
        let (rows, _) = self.parts(chunk)?;
        if self.is_packed {
            let unpacked = packed_rows::unpack(rows, 1 << self.bits, self.row_size, row);
            return unpacked.map(Cow::Owned);
        }
        let row = rows.get(row * self.row_size..(row + 1) * self.row_size);
        row.map(Cow::Borrowed)
    }
}

/// Whether two chunks of 2 to the power of `bits` rows differ at most in a field, such as the place of a
/// frame.
pub(crate) fn is_same_but<R: LogRow + PartialEq, T: Default>(
    bits: u32,
    one: &[u8],
    other: &[u8],
    field: impl Fn(&mut R) -> &mut T,
) -> bool {
    let layout = ChunkLayout::of::<R>(bits);
    let without = |chunk, row| {
        let mut row = R::take(&mut &*layout.row(chunk, row)?).ok()?;
        *field(&mut row) = T::default();
        Some(row)
    };
    let index = |chunk| layout.parts(chunk).map(|(_, index)| index);
    let is_same = |row| {
        let own = without(one, row);
        own.is_some() && own == without(other, row)
    };
    layout.is_whole(other) && index(one) == index(other) && (0..1 << bits).all(is_same)
}

/// The bytes of a log: sealed chunks and an open tail.
pub(crate) struct Chunks {
    layout: ChunkLayout,
    rows: u64,
    most_rows: u64,
    sealed: Vec<ChunkBytes>,
    /// The rows of the last, partial chunk.
    tail: Vec<u8>,
}

impl Chunks {
    /// The empty bytes of a log of these rows.
    pub(crate) fn new<R: LogRow>(chunking: Chunking) -> Self {
        let bits = chunking.bits(R::CHUNK_BITS);
        Self {
            layout: ChunkLayout::of::<R>(bits),
            rows: 0,
            most_rows: chunking.most_rows(bits),
            sealed: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Restores an empty log from its parts; `None` when their lengths do not match.
    pub(crate) fn restore(&mut self, sealed: Vec<ChunkBytes>, tail: &[u8]) -> Option<()> {
        let ChunkLayout { bits, row_size, .. } = self.layout;
        let tail_rows = tail.len() / row_size;
        let is_whole = |chunk: &ChunkBytes| self.layout.is_whole(chunk.as_ref().as_ref());
        let fits = sealed.iter().all(is_whole)
            && tail.len().is_multiple_of(row_size)
            && tail_rows < 1 << bits;
        let rows = sealed.len().checked_mul(1 << bits)?;
        self.rows = u64::try_from(rows.checked_add(tail_rows)?).ok()?;
        self.sealed = sealed;
        self.tail = tail.to_vec();
        (fits && self.rows <= self.most_rows).then_some(())
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
        u32::try_from(self.rows >> self.layout.bits).expect("no log has more chunks")
    }

    /// Rows per chunk.
    pub(crate) fn chunk_rows(&self) -> u32 {
        1 << self.layout.bits
    }

    /// A row; `None` past the end. It is borrowed unless its chunk is packed.
    pub(crate) fn row(&self, slot: u64) -> Option<Cow<'_, [u8]>> {
        let ChunkLayout { bits, row_size, .. } = self.layout;
        let row = slot::count(slot & ((1 << bits) - 1));
        let chunk = slot::count(slot >> bits);
        if let Some(chunk) = self.sealed.get(chunk) {
            return self.layout.row(chunk.as_ref().as_ref(), row);
        }
        let is_open = chunk == self.sealed.len();
        let row = self.tail.get(row * row_size..(row + 1) * row_size);
        row.filter(|_| is_open).map(Cow::Borrowed)
    }

    /// The rows of a sealed chunk, and their index by id.
    pub(crate) fn parts<'a>(&self, chunk: &'a ChunkBytes) -> Option<(&'a [u8], &'a [u8])> {
        self.layout.parts(chunk.as_ref().as_ref())
    }

    /// Appends the row written by `put`. Returns whether it filled a chunk; `None` when the log is
    /// full.
    pub(crate) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Option<bool> {
        if self.rows == self.most_rows {
            return None;
        }
        self.rows += 1;
        put(&mut self.tail);
        let full = self.tail.len() == self.layout.row_size << self.layout.bits;
        if full {
            self.seal();
        }
        Some(full)
    }

    fn seal(&mut self) {
        let ChunkLayout { bits, row_size, .. } = self.layout;
        let index = match self.layout.index_size {
            0 => Vec::new(),
            _ => id_index::index_of(&self.tail, row_size),
        };
        let mut chunk = match self.layout.is_packed {
            true => packed_rows::pack(&self.tail, row_size),
            false => std::mem::take(&mut self.tail),
        };
        self.tail.clear();
        self.tail.reserve_exact(row_size << bits);
        chunk.extend_from_slice(&index);
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

    #[cfg(test)]
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
