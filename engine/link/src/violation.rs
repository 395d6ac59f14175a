//! Protocol violations of a peer. Each ends its connection.

use thiserror::Error;

/// Why a connection is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    /// No message of this direction has this kind.
    #[error("unknown message kind {0}")]
    UnknownKind(u8),
    /// The reserved bytes of the header are not zero.
    #[error("reserved bytes of a message header are not zero")]
    Reserved,
    /// Longer than any message of this direction.
    #[error("message of {length} bytes exceeds the limit of {limit}")]
    TooLong {
        /// Length in the header.
        length: u32,
        /// Maximum length.
        limit: usize,
    },
    /// The payload does not match its kind.
    #[error("malformed payload of message kind {0}")]
    Malformed(u8),
    /// The first message is not the greeting.
    #[error("message kind {0} before the greeting")]
    NotGreeted(u8),
    /// A repeated greeting.
    #[error("repeated greeting")]
    SecondGreeting,
}
