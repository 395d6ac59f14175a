//! Fixed-size records of commands and events, versioned by module.
//!
//! From tag 0.1.0 on a released module is frozen: changed records are a new module beside it, and
//! the frame's version says which one reads it.

mod stored;
pub mod v1;
pub mod v2;

/// Why a record cannot be read. Bytes that passed their checksum and give this were written by
/// something else than this format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// No command or event has this code.
    #[error("unknown code {0}")]
    UnknownCode(u16),
    /// A byte that must be zero is not.
    #[error("non-zero padding in a record of code {0}")]
    Padding(u16),
    /// A field holds a number that means nothing.
    #[error("a field of a record of code {0} is out of range")]
    Value(u16),
    /// Not the size of a record.
    #[error("a record of the wrong size")]
    Size,
}
