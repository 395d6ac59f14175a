//! Why a snapshot is skipped.

use std::io;

/// Why a snapshot is skipped.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It cannot be opened or mapped.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Its bytes were changed after it was written.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// Written by a newer program.
    #[error("snapshot version {0} is not supported by this build")]
    Newer(u16),
    /// It belongs to another journal.
    #[error("it belongs to another journal")]
    Foreign,
    /// The image does not list it.
    #[error("it is not listed")]
    Unlisted,
    /// It is valid, but does not match its name or the image that lists it.
    #[error("its content does not match its name")]
    Misnamed,
}
