//! The ingress thread: gateway connections, their requests in, their answers out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use foretell_link::{Answer, Goodbye, SnapshotAnswer, Stage};
use mio::net::UnixListener;
use mio::{Events, Interest, Poll, Token};

use crate::connection::{Connection, CutOff, Turn as Reading};
use crate::hand_off::ConnectionId;
use crate::matcher::{Matcher, Turn};
use crate::replies::HeldReplies;
use crate::requests::Desk;
use crate::stop::Stop;
use crate::wait::{Bell, Wake};

const LISTENER: Token = Token(0);
pub(crate) const BELL: Token = Token(1);
const STOP: Token = Token(2);
/// The token of the connection in slot 0.
const FIRST_SLOT: usize = 3;
/// The longest sleep: nothing depends on it but the journal's failures seen late.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// How soon a command of the engine's own that found the ring full is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// Where the matcher is.
#[derive(Debug)]
pub(crate) enum Matching {
    /// Here, between reading and answering.
    Shared(Box<Matcher>),
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

/// The thread's state.
#[derive(Debug)]
pub(crate) struct Ingress {
    pub(crate) poll: Poll,
    pub(crate) bell: Arc<Bell>,
    pub(crate) stop: Stop,
    /// `None` once stopping.
    pub(crate) listener: Option<UnixListener>,
    pub(crate) slots: Vec<Option<Box<Connection>>>,
    pub(crate) next_generation: u64,
    pub(crate) matching: Matching,
    pub(crate) desk: Desk,
    pub(crate) held: HeldReplies,
    /// Monotonic nanoseconds a peer may owe something.
    pub(crate) patience: u64,
    /// When the drain of a stop gives up on peers that do not read.
    pub(crate) drain_ends: Option<u64>,
}

impl Ingress {
    /// Puts listener and stop into the poll.
    fn register(&mut self) -> io::Result<()> {
        let registry = self.poll.registry();
        if let Some(listener) = &mut self.listener {
            registry.register(listener, LISTENER, Interest::READABLE)?;
        }
        registry.register(&mut self.stop.receiver, STOP, Interest::READABLE)
    }

    /// Serves until stopped or the journal fails.
    ///
    /// # Errors
    /// The poll itself failed.
    pub(crate) fn serve(&mut self) -> io::Result<Ended> {
        self.register()?;
        let mut events = Events::with_capacity(256);
        let mut may_go_on = false;
        loop {
            self.sleep(&mut events, may_go_on)?;
            let at = self.desk.monotonic.now();
            self.note(&events, at);
            if self.desk.journal.is_poisoned() {
                return Ok(Ended::JournalFailed);
            }
            if self.desk.published.has_failed() {
                return Ok(Ended::PublisherFailed);
            }
            may_go_on = self.read(at);
            self.desk.expire_heartbeats(at);
            may_go_on |= self.match_some();
            may_go_on |= self.answer();
            self.lose_patience(at);
            self.desk.recorder.flush();
            if self.desk.stopping && self.is_drained(at) {
                self.say_goodbye(at);
                return Ok(Ended::Stopped);
            }
        }
    }

    fn sleep(&mut self, events: &mut Events, may_go_on: bool) -> io::Result<()> {
        let timeout = if may_go_on {
            Duration::ZERO
        } else {
            self.bell.arm();
            if self.has_something() {
                Duration::ZERO
            } else {
                self.until_due()
            }
        };
        let polled = self.poll.poll(events, Some(timeout));
        self.bell.disarm();
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            polled => polled,
        }
    }

    /// Whether something came up that rings no bell any more once it is armed.
    fn has_something(&mut self) -> bool {
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

    fn until_due(&mut self) -> Duration {
        let now = self.desk.monotonic.now();
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

    fn note(&mut self, events: &Events, at: u64) {
        for event in events {
            match event.token() {
                LISTENER => self.accept(at),
                STOP => self.begin_stop(at),
                BELL => {}
                Token(token) => {
                    if let Some(Some(connection)) = self.slots.get_mut(token - FIRST_SLOT) {
                        connection.note(event.is_readable(), event.is_writable());
                    }
                }
            }
        }
    }

    fn accept(&mut self, at: u64) {
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _)) => self.seat(stream, at),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Out of descriptors: the next connection attempt tries again.
                    tracing::warn!(%error, "accepting a gateway");
                    return;
                }
            }
        }
    }

    /// Gives a new connection a slot, or turns it away.
    fn seat(&mut self, stream: mio::net::UnixStream, at: u64) {
        let free = self.slots.iter().position(Option::is_none);
        let id = ConnectionId {
            slot: free.unwrap_or(usize::MAX),
            generation: self.next_generation,
        };
        let mut connection = Box::new(Connection::new(stream, id, at));
        let Some(slot) = free else {
            tracing::warn!("too many gateway connections");
            connection.say_goodbye(Goodbye::TooManyConnections, at);
            return;
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        let token = Token(slot + FIRST_SLOT);
        if let Err(error) = self
            .poll
            .registry()
            .register(connection.stream(), token, interest)
        {
            tracing::warn!(%error, "polling a gateway");
            return;
        }
        self.next_generation += 1;
        self.desk.connections += 1;
        self.slots[slot] = Some(connection);
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
        let released_at = self.desk.monotonic.now();
        let durable = self.desk.journal.durable();
        let mut released = 0;
        while let Some(done) = self.held.release(&self.desk.hand_off, durable) {
            let connection = Desk::addressee(&done).and_then(|id| seated(&mut self.slots, id));
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
            let took = self.desk.monotonic.now().saturating_sub(released_at);
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

    fn begin_stop(&mut self, at: u64) {
        if self.desk.stopping {
            return;
        }
        tracing::info!("stopping: nothing more is taken");
        self.desk.stopping = true;
        self.drain_ends = Some(at.saturating_add(self.patience));
        self.listener = None;
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
fn seated(slots: &mut [Option<Box<Connection>>], id: ConnectionId) -> Option<&mut Connection> {
    let connection = slots.get_mut(id.slot)?.as_deref_mut()?;
    (connection.peer.id == id).then_some(connection)
}
