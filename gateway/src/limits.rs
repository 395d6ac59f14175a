//! Every bound of the HTTP side, in one place, and the part of it an operator may set.

use std::time::Duration;

pub(crate) use foretell_wire::limits::{
    LIST_BODY_BYTES, OPERATOR_BODY_BYTES, ORDER_BODY_BYTES, ORDERS_BODY_BYTES, SMALL_BODY_BYTES,
};

/// Bytes of a request's head: the request line and all header fields (design 8).
pub(crate) const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Header fields of a request: what the HTTP library takes.
pub(crate) const MAX_HEADERS: usize = 100;
/// Of a head that is longer, how much more is read and thrown away so that the client reads why.
pub(crate) const MAX_UNREAD_BYTES: usize = 1024 * 1024;
/// Bytes of a path; no route is near it, and whatever echoes a path stays short.
pub(crate) const MAX_PATH_BYTES: usize = 2 * 1024;
/// Bytes of bodies that the process holds at once beyond the first [`FREE_BODY_BYTES`] of each:
/// long bodies that arrive slowly on thousands of connections must not fill the memory.
pub(crate) const MAX_HELD_BODY_BYTES: usize = 256 * 1024 * 1024;
/// What one client may hold of them.
pub(crate) const HELD_BODY_BYTES_PER_CLIENT: usize = 16 * 1024 * 1024;
/// Bytes of each body that are not counted, so that single orders and cancels are never refused for
/// the lists of others.
pub(crate) const FREE_BODY_BYTES: usize = ORDER_BODY_BYTES;
/// Streams a client may have open on one HTTP/2 connection.
pub(crate) const MAX_STREAMS: u32 = 16;
/// Bytes a client may send on an HTTP/2 connection before they are read; as many on one stream.
pub(crate) const HTTP2_WINDOW_BYTES: u32 = 64 * 1024;
/// Bytes of an answer that the kernel keeps for a client which does not take them; it reserves twice
/// as many. Left to itself it would hold megabytes for each of thousands of connections.
pub(crate) const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// Bytes a second a client must take of an answer, beside what it may take in the time of
/// [`ConnectionLimits::write_stall`].
pub(crate) const MIN_ANSWER_PACE: usize = 8 * 1024;
/// Connections to the operator surface, which are beside [`ConnectionLimits::total`].
pub const OPERATOR_CONNECTIONS: usize = 64;
/// Bytes of answers the operator's clients may leave unread.
pub(crate) const OPERATOR_UNREAD_BYTES: usize = 64 * 1024 * 1024;
/// Connections above a cap while those that give way to them end.
pub const ENDING_CONNECTIONS: usize = 64;
/// Requests with `x-min-sequence` that may wait at once in a process (protocol 11).
pub(crate) const MAX_SEQUENCE_WAITERS: usize = 256;
/// Of these one client's.
pub(crate) const SEQUENCE_WAITERS_PER_CLIENT: usize = 32;
/// How long such a request waits (protocol 11).
pub(crate) const SEQUENCE_WAIT: Duration = Duration::from_secs(1);
/// How far above the durable sequence `x-min-sequence` may lie (protocol 11).
pub(crate) const MAX_SEQUENCE_AHEAD: u64 = 1_000_000;
/// Frames that may be looked for by their sequence at once in a process: a search reads a segment's
/// batch headers, and only the retry of an account action needs one.
pub(crate) const MAX_FRAME_SEARCHES: usize = 4;
/// Orders whose signature may wait to be checked on one thread; more are answered 503. At 60 µs
/// each the last of them waits for a tenth of a second.
pub(crate) const MAX_SIGNATURES_WAITING: usize = 2_048;
/// Commands of this gateway the engine may owe an answer; an eighth of it is kept for cancels.
pub(crate) const MAX_IN_FLIGHT: usize = 8_192;
/// How long an engine that took a command may stay silent before its outcome is unknown.
pub(crate) const ENGINE_ANSWER: Duration = Duration::from_secs(10);

/// How long the engine may take for a snapshot that an operator asked for; what the operator's own
/// clients wait for an answer is a little more.
pub(crate) const SNAPSHOT_ANSWER: Duration = Duration::from_secs(25);
/// Bytes of history that a start checks before it shows them: about a quarter of a second.
pub const CHECKED_AT_START: u64 = 256 << 20;

/// Bounds an operator may set.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Open connections of the process to all surfaces but the operator's.
    pub total: usize,
    /// Of these those from one client: an IPv4 address, or an IPv6 network of 64 bits. Those from a
    /// trusted proxy are not counted so.
    pub per_address: usize,
    /// Bytes of answers on those surfaces that clients have not taken.
    pub unread: usize,
    /// Of these one client's.
    pub unread_per_address: usize,
    /// From the first byte of a request to the end of its head.
    pub head: Duration,
    /// From the end of the head to the end of the body.
    pub body: Duration,
    /// Without a byte in either direction.
    pub idle: Duration,
    /// Without the client taking a byte of what is ready for it.
    pub write_stall: Duration,
    /// For requests under way when the process is asked to end.
    pub drain: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            total: 10_000,
            per_address: 400,
            unread: 256 << 20,
            unread_per_address: 16 << 20,
            head: Duration::from_secs(5),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            write_stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}
