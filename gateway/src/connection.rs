//! What bounds one connection in time: a stream that notes what moves, and the order to end that
//! the [`crate::sweep`] gives a connection on which nothing does.
//!
//! hyper's own head timeout also counts the idle time between two requests of a kept connection,
//! so that it cannot be short without cutting off honest clients; here the five seconds run from
//! the first byte of a request.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::MAX_STREAMS;
use crate::sweep::{Clock, Patience, Tick};
use crate::unread::{Counted, Progress, UnreadBody};

/// First bytes of an HTTP/2 connection (prior knowledge).
const HTTP2: &[u8] = b"PRI";

/// What a connection is doing. Times are ticks of the sweep's clock, which runs from 1; 0 = not
/// running. Only the connection's own thread writes them.
#[derive(Debug)]
pub(crate) struct Activity {
    clock: Arc<Clock>,
    group: Group,
    last_byte: AtomicU32,
    head_since: AtomicU32,
    write_blocked_since: AtomicU32,
    in_service: AtomicU32,
    served: AtomicBool,
    http2: AtomicBool,
    order: AtomicU8,
    waker: OnceLock<Waker>,
    /// Answers that the client may still be taking, forgotten when there are many.
    answers: Mutex<Vec<Weak<Progress>>>,
}

/// Whose bounds a connection is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    /// Those of the surfaces that everybody reaches.
    Public,
    /// The same but for the client's share: a trusted proxy connects for many.
    Proxy,
    /// Those of the operator surface.
    Operator,
}

/// What a connection is asked to do. A later one outranks an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Order {
    /// Serve.
    Serve = 0,
    /// End after the requests that are under way.
    Drain = 1,
    /// End now.
    Cut = 2,
}

impl Activity {
    pub(crate) fn new(clock: Arc<Clock>, group: Group) -> Arc<Self> {
        let now = clock.now();
        Arc::new(Self {
            clock,
            group,
            last_byte: AtomicU32::new(now),
            // A connection that never sends anything is a head that never ends.
            head_since: AtomicU32::new(now),
            write_blocked_since: AtomicU32::new(0),
            in_service: AtomicU32::new(0),
            served: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            order: AtomicU8::new(Order::Serve as u8),
            waker: OnceLock::new(),
            answers: Mutex::default(),
        })
    }

    /// Whose bounds it is held to.
    pub(crate) fn group(&self) -> Group {
        self.group
    }

    /// When something moved last.
    pub(crate) fn last_byte(&self) -> Tick {
        self.last_byte.load(Relaxed)
    }

    /// Whether a request is being answered.
    pub(crate) fn is_serving(&self) -> bool {
        self.in_service.load(Relaxed) > 0
    }

    /// Whether it was asked to end now.
    pub(crate) fn is_ending(&self) -> bool {
        self.order.load(SeqCst) == Order::Cut as u8
    }

    /// The body of an answer that the client is to take from now on.
    pub(crate) fn body(&self, answer: Counted) -> UnreadBody {
        let progress = Progress::new(&self.clock);
        let mut answers = self.answers.lock();
        if answers.len() >= MAX_STREAMS as usize {
            answers.retain(|answer| answer.strong_count() > 0);
        }
        answers.push(Arc::downgrade(&progress));
        UnreadBody::new(answer, progress)
    }

    fn has_stalled_answer(&self, now: Tick, patience: Patience) -> bool {
        let answers = self.answers.lock();
        let mut open = answers.iter().filter_map(Weak::upgrade);
        open.any(|answer| answer.is_stalled(now, patience))
    }

    /// A request's head is complete.
    pub(crate) fn request_came(&self) {
        self.served.store(true, Relaxed);
        self.head_since.store(0, Relaxed);
    }

    /// Whether a head has begun that is not complete.
    pub(crate) fn reads_head(&self) -> bool {
        self.head_since.load(Relaxed) != 0
    }

    fn read(&self, bytes: &[u8]) {
        let now = self.clock.now();
        if !self.served.load(Relaxed) && bytes.starts_with(HTTP2) {
            self.http2.store(true, Relaxed);
        }
        self.last_byte.store(now, Relaxed);
        // On HTTP/2 bytes outside a request are ordinary (pings, window updates).
        let between = self.in_service.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0;
        if between && !self.http2.load(Relaxed) {
            self.head_since.store(now, Relaxed);
        }
    }

    fn wrote(&self, blocked: bool) {
        if !blocked {
            self.last_byte.store(self.clock.now(), Relaxed);
            self.write_blocked_since.store(0, Relaxed);
        } else if self.write_blocked_since.load(Relaxed) == 0 {
            self.write_blocked_since.store(self.clock.now(), Relaxed);
        }
    }

    /// Whether one of the limits has passed at `now`.
    pub(crate) fn expired(&self, now: Tick, patience: Patience) -> bool {
        let past = |since: &AtomicU32, limit: Tick| {
            let since = since.load(Relaxed);
            // A tick may have been almost over when it was noted: only whole ones after it count.
            since != 0 && now.saturating_sub(since) > limit
        };
        past(&self.head_since, patience.head)
            || past(&self.write_blocked_since, patience.write_stall)
            || past(&self.last_byte, patience.idle)
            || self.has_stalled_answer(now, patience)
    }

    /// Asks the connection to end, from any thread.
    pub(crate) fn ask(&self, order: Order) {
        // Either this sees the waker, or the first poll, which leaves it, sees the order.
        self.order.fetch_max(order as u8, SeqCst);
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// What the connection, whose task `cx` is of, is asked to do.
    pub(crate) fn order(&self, cx: &Context<'_>) -> Order {
        // The waker of a spawned task is the same at every poll.
        if self.waker.get().is_none() {
            self.waker.get_or_init(|| cx.waker().clone());
            std::sync::atomic::fence(SeqCst);
        }
        match self.order.load(SeqCst) {
            0 => Order::Serve,
            1 => Order::Drain,
            _ => Order::Cut,
        }
    }
}

/// Counts a request as under way until it is dropped, however it ends.
pub(crate) struct InService(Arc<Activity>);

impl InService {
    pub(crate) fn begin(activity: &Arc<Activity>) -> Self {
        activity.in_service.fetch_add(1, Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for InService {
    fn drop(&mut self) {
        self.0.in_service.fetch_sub(1, Relaxed);
    }
}

/// A stream whose activity is noted.
pub(crate) struct NotedStream<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> NotedStream<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for NotedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(new @ [_, ..]) = buffer.filled().get(before..) {
            self.activity.read(new);
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for NotedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.activity.wrote(result.is_pending());
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.activity.wrote(result.is_pending());
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
    use super::*;

    const PATIENCE: Patience = Patience {
        head: 2,
        idle: 2_000,
        write_stall: 3,
        pace: 1,
    };

    fn activity(clock: &Arc<Clock>) -> Arc<Activity> {
        Activity::new(Arc::clone(clock), Group::Public)
    }

    #[test]
    fn a_head_that_never_ends_expires_and_a_complete_one_does_not() {
        let clock = Arc::new(Clock::default());
        let activity = activity(&clock);
        clock.advance(2);
        assert!(
            !activity.expired(clock.now(), PATIENCE),
            "not two whole ticks"
        );
        clock.advance(1);
        assert!(activity.expired(clock.now(), PATIENCE));
        activity.request_came();
        let under_way = InService::begin(&activity);
        activity.read(b"the body");
        clock.advance(10);
        assert!(
            !activity.expired(clock.now(), PATIENCE),
            "the body has its own limit"
        );
        drop(under_way);
        assert!(
            !activity.expired(clock.now(), PATIENCE),
            "idle between requests"
        );
        activity.read(b"GET");
        assert!(
            !activity.expired(clock.now(), PATIENCE),
            "the next head has just begun"
        );
        clock.advance(3);
        assert!(activity.expired(clock.now(), PATIENCE));
    }

    #[test]
    fn http2_frames_between_requests_are_not_heads() {
        let activity = activity(&Arc::default());
        activity.read(b"PRI * HTTP/2.0");
        activity.request_came();
        activity.read(b"\0\0\x08\x06");
        assert_eq!(activity.head_since.load(Relaxed), 0);
    }

    #[test]
    fn a_reader_that_takes_nothing_expires() {
        let clock = Arc::new(Clock::default());
        let activity = activity(&clock);
        activity.request_came();
        activity.wrote(true);
        clock.advance(3);
        activity.wrote(true);
        assert!(!activity.expired(clock.now(), PATIENCE));
        clock.advance(1);
        assert!(activity.expired(clock.now(), PATIENCE));
        activity.wrote(false);
        assert!(!activity.expired(clock.now(), PATIENCE));
    }

    #[test]
    fn an_order_reaches_a_connection_polled_before_or_after_it() {
        let cx = Context::from_waker(Waker::noop());
        let activity = activity(&Arc::default());
        assert_eq!(activity.order(&cx), Order::Serve);
        activity.ask(Order::Cut);
        activity.ask(Order::Drain);
        assert_eq!(activity.order(&cx), Order::Cut, "the stronger one holds");
    }
}
