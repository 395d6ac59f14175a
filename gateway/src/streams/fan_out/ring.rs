//! The ring: the messages of the newest frames, rendered once and shared by all receivers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use foretell_model::{
    ConditionId, FramePosition, KeyNumber, MarketNumber, Outcome, Sequence, TimeMs,
};
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use crate::streams::subscription::demand::{Demand, Subject};

/// All stream messages of one journal frame.
#[derive(Debug)]
pub(crate) struct EncodedFrame {
    /// The frame.
    pub(crate) sequence: Sequence,
    /// Its time.
    pub(crate) time: TimeMs,
    /// Messages of the market channel, in the order in which each receiver gets them.
    pub(crate) market: Box<[MarketMessage]>,
    /// Messages of the user channel, in the order in which each receiver gets them.
    pub(crate) user: Box<[UserMessage]>,
    /// `CONFIRMED` of its trades, which are sent later.
    pub(crate) confirmations: Box<[UserMessage]>,
    /// Keys revoked by this frame: their connections end after its messages.
    pub(crate) revoked: Box<[KeyNumber]>,
}

/// A message of the market channel. `frame` is a finished, unmasked WebSocket text frame.
#[derive(Clone, Debug)]
pub(crate) struct MarketMessage {
    pub(crate) scope: Scope,
    pub(crate) frame: Bytes,
}

/// The receivers of a message of the market channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// Subscribers of this token.
    Token(MarketNumber, Outcome),
    /// Subscribers of this token who do not subscribe to the market's other token.
    OnlyToken(MarketNumber, Outcome),
    /// Subscribers of either token of the market.
    Market(MarketNumber),
    /// Subscribers of this token with `custom_feature_enabled`.
    CustomToken(MarketNumber, Outcome),
    /// Every connection of the market channel with `custom_feature_enabled`.
    CustomAll,
    /// Subscribers of either token of the market who opted in to the extension.
    ExtendedMarket(MarketNumber),
    /// Every connection that opted in to the extension, of both channels.
    ExtendedAll,
}

/// A message of the user channel, rendered for one API key: a trade names its reader's own key.
/// `frame` is a finished, unmasked WebSocket text frame.
#[derive(Clone, Debug)]
pub(crate) struct UserMessage {
    pub(crate) key: KeyNumber,
    /// `None` for a message of no market, which a filter of markets leaves out.
    pub(crate) market: Option<ConditionId>,
    pub(crate) frame: Bytes,
}

/// The messages of the newest frames, within [`RingLimits`].
pub(crate) struct StreamRing {
    limits: RingLimits,
    demand: Arc<Demand>,
    head: AtomicU64,
    /// Location of the newest frame that was folded here.
    head_place: Mutex<Option<(Sequence, FramePosition)>>,
    history: AtomicU64,
    held: RwLock<Held>,
    listeners: Mutex<Vec<Arc<Notify>>>,
}

/// Bounds of a [`StreamRing`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingLimits {
    /// Frames with messages.
    pub(crate) frames: usize,
    /// Bytes of their messages.
    pub(crate) bytes: usize,
}

#[derive(Default)]
struct Held {
    /// Frames with messages, oldest first.
    frames: VecDeque<Arc<EncodedFrame>>,
    bytes: usize,
    /// The newest frame whose messages are gone: the ring holds all that was encoded after it.
    floor: Sequence,
}

impl StreamRing {
    /// An empty ring for the messages that `demand` asks for.
    pub(crate) fn new(limits: RingLimits, demand: Arc<Demand>) -> Self {
        Self {
            limits,
            demand,
            head: AtomicU64::new(0),
            head_place: Mutex::default(),
            history: AtomicU64::new(0),
            held: RwLock::default(),
            listeners: Mutex::default(),
        }
    }

    /// Which subjects are encoded.
    pub(crate) fn demand(&self) -> &Arc<Demand> {
        &self.demand
    }

    /// The last frame folded and encoded. Frames without messages raise it, too. Never above the
    /// view's sequence.
    pub(crate) fn head(&self) -> Sequence {
        Sequence(self.head.load(Ordering::Acquire))
    }

    /// Notes the location of the newest frame of a batch, before [`Self::push`].
    pub(crate) fn set_head_place(&self, sequence: Sequence, place: FramePosition) {
        *self.head_place.lock() = Some((sequence, place));
    }

    /// The newest frame with its location; `None` before the first one was folded here.
    pub(crate) fn head_place(&self) -> Option<(Sequence, FramePosition)> {
        *self.head_place.lock()
    }

    /// Incremented when the view is rebuilt: earlier messages may report frames that are gone.
    pub(crate) fn history(&self) -> u64 {
        self.history.load(Ordering::Acquire)
    }

    /// Frames with messages after `cursor`, oldest first, at most `limit`; `None` when frames after
    /// `cursor` have left the ring.
    pub(crate) fn after(&self, cursor: Sequence, limit: usize) -> Option<Vec<Arc<EncodedFrame>>> {
        let held = self.held.read();
        if cursor < held.floor {
            return None;
        }
        let first = held
            .frames
            .partition_point(|frame| frame.sequence <= cursor);
        let frames = held.frames.range(first..).take(limit);
        Some(frames.cloned().collect())
    }

    /// The lowest N such that the ring holds every message of the subject after N; `None` when its
    /// messages are not encoded. A subject whose first lease is newer than the last batch of frames
    /// counts as not encoded: N at the view's sequence needs no message.
    pub(crate) fn resumable(&self, subject: Subject) -> Option<Sequence> {
        let since = self.demand.since(subject)?;
        Some(since.max(self.held.read().floor))
    }

    /// Wakes `wake` whenever [`Self::head`] or [`Self::history`] has changed.
    pub(crate) fn add_listener(&self, wake: Arc<Notify>) {
        self.listeners.lock().push(wake);
    }

    /// Adds the messages of a batch of frames, oldest first, and sets the head. Wakes listeners if
    /// the head moved.
    pub(crate) fn push(&self, frames: Vec<EncodedFrame>, head: Sequence) {
        if !frames.is_empty() {
            let frames: Vec<_> = frames.into_iter().map(Arc::new).collect();
            let dropped = self.held.write().push(frames, self.limits);
            // Freed outside of the lock.
            drop(dropped);
        }
        if self.head.swap(head.0, Ordering::AcqRel) != head.0 {
            self.wake();
        }
    }

    /// Starts over after the view was replaced by one at `head`.
    pub(crate) fn restart(&self, head: Sequence) {
        let empty = Held {
            floor: head,
            ..Held::default()
        };
        let old = std::mem::replace(&mut *self.held.write(), empty);
        self.demand.restart();
        self.head.store(head.0, Ordering::Release);
        self.history.fetch_add(1, Ordering::AcqRel);
        drop(old);
        self.wake();
    }

    fn wake(&self) {
        for listener in &*self.listeners.lock() {
            listener.notify_one();
        }
    }
}

impl Held {
    /// Adds frames and returns those that make room for them.
    fn push(
        &mut self,
        frames: Vec<Arc<EncodedFrame>>,
        limits: RingLimits,
    ) -> Vec<Arc<EncodedFrame>> {
        self.bytes += frames.iter().map(|frame| frame.bytes()).sum::<usize>();
        self.frames.extend(frames);
        let mut dropped = Vec::new();
        while self.frames.len() > limits.frames || self.bytes > limits.bytes {
            let Some(oldest) = self.frames.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
            self.floor = oldest.sequence;
            dropped.push(oldest);
        }
        dropped
    }
}

impl EncodedFrame {
    /// A frame without messages.
    pub(crate) fn empty(sequence: Sequence, time: TimeMs) -> Self {
        Self {
            sequence,
            time,
            market: Box::default(),
            user: Box::default(),
            confirmations: Box::default(),
            revoked: Box::default(),
        }
    }

    /// Bytes of all its messages.
    pub(crate) fn bytes(&self) -> usize {
        let market = self.market.iter().map(|message| message.frame.len());
        let user = self.own_messages().map(|message| message.frame.len());
        market.chain(user).sum()
    }

    /// All messages of the user channel, in the order of a replay.
    pub(crate) fn own_messages(&self) -> impl Iterator<Item = &UserMessage> {
        self.user.iter().chain(&self.confirmations)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NUMBER: MarketNumber = MarketNumber(4);
    const MARKET: Subject = Subject::Market(NUMBER);

    fn frame(sequence: u64, bytes: usize) -> EncodedFrame {
        let message = MarketMessage {
            scope: Scope::Market(NUMBER),
            frame: Bytes::from(vec![0; bytes]),
        };
        EncodedFrame {
            market: [message].into(),
            ..EncodedFrame::empty(Sequence(sequence), TimeMs(0))
        }
    }

    fn ring(frames: usize, bytes: usize) -> StreamRing {
        let demand = Arc::new(Demand::new(Duration::from_secs(60)));
        StreamRing::new(RingLimits { frames, bytes }, demand)
    }

    fn after(ring: &StreamRing, cursor: u64) -> Option<Vec<u64>> {
        let frames = ring.after(Sequence(cursor), 10)?;
        Some(frames.iter().map(|frame| frame.sequence.0).collect())
    }

    #[test]
    fn a_cursor_gets_what_follows_it_until_it_has_left_the_ring() {
        let ring = ring(3, 1_000);
        ring.restart(Sequence(10));
        assert_eq!(after(&ring, 9), None);
        assert_eq!(after(&ring, 10), Some(vec![]));
        ring.push(vec![frame(11, 1), frame(13, 1), frame(14, 1)], Sequence(20));
        assert_eq!(after(&ring, 10), Some(vec![11, 13, 14]));
        assert_eq!(after(&ring, 12), Some(vec![13, 14]));
        assert_eq!(after(&ring, 20), Some(vec![]));
        assert_eq!(ring.after(Sequence(10), 2).expect("held").len(), 2);
        ring.push(vec![frame(21, 1)], Sequence(21));
        assert_eq!(after(&ring, 10), None);
        assert_eq!(after(&ring, 11), Some(vec![13, 14, 21]));
    }

    #[test]
    fn bytes_bound_the_ring() {
        let ring = ring(100, 10);
        ring.push(vec![frame(1, 4), frame(2, 4)], Sequence(2));
        ring.push(vec![frame(3, 4)], Sequence(3));
        assert_eq!(after(&ring, 0), None);
        assert_eq!(after(&ring, 1), Some(vec![2, 3]));
        ring.push(vec![frame(4, 100)], Sequence(4));
        assert_eq!(after(&ring, 3), None, "one frame may be too long");
        assert_eq!(after(&ring, 4), Some(vec![]));
    }

    #[test]
    fn a_new_history_begins_empty_at_its_head() {
        let ring = ring(10, 1_000);
        let wake = Arc::new(Notify::new());
        ring.add_listener(Arc::clone(&wake));
        ring.push(vec![frame(5, 1)], Sequence(5));
        let history = ring.history();
        ring.restart(Sequence(3));
        assert_eq!((ring.head(), ring.history()), (Sequence(3), history + 1));
        assert_eq!(after(&ring, 2), None);
        assert_eq!(after(&ring, 3), Some(vec![]));
    }

    #[test]
    fn the_ring_resumes_from_where_a_market_was_encoded_or_the_ring_begins() {
        let ring = ring(2, 1_000);
        ring.restart(Sequence(10));
        assert_eq!(ring.resumable(MARKET), None);
        let lease = ring.demand().lease(MARKET);
        assert_eq!(ring.resumable(MARKET), None);
        ring.demand().begin_batch(Sequence(12));
        assert_eq!(ring.resumable(MARKET), Some(Sequence(12)));
        ring.push((13..=15).map(|at| frame(at, 1)).collect(), Sequence(15));
        assert_eq!(ring.resumable(MARKET), Some(Sequence(13)));
        drop(lease);
        ring.demand().begin_batch(Sequence(15));
        assert_eq!(
            ring.resumable(MARKET),
            Some(Sequence(13)),
            "its window lasts"
        );
        ring.restart(Sequence(14));
        assert_eq!(ring.resumable(MARKET), None);
    }

    #[test]
    fn listeners_wake_when_the_head_moves_with_or_without_messages() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let ring = ring(10, 1_000);
        let wake = Arc::new(Notify::new());
        ring.add_listener(Arc::clone(&wake));
        runtime.expect("a runtime").block_on(async {
            ring.push(vec![frame(1, 1)], Sequence(1));
            wake.notified().await;
            ring.push(Vec::new(), Sequence(2));
            wake.notified().await;
            ring.push(Vec::new(), Sequence(2));
            let mut waits = std::pin::pin!(wake.notified());
            let is_pending = std::future::poll_fn(|context| {
                std::task::Poll::Ready(waits.as_mut().poll(context).is_pending())
            });
            assert!(is_pending.await, "nothing moved");
        });
    }
}
