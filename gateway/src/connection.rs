//! What bounds one connection in time: a stream that notes what moves, and a watchdog that ends
//! a connection on which nothing does.
//!
//! hyper's own head timeout also counts the idle time between two requests of a kept connection,
//! so that it cannot be short without cutting off honest clients; here the five seconds run from
//! the first byte of a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::ConnectionLimits;

/// First bytes of an HTTP/2 connection (prior knowledge).
const HTTP2: &[u8] = b"PRI";

/// What a connection is doing. Times are milliseconds since its start; 0 = not running.
#[derive(Debug)]
pub(crate) struct Activity {
    start: Coarse,
    last_byte: AtomicU64,
    head_since: AtomicU64,
    write_blocked_since: AtomicU64,
    in_service: AtomicU32,
    served: AtomicBool,
    http2: AtomicBool,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            start: Coarse::now(),
            last_byte: AtomicU64::new(1),
            // A connection that never sends anything is a head that never ends.
            head_since: AtomicU64::new(1),
            write_blocked_since: AtomicU64::new(0),
            in_service: AtomicU32::new(0),
            served: AtomicBool::new(false),
            http2: AtomicBool::new(false),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis())
            .unwrap_or(u64::MAX)
            .max(1)
    }

    /// A request's head is complete.
    pub(crate) fn request_began(&self) {
        self.in_service.fetch_add(1, Relaxed);
        self.served.store(true, Relaxed);
        self.head_since.store(0, Relaxed);
    }

    /// Its answer is ready to be written.
    pub(crate) fn request_ended(&self) {
        self.in_service.fetch_sub(1, Relaxed);
    }

    fn read(&self, bytes: &[u8]) {
        let now = self.now();
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
            self.last_byte.store(self.now(), Relaxed);
            self.write_blocked_since.store(0, Relaxed);
        } else if self.write_blocked_since.load(Relaxed) == 0 {
            self.write_blocked_since.store(self.now(), Relaxed);
        }
    }

    /// Whether one of the limits has passed.
    fn expired(&self, limits: &ConnectionLimits) -> bool {
        let now = self.now();
        let past = |since: &AtomicU64, limit: Duration| {
            let since = since.load(Relaxed);
            since != 0 && u128::from(now.saturating_sub(since)) >= limit.as_millis()
        };
        past(&self.head_since, limits.head)
            || past(&self.write_blocked_since, limits.write_stall)
            || past(&self.last_byte, limits.idle)
    }

    /// Returns when the connection has outlived one of its limits. It looks twice within the
    /// shortest of them, so a limit is met within one and a half times its length.
    pub(crate) async fn watch(&self, limits: &ConnectionLimits) {
        let step = limits.head.min(limits.write_stall).min(limits.idle) / 2;
        while !self.expired(limits) {
            tokio::time::sleep(step.max(Duration::from_millis(1))).await;
        }
    }
}

/// A reading of the monotonic clock that is some milliseconds old: it is taken for every piece a
/// connection reads or writes, at a fifth of what an exact one costs.
#[derive(Clone, Copy, Debug)]
struct Coarse(Duration);

impl Coarse {
    fn now() -> Self {
        let time = clock_gettime(ClockId::MonotonicCoarse);
        let part = |number: i64| u64::try_from(number).unwrap_or(0);
        let seconds = Duration::from_secs(part(time.tv_sec));
        Self(seconds + Duration::from_nanos(part(time.tv_nsec)))
    }

    fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

/// Counts a request as under way until it is dropped, however it ends.
pub(crate) struct InService(Arc<Activity>);

impl InService {
    pub(crate) fn begin(activity: &Arc<Activity>) -> Self {
        activity.request_began();
        Self(Arc::clone(activity))
    }
}

impl Drop for InService {
    fn drop(&mut self) {
        self.0.request_ended();
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

    fn limits() -> ConnectionLimits {
        ConnectionLimits {
            head: Duration::from_millis(200),
            idle: Duration::from_secs(2_000),
            write_stall: Duration::from_millis(300),
            ..ConnectionLimits::default()
        }
    }

    /// An activity that is `age` old, as if its bytes had come then.
    fn aged(age: Duration) -> Activity {
        let activity = Activity::new();
        let mut activity = Arc::into_inner(activity).expect("nobody else has it");
        activity.start = Coarse(Coarse::now().0.checked_sub(age).expect("uptime"));
        activity
    }

    #[test]
    fn a_head_that_never_ends_expires_and_a_complete_one_does_not() {
        let activity = aged(Duration::from_millis(250));
        assert!(activity.expired(&limits()));
        activity.request_began();
        assert!(!activity.expired(&limits()), "the body has its own limit");
        activity.request_ended();
        assert!(!activity.expired(&limits()), "idle between requests");
        activity.read(b"GET");
        assert!(!activity.expired(&limits()), "the next head has just begun");
    }

    #[test]
    fn http2_frames_between_requests_are_not_heads() {
        let activity = aged(Duration::from_secs(1));
        activity.read(b"PRI * HTTP/2.0");
        activity.request_began();
        activity.request_ended();
        activity.read(b"\0\0\x08\x06");
        assert_eq!(activity.head_since.load(Relaxed), 0);
    }

    #[test]
    fn a_reader_that_takes_nothing_expires() {
        let activity = aged(Duration::from_secs(1));
        activity.request_began();
        activity.wrote(true);
        assert!(!activity.expired(&limits()));
        activity.write_blocked_since.store(1, Relaxed);
        assert!(activity.expired(&limits()));
        activity.wrote(false);
        assert!(!activity.expired(&limits()));
    }
}
