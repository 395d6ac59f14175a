//! Time limits of one connection: a stream that records its activity, and the request to end that
//! the idle reaper sends to an inactive connection.
//!
//! hyper's own head timeout also counts the idle time between two requests of a kept-alive
//! connection, so it cannot be short without cutting off honest clients. Here the limit of the head
//! runs from the first byte of a request.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use http::StatusCode;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::http::connections::idle_clock::{Clock, IdlePolicy, Tick};
use crate::http::connections::unread_answers::{CountedAnswer, Progress, UnreadBody};
use crate::policy::limits::{
    MAX_READ_WAIT, MAX_REFUSED_IN_A_ROW, MAX_STREAMS, READ_IN_DEBT, READ_PER_TURN,
};
use crate::policy::work::WorkAccount;

/// First bytes of an HTTP/2 connection (prior knowledge).
const HTTP2: &[u8] = b"PRI";

/// The activity of a connection. Times are ticks of the reaper's clock, which starts at 1; 0 = not
/// running. Only the connection's own thread writes them.
#[derive(Debug)]
pub(crate) struct Activity {
    clock: Arc<Clock>,
    group: ConnectionGroup,
    last_byte: AtomicU32,
    head_since: AtomicU32,
    write_blocked_since: AtomicU32,
    in_service: AtomicU32,
    /// Requests over a rate limit, one after the other.
    refused: AtomicU32,
    served: AtomicBool,
    http2: AtomicBool,
    operator: AtomicBool,
    read_in_turn: AtomicUsize,
    requested: AtomicU8,
    waker: OnceLock<Waker>,
    /// Answers that the client may still be reading. Finished ones are removed when an answer is
    /// added to [`MAX_STREAMS`] or more.
    answers: Mutex<Vec<Weak<Progress>>>,
}

/// The set of bounds that applies to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConnectionGroup {
    /// The bounds of the public surfaces.
    Public,
    /// The same without the client's bound: a trusted proxy connects for many clients.
    Proxy,
    /// The bounds of the operator surface.
    Operator,
    /// The bounds of the health listener.
    Health,
}

/// The requested state of a connection. A later variant overrides an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum ConnectionState {
    /// Serves requests.
    Serving = 0,
    /// Ends after the requests in progress.
    Draining = 1,
    /// Ends now.
    Closing = 2,
}

impl Activity {
    pub(crate) fn new(clock: Arc<Clock>, group: ConnectionGroup) -> Arc<Self> {
        let now = clock.now();
        Arc::new(Self {
            clock,
            group,
            last_byte: AtomicU32::new(now),
            // A new connection counts as reading a head, so one that sends nothing expires.
            head_since: AtomicU32::new(now),
            write_blocked_since: AtomicU32::new(0),
            in_service: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            served: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            operator: AtomicBool::new(false),
            read_in_turn: AtomicUsize::new(0),
            requested: AtomicU8::new(ConnectionState::Serving as u8),
            waker: OnceLock::new(),
            answers: Mutex::default(),
        })
    }

    pub(crate) fn group(&self) -> ConnectionGroup {
        self.group
    }

    /// Tick of the last transferred byte.
    pub(crate) fn last_byte(&self) -> Tick {
        self.last_byte.load(Relaxed)
    }

    /// Whether a request is in progress.
    pub(crate) fn is_serving(&self) -> bool {
        self.in_service.load(Relaxed) > 0
    }

    /// Whether it was asked to end at once ([`ConnectionState::Closing`]).
    pub(crate) fn is_ending(&self) -> bool {
        self.requested.load(SeqCst) == ConnectionState::Closing as u8
    }

    /// Wraps the body of an answer so that the client's progress is tracked.
    pub(crate) fn body(&self, answer: CountedAnswer) -> UnreadBody {
        let progress = Progress::new(&self.clock);
        let mut answers = self.answers.lock();
        if answers.len() >= MAX_STREAMS as usize {
            answers.retain(|answer| answer.strong_count() > 0);
        }
        answers.push(Arc::downgrade(&progress));
        UnreadBody::new(answer, progress)
    }

    fn has_stalled_answer(&self, now: Tick, policy: IdlePolicy) -> bool {
        let answers = self.answers.lock();
        let mut open = answers.iter().filter_map(Weak::upgrade);
        open.any(|answer| answer.is_stalled(now, policy))
    }

    /// Records that a request's head is complete.
    pub(crate) fn head_received(&self) {
        self.served.store(true, Relaxed);
        self.head_since.store(0, Relaxed);
    }

    /// Whether the connection ends after this answer: its client sends on and on above its limits.
    pub(crate) fn is_last(&self, status: StatusCode) -> bool {
        if status != StatusCode::TOO_MANY_REQUESTS {
            self.refused.store(0, Relaxed);
            return false;
        }
        let ends = self.refused.fetch_add(1, Relaxed) + 1 >= MAX_REFUSED_IN_A_ROW;
        if ends {
            self.request(ConnectionState::Draining);
        }
        ends
    }

    /// Begins a turn of the connection.
    pub(crate) fn begin_turn(&self) {
        self.read_in_turn.store(0, Relaxed);
    }

    /// Whether the connection has read so much in this turn that others go on first.
    fn turn_is_over(&self) -> bool {
        self.read_in_turn.load(Relaxed) >= READ_PER_TURN
    }

    /// Whether its client has shown a token of the operator surface.
    pub(crate) fn is_of_operator(&self) -> bool {
        self.operator.load(Relaxed)
    }

    /// Records a request with a token of the operator surface.
    pub(crate) fn token_shown(&self) {
        self.operator.store(true, Relaxed);
    }

    /// Whether a head has begun but is not complete.
    pub(crate) fn is_reading_head(&self) -> bool {
        self.head_since.load(Relaxed) != 0
    }

    fn record_read(&self, bytes: &[u8]) {
        let now = self.clock.now();
        self.read_in_turn.fetch_add(bytes.len(), Relaxed);
        if !self.served.load(Relaxed) && bytes.starts_with(HTTP2) {
            self.http2.store(true, Relaxed);
        }
        self.last_byte.store(now, Relaxed);
        // On HTTP/2, bytes between requests are normal (pings, window updates).
        let between = self.in_service.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0;
        if between && !self.http2.load(Relaxed) {
            self.head_since.store(now, Relaxed);
        }
    }

    fn record_write(&self, blocked: bool) {
        if !blocked {
            self.last_byte.store(self.clock.now(), Relaxed);
            self.write_blocked_since.store(0, Relaxed);
        } else if self.write_blocked_since.load(Relaxed) == 0 {
            self.write_blocked_since.store(self.clock.now(), Relaxed);
        }
    }

    /// Whether one of the limits has passed at `now`.
    pub(crate) fn expired(&self, now: Tick, policy: IdlePolicy) -> bool {
        let past = |since: &AtomicU32, limit: Tick| {
            let since = since.load(Relaxed);
            // The recorded tick may have been almost over, so only whole ticks after it count.
            since != 0 && now.saturating_sub(since) > limit
        };
        past(&self.head_since, policy.head)
            || past(&self.write_blocked_since, policy.write_stall)
            || past(&self.last_byte, policy.idle)
            || self.has_stalled_answer(now, policy)
    }

    /// Requests a state, from any thread.
    pub(crate) fn request(&self, state: ConnectionState) {
        // Either this load sees the waker, or the poll that registered the waker sees the state.
        self.requested.fetch_max(state as u8, SeqCst);
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// The requested state; `cx` belongs to the connection's task.
    pub(crate) fn requested(&self, cx: &Context<'_>) -> ConnectionState {
        // The waker of a spawned task is the same at every poll.
        if self.waker.get().is_none() {
            self.waker.get_or_init(|| cx.waker().clone());
            std::sync::atomic::fence(SeqCst);
        }
        match self.requested.load(SeqCst) {
            0 => ConnectionState::Serving,
            1 => ConnectionState::Draining,
            _ => ConnectionState::Closing,
        }
    }
}

/// Counts a request as in progress until dropped, however the request ends.
pub(crate) struct RequestInProgress(Arc<Activity>);

impl RequestInProgress {
    pub(crate) fn begin(activity: &Arc<Activity>) -> Self {
        activity.in_service.fetch_add(1, Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.in_service.fetch_sub(1, Relaxed);
    }
}

/// A stream that records its activity.
pub(crate) struct ActivityStream<S> {
    stream: S,
    activity: Arc<Activity>,
    pace: Option<ReadPace>,
}

/// Bounds what a connection reads by the work of its client: what arrives costs work, requests or not.
struct ReadPace {
    account: Arc<WorkAccount>,
    /// Runs until it is read on.
    wait: Option<Pin<Box<Sleep>>>,
}

impl ReadPace {
    /// The bytes that may be read now; without a bound when the client is not in debt.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if self.wait.is_none() {
            let wait = self.account.wait(Instant::now());
            if wait.is_zero() {
                return Poll::Ready(usize::MAX);
            }
            self.wait = Some(Box::pin(sleep(wait.min(MAX_READ_WAIT))));
        }
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(cx));
        }
        self.wait = None;
        Poll::Ready(READ_IN_DEBT)
    }
}

impl<S> ActivityStream<S> {
    /// `account` pays for what arrives; `None` of a proxy, whose clients pay for their requests.
    pub(crate) fn new(
        stream: S,
        activity: Arc<Activity>,
        account: Option<Arc<WorkAccount>>,
    ) -> Self {
        let pace = account.map(|account| ReadPace {
            account,
            wait: None,
        });
        Self {
            stream,
            activity,
            pace,
        }
    }

    /// Leaves the pace to who reads on.
    pub(crate) fn unpaced(self) -> Self {
        Self { pace: None, ..self }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ActivityStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = match &mut this.pace {
            None => buffer.remaining(),
            Some(_) if this.activity.turn_is_over() => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(pace) => ready!(pace.poll_room(cx)),
        };
        let before = buffer.filled().len();
        let result = if room < buffer.remaining() {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
            let result = Pin::new(&mut this.stream).poll_read(cx, &mut part);
            let read = part.filled().len();
            buffer.advance(read);
            result
        } else {
            Pin::new(&mut this.stream).poll_read(cx, buffer)
        };
        if let Some(new @ [_, ..]) = buffer.filled().get(before..) {
            this.activity.record_read(new);
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ActivityStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.activity.record_write(result.is_pending());
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.activity.record_write(result.is_pending());
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::http::connections::client_quotas::Client;
    use crate::policy::work::{Share, WorkAccounts};

    const POLICY: IdlePolicy = IdlePolicy {
        head: 2,
        idle: 2_000,
        write_stall: 3,
        pace: 1,
    };

    fn activity(clock: &Arc<Clock>) -> Arc<Activity> {
        Activity::new(Arc::clone(clock), ConnectionGroup::Public)
    }

    #[test]
    fn a_head_that_never_ends_expires_and_a_complete_one_does_not() {
        let clock = Arc::new(Clock::default());
        let activity = activity(&clock);
        clock.advance(2);
        assert!(
            !activity.expired(clock.now(), POLICY),
            "not two whole ticks"
        );
        clock.advance(1);
        assert!(activity.expired(clock.now(), POLICY));
        activity.head_received();
        let under_way = RequestInProgress::begin(&activity);
        activity.record_read(b"the body");
        clock.advance(10);
        assert!(
            !activity.expired(clock.now(), POLICY),
            "the body has its own limit"
        );
        drop(under_way);
        assert!(
            !activity.expired(clock.now(), POLICY),
            "idle between requests"
        );
        activity.record_read(b"GET");
        assert!(
            !activity.expired(clock.now(), POLICY),
            "the next head has just begun"
        );
        clock.advance(3);
        assert!(activity.expired(clock.now(), POLICY));
    }

    /// What one read yields; `None` = nothing now.
    fn read(stream: &mut ActivityStream<&[u8]>, cx: &mut Context<'_>) -> Option<usize> {
        let mut room = vec![0; 16 * 1024];
        let mut buffer = ReadBuf::new(&mut room);
        match Pin::new(stream).poll_read(cx, &mut buffer) {
            Poll::Ready(result) => result.map(|()| buffer.filled().len()).ok(),
            Poll::Pending => None,
        }
    }

    #[test]
    fn what_arrives_is_read_in_turns_and_slowly_for_who_is_in_debt() {
        let share = Share {
            thousandths: 250,
            burst: Duration::ZERO,
        };
        let account = WorkAccounts::new(Some(share)).of(Client::of([192, 0, 2, 1].into()));
        let (activity, sent) = (activity(&Arc::default()), vec![7; 1 << 20]);
        let paid = Some(Arc::clone(&account));
        let mut stream = ActivityStream::new(&sent[..], Arc::clone(&activity), paid);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            activity.begin_turn();
            for _ in 0..4 {
                assert_eq!(read(&mut stream, &mut cx), Some(16 * 1024));
            }
            assert_eq!(read(&mut stream, &mut cx), None, "others go on first");
        }
        account.charge(Instant::now(), Duration::from_secs(1_000));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let waited = Instant::now();
        let in_debt = runtime.block_on(std::future::poll_fn(|cx| {
            activity.begin_turn();
            read(&mut stream, cx).map_or(Poll::Pending, Poll::Ready)
        }));
        assert_eq!(in_debt, READ_IN_DEBT);
        assert!(
            waited.elapsed() >= MAX_READ_WAIT,
            "after a pause that is bounded"
        );
        let mut stream = stream.unpaced();
        for _ in 0..8 {
            assert_eq!(
                read(&mut stream, &mut cx),
                Some(16 * 1024),
                "its reader has a pace of its own"
            );
        }
    }

    #[test]
    fn http2_frames_between_requests_are_not_heads() {
        let activity = activity(&Arc::default());
        activity.record_read(b"PRI * HTTP/2.0");
        activity.head_received();
        activity.record_read(b"\0\0\x08\x06");
        assert_eq!(activity.head_since.load(Relaxed), 0);
    }

    #[test]
    fn a_reader_that_takes_nothing_expires() {
        let clock = Arc::new(Clock::default());
        let activity = activity(&clock);
        activity.head_received();
        activity.record_write(true);
        clock.advance(3);
        activity.record_write(true);
        assert!(!activity.expired(clock.now(), POLICY));
        clock.advance(1);
        assert!(activity.expired(clock.now(), POLICY));
        activity.record_write(false);
        assert!(!activity.expired(clock.now(), POLICY));
    }

    #[test]
    fn an_order_reaches_a_connection_polled_before_or_after_it() {
        let cx = Context::from_waker(Waker::noop());
        let activity = activity(&Arc::default());
        assert_eq!(activity.requested(&cx), ConnectionState::Serving);
        activity.request(ConnectionState::Closing);
        activity.request(ConnectionState::Draining);
        assert_eq!(
            activity.requested(&cx),
            ConnectionState::Closing,
            "the stronger one holds"
        );
    }
}
