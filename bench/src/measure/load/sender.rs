//! One thread of the generator: sends each request when it is due, independent of earlier ones, and
//! times it from then.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::check::check;
use super::clock::{self, Timer};
use super::connection::LoadConnection;
use super::endpoint::Endpoint;
use super::latency_record::LatencyRecord;
use super::request_mix::RequestKind;
use super::schedule::Schedule;
use super::script::Script;
use crate::error::MeasureError;

/// Token of the timer; connections have lower ones.
const TIMER: Token = Token(usize::MAX);
/// Maximum sleep: bounds the delay until a failure of another sender is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// State shared by all senders of a run.
pub(super) struct Common<'a> {
    /// Set by the first sender that fails.
    pub(super) stop: &'a AtomicBool,
    /// Requests due earlier are warm-up and not counted.
    pub(super) begin: u64,
    /// A sender that is this many nanoseconds behind gives up.
    pub(super) patience: u64,
}

/// One thread's connections.
pub(super) struct Sender {
    poll: Poll,
    timer: Timer,
    /// Time the timer is set to.
    armed: u64,
    connections: Vec<LoadConnection>,
    /// Connections without a request, the longest idle first.
    idle: VecDeque<usize>,
}

impl Sender {
    pub(super) fn connect(endpoint: &Endpoint, connections: usize) -> io::Result<Self> {
        let poll = Poll::new()?;
        let timer = Timer::polled()?;
        let source = timer.as_raw_fd();
        poll.registry()
            .register(&mut SourceFd(&source), TIMER, Interest::READABLE)?;
        let connections: Vec<_> = (0..connections.max(1))
            .map(|token| LoadConnection::open(endpoint.address, poll.registry(), token))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            poll,
            timer,
            armed: 0,
            idle: (0..connections.len()).collect(),
            connections,
        })
    }

    /// Sends a script on its schedule.
    ///
    /// # Errors
    /// A connection failed, or an answer was wrong; the other senders are stopped.
    pub(super) fn run(
        self,
        script: &Script,
        schedule: Schedule,
        common: &Common<'_>,
    ) -> Result<LatencyRecord, MeasureError> {
        let mut run = Run {
            sender: self,
            script,
            schedule,
            common,
            next: 0,
            held: VecDeque::new(),
            acknowledged: vec![false; script.ids.len()],
            record: LatencyRecord::new(common.begin),
        };
        let ran = run.drive();
        if ran.is_err() {
            common.stop.store(true, Ordering::Relaxed);
        }
        ran.map(|()| run.record)
    }
}

/// A script being sent.
struct Run<'a> {
    sender: Sender,
    script: &'a Script,
    schedule: Schedule,
    common: &'a Common<'a>,
    /// Index of the next step.
    next: usize,
    /// Due cancels that wait for the acknowledgement of their order.
    held: VecDeque<usize>,
    acknowledged: Vec<bool>,
    record: LatencyRecord,
}

impl Run<'_> {
    fn drive(&mut self) -> Result<(), MeasureError> {
        let mut events = Events::with_capacity(256);
        while !self.common.stop.load(Ordering::Relaxed) {
            self.send_due().map_err(MeasureError::io("sending"))?;
            if self.is_over() {
                return Ok(());
            }
            let now = clock::now();
            if now.saturating_sub(self.oldest_due()) > self.common.patience {
                self.give_up(now);
                return Ok(());
            }
            self.sleep(&mut events)
                .map_err(MeasureError::io("waiting for answers"))?;
            for event in &events {
                match event.token() {
                    TIMER => (self.sender.timer.clear()).map_err(MeasureError::io("a timer"))?,
                    Token(connection) => self.on_ready(connection)?,
                }
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.next == self.script.steps.len()
            && self.held.is_empty()
            && self.sender.idle.len() == self.sender.connections.len()
    }

    /// Sends due requests while a connection is idle.
    fn send_due(&mut self) -> io::Result<()> {
        while let Some(&idle) = self.sender.idle.front() {
            let now = clock::now();
            let Some(index) = self.pick(now) else {
                break;
            };
            self.sender.idle.pop_front();
            let due = self.schedule.due(index);
            let connection = &mut self.sender.connections[idle];
            if connection.idle_since <= due {
                self.record.sent(due, now - due);
            }
            connection.start(index, due, &self.script.steps[index].bytes)?;
        }
        Ok(())
    }

    /// The next step that is due and can be sent.
    fn pick(&mut self, now: u64) -> Option<usize> {
        let ready = |index: &usize| self.acknowledged[self.script.steps[*index].orders.start];
        if let Some(place) = self.held.iter().position(ready) {
            return self.held.remove(place);
        }
        while self.next < self.script.steps.len() && self.schedule.due(self.next) <= now {
            let index = self.next;
            self.next += 1;
            let step = &self.script.steps[index];
            if step.kind != RequestKind::Cancel || self.acknowledged[step.orders.start] {
                return Some(index);
            }
            self.held.push_back(index);
        }
        None
    }

    /// Due time of the oldest unanswered step.
    fn oldest_due(&self) -> u64 {
        let under_way = self
            .sender
            .connections
            .iter()
            .filter_map(|connection| connection.under_way);
        let waiting = self.held.iter().copied();
        let next = (self.next < self.script.steps.len()).then_some(self.next);
        let waiting = waiting.chain(next).map(|index| self.schedule.due(index));
        let dues = under_way.map(|(_, due)| due).chain(waiting);
        dues.min().unwrap_or(u64::MAX)
    }

    /// Sleeps until an answer arrives or the next step is due and can be sent.
    fn sleep(&mut self, events: &mut Events) -> io::Result<()> {
        if self.next < self.script.steps.len() && !self.sender.idle.is_empty() {
            let due = self.schedule.due(self.next);
            if self.sender.armed != due {
                self.sender.timer.arm(due)?;
                self.sender.armed = due;
            }
        }
        match self.sender.poll.poll(events, Some(LONGEST_SLEEP)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            polled => polled,
        }
    }

    /// Handles readiness of a connection.
    fn on_ready(&mut self, index: usize) -> Result<(), MeasureError> {
        let connection = &mut self.sender.connections[index];
        let under_way = connection.under_way;
        if let Some((step, _)) = under_way {
            connection
                .send(&self.script.steps[step].bytes)
                .map_err(MeasureError::io("sending"))?;
        }
        let answer = connection
            .receive()
            .map_err(MeasureError::io("reading an answer"))?;
        let Some(answer) = answer else {
            return Ok(());
        };
        let done = clock::now();
        let (step, due) =
            under_way.ok_or_else(|| MeasureError::wrong("an answer without a request"))?;
        let step = &self.script.steps[step];
        check(self.script, step, answer.status, answer.body).map_err(MeasureError::Wrong)?;
        connection.under_way = None;
        connection.idle_since = done;
        self.sender.idle.push_back(index);
        self.record.answered(step.kind, due, done);
        if step.kind != RequestKind::Cancel {
            self.acknowledged[step.orders.clone()].fill(true);
        }
        Ok(())
    }

    /// Records all due requests without an answer.
    fn give_up(&mut self, now: u64) {
        let under_way = self
            .sender
            .connections
            .iter()
            .filter_map(|connection| connection.under_way);
        let unsent = (self.next..self.script.steps.len())
            .take_while(|index| self.schedule.due(*index) <= now);
        let indices = under_way.map(|(index, _)| index);
        for index in indices.chain(self.held.iter().copied()).chain(unsent) {
            let kind = self.script.steps[index].kind;
            let due = self.schedule.due(index);
            self.record.unanswered(kind, due, now);
        }
    }
}
