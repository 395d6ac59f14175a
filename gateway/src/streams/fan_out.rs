//! The fan-out of one thread: takes new frames from the ring and adds their messages to the
//! outboxes of the thread's connections.
//!
//! Everything here happens on the connections' own thread and without an await: a pass never falls
//! between the steps of a subscription. The lock is therefore never contended.

pub(crate) mod confirmations;
pub(crate) mod feed;
pub(crate) mod input;
pub(crate) mod journal_replay;
pub(crate) mod missed;
pub(crate) mod replay_reach;
pub(crate) mod replay_thread;
pub(crate) mod ring;
pub(crate) mod stats;

use std::sync::Arc;
use std::time::Instant;

use foretell_model::Sequence;
use foretell_wire::streams::request::Channel;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::policy::limits::{STREAM_PASS_FRAMES, StreamLimits};
use crate::streams::connection::close::Close;
use crate::streams::connection::outbox::{Millis, Outbox};
use crate::streams::fan_out::confirmations::Confirmations;
use crate::streams::fan_out::ring::{EncodedFrame, MarketMessage, Scope, StreamRing, UserMessage};
use crate::streams::fan_out::stats::StreamStats;
use crate::streams::subscription::index::{Index, market_of};
use crate::streams::subscription::member::{Member, MemberId};

/// The stream connections of one thread.
pub(crate) struct Hub {
    pub(crate) thread: usize,
    pub(crate) limits: StreamLimits,
    pub(crate) stats: Arc<StreamStats>,
    /// Notified when the ring has new frames.
    pub(crate) wake: Arc<Notify>,
    began: Instant,
    state: Mutex<HubState>,
}

/// The state of a [`Hub`].
pub(crate) struct HubState {
    /// Everything up to this frame is distributed.
    pub(crate) cursor: Sequence,
    /// The ring's history to which the cursor belongs.
    history: u64,
    pub(crate) index: Index,
    members: Vec<Option<Member>>,
    free: Vec<MemberId>,
    limits: StreamLimits,
    now: Millis,
    /// Connections to wake after a pass.
    dirty: Vec<MemberId>,
    /// Connections with frames that follow a frame after the cursor.
    waiting: Vec<MemberId>,
    /// Confirmations to be sent.
    confirmations: Confirmations,
}

/// Whether a pass distributed everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// There was nothing to distribute.
    Idle,
    /// Everything is distributed.
    Done,
    /// The ring has more frames.
    More,
}

impl Hub {
    /// A hub without connections.
    pub(crate) fn new(
        thread: usize,
        ring: &StreamRing,
        limits: StreamLimits,
        stats: Arc<StreamStats>,
    ) -> Arc<Self> {
        let wake = Arc::new(Notify::new());
        ring.add_listener(Arc::clone(&wake));
        Arc::new(Self {
            thread,
            limits,
            stats,
            wake,
            began: Instant::now(),
            state: Mutex::new(HubState {
                cursor: ring.head(),
                history: ring.history(),
                index: Index::new(Arc::clone(ring.demand())),
                members: Vec::new(),
                free: Vec::new(),
                limits,
                now: 0,
                dirty: Vec::new(),
                waiting: Vec::new(),
                confirmations: Confirmations::default(),
            }),
        })
    }

    /// The time now.
    pub(crate) fn now(&self) -> Millis {
        Millis::try_from(self.began.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// The state, at the time now.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HubState> {
        let mut state = self.state.lock();
        state.now = self.now();
        state
    }

    /// The state, at the time of the last [`Self::lock`], which was a moment ago.
    pub(crate) fn lock_again(&self) -> MutexGuard<'_, HubState> {
        self.state.lock()
    }

    /// Adds a connection.
    pub(crate) fn join(&self, outbox: Outbox, channel: Option<Channel>) -> MemberId {
        self.stats.joined(channel);
        let mut state = self.lock();
        let member = Some(Member::new(outbox, channel, state.now));
        match state.free.pop() {
            Some(id) => {
                state.members[id as usize] = member;
                id
            }
            None => {
                state.members.push(member);
                MemberId::try_from(state.members.len() - 1).expect("fewer than 2^32 connections")
            }
        }
    }

    /// Removes a connection.
    pub(crate) fn leave(&self, id: MemberId) {
        let mut state = self.lock();
        let Some(member) = state.members[id as usize].take() else {
            return;
        };
        state.index.leave(id, &member);
        state.free.push(id);
        self.stats.left(member.channel);
        let subscriptions = member.tokens + usize::from(member.user.is_some());
        self.stats.unsubscribed(subscriptions);
    }

    /// Distributes the ring's new frames.
    pub(crate) fn pass(&self, ring: &StreamRing) -> Pass {
        let mut state = self.lock();
        let result = state.pass(ring);
        state.wake_dirty();
        result
    }

    /// Sends the confirmations that are due.
    pub(crate) fn confirm(&self) {
        let state = &mut *self.lock();
        while let Some(frame) = state.confirmations.due(state.now) {
            state.distribute_own(frame.sequence, &frame.confirmations);
        }
        state.wake_dirty();
    }
}

impl HubState {
    /// A connection.
    pub(crate) fn member(&mut self, id: MemberId) -> Option<&mut Member> {
        self.members.get_mut(id as usize)?.as_mut()
    }

    /// A connection and the index, to change both.
    pub(crate) fn parts(&mut self, id: MemberId) -> Option<(&mut Member, &mut Index)> {
        let member = self.members.get_mut(id as usize)?.as_mut()?;
        Some((member, &mut self.index))
    }

    /// The time at which the state was locked.
    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// Visits all connections with the index.
    pub(crate) fn for_each(&mut self, mut visit: impl FnMut(MemberId, &mut Member, &Index)) {
        for (id, member) in (0..).zip(&mut self.members) {
            if let Some(member) = member {
                visit(id, member, &self.index);
            }
        }
    }

    /// Wakes the connections that got a message.
    fn wake_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for id in dirty.drain(..) {
            if let Some(member) = self.member(id) {
                member.is_dirty = false;
                member.wake();
            }
        }
        self.dirty = dirty;
    }

    /// Sends all confirmations.
    pub(crate) fn confirm_all(&mut self) {
        while let Some(frame) = self.confirmations.next() {
            self.distribute_own(frame.sequence, &frame.confirmations);
        }
    }

    /// Everything of the user channel up to this frame is distributed, confirmations included.
    pub(crate) fn confirmed(&self) -> Sequence {
        let unsent = self.confirmations.oldest();
        let before = |unsent: Sequence| Sequence(unsent.0.saturating_sub(1));
        unsent.map_or(self.cursor, |unsent| self.cursor.min(before(unsent)))
    }

    /// All connections.
    fn members(&mut self) -> impl Iterator<Item = (MemberId, &mut Member)> {
        let members = (0..).zip(&mut self.members);
        members.filter_map(|(id, member)| Some((id, member.as_mut()?)))
    }

    /// Adds frames to a connection that follow all messages of the frames up to `sequence`.
    pub(crate) fn insert(&mut self, id: MemberId, sequence: Sequence, frames: Vec<bytes::Bytes>) {
        let Some(member) = self.member(id) else {
            return;
        };
        member.insert(sequence, frames);
        self.flush(id);
    }

    /// Adds the noted frames of a connection whose turn it is.
    fn flush(&mut self, id: MemberId) {
        let (cursor, now) = (self.cursor, self.now);
        let Some(member) = self.member(id) else {
            return;
        };
        let fits = member.flush(cursor, now);
        let waits = member.has_inserts();
        member.wake();
        self.after_push(id, fits);
        if waits && !self.waiting.contains(&id) {
            self.waiting.push(id);
        }
    }

    /// Ends a connection that has too much waiting.
    pub(crate) fn after_push(&mut self, id: MemberId, fits: bool) {
        let (cursor, now, limit) = (self.cursor, self.now, self.limits.max_lag_bytes);
        if let Some(member) = self.member(id)
            && (!fits || member.outbox.bytes() > limit)
        {
            member.close_slow(cursor, now);
        }
    }

    fn pass(&mut self, ring: &StreamRing) -> Pass {
        if ring.history() != self.history {
            self.start_over(ring);
            return Pass::Done;
        }
        // Read before the frames: those up to it are in the ring.
        let head = ring.head();
        if head == self.cursor {
            return Pass::Idle;
        }
        let Some(frames) = ring.after(self.cursor, STREAM_PASS_FRAMES) else {
            match ring.history() == self.history {
                true => self.lost(head),
                false => self.start_over(ring),
            }
            return Pass::Done;
        };
        for frame in &frames {
            self.distribute(frame);
            self.cursor = frame.sequence;
        }
        let is_all = frames.len() < STREAM_PASS_FRAMES;
        if is_all {
            self.cursor = self.cursor.max(head);
        }
        for id in std::mem::take(&mut self.waiting) {
            self.flush(id);
        }
        if is_all { Pass::Done } else { Pass::More }
    }

    /// The view was rebuilt: every connection ends.
    fn start_over(&mut self, ring: &StreamRing) {
        self.history = ring.history();
        self.cursor = ring.head();
        self.confirmations = Confirmations::default();
        let now = self.now;
        for (_, member) in self.members() {
            member.close(Close::rebuilt(), false, now);
        }
    }

    /// Frames left the ring before this thread distributed them.
    fn lost(&mut self, head: Sequence) {
        let (cursor, now) = (self.cursor, self.now);
        tracing::warn!(
            from = cursor.0,
            to = head.0,
            "stream ring overflowed before messages were sent: closing the connections"
        );
        for (_, member) in self.members() {
            member.close_slow(cursor, now);
        }
        self.cursor = head;
    }

    fn distribute(&mut self, frame: &Arc<EncodedFrame>) {
        while let Some(earlier) = self.confirmations.due_before(frame.time) {
            self.distribute_own(earlier.sequence, &earlier.confirmations);
        }
        for message in &frame.market {
            self.distribute_market(message, frame.sequence);
        }
        self.distribute_own(frame.sequence, &frame.user);
        self.confirmations.add(frame, self.now);
        if !frame.revoked.is_empty() {
            self.confirm_all();
        }
        for key in &frame.revoked {
            let now = self.now;
            let Some(entry) = self.index.keys.get(key) else {
                continue;
            };
            for id in &entry.subscribers {
                if let Some(Some(member)) = self.members.get_mut(*id as usize) {
                    // Who revoked the key said what ends with it.
                    member.cancels = None;
                    member.close(Close::revoked(), true, now);
                }
            }
        }
    }

    /// Adds messages of the user channel.
    fn distribute_own(&mut self, sequence: Sequence, messages: &[UserMessage]) {
        for message in messages {
            let Some(entry) = self.index.keys.get(&message.key) else {
                continue;
            };
            for id in &entry.subscribers {
                let Some(Some(member)) = self.members.get_mut(*id as usize) else {
                    continue;
                };
                let user = member.user.as_ref();
                if user.is_some_and(|it| it.covers(message.market.as_ref(), sequence)) {
                    let fits = member.deliver(&message.frame, sequence, self.now);
                    note(
                        &mut self.dirty,
                        *id,
                        member,
                        fits,
                        &self.limits,
                        self.cursor,
                        self.now,
                    );
                }
            }
        }
    }

    fn distribute_market(&mut self, message: &MarketMessage, sequence: Sequence) {
        let Self {
            index,
            members,
            dirty,
            limits,
            cursor,
            now,
            ..
        } = self;
        let mut give = |id: MemberId, wants: &dyn Fn(&Member) -> bool| {
            if let Some(Some(member)) = members.get_mut(id as usize)
                && wants(member)
            {
                let fits = member.deliver(&message.frame, sequence, *now);
                note(dirty, id, member, fits, limits, *cursor, *now);
            }
        };
        if let Some(market) = market_of(message) {
            let Some(entry) = index.markets.get(&market) else {
                return;
            };
            for (id, tokens) in &entry.subscribers {
                give(*id, &|member| {
                    let flags = (member.custom.is_some(), member.extended);
                    tokens.receives(message.scope, sequence, flags)
                });
            }
        } else if message.scope == Scope::CustomAll {
            for id in &index.custom {
                give(*id, &|member| {
                    member.custom.is_some_and(|from| sequence > from)
                });
            }
        } else {
            for id in &index.extended {
                give(*id, &|_| true);
            }
        }
    }
}

/// Notes a connection that got a message, and ends it if it has too much waiting.
fn note(
    dirty: &mut Vec<MemberId>,
    id: MemberId,
    member: &mut Member,
    fits: bool,
    limits: &StreamLimits,
    delivered: Sequence,
    now: Millis,
) {
    if !std::mem::replace(&mut member.is_dirty, true) {
        dirty.push(id);
    }
    if !fits || member.outbox.bytes() > limits.max_lag_bytes {
        member.close_slow(delivered, now);
    }
}

#[cfg(test)]
#[path = "fan_out_tests.rs"]
mod tests;
