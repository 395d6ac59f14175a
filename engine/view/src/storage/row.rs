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
}
