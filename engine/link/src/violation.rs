//! How a peer can break the protocol. Each ends its connection.

use thiserror::Error;

/// Why a connection is cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    /// No frame of this direction has this kind.
    #[error("unknown frame kind {0}")]
    UnknownKind(u8),
    /// The head's reserved bytes are not zero.
    #[error("reserved bytes of a frame head are not zero")]
    Reserved,
    /// Longer than any frame of this direction.
    #[error("frame of {length} bytes, at most {limit} are allowed")]
    TooLong {
        /// What the head said.
        length: u32,
        /// What is allowed.
        limit: usize,
    },
    /// The payload is not what its kind says.
    #[error("malformed payload of frame kind {0}")]
    Malformed(u8),
    /// The first frame is not the greeting.
    #[error("frame kind {0} before the greeting")]
    NotGreeted(u8),
    /// The greeting came again.
    #[error("a second greeting")]
    SecondGreeting,
}
