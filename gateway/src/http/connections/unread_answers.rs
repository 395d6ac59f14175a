//! An answer from its handler to the client. Its bytes count until their last owner (hyper or the
//! HTTP/2 window) drops them; the time since the client last read any is recorded.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use crate::http::connections::client_quotas::Reservation;
use crate::http::connections::idle_clock::{Clock, IdlePolicy, Tick};

/// The body of an answer, with its share of the client's unread bytes.
pub(crate) struct CountedAnswer {
    pub(crate) bytes: Bytes,
    pub(crate) share: Reservation,
}

/// A client's progress in reading an answer. Only the connection's own thread writes.
#[derive(Debug)]
pub(crate) struct Progress {
    clock: Arc<Clock>,
    began: Tick,
    moved: AtomicU32,
    taken: AtomicUsize,
}

impl Progress {
    pub(crate) fn new(clock: &Arc<Clock>) -> Arc<Self> {
        let now = clock.now();
        Arc::new(Self {
            clock: Arc::clone(clock),
            began: now,
            moved: AtomicU32::new(now),
            taken: AtomicUsize::new(0),
        })
    }

    fn took(&self, bytes: usize) {
        self.moved.store(self.clock.now(), Relaxed);
        self.taken.fetch_add(bytes, Relaxed);
    }

    /// Whether the client reads nothing, or more slowly than the minimum pace.
    pub(crate) fn is_stalled(&self, now: Tick, policy: IdlePolicy) -> bool {
        let taken = self.taken.load(Relaxed) / policy.pace;
        let due = Tick::try_from(taken).unwrap_or(Tick::MAX);
        let since = |tick: Tick| now.saturating_sub(tick);
        since(self.moved.load(Relaxed)) > policy.write_stall
            || since(self.began) > policy.write_stall.saturating_add(due)
    }
}

/// A body of one frame.
pub(crate) struct UnreadBody(Option<UnreadBytes>);

impl UnreadBody {
    pub(crate) fn new(answer: CountedAnswer, progress: Arc<Progress>) -> Self {
        let CountedAnswer { bytes, share } = answer;
        Self((!bytes.is_empty()).then_some(UnreadBytes {
            bytes,
            progress,
            _share: share,
        }))
    }
}

impl Body for UnreadBody {
    type Data = UnreadBytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<UnreadBytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.0.as_ref().map_or(0, Buf::remaining);
        SizeHint::with_exact(length as u64)
    }
}

/// Bytes that always carry their share.
pub(crate) struct UnreadBytes {
    bytes: Bytes,
    progress: Arc<Progress>,
    _share: Reservation,
}

impl Buf for UnreadBytes {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.progress.took(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: IdlePolicy = IdlePolicy {
        head: 1,
        idle: 1,
        write_stall: 3,
        pace: 10,
    };

    #[test]
    fn who_takes_nothing_for_long_stalls() {
        let clock = Arc::new(Clock::default());
        let progress = Progress::new(&clock);
        let is_stalled = |ticks| progress.is_stalled(clock.advance(ticks), POLICY);
        assert!(!is_stalled(3), "not three whole ticks");
        progress.took(1_000);
        assert!(!is_stalled(3));
        assert!(is_stalled(1));
        progress.took(1);
        assert!(!is_stalled(0));
    }

    #[test]
    fn who_takes_a_byte_at_a_time_stalls() {
        let clock = Arc::new(Clock::default());
        let progress = Progress::new(&clock);
        let stalls_at = (1..100).find(|_| {
            progress.took(5);
            progress.is_stalled(clock.advance(1), POLICY)
        });
        assert_eq!(stalls_at, Some(7), "3 ticks, and 3 for 35 bytes");
        let steady = Progress::new(&clock);
        let stalls_at = (1..100).find(|_| {
            steady.took(10);
            steady.is_stalled(clock.advance(1), POLICY)
        });
        assert_eq!(stalls_at, None);
    }
}
