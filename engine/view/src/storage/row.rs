//! A row of a log.

use foretell_model::codec::Fixed;

/// A row of a log.
pub trait LogRow: Fixed {
    /// Binary logarithm of the rows in a chunk.
    const CHUNK_BITS: u32;
    /// Length of the id at the start of its bytes, by which it can be found ([`crate::storage::id_log`]); 0
    /// for no id, else at least 8.
    const ID_BYTES: usize = 0;
    /// Whether sealed chunks are packed ([`crate::storage::packed_rows`]): for rows that are read
    /// one at a time.
    const IS_PACKED: bool = false;
    /// Offset of the place of its frame in its bytes, if it has one. A start of the engine moves
    /// frames that nothing proves to be on the disk; readers that have them keep the old places,
    /// which stay readable.
    const PLACE: Option<usize> = None;
}
