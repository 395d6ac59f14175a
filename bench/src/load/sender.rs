//! One thread of the generator: it sends each request when it is due, whatever became of the
//! earlier ones, and charges the server from then on.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::check::check;
use super::clock::{self, Timer};
use super::lane::Lane;
use super::mix::Kind;
use super::record::Record;
use super::schedule::Schedule;
use super::script::Script;
use super::site::Site;
use crate::error::MeasureError;

/// The token of the timer; connections have the lower ones.
const TIMER: Token = Token(usize::MAX);
/// Longest sleep: bounds how late it is seen that another sender failed.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// What all senders of a run share.
pub(super) struct Common<'a> {
    /// Set by the first that fails.
    pub(super) stop: &'a AtomicBool,
    /// Requests due earlier warm up and are not counted.
    pub(super) begin: u64,
    /// A sender that is so many nanoseconds behind gives up.
    pub(super) patience: u64,
}

/// One thread's connections.
pub(super) struct Sender {
    poll: Poll,
    timer: Timer,
    /// What the timer is set to.
    armed: u64,
    lanes: Vec<Lane>,
    /// Connections without a request, the longest idle first.
    idle: VecDeque<usize>,
}

impl Sender {
    /// Opens the connections.
    pub(super) fn connect(site: &Site, connections: usize) -> io::Result<Self> {
        let poll = Poll::new()?;
        let timer = Timer::polled()?;
        let source = timer.as_raw_fd();
        poll.registry()
            .register(&mut SourceFd(&source), TIMER, Interest::READABLE)?;
        let lanes: Vec<_> = (0..connections.max(1))
            .map(|token| Lane::open(site.address, poll.registry(), token))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            poll,
            timer,
            armed: 0,
            idle: (0..lanes.len()).collect(),
            lanes,
        })
    }

    /// Sends a script on its schedule.
    ///
    /// # Errors
    /// A connection failed, or an answer was wrong; the others are told to stop.
    pub(super) fn run(
        self,
        script: &Script,
        schedule: Schedule,
        common: &Common<'_>,
    ) -> Result<Record, MeasureError> {
        let mut run = Run {
            sender: self,
            script,
            schedule,
            common,
            next: 0,
            held: VecDeque::new(),
            acknowledged: vec![false; script.ids.len()],
            record: Record::new(common.begin),
        };
        let ran = run.drive();
        if ran.is_err() {
            common.stop.store(true, Ordering::Relaxed);
        }
        ran.map(|()| run.record)
    }
}

/// A script on its way.
struct Run<'a> {
    sender: Sender,
    script: &'a Script,
    schedule: Schedule,
    common: &'a Common<'a>,
    /// The first step that was not looked at.
    next: usize,
    /// Cancels that are due and wait until their order is acknowledged.
    held: VecDeque<usize>,
    acknowledged: Vec<bool>,
    record: Record,
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
                    Token(lane) => self.turn(lane)?,
                }
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.next == self.script.steps.len()
            && self.held.is_empty()
            && self.sender.idle.len() == self.sender.lanes.len()
    }

    /// Sends what is due, as long as a connection is idle.
    fn send_due(&mut self) -> io::Result<()> {
        while let Some(&lane) = self.sender.idle.front() {
            let now = clock::now();
            let Some(index) = self.pick(now) else {
                break;
            };
            self.sender.idle.pop_front();
            let due = self.schedule.due(index);
            let lane = &mut self.sender.lanes[lane];
            if lane.idle_since <= due {
                self.record.sent(due, now - due);
            }
            lane.start(index, due, &self.script.steps[index].bytes)?;
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
            if step.kind != Kind::Cancel || self.acknowledged[step.orders.start] {
                return Some(index);
            }
            self.held.push_back(index);
        }
        None
    }

    /// When the oldest step was due that is not answered.
    fn oldest_due(&self) -> u64 {
        let under_way = self.sender.lanes.iter().filter_map(|lane| lane.under_way);
        let waiting = self.held.iter().copied();
        let next = (self.next < self.script.steps.len()).then_some(self.next);
        let waiting = waiting.chain(next).map(|index| self.schedule.due(index));
        let dues = under_way.map(|(_, due)| due).chain(waiting);
        dues.min().unwrap_or(u64::MAX)
    }

    /// Sleeps until an answer comes or, if it could be sent, the next step is due.
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

    /// Something happened on a connection.
    fn turn(&mut self, index: usize) -> Result<(), MeasureError> {
        let lane = &mut self.sender.lanes[index];
        if let Some((step, _)) = lane.under_way {
            lane.send(&self.script.steps[step].bytes)
                .map_err(MeasureError::io("sending"))?;
        }
        let answer = lane
            .receive()
            .map_err(MeasureError::io("reading an answer"))?;
        let (Some(status), Some((step, due))) = (answer, lane.under_way) else {
            return Ok(());
        };
        let done = clock::now();
        lane.under_way = None;
        lane.idle_since = done;
        self.sender.idle.push_back(index);
        let step = &self.script.steps[step];
        self.record.answered(step.kind, due, done);
        check(self.script, step, status, lane.body()).map_err(MeasureError::Wrong)?;
        if step.kind != Kind::Cancel {
            self.acknowledged[step.orders.clone()].fill(true);
        }
        Ok(())
    }

    /// Counts everything that is due and has no answer.
    fn give_up(&mut self, now: u64) {
        let under_way = self.sender.lanes.iter().filter_map(|lane| lane.under_way);
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
