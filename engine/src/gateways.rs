//! The connected gateways: reads requests and sends answers in rounds. The caller reports readable
//! and writable streams; nothing here blocks.

use std::io::{Read, Write};
use std::time::Duration;

use foretell_link::{Answer, Goodbye, SnapshotAnswer, Stage};

use crate::clock::Clocks;
use crate::command_ring::ConnectionId;
use crate::connection::{Connection, DisconnectReason, ReadStep};
use crate::matcher::{LoopStep, Matcher};
use crate::replies::HeldReplies;
use crate::requests::RequestHandler;
use crate::wait::ThreadWaker;

/// The longest sleep. Only the detection of a failed journal depends on it.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// Retry interval for the engine's own commands when the ring was full.
const RETRY: Duration = Duration::from_millis(5);

/// Placement of the matcher.
#[derive(Debug)]
pub(crate) enum MatcherPlacement<C> {
    /// On this thread, between reading and answering.
    Shared(Box<Matcher<C>>),
    /// On its own thread; woken when commands wait.
    Apart(ThreadWaker),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ServeEnd {
    /// A stop was requested; every accepted command has its answer.
    Stopped,
    /// The journal failed: no further answer is allowed.
    JournalFailed,
    /// The publisher ended with an error: further answers may be wrong.
    PublisherFailed,
}

/// The result of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoundResult {
    /// More work may be available at once.
    MoreWork,
    /// No more work before an event or a timer.
    Idle,
    /// Serving has ended.
    Ended(ServeEnd),
}

/// All connections, over non-blocking streams `S`, and the handling of their requests.
#[derive(Debug)]
pub(crate) struct Gateways<C, S> {
    slots: Vec<Option<Box<Connection<S>>>>,
    next_generation: u64,
    matching: MatcherPlacement<C>,
    handler: RequestHandler<C>,
    held: HeldReplies,
    /// Nanoseconds after which a silent or stalled peer is cut off.
    patience: u64,
    /// When a stop no longer waits for peers that do not read.
    drain_ends: Option<u64>,
}

impl<C: Clocks, S: Read + Write> Gateways<C, S> {
    /// No connections yet, at most `most` of them. A silent or stalled peer is cut off after
    /// `patience`.
    pub(crate) fn new(
        handler: RequestHandler<C>,
        matching: MatcherPlacement<C>,
        most: usize,
        patience: Duration,
    ) -> Self {
        Self {
            slots: (0..most).map(|_| None).collect(),
            next_generation: 0,
            matching,
            handler,
            held: HeldReplies::default(),
            patience: u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX),
            drain_ends: None,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.handler.clocks.monotonic()
    }

    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// Puts a connection into a free slot.
    pub(crate) fn add_connection(&mut self, slot: usize, stream: S, at: u64) {
        let generation = self.next_generation;
        self.next_generation += 1;
        self.handler.connections += 1;
        let id = ConnectionId { slot, generation };
        self.slots[slot] = Some(Box::new(Connection::new(stream, id, at)));
    }

    /// Sends the reason "too many connections" and closes.
    pub(crate) fn reject(&self, stream: S, at: u64) {
        tracing::warn!("too many gateway connections");
        let id = ConnectionId {
            slot: usize::MAX,
            generation: self.next_generation,
        };
        Connection::new(stream, id, at).say_goodbye(Goodbye::TooManyConnections, at);
    }

    /// The stream in this slot has become readable or writable.
    pub(crate) fn mark_ready(&mut self, slot: usize, readable: bool, writable: bool) {
        if let Some(Some(connection)) = self.slots.get_mut(slot) {
            connection.mark_ready(readable, writable);
        }
    }

    /// One round; `at` is the monotonic reading of its start.
    pub(crate) fn round(&mut self, at: u64) -> RoundResult {
        if self.handler.journal.is_poisoned() {
            return RoundResult::Ended(ServeEnd::JournalFailed);
        }
        if self.handler.mailbox.has_failed() {
            return RoundResult::Ended(ServeEnd::PublisherFailed);
        }
        let mut more_work = self.read(at);
        self.handler.submit_own(at);
        more_work |= self.run_matcher();
        more_work |= self.answer();
        self.cut_stalled(at);
        self.handler.recorder.flush();
        if self.handler.stopping && self.is_drained(at) {
            self.say_goodbye(at);
            return RoundResult::Ended(ServeEnd::Stopped);
        }
        if more_work {
            RoundResult::MoreWork
        } else {
            RoundResult::Idle
        }
    }

    /// Whether work arrived before the waker was armed and will therefore not wake the thread.
    pub(crate) fn has_work(&mut self) -> bool {
        let durable = self.handler.journal.durable();
        let can_match = match &mut self.matching {
            MatcherPlacement::Shared(matcher) => matcher.has_work(),
            MatcherPlacement::Apart(_) => false,
        };
        can_match
            || self.held.is_ready(&self.handler.ring, durable)
            || self.handler.mailbox.has_messages()
            || self.handler.journal.is_poisoned()
    }

    /// Time until the next timer.
    pub(crate) fn until_due(&mut self) -> Duration {
        let now = self.now();
        let patience = self.patience;
        let debts = self.slots.iter().flatten();
        let until = |at: u64, now: u64| Duration::from_nanos(at.saturating_sub(now));
        let moved = self.handler.gauges.moved(now);
        let heartbeat = self.handler.heartbeats.next_deadline();
        let mut due = debts
            .filter_map(|connection| connection.cut_deadline(patience))
            .chain(self.drain_ends)
            .map(|at| until(at, now))
            .chain(heartbeat.map(|at| until(at, moved)))
            .min()
            .unwrap_or(LONGEST_SLEEP);
        if !self.handler.own.is_empty() {
            due = due.min(RETRY);
        }
        if let MatcherPlacement::Shared(matcher) = &mut self.matching {
            due = due.min(matcher.until_next_timer().unwrap_or(LONGEST_SLEEP));
        }
        due.min(LONGEST_SLEEP)
    }

    /// Accepts no more requests; commands already accepted still get their answers.
    pub(crate) fn begin_stop(&mut self, at: u64) {
        if self.handler.stopping {
            return;
        }
        tracing::info!("stopping: no more requests accepted");
        self.handler.stopping = true;
        self.drain_ends = Some(at.saturating_add(self.patience));
    }

    /// Reads and handles requests, a bounded turn for each connection. Returns whether more may be
    /// readable.
    fn read(&mut self, at: u64) -> bool {
        let mut more_work = false;
        for slot in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[slot] else {
                continue;
            };
            let handler = &mut self.handler;
            match connection.read_requests(|peer, request| handler.handle(peer, request, at)) {
                Ok(step) => more_work |= step == ReadStep::MoreInput,
                Err(why) => self.disconnect(slot, &why, at),
            }
        }
        more_work
    }

    /// Runs the matcher here, or wakes its thread. Returns whether more work may be available here.
    fn run_matcher(&mut self) -> bool {
        match &mut self.matching {
            MatcherPlacement::Shared(matcher) => matcher.step() == LoopStep::Worked,
            MatcherPlacement::Apart(wake) => {
                if self.handler.ring.has_waiting() {
                    wake.wake();
                }
                false
            }
        }
    }

    /// Queues every durable answer and sends. Returns whether paused connections may read again.
    fn answer(&mut self) -> bool {
        let released_at = self.now();
        let durable = self.handler.journal.durable();
        let mut released = 0;
        while let Some(reply) = self.held.release(&self.handler.ring, durable) {
            let connection = reply
                .addressee()
                .and_then(|id| connection_of(&mut self.slots, id));
            self.handler
                .deliver(&reply, connection.map(|it| &mut it.peer), released_at);
            released += 1;
        }
        while let Some((request, result)) = self.handler.mailbox.next_answer() {
            if let Some(connection) = connection_of(&mut self.slots, request.connection) {
                let request = request.request;
                connection
                    .peer
                    .answer(&Answer::Snapshot(SnapshotAnswer { request, result }));
            }
        }
        let mut more_work = false;
        for slot in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[slot] else {
                continue;
            };
            match connection.flush(released_at) {
                Ok(resumed) => more_work |= resumed,
                Err(why) => self.disconnect(slot, &why, released_at),
            }
        }
        if released > 0 {
            let took = self.now().saturating_sub(released_at);
            self.handler.recorder.record(Stage::Reply, took, released);
        }
        more_work
    }

    fn cut_stalled(&mut self, at: u64) {
        for slot in 0..self.slots.len() {
            if let Some(connection) = &self.slots[slot]
                && connection
                    .cut_deadline(self.patience)
                    .is_some_and(|end| end <= at)
            {
                let why = connection.cut_reason();
                self.disconnect(slot, &why, at);
            }
        }
    }

    /// Closes a connection. Its submitted commands are still applied; their answers are dropped.
    fn disconnect(&mut self, slot: usize, why: &DisconnectReason, at: u64) {
        let Some(mut connection) = self.slots[slot].take() else {
            return;
        };
        self.handler.connections -= 1;
        match why {
            DisconnectReason::Closed => tracing::info!(slot, "gateway disconnected"),
            DisconnectReason::Version(_) => connection.say_goodbye(Goodbye::Version, at),
            _ => tracing::warn!(slot, %why, "gateway connection cut"),
        }
        // Closing the socket removes it from the poll.
    }

    /// Whether every accepted command has its answer and all answers were sent, or the drain time
    /// is over.
    fn is_drained(&self, at: u64) -> bool {
        let answered = self.handler.in_flight == 0 && self.handler.own.is_empty();
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

/// The connection with this id, if it is still open.
fn connection_of<S>(
    slots: &mut [Option<Box<Connection<S>>>],
    id: ConnectionId,
) -> Option<&mut Connection<S>> {
    let connection = slots.get_mut(id.slot)?.as_deref_mut()?;
    (connection.peer.id == id).then_some(connection)
}
