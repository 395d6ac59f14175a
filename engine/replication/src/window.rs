//! The leader's side: publishes items in order, several in flight, and resolves unknown outcomes.
//!
//! Every message names the number of the message before and, unless that one is confirmed, its id. The
//! number alone is not enough: if another host takes over while messages 5 and 6 are in flight, its
//! header takes the place of 5, and 6 would follow it.

use std::collections::VecDeque;
use std::time::Duration;

use foretell_journal::replica::{LogQueue, MAX_IN_FLIGHT};
use foretell_model::Sequence;
use thiserror::Error;

use crate::log::{Outcome, Publish, ReplicatedLog, attempt_id, is_attempt, message_id};

/// Pause between two attempts with the same message.
const RETRY: Duration = Duration::from_millis(50);

/// Another host has written to the log: this one leads no more.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("another host wrote message {number} of the replicated log: this host leads no more")]
pub struct Superseded {
    /// The number of that message.
    pub number: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The outcome is to come.
    Sent,
    /// The log's last message was not the expected one.
    WrongLast,
    /// To be sent again with the same bytes and expected number.
    Unsent,
    Accepted,
}

#[derive(Debug)]
struct Flight {
    expected: u64,
    id: String,
    /// Number of times that the log certainly refused it.
    attempt: u32,
    bytes: Vec<u8>,
    state: State,
    /// The time of the first attempt: an answer to a later one may be about the first.
    sent_at: Duration,
}

impl Flight {
    /// `previous` is the message before, unless the log has confirmed that one.
    fn publish(&self, previous: Option<String>) -> Publish {
        Publish {
            expected: self.expected,
            after: previous,
            id: attempt_id(&self.id, self.attempt),
            bytes: self.bytes.clone(),
        }
    }
}

/// Messages on their way into the log, oldest first.
#[derive(Debug)]
pub(crate) struct Flights {
    /// Number of the last message that was sent.
    last: u64,
    /// Maximum number of open messages.
    room: usize,
    open: VecDeque<Flight>,
    /// The last attempt after a fault.
    retried: Duration,
    /// When the newest confirmed message was sent.
    confirmed_sent_at: Duration,
}

impl Flights {
    /// Sends messages after message `last` of the log, with at most `room` unconfirmed.
    pub(crate) const fn new(last: u64, room: usize) -> Self {
        Self {
            last,
            room,
            open: VecDeque::new(),
            retried: Duration::ZERO,
            confirmed_sent_at: Duration::ZERO,
        }
    }

    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a message waits to be sent again or to be compared.
    fn has_fault(&self) -> bool {
        let has_fault = |it: &Flight| matches!(it.state, State::Unsent | State::WrongLast);
        self.open.iter().any(has_fault)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.open.len() < self.room && !self.has_fault()
    }

    /// Sends the next message.
    pub(crate) fn send(
        &mut self,
        log: &mut dyn ReplicatedLog,
        id: String,
        bytes: Vec<u8>,
        now: Duration,
    ) {
        let flight = Flight {
            expected: self.last,
            id,
            attempt: 0,
            bytes,
            state: State::Sent,
            sent_at: now,
        };
        log.publish(flight.publish(self.previous(self.open.len())));
        self.open.push_back(flight);
        self.last += 1;
    }

    /// Handles outcomes and sends again. Returns how many more messages the log has confirmed.
    pub(crate) fn step(
        &mut self,
        log: &mut dyn ReplicatedLog,
        now: Duration,
    ) -> Result<usize, Superseded> {
        while let Some((expected, outcome)) = log.outcome() {
            self.note(expected, outcome);
        }
        self.resolve(log, now)?;
        let is_open = |it: &Flight| it.state != State::Accepted;
        let confirmed = self.open.iter().position(is_open);
        let confirmed = confirmed.unwrap_or(self.open.len());
        if let Some(newest) = self.open.drain(..confirmed).next_back() {
            self.confirmed_sent_at = newest.sent_at;
        }
        self.send_again(log, now);
        Ok(confirmed)
    }

    /// The id of the message before the one in this place of the window, as last sent. The first
    /// follows a message that the log has confirmed.
    fn previous(&self, at: usize) -> Option<String> {
        let flight = &self.open[at.checked_sub(1)?];
        Some(attempt_id(&flight.id, flight.attempt))
    }

    fn note(&mut self, expected: u64, outcome: Outcome) {
        let flight = self.open.iter_mut().find(|it| it.expected == expected);
        // An answer to an earlier attempt, of a message that is resolved.
        let Some(flight) = flight.filter(|flight| flight.state != State::Accepted) else {
            return;
        };
        flight.state = match outcome {
            Outcome::Accepted(number) if number == expected + 1 => State::Accepted,
            Outcome::Accepted(_) | Outcome::WrongLast => State::WrongLast,
            Outcome::Unknown => State::Unsent,
        };
    }

    /// The oldest message decides: if the log has another one in its place, another host leads; if
    /// it has none, all that follow must be sent again.
    fn resolve(&mut self, log: &mut dyn ReplicatedLog, now: Duration) -> Result<(), Superseded> {
        while let Some(at) = self.open.iter().position(|it| it.state != State::Accepted) {
            let flight = &mut self.open[at];
            if flight.state != State::WrongLast || now.saturating_sub(self.retried) < RETRY {
                return Ok(());
            }
            let number = flight.expected + 1;
            match log.read(number) {
                Ok(Some(message)) if is_attempt(&message.id, &flight.id) => {
                    flight.state = State::Accepted;
                }
                Ok(Some(_)) => return Err(Superseded { number }),
                Ok(None) => {
                    for flight in self.open.range_mut(at..) {
                        if flight.state == State::WrongLast {
                            flight.attempt += 1;
                        }
                        flight.state = State::Unsent;
                    }
                }
                Err(_) => {
                    self.retried = now;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Sends again from the first message without an outcome on: the later ones were refused, or
    /// will be.
    fn send_again(&mut self, log: &mut dyn ReplicatedLog, now: Duration) {
        let first = self.open.iter().position(|it| it.state == State::Unsent);
        let Some(first) = first else {
            return;
        };
        if now.saturating_sub(self.retried) < RETRY {
            return;
        }
        self.retried = now;
        for at in first..self.open.len() {
            let previous = self.previous(at);
            let flight = &mut self.open[at];
            if flight.state != State::Accepted {
                flight.state = State::Sent;
                log.publish(flight.publish(previous));
            }
        }
    }
}

/// Items on their way into the log.
#[derive(Debug)]
pub struct Window {
    queue: LogQueue,
    host: String,
    term: u64,
    flights: Flights,
    /// See [`Self::led_at`].
    led_at: Duration,
}

impl Window {
    /// Publishes the items of `queue` after message `last`, the header of this term, which was sent at
    /// `led_at`.
    #[must_use]
    pub const fn new(
        queue: LogQueue,
        host: String,
        term: u64,
        last: u64,
        led_at: Duration,
    ) -> Self {
        Self {
            queue,
            host,
            term,
            flights: Flights::new(last, MAX_IN_FLIGHT),
            led_at,
        }
    }

    /// Whether nothing is in flight.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.flights.is_empty() && self.queue.in_flight() == 0
    }

    /// Whether a message waits to be sent again or to be compared.
    #[must_use]
    pub fn has_fault(&self) -> bool {
        self.flights.has_fault()
    }

    /// When the newest request that the log confirmed was sent. The host led then, so a host that
    /// awaits a silence takes over at the earliest that much later. The time of the answer says
    /// nothing: answers wait while the host is frozen.
    #[must_use]
    pub const fn led_at(&self) -> Duration {
        self.led_at
    }

    /// Number of the last message taken from the queue.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.flights.last()
    }

    /// Handles outcomes, resolves faults and sends new items. Returns the durable sequence if it
    /// rose.
    ///
    /// # Errors
    /// Another host leads. Nothing is published after it.
    pub fn step(
        &mut self,
        log: &mut dyn ReplicatedLog,
        now: Duration,
    ) -> Result<Option<Sequence>, Superseded> {
        let mut raised = None;
        for _ in 0..self.flights.step(log, now)? {
            raised = self.queue.confirm().or(raised);
        }
        self.led_at = self.led_at.max(self.flights.confirmed_sent_at);
        self.send_new(log, now);
        Ok(raised)
    }

    /// Checks at `now` whether the log has gone on without this host, which has nothing in flight.
    ///
    /// # Errors
    /// Another host leads.
    pub fn check_idle(
        &mut self,
        log: &mut dyn ReplicatedLog,
        now: Duration,
    ) -> Result<(), Superseded> {
        match log.bounds() {
            Ok(bounds) if bounds.last > self.last() => Err(Superseded {
                number: self.last() + 1,
            }),
            Ok(bounds) => {
                if bounds.last == self.last() {
                    self.led_at = now;
                } else {
                    tracing::error!(
                        own = self.last(),
                        log = bounds.last,
                        "the replicated log lacks confirmed messages"
                    );
                }
                Ok(())
            }
            Err(error) => {
                tracing::debug!(%error, "cannot check the replicated log");
                Ok(())
            }
        }
    }

    fn send_new(&mut self, log: &mut dyn ReplicatedLog, now: Duration) {
        while self.flights.has_room()
            && let Some(bytes) = self.queue.take()
        {
            let id = message_id(self.term, self.last() + 1, &self.host);
            self.flights.send(log, id, bytes, now);
        }
    }
}
