//! The state of a connection in the fan-out of its thread.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::task::Waker;

use bytes::Bytes;
use foldhash::fast::RandomState;
use foretell_model::{ConditionId, KeyNumber, MarketNumber, Outcome, Sequence, WalletAddress};
use foretell_wire::streams::request::Channel;

use crate::streams::connection::close::Close;
use crate::streams::connection::outbox::{Millis, Outbox};
use crate::streams::connection::websocket::close_frame;

/// Number of a connection within its thread.
pub(crate) type MemberId = u32;

/// A connection.
pub(crate) struct Member {
    pub(crate) outbox: Outbox,
    pub(crate) waker: Option<Waker>,
    /// Whether the fan-out wakes it after its pass.
    pub(crate) is_dirty: bool,
    /// Why it ends; nothing is added to its outbox any more.
    pub(crate) closing: Option<Close>,
    pub(crate) channel: Option<Channel>,
    /// `custom_feature_enabled`, and the frame after which it holds.
    pub(crate) custom: Option<Sequence>,
    /// Whether it opted in to the extension.
    pub(crate) extended: bool,
    /// Whether a request of it is not applied yet: it waits for the view, or for a replay.
    pub(crate) is_asking: bool,
    /// Interval of heartbeats; 0 = off.
    pub(crate) heartbeat_ms: Millis,
    /// Markets with a subscribed token.
    pub(crate) markets: HashSet<MarketNumber, RandomState>,
    /// Number of subscribed tokens.
    pub(crate) tokens: usize,
    /// Tokens whose first book is still to be sent.
    pub(crate) dump: BTreeSet<(MarketNumber, Outcome)>,
    pub(crate) user: Option<UserSubscription>,
    /// The owner whose orders end with the connection.
    pub(crate) cancels: Option<WalletAddress>,
    /// Frames that follow the messages of a frame of the journal.
    inserts: VecDeque<(Sequence, Vec<Bytes>)>,
    pub(crate) times: Times,
}

pub(crate) struct UserSubscription {
    pub(crate) key: KeyNumber,
    /// Messages of later frames are sent.
    pub(crate) from: Sequence,
    /// The markets named, each with the frame after which it holds; `None` is all. A market may come
    /// later than its name.
    pub(crate) markets: Option<HashMap<ConditionId, Sequence, RandomState>>,
}

impl UserSubscription {
    /// Whether it covers a message of this market, or of none, and frame.
    pub(crate) fn covers(&self, market: Option<&ConditionId>, sequence: Sequence) -> bool {
        let from = match &self.markets {
            None => Some(&self.from),
            Some(markets) => market.and_then(|market| markets.get(market)),
        };
        from.is_some_and(|from| sequence > *from)
    }
}

/// When things last happened on a connection.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Times {
    /// A whole frame from the client.
    pub(crate) life: Millis,
    /// An event was added.
    pub(crate) event: Millis,
    /// Anything of the extension or an event was added.
    pub(crate) sent: Millis,
    pub(crate) heartbeat: Millis,
    pub(crate) ping: Millis,
}

impl Member {
    pub(crate) fn new(outbox: Outbox, channel: Option<Channel>, now: Millis) -> Self {
        Self {
            outbox,
            waker: None,
            is_dirty: false,
            closing: None,
            channel,
            custom: None,
            extended: false,
            is_asking: false,
            heartbeat_ms: 0,
            markets: HashSet::default(),
            tokens: 0,
            dump: BTreeSet::new(),
            user: None,
            cancels: None,
            inserts: VecDeque::new(),
            times: Times {
                life: now,
                event: now,
                sent: now,
                heartbeat: now,
                ping: now,
            },
        }
    }

    /// Adds a message about frame `sequence`; false when the client may not leave more unread.
    #[must_use]
    pub(crate) fn push(&mut self, frame: Bytes, sequence: Option<Sequence>, now: Millis) -> bool {
        if self.closing.is_some() {
            return true;
        }
        if sequence.is_some() {
            self.times.sent = now;
        }
        self.outbox.push(frame, sequence, now).is_ok()
    }

    /// Adds an event of the journal's frame `sequence`, after what must precede it.
    #[must_use]
    pub(crate) fn deliver(&mut self, frame: &Bytes, sequence: Sequence, now: Millis) -> bool {
        let before = Sequence(sequence.0.saturating_sub(1));
        let flushed = self.flush(before, now);
        self.times.event = now;
        self.push(frame.clone(), Some(sequence), now) && flushed
    }

    /// Notes frames that follow all messages of the frames up to `sequence`.
    pub(crate) fn insert(&mut self, sequence: Sequence, frames: Vec<Bytes>) {
        self.inserts.push_back((sequence, frames));
    }

    /// Adds the noted frames that follow those up to `delivered`. Later ones were noted at later
    /// sequences.
    #[must_use]
    pub(crate) fn flush(&mut self, delivered: Sequence, now: Millis) -> bool {
        let mut fits = true;
        while let Some((sequence, _)) = self.inserts.front()
            && *sequence <= delivered
            && let Some((sequence, frames)) = self.inserts.pop_front()
        {
            for frame in frames {
                self.times.event = now;
                fits &= self.push(frame, Some(sequence), now);
            }
        }
        fits
    }

    /// Whether noted frames wait for the fan-out.
    pub(crate) fn has_inserts(&self) -> bool {
        !self.inserts.is_empty()
    }

    /// Whether it subscribes to anything.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.tokens > 0 || self.user.is_some() || self.custom.is_some()
    }

    /// Whether it has everything that it asked for up to the fan-out's frame, in its outbox at
    /// least. Otherwise no sequence may be named from which it could resume: it would miss what it
    /// asked for.
    pub(crate) fn is_complete(&self) -> bool {
        let has_books = self.dump.is_empty() && self.inserts.is_empty();
        self.is_subscribed() && !self.is_asking && has_books
    }

    /// Ends a connection that reads too slowly; frames up to `delivered` are distributed.
    pub(crate) fn close_slow(&mut self, delivered: Sequence, now: Millis) {
        let last = (self.is_complete()).then(|| self.outbox.last_written(delivered));
        self.close(Close::slow(last), false, now);
    }

    /// Ends the connection: what waits is dropped unless it ends in order, then the close frame
    /// follows.
    pub(crate) fn close(&mut self, close: Close, keeps_waiting: bool, now: Millis) {
        if self.closing.is_some() {
            return;
        }
        if !keeps_waiting {
            self.outbox.discard();
        }
        self.inserts.clear();
        self.dump.clear();
        let frame = close_frame(close.code, &close.reason);
        // The connection ends: a close frame needs no share.
        let _ = self.outbox.push(frame, None, now);
        self.closing = Some(close);
        self.wake();
    }

    /// Wakes the connection's task.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}
