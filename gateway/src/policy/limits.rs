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
/// Work that a client which did none for long may do at once (docs/api/limits.md §3).
pub(crate) const WORK_BURST: Duration = Duration::from_millis(20);
/// Reading and writing a request of a client behind a proxy, whose connection is that of many.
pub(crate) const PROXIED_REQUEST_WORK: Duration = Duration::from_micros(15);
/// The work of accepting and closing a connection.
pub(crate) const CONNECTION_WORK: Duration = Duration::from_micros(50);
/// Bytes that a connection reads in a row before it lets others go on.
pub(crate) const READ_PER_TURN: usize = 64 * 1024;
/// How long a connection waits, at most, before it reads on while its client is in debt.
pub(crate) const MAX_READ_WAIT: Duration = Duration::from_millis(250);
/// What it then reads.
pub(crate) const READ_IN_DEBT: usize = 4 * 1024;
/// How long a request waits for its client's turn.
pub(crate) const MAX_WORK_WAIT: Duration = Duration::from_secs(2);
/// Answers of routes with large ones that are made at once for a client.
pub(crate) const LARGE_ANSWERS_PER_CLIENT: usize = 2;
/// Rate limited requests of a connection, one after the other, after which it ends.
pub(crate) const MAX_REFUSED_IN_A_ROW: u32 = 20;
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
/// Connections to the health listener, counted in no other bound.
pub const HEALTH_CONNECTIONS: usize = 64;
/// Part of these from one client: others are balancers, too.
pub(crate) const HEALTH_CONNECTIONS_PER_CLIENT: usize = 32;
/// Bytes of its answers that clients may leave unread; each has less than a KiB.
pub(crate) const HEALTH_UNREAD_BYTES: usize = 64 * 1024;
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
/// the last of the queue waits a tenth of a second, and twice that where all are wrong and of known signers.
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
/// Trades whose frames are read for one slice of the search for a transaction hash.
pub(crate) const PROOF_TRADES: u64 = 1_024;
/// Age at which an answer of the engine room, and a scrape, is made again.
pub(crate) const SHARED_ANSWER_AGE: Duration = Duration::from_millis(500);

/// Longest wait for a snapshot that an operator requested; the operator's own clients wait a little
/// longer.
pub(crate) const SNAPSHOT_ANSWER: Duration = Duration::from_secs(25);
/// Bytes of history verified before reads at a start: about a quarter of a second.
pub const CHECKED_AT_START: u64 = 256 << 20;

/// Frames that one replay of stream messages from the journal folds, those before the resume point
/// included.
pub(crate) const MAX_REPLAYED_FRAMES: u64 = 1_000_000;
/// Replays of stream messages from the journal at once in a process: each holds a second live state.
pub(crate) const MAX_STREAM_REPLAYS: usize = 1;
/// Frames whose stream messages the ring holds.
pub(crate) const STREAM_RING_FRAMES: usize = 1 << 16;
/// Bytes of their messages.
pub(crate) const STREAM_RING_BYTES: usize = 64 << 20;
/// How long the messages of a market or key are encoded after the last subscription ended.
pub(crate) const STREAM_RESUME_WINDOW: Duration = Duration::from_secs(60);
/// Levels of a book, both sides together, up to which `price_change` carries the book's hash.
pub(crate) const STREAM_HASH_LEVELS: usize = 1_000;
/// Length of a book's text above which trades send it at most once in
/// [`STREAM_BOOK_INTERVAL`].
pub(crate) const STREAM_LARGE_BOOK_BYTES: usize = 4 << 10;
/// The interval, of the exchange's time, for large books after trades.
pub(crate) const STREAM_BOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Bytes of one read from a stream connection.
pub(crate) const STREAM_READ_BYTES: usize = 16 << 10;
/// Slices of one write to a stream connection.
pub(crate) const STREAM_WRITE_SLICES: usize = 64;
/// First books are rendered while fewer bytes than these wait for the connection.
pub(crate) const STREAM_DUMP_BYTES: usize = 256 << 10;
/// First books copied under one lock of the view.
pub(crate) const STREAM_DUMP_BOOKS: usize = 32;
/// Length of an array of first books, unless one of them is longer.
pub(crate) const STREAM_BOOK_ARRAY_BYTES: usize = 256 << 10;
/// Bytes waiting for a stream connection that do not count as unread bytes of its client.
pub(crate) const STREAM_FREE_BYTES: usize = 64 << 10;
/// Bytes above [`STREAM_FREE_BYTES`] count as unread bytes of the client in steps of this many.
pub(crate) const STREAM_SHARE_BYTES: usize = 256 << 10;
/// Frames that a thread distributes before it serves its connections.
pub(crate) const STREAM_PASS_FRAMES: usize = 256;
/// Frames of the ring that a resume visits before it rests.
pub(crate) const STREAM_RESUME_FRAMES: usize = 1_024;
/// Shortest time between two passes of a thread, so that a burst costs a connection one write.
pub(crate) const STREAM_PASS_INTERVAL: Duration = Duration::from_millis(1);
/// Interval of the checks for pings, heartbeats and time limits of stream connections.
pub(crate) const STREAM_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Shortest time between `MATCHED` and `CONFIRMED` of a trade on the user channel.
pub(crate) const STREAM_CONFIRM_AFTER: Duration = Duration::from_millis(100);
/// Time of the exchange after which a frame is confirmed in any case: more only pass between two
/// checks when a gateway catches up.
pub(crate) const STREAM_CONFIRM_WITHIN: Duration = Duration::from_millis(300);
/// Confirmations that a resume repeats, the newest: those of the largest frame.
pub(crate) const STREAM_REPEATED_CONFIRMATIONS: usize = 4_096;
/// Age at which the list of snapshots that replays start from is read again.
pub(crate) const STREAM_SNAPSHOTS_AGE: Duration = Duration::from_secs(1);
/// Range of `heartbeat_ms`, in milliseconds.
pub(crate) const STREAM_HEARTBEAT_MS: std::ops::RangeInclusive<u64> = 500..=30_000;
/// A busy connection gets a heartbeat after this many intervals at the latest.
pub(crate) const STREAM_BUSY_HEARTBEATS: u64 = 5;
/// How long a client may take to answer a close frame, and to read it.
pub(crate) const STREAM_CLOSE_WAIT: Duration = Duration::from_secs(2);
/// When the orders of a stream connection that ended are cancelled again, while the engine does not answer.
pub(crate) const CANCEL_AGAIN_AFTER: Duration = Duration::from_millis(100);
/// One connection in this many is reserved for requests, for each client and in all, so that streams
/// never use up all connections.
pub(crate) const REQUEST_CONNECTIONS_ONE_IN: usize = 8;

/// How long one replay from the journal may take.
pub(crate) const MAX_REPLAY_TIME: Duration = Duration::from_secs(20);
/// Replays that a client which had none for long may have, by their time.
pub(crate) const REPLAY_BURST: Duration = Duration::from_secs(5);
/// Nice value of the threads that work beside the serving ones.
pub(crate) const WORKER_NICE: i32 = 10;
/// Connections that wait for a replay.
pub(crate) const MAX_REPLAYS_WAITING: usize = 64;
/// Connections of one client that wait for a replay: they come back together when a gateway has
/// ended.
pub(crate) const REPLAYS_WAITING_PER_CLIENT: usize = 8;

/// Limits of stream connections that an operator may set.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// Stream connections of one client.
    pub per_address: usize,
    /// Tokens of a connection of the market channel.
    pub assets: usize,
    /// Markets that a connection of the user channel names.
    pub markets: usize,
    /// Bytes of one message from a client.
    pub message: usize,
    /// Messages a second that are read from a client.
    pub messages_per_second: u32,
    /// Messages that are read at once after a pause.
    pub message_burst: u32,
    /// Bytes that wait for one connection.
    pub max_lag_bytes: usize,
    /// Time that a message waits for its connection.
    pub max_lag: Duration,
    /// Interval of the server's pings.
    pub ping: Duration,
    /// Time without a frame from the client.
    pub idle: Duration,
    /// Time without an event after which a connection of the market channel gets a book; zero is
    /// never.
    pub quiet_book: Duration,
    /// How long the messages of a market or key are encoded after the last subscription ended.
    pub resume_window: Duration,
    /// Bytes of messages held for resuming.
    pub ring: usize,
}

impl StreamLimits {
    /// Bytes of missed messages that are added at once: a part of what may wait, beside what goes on
    /// live.
    pub(crate) const fn replay_bytes(&self) -> usize {
        self.max_lag_bytes / 2
    }
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            per_address: 50,
            assets: 4_000,
            markets: 4_000,
            message: 512 << 10,
            messages_per_second: 20,
            message_burst: 1_000,
            max_lag_bytes: 8 << 20,
            max_lag: Duration::from_secs(5),
            ping: Duration::from_secs(30),
            idle: Duration::from_secs(120),
            quiet_book: Duration::from_secs(45),
            resume_window: STREAM_RESUME_WINDOW,
            ring: STREAM_RING_BYTES,
        }
    }
}

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
    /// Whether clients may speak HTTP/2.
    pub http2: bool,
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
            http2: false,
        }
    }
}
