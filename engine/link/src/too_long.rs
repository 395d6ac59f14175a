//! Bounds of the parts of a message.

use thiserror::Error;

/// A part of a message exceeds its bound; the message cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{what} of {length} bytes exceeds the limit of {limit}")]
pub struct TooLong {
    /// Name of the part.
    pub what: &'static str,
    /// Its length in bytes.
    pub length: usize,
    /// Its maximum length in bytes.
    pub limit: usize,
}

/// Rejects a part that is longer than `limit`.
pub(crate) fn bounded(what: &'static str, length: usize, limit: usize) -> Result<(), TooLong> {
    if length <= limit {
        return Ok(());
    }
    Err(TooLong {
        what,
        length,
        limit,
    })
}
