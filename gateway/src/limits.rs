//! Bounds of the process: connections, memory, waiting requests, and those among them that an operator
//! may set. Bounds of a single request are in `foretell_wire::limits`.

use std::time::Duration;

use foretell_wire::limits::ORDER_BODY_BYTES;

/// Bytes read and discarded after a head that is too long, so that the client can read the
/// response.
pub(crate) const MAX_UNREAD_BYTES: usize = 1024 * 1024;
/// Bytes of bodies in memory at once, beyond the first [`FREE_BODY_BYTES`] of each: long bodies
/// that arrive slowly on thousands of connections must not exhaust the memory.
pub(crate) const MAX_HELD_BODY_BYTES: usize = 256 * 1024 * 1024;
/// Part of these bytes that one client may use.
pub(crate) const HELD_BODY_BYTES_PER_CLIENT: usize = 16 * 1024 * 1024;
/// Uncounted bytes of each body, so that single orders and cancels are never rejected because of
/// other clients' batches.
pub(crate) const FREE_BODY_BYTES: usize = ORDER_BODY_BYTES;
/// Open streams on one HTTP/2 connection.
pub(crate) const MAX_STREAMS: u32 = 16;
/// Bytes a client may send on an HTTP/2 connection before they are read; the same for one stream.
pub(crate) const HTTP2_WINDOW_BYTES: u32 = 64 * 1024;
/// Kernel send buffer for a client that does not read; the kernel reserves twice as much. The
/// default would grow to megabytes on each of thousands of connections.
pub(crate) const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// Bytes a second a client must read of an answer, in addition to the time of
/// [`ConnectionLimits::write_stall`].
pub(crate) const MIN_ANSWER_PACE: usize = 8 * 1024;
/// Connections to the operator surface, not counted in [`ConnectionLimits::total`].
pub const OPERATOR_CONNECTIONS: usize = 64;
/// Bytes of answers that the operator's clients may leave unread.
pub(crate) const OPERATOR_UNREAD_BYTES: usize = 64 * 1024 * 1024;
/// Connections above a limit while those that make room for them end.
pub const ENDING_CONNECTIONS: usize = 64;
/// Requests with `x-min-sequence` that may wait at once in a process (docs/api/overview.md §3).
pub(crate) const MAX_SEQUENCE_WAITERS: usize = 256;
/// Part of these that one client may use.
pub(crate) const SEQUENCE_WAITERS_PER_CLIENT: usize = 32;
/// How long such a request waits (docs/api/overview.md §3).
pub(crate) const SEQUENCE_WAIT: Duration = Duration::from_secs(1);
/// How far above the durable sequence `x-min-sequence` may lie (docs/api/overview.md §3).
pub(crate) const MAX_SEQUENCE_AHEAD: u64 = 1_000_000;
/// Concurrent searches for frames by sequence in a process: a search reads a segment's batch
/// headers, and only the retry of an account action needs one.
pub(crate) const MAX_FRAME_SEARCHES: usize = 4;
/// Orders whose signature may wait for a check on one thread; further ones get 503. At 60 µs each
/// the last of the queue waits a tenth of a second.
pub(crate) const MAX_SIGNATURES_WAITING: usize = 2_048;
/// Commands of this gateway in flight to the engine; an eighth is reserved for cancels.
pub(crate) const MAX_IN_FLIGHT: usize = 8_192;
/// How long an accepted command may go without an answer before its outcome is unknown.
pub(crate) const ENGINE_ANSWER: Duration = Duration::from_secs(10);

/// Markets whose volume of the day is kept, in 5 MB.
pub(crate) const DAY_VOLUME_MARKETS: usize = 2_048;
/// Trades counted for such a volume under one lock hold.
pub(crate) const DAY_VOLUME_ROWS: usize = 4_096;
/// Trades counted for one answer with figures of markets.
pub(crate) const SUMMARY_ROWS: usize = 16_384;
/// Newest trades among which one is found by its transaction hash.
pub(crate) const PROOF_TRADES: usize = 1_024;
/// Age at which an answer of the engine room is made again.
pub(crate) const ENGINE_ROOM_AGE: Duration = Duration::from_millis(500);

/// Longest wait for a snapshot that an operator requested; the operator's own clients wait a little
/// longer.
pub(crate) const SNAPSHOT_ANSWER: Duration = Duration::from_secs(25);
/// Bytes of history verified before reads at a start: about a quarter of a second.
pub const CHECKED_AT_START: u64 = 256 << 20;

/// Limits that an operator may set.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Open connections of the process to all surfaces except the operator's.
    pub total: usize,
    /// Part of these from one client: an IPv4 address, or an IPv6 network of 64 bits. Connections
    /// from a trusted proxy are exempt.
    pub per_address: usize,
    /// Bytes of answers on those surfaces that clients have not read.
    pub unread: usize,
    /// Part of these for one client.
    pub unread_per_address: usize,
    /// From the first byte of a request to the end of its head.
    pub head: Duration,
    /// From the end of the head to the end of the body.
    pub body: Duration,
    /// Time without a byte in either direction.
    pub idle: Duration,
    /// Time without the client reading a byte that is ready for it.
    pub write_stall: Duration,
    /// For requests in progress when the process is asked to end.
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
