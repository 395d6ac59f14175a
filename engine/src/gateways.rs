//! The gateways that are connected: their requests in, their answers out, round by round. Whoever
//! gives the rounds says when a stream has become readable or writable; nothing here waits.

use std::io::{Read, Write};
use std::time::Duration;

use foretell_link::{Answer, Goodbye, SnapshotAnswer, Stage};

use crate::clock::Clocks;
use crate::connection::{Connection, CutOff, Turn as Reading};
use crate::hand_off::ConnectionId;
use crate::matcher::{Matcher, Turn};
use crate::replies::HeldReplies;
use crate::requests::Desk;
use crate::wait::Wake;

/// The longest sleep: nothing depends on it but the journal's failures seen late.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// How soon a command of the engine's own that found the ring full is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// Where the matcher is.
#[derive(Debug)]
pub(crate) enum Matching<C> {
    /// Here, between reading and answering.
    Shared(Box<Matcher<C>>),
    /// On a thread of its own, woken when there is work.
    Apart(Wake),
}

/// How serving ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Asked to stop; everything accepted is answered.
    Stopped,
    /// The journal failed: nothing more may be answered.
    JournalFailed,
    /// The publisher ended by itself: what is answered may be wrong.
    PublisherFailed,
}

/// What a round came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// There may be more to do at once.
    MayGoOn,
    /// Nothing more to do until something happens or is due.
    Waits,
    /// Nothing is served any more.
    Ended(Ended),
}

/// All connections, over streams `S` that never block, and what becomes of their requests.
#[derive(Debug)]
pub(crate) struct Gateways<C, S> {
    slots: Vec<Option<Box<Connection<S>>>>,
    next_generation: u64,
    matching: Matching<C>,
    desk: Desk<C>,
    held: HeldReplies,
    /// Monotonic nanoseconds a peer may owe something.
    patience: u64,
    /// When the drain of a stop gives up on peers that do not read.
    drain_ends: Option<u64>,
}

impl<C: Clocks, S: Read + Write> Gateways<C, S> {
    /// Nobody is connected; at most `most` may be. A peer may owe something for `patience`.
    pub(crate) fn new(
        desk: Desk<C>,
        matching: Matching<C>,
        most: usize,
        patience: Duration,
    ) -> Self {
        Self {
            slots: (0..most).map(|_| None).collect(),
            next_generation: 0,
            matching,
            desk,
            held: HeldReplies::default(),
            patience: u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX),
            drain_ends: None,
        }
    }

    /// The monotonic clock.
    pub(crate) fn now(&self) -> u64 {
        self.desk.clocks.monotonic()
    }

    /// A slot for one more connection.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// Gives a connection a free slot.
    pub(crate) fn seat(&mut self, slot: usize, stream: S, at: u64) {
        let generation = self.next_generation;
        self.next_generation += 1;
        self.desk.connections += 1;
        let id = ConnectionId { slot, generation };
        self.slots[slot] = Some(Box::new(Connection::new(stream, id, at)));
    }

    /// Tells a connection that there is no slot for it.
    pub(crate) fn turn_away(&self, stream: S, at: u64) {
        tracing::warn!("too many gateway connections");
        let id = ConnectionId {
            slot: usize::MAX,
            generation: self.next_generation,
        };
        Connection::new(stream, id, at).say_goodbye(Goodbye::TooManyConnections, at);
    }

    /// The stream in this slot has become readable, or writable.
    pub(crate) fn note(&mut self, slot: usize, readable: bool, writable: bool) {
        if let Some(Some(connection)) = self.slots.get_mut(slot) {
            connection.note(readable, writable);
        }
    }

    /// One round that began at the monotonic reading `at`.
    pub(crate) fn round(&mut self, at: u64) -> Round {
        if self.desk.journal.is_poisoned() {
            return Round::Ended(Ended::JournalFailed);
        }
        if self.desk.published.has_failed() {
            return Round::Ended(Ended::PublisherFailed);
        }
        let mut may_go_on = self.read(at);
        self.desk.submit_own(at);
        may_go_on |= self.match_some();
        may_go_on |= self.answer();
        self.lose_patience(at);
        self.desk.recorder.flush();
        if self.desk.stopping && self.is_drained(at) {
            self.say_goodbye(at);
            return Round::Ended(Ended::Stopped);
        }
        if may_go_on {
            Round::MayGoOn
        } else {
            Round::Waits
        }
    }

    /// Whether something came up that rings no bell any more once it is armed.
    pub(crate) fn has_something(&mut self) -> bool {
        let durable = self.desk.journal.durable();
        let can_match = match &mut self.matching {
            Matching::Shared(matcher) => matcher.has_something(),
            Matching::Apart(_) => false,
        };
        can_match
            || self.held.is_ready(&self.desk.hand_off, durable)
            || self.desk.published.has_news()
            || self.desk.journal.is_poisoned()
    }

    /// How long until something is due by itself.
    pub(crate) fn until_due(&mut self) -> Duration {
        let now = self.now();
        let patience = self.patience;
        let debts = self.slots.iter().flatten();
        let mut due = debts
            .filter_map(|connection| connection.patience_ends(patience))
            .chain(self.desk.heartbeats.next_deadline())
            .chain(self.drain_ends)
            .min()
            .map_or(LONGEST_SLEEP, |at| {
                Duration::from_nanos(at.saturating_sub(now))
            });
        if !self.desk.own.is_empty() {
            due = due.min(RETRY);
        }
        if let Matching::Shared(matcher) = &mut self.matching {
            due = due.min(matcher.until_due().unwrap_or(LONGEST_SLEEP));
        }
        due.min(LONGEST_SLEEP)
    }

    /// Takes nothing more; what was accepted is still answered.
    pub(crate) fn begin_stop(&mut self, at: u64) {
        if self.desk.stopping {
            return;
        }
        tracing::info!("stopping: nothing more is taken");
        self.desk.stopping = true;
        self.drain_ends = Some(at.saturating_add(self.patience));
    }

    /// Reads and handles requests, a bounded turn for each connection; whether there may be more.
    fn read(&mut self, at: u64) -> bool {
        let mut may_go_on = false;
        for slot in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[slot] else {
                continue;
            };
            let desk = &mut self.desk;
            match connection.turn(|peer, request| desk.handle(peer, request, at)) {
                Ok(turn) => may_go_on |= turn == Reading::MayGoOn,
                Err(why) => self.cut_off(slot, &why, at),
            }
        }
        may_go_on
    }

    /// Lets the matcher work, here or there; whether there may be more to do here.
    fn match_some(&mut self) -> bool {
        match &mut self.matching {
            Matching::Shared(matcher) => matcher.turn() == Turn::Worked,
            Matching::Apart(wake) => {
                if self.desk.hand_off.has_waiting() {
                    wake.wake();
                }
                false
            }
        }
    }

    /// Passes on every answer that may leave, and sends; whether there may be more to read now.
    fn answer(&mut self) -> bool {
        let released_at = self.now();
        let durable = self.desk.journal.durable();
        let mut released = 0;
        while let Some(done) = self.held.release(&self.desk.hand_off, durable) {
            let connection = done.addressee().and_then(|id| seated(&mut self.slots, id));
            self.desk
                .deliver(&done, connection.map(|it| &mut it.peer), released_at);
            released += 1;
        }
        while let Some((asker, result)) = self.desk.published.next_answer() {
            if let Some(connection) = seated(&mut self.slots, asker.connection) {
                let request = asker.request;
                connection
                    .peer
                    .answer(&Answer::Snapshot(SnapshotAnswer { request, result }));
            }
        }
        let mut may_go_on = false;
        for slot in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[slot] else {
                continue;
            };
            match connection.flush(released_at) {
                Ok(resumed) => may_go_on |= resumed,
                Err(why) => self.cut_off(slot, &why, released_at),
            }
        }
        if released > 0 {
            let took = self.now().saturating_sub(released_at);
            self.desk.recorder.note(Stage::Reply, took, released);
        }
        may_go_on
    }

    fn lose_patience(&mut self, at: u64) {
        for slot in 0..self.slots.len() {
            if let Some(connection) = &self.slots[slot]
                && connection
                    .patience_ends(self.patience)
                    .is_some_and(|end| end <= at)
            {
                let why = connection.impatience();
                self.cut_off(slot, &why, at);
            }
        }
    }

    /// Ends a connection. What it submitted is still applied; nobody hears the answers.
    fn cut_off(&mut self, slot: usize, why: &CutOff, at: u64) {
        let Some(mut connection) = self.slots[slot].take() else {
            return;
        };
        self.desk.connections -= 1;
        match why {
            CutOff::Closed => tracing::info!(slot, "gateway gone"),
            CutOff::Version(_) => connection.say_goodbye(Goodbye::Version, at),
            _ => tracing::warn!(slot, %why, "gateway cut off"),
        }
        // Closing the socket takes it out of the poll.
    }

    /// Whether everything accepted is answered, and the answers have left (or nobody takes them).
    fn is_drained(&self, at: u64) -> bool {
        let answered = self.desk.in_flight == 0 && self.desk.own.is_empty();
        let flushed = self.slots.iter().flatten().all(|it| it.is_flushed());
        let gave_up = self.drain_ends.is_some_and(|end| end <= at);
        answered && (flushed || gave_up)
    }

    fn say_goodbye(&mut self, at: u64) {
        for connection in self.slots.iter_mut().filter_map(Option::take) {
            let mut connection = connection;
            connection.say_goodbye(Goodbye::Stopping, at);
        }
    }
}

/// The connection with this id, if it is still there.
fn seated<S>(
    slots: &mut [Option<Box<Connection<S>>>],
    id: ConnectionId,
) -> Option<&mut Connection<S>> {
    let connection = slots.get_mut(id.slot)?.as_deref_mut()?;
    (connection.peer.id == id).then_some(connection)
}
