//! Fixed-size records of commands and events, versioned by module.
//!
//! From tag 0.1.0 on a released module is frozen. Changed records are a new module, and the frame's
//! version selects the module that reads it.

mod stored;
pub mod v1;
pub mod v2;
pub mod v3;

/// Why a record cannot be read. With a valid checksum the bytes were written by another program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// No command or event has this code.
    #[error("unknown code {0}")]
    UnknownCode(u16),
    /// A byte that must be zero is not.
    #[error("non-zero padding in a record of code {0}")]
    Padding(u16),
    /// A field has an undefined value.
    #[error("a field of a record of code {0} is out of range")]
    Value(u16),
    /// The bytes do not have the size of a record.
    #[error("a record of the wrong size")]
    Size,
}
