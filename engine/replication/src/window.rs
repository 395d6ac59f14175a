//! The leader's side: publishes items in order, several in flight, and resolves unknown outcomes.
//!
//! Every message names the number of the message before and, unless that one is confirmed, its id. The
//! number alone is not enough: if another host takes over while messages 5 and 6 are in flight, its
//! header takes the place of 5, and 6 would follow it.
//!
//! A stranger may take a number too. Its message does not count: the items go on behind it, signed for their new
//! numbers. A stranger may also repeat message 6 where 5 is missing. It follows nothing, so nobody applies it.

use std::collections::VecDeque;
use std::time::Duration;

use foretell_journal::replica::{Item, LogQueue, MAX_IN_FLIGHT};
use foretell_model::Sequence;
use thiserror::Error;

use crate::log::Outcome;
use crate::signed::{Following, SignedLog};

/// Pause between two attempts with the same message.
const RETRY: Duration = Duration::from_millis(50);

/// Another host has written to the log: this one leads no more.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("another host wrote message {number} of the replicated log: this host no longer leads")]
pub struct Superseded {
    /// The number of that message.
    pub number: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The outcome is to come.
    Sent,
    /// The log did not append it by the last attempt: to be compared.
    NotAppended,
    /// To be sent again.
    Unsent,
    Accepted,
}

#[derive(Debug)]
struct Flight {
    expected: u64,
    /// Id of the last attempt.
    id: String,
    /// Number of times that the log certainly refused it after this number.
    attempt: u32,
    content: Vec<u8>,
    state: State,
    /// The time of the first attempt: an answer to a later one may be about the first.
    sent_at: Duration,
}

/// Messages on their way into the log, oldest first.
#[derive(Debug)]
pub(crate) struct Flights {
    /// Number of the last message that was sent.
    last: u64,
    /// Maximum number of open messages.
    room: usize,
    /// Messages of this term or of earlier ones, other than the next, follow nothing; 0 = none do.
    term: u64,
    open: VecDeque<Flight>,
    /// After a fault nothing is sent or compared before this time.
    not_before: Duration,
    /// When the newest confirmed message was sent.
    confirmed_sent_at: Duration,
}

impl Flights {
    /// Sends messages of `term` after message `last` of the log, with at most `room` unconfirmed.
    pub(crate) const fn new(last: u64, room: usize, term: u64) -> Self {
        Self {
            last,
            room,
            term,
            open: VecDeque::new(),
            not_before: Duration::ZERO,
            confirmed_sent_at: Duration::ZERO,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a message waits to be sent again or to be compared.
    fn has_fault(&self) -> bool {
        let has_fault = |it: &Flight| matches!(it.state, State::Unsent | State::NotAppended);
        self.open.iter().any(has_fault)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.open.len() < self.room && !self.has_fault()
    }

    /// Sends the next message.
    pub(crate) fn send(&mut self, log: &mut SignedLog, content: Vec<u8>, now: Duration) {
        self.open.push_back(Flight {
            expected: self.last,
            id: String::new(),
            attempt: 0,
            content,
            state: State::Unsent,
            sent_at: now,
        });
        self.last += 1;
        self.publish(log, self.open.len() - 1);
    }

    /// Sends the message in this place of the window. The first follows a message that the log has confirmed.
    fn publish(&mut self, log: &mut SignedLog, at: usize) {
        let previous = at.checked_sub(1).map(|before| self.open[before].id.clone());
        let flight = &mut self.open[at];
        flight.id = log.publish(flight.expected, previous, flight.attempt, &flight.content);
        flight.state = State::Sent;
    }

    /// Handles outcomes and sends again. Returns how many more messages the log has confirmed.
    pub(crate) fn step(&mut self, log: &mut SignedLog, now: Duration) -> Result<usize, Superseded> {
        while let Some((id, outcome)) = log.outcome() {
            self.note(&id, outcome);
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

    fn note(&mut self, id: &str, outcome: Outcome) {
        let flight = self.open.iter_mut().find(|it| it.id == id);
        // An answer to an earlier attempt, or of a message that is resolved.
        let Some(flight) = flight.filter(|flight| flight.state != State::Accepted) else {
            return;
        };
        flight.state = match outcome {
            Outcome::Accepted(number) if number == flight.expected + 1 => State::Accepted,
            Outcome::Accepted(_) | Outcome::NotAppended => State::NotAppended,
            Outcome::Unknown => State::Unsent,
        };
    }

    /// The oldest message decides: if a host has written another one in its place, that host leads; if none has, all that
    /// follow must be sent again.
    fn resolve(&mut self, log: &mut SignedLog, now: Duration) -> Result<(), Superseded> {
        while let Some(at) = self.open.iter().position(|it| it.state != State::Accepted) {
            let Flight {
                expected, state, ..
            } = self.open[at];
            if state != State::NotAppended || now < self.not_before {
                return Ok(());
            }
            match self.following(log, expected, Some(at)) {
                Some(Following::Signed { content, .. }) if content == self.open[at].content => {
                    self.open[at].state = State::Accepted;
                }
                Some(Following::Signed { number, .. }) => return Err(Superseded { number }),
                Some(Following::End(last) | Following::Further(last)) if last > expected => {
                    self.renumber(log, at, last);
                }
                Some(_) => {
                    for flight in self.open.range_mut(at..) {
                        if flight.state == State::NotAppended {
                            flight.attempt += 1;
                        }
                        flight.state = State::Unsent;
                    }
                }
                None => {
                    self.not_before = now + RETRY;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What the log has after a message; `None` when it does not answer. The message in place `next` of the window is
    /// the next of this term.
    fn following(&self, log: &mut SignedLog, after: u64, next: Option<usize>) -> Option<Following> {
        let next = next.map(|at| &self.open[at].content[..]);
        let is_later = |content: &[u8]| self.open.iter().any(|flight| flight.content == content);
        let is_earlier =
            |content: &[u8]| Item::read(content).is_ok_and(|item| item.term() <= self.term);
        let is_stale =
            |content: &[u8]| next != Some(content) && (is_later(content) || is_earlier(content));
        let following = log.following(after, &is_stale);
        following
            .inspect_err(|error| tracing::debug!(%error, "cannot read the replicated log"))
            .ok()
    }

    /// Strangers took the numbers up to `last`: the messages from this place on go behind it at once, before more arrive.
    fn renumber(&mut self, log: &mut SignedLog, at: usize, last: u64) {
        self.last = last;
        for at in at..self.open.len() {
            let flight = &mut self.open[at];
            (flight.expected, flight.attempt) = (self.last, 0);
            self.last += 1;
            self.publish(log, at);
        }
    }

    /// Sends again from the first message without an outcome on: the later ones were refused, or
    /// will be.
    fn send_again(&mut self, log: &mut SignedLog, now: Duration) {
        let first = self.open.iter().position(|it| it.state == State::Unsent);
        let Some(first) = first.filter(|_| now >= self.not_before) else {
            return;
        };
        self.not_before = now + RETRY;
        for at in first..self.open.len() {
            if self.open[at].state != State::Accepted {
                self.publish(log, at);
            }
        }
    }
}

/// Items on their way into the log.
#[derive(Debug)]
pub struct Window {
    queue: LogQueue,
    flights: Flights,
    /// See [`Self::led_at`].
    led_at: Duration,
}

impl Window {
    /// Publishes the items of `queue` after message `last`, the header of this `term`, which was sent at
    /// `led_at`.
    #[must_use]
    pub const fn new(queue: LogQueue, term: u64, last: u64, led_at: Duration) -> Self {
        Self {
            queue,
            flights: Flights::new(last, MAX_IN_FLIGHT, term),
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
        self.flights.last
    }

    /// Handles outcomes, resolves faults and sends new items. Returns the durable sequence if it
    /// rose.
    ///
    /// # Errors
    /// Another host leads. Nothing is published after it.
    pub fn step(
        &mut self,
        log: &mut SignedLog,
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
    pub fn check_idle(&mut self, log: &mut SignedLog, now: Duration) -> Result<(), Superseded> {
        let bounds = match log.bounds() {
            Ok(bounds) => bounds,
            Err(error) => {
                tracing::debug!(%error, "cannot check the replicated log");
                return Ok(());
            }
        };
        if bounds.last < self.last() {
            tracing::error!(
                own = self.last(),
                log = bounds.last,
                "the replicated log lacks confirmed messages"
            );
        } else if bounds.last == self.last() {
            self.led_at = now;
        } else {
            match self.flights.following(log, self.last(), None) {
                Some(Following::Signed { number, .. }) => return Err(Superseded { number }),
                Some(Following::End(last)) => (self.flights.last, self.led_at) = (last, now),
                Some(Following::Further(last)) => self.flights.last = last,
                None => {}
            }
        }
        Ok(())
    }

    fn send_new(&mut self, log: &mut SignedLog, now: Duration) {
        while self.flights.has_room()
            && let Some(bytes) = self.queue.take()
        {
            self.flights.send(log, bytes, now);
        }
    }
}
