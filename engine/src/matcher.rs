//! The matcher: takes commands from the ring, applies them, stages their frames, hands answers on.
//!
//! It takes a command only when the journal's staging buffer holds the largest frame and the reply
//! ring an answer, so it never waits inside one; it allocates nothing per command.

use std::sync::Arc;
use std::time::Duration;

use foretell_journal::{Appender, JournalState};
use foretell_link::{Stage, Timing};
use foretell_matching::Exchange;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{
    Command, CommandOutcome, Event, FramePlace, OrderResult, OrderStatus, Refusal, SystemMode,
    TimeNs, Verdict,
};

use foretell_stages::Recorder;

use crate::ahead::Ahead;
use crate::clock::{Clock, Clocks};
use crate::hand_off::{Done, HandOff, Work};
use crate::status::Gauges;
use crate::wait::{Bell, Sleeper};

/// Commands under one time stamp, and one waking of the sync thread.
const BURST: usize = 64;
/// The longest sleep: bounds how late a stop of the journal is seen.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// The matcher and all it owns.
#[derive(Debug)]
pub(crate) struct Matcher<C> {
    pub(crate) exchange: Exchange,
    pub(crate) appender: Appender,
    pub(crate) journal: JournalState,
    pub(crate) hand_off: Arc<HandOff>,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) recorder: Recorder<Stage>,
    pub(crate) clock: Clock<C>,
    pub(crate) clocks: C,
    pub(crate) mode: SystemMode,
    /// Post-only after a restart ends here.
    pub(crate) post_only_until: Option<TimeNs>,
    /// How it waits on a thread of its own.
    pub(crate) sleeper: Sleeper,
    /// Wakes ingress for an answer that waits for nothing.
    pub(crate) bell: Arc<Bell>,
    pub(crate) working: Working,
}

/// What the matcher carries from one command to the next.
#[derive(Debug)]
pub(crate) struct Working {
    events: Vec<Event>,
    /// Commands that left the ring before their turn.
    ahead: Ahead,
    /// The answer to a command whose work goes on in `Continue` commands.
    unfinished: Option<Done>,
    /// Time was advanced since the last command was taken: so a flood of expirations and a flood
    /// of commands take turns.
    advanced: bool,
    /// Time could not be advanced to here although something was due.
    not_due: Option<TimeNs>,
    /// Monotonic reading when the last command was done.
    at: u64,
    /// Engine time of the burst.
    time: TimeNs,
    /// An answer was handed on that waits for nothing.
    ready_answer: bool,
    /// The last turn found no room.
    blocked: bool,
}

impl Default for Working {
    fn default() -> Self {
        Self {
            events: Vec::with_capacity(MAX_EVENTS),
            ahead: Ahead::default(),
            unfinished: None,
            advanced: false,
            not_due: None,
            at: 0,
            time: TimeNs(0),
            ready_answer: false,
            blocked: false,
        }
    }
}

/// What a turn came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Something was done; there may be more.
    Worked,
    /// Nothing to do.
    Idle,
    /// Staging or the reply ring is full: the sync thread has to get on first.
    Blocked,
}

/// What the exchange said, and where the frame stands.
#[derive(Clone, Copy, Debug)]
struct Judged {
    verdict: Verdict,
    place: FramePlace,
    timing: Timing,
}

impl<C: Clocks> Matcher<C> {
    /// Works until stopped: the loop of a thread of its own.
    pub(crate) fn run(mut self) {
        loop {
            let turn = self.turn();
            if self.working.ready_answer {
                self.working.ready_answer = false;
                self.bell.ring();
            }
            if turn == Turn::Worked {
                continue;
            }
            if self.hand_off.is_stopped() {
                return;
            }
            let limit = self.until_due().unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
            self.sleeper.arm();
            if !self.has_something() && !self.hand_off.is_stopped() {
                self.sleeper.sleep(limit);
            }
            self.sleeper.disarm();
        }
    }

    /// Works through one burst.
    pub(crate) fn turn(&mut self) -> Turn {
        let turn = self.burst();
        self.working.blocked = turn == Turn::Blocked;
        turn
    }

    fn burst(&mut self) -> Turn {
        let (time, at) = self.clock.read();
        self.working.time = time;
        self.working.at = at;
        let mut turn = Turn::Idle;
        for _ in 0..BURST {
            match self.next() {
                Turn::Worked => turn = Turn::Worked,
                Turn::Blocked if turn == Turn::Idle => return Turn::Blocked,
                Turn::Blocked | Turn::Idle => break,
            }
        }
        if turn == Turn::Worked {
            // Before the journal may make it durable, so that nobody is answered ahead of it.
            self.show();
        }
        self.appender.publish();
        self.recorder.flush();
        turn
    }

    /// Shows the state to other threads.
    pub(crate) fn show(&self) {
        self.gauges.show(
            &self.exchange,
            self.mode,
            self.clock.alarms(),
            self.clock.offset(),
        );
    }

    /// Whether a turn would do something.
    pub(crate) fn has_something(&mut self) -> bool {
        (self.working.time, self.working.at) = self.clock.read();
        self.is_wanted() && self.has_room()
    }

    /// Whether there is work, room or not.
    fn is_wanted(&self) -> bool {
        self.exchange.has_pending_work()
            || self.hand_off.has_waiting()
            || self.next_due().is_some_and(|due| due <= self.working.time)
    }

    /// When something is due by itself.
    fn next_due(&self) -> Option<TimeNs> {
        let expiry = self
            .exchange
            .next_due()
            .filter(|due| self.working.not_due != Some(*due));
        match (expiry, self.post_only_until) {
            (Some(expiry), Some(until)) => Some(expiry.min(until)),
            (expiry, until) => expiry.or(until),
        }
    }

    /// How long until something is due by itself; `None` = nothing will be, or the sync thread has
    /// to get on first, which wakes whoever waits.
    pub(crate) fn until_due(&mut self) -> Option<Duration> {
        if self.working.blocked {
            return None;
        }
        let due = self.next_due()?;
        let (now, _) = self.clock.read();
        Some(Duration::from_nanos(due.0.saturating_sub(now.0)))
    }

    /// Asking the journal may take the staged frames back from the sync thread: ask only before a
    /// command, and publish after it.
    fn has_room(&mut self) -> bool {
        self.hand_off.has_reply_room() && self.appender.has_room_for_largest()
    }

    /// One command: continued work before anything else, then what is due, then the ring.
    fn next(&mut self) -> Turn {
        if !self.is_wanted() {
            return Turn::Idle;
        }
        if !self.has_room() {
            return Turn::Blocked;
        }
        if self.exchange.has_pending_work() {
            self.carry_on();
            return Turn::Worked;
        }
        if !self.working.advanced && self.do_what_is_due() {
            self.working.advanced = true;
            return Turn::Worked;
        }
        let advanced = core::mem::take(&mut self.working.advanced);
        let work = self.working.ahead.next(&self.hand_off, &self.exchange);
        match work {
            Some(work) => {
                self.take(work);
                Turn::Worked
            }
            None if advanced => Turn::Worked,
            None => Turn::Idle,
        }
    }

    /// A command from the ring.
    fn take(&mut self, work: Work) {
        let waited = self.working.at.saturating_sub(work.pushed);
        self.recorder.note(Stage::RingWait, waited, 1);
        let judged = self.judge(&work.command, &work.evidence);
        self.hand_off.give_back(work.evidence);
        let sequence = self.exchange.sequence();
        let done = Done {
            origin: work.origin,
            verdict: judged.verdict,
            sequence,
            last_sequence: sequence,
            place: judged.place,
            staged: self.working.at,
            timing: Timing {
                ring_wait: Timing::clip(waited),
                ..judged.timing
            },
        };
        if self.exchange.has_pending_work() {
            self.working.unfinished = Some(done);
        } else {
            self.answer(done);
        }
    }

    /// The next part of a command's work.
    fn carry_on(&mut self) {
        let judged = self.judge(&Command::Continue, &[]);
        assert!(
            matches!(judged.verdict, Verdict::Applied(_)),
            "pending work can be continued: {:?}",
            judged.verdict
        );
        if self.exchange.has_pending_work() {
            return;
        }
        // After a restart the work may be of a command answered by an earlier run.
        if let Some(done) = self.working.unfinished.take() {
            self.answer(Done {
                last_sequence: self.exchange.sequence(),
                staged: self.working.at,
                ..done
            });
        }
    }

    /// Advances time, or ends post-only; `false` when nothing is due.
    fn do_what_is_due(&mut self) -> bool {
        let now = self.working.time;
        if self.post_only_until.is_some_and(|until| until <= now) {
            self.post_only_until = None;
            // An operator's mode in the meantime stands.
            if self.mode == SystemMode::PostOnly {
                let mode = SystemMode::Running;
                self.judge(&Command::SetMode { mode }, &[]);
                return true;
            }
        }
        let Some(due) = self.exchange.next_due().filter(|due| *due <= now) else {
            return false;
        };
        if self.working.not_due == Some(due) {
            return false;
        }
        if let Verdict::Refused(refusal) = self.judge(&Command::AdvanceTime, &[]).verdict {
            tracing::error!(
                ?refusal,
                due = due.0,
                now = now.0,
                "time cannot be advanced"
            );
            self.working.not_due = Some(due);
            return false;
        }
        true
    }

    /// Applies a command of the engine's own, before anything is served. There is room.
    ///
    /// # Errors
    /// The exchange's refusal.
    pub(crate) fn apply_at_start(
        &mut self,
        command: &Command,
        evidence: &[u8],
    ) -> Result<Verdict, Refusal> {
        let (time, at) = self.clock.read();
        self.working.time = time;
        self.working.at = at;
        let verdict = self.judge(command, evidence).verdict;
        self.appender.publish();
        match verdict {
            Verdict::Refused(refusal) => Err(refusal),
            verdict => Ok(verdict),
        }
    }

    /// Applies a command and, when it was applied, stages its frame.
    fn judge(&mut self, command: &Command, evidence: &[u8]) -> Judged {
        let working = &mut self.working;
        working.events.clear();
        let verdict = self
            .exchange
            .apply(command, working.time, &mut working.events);
        let applied = self.clocks.monotonic();
        let took = applied.saturating_sub(working.at);
        self.recorder.note(Stage::Apply, took, 1);
        working.at = applied;
        let mut judged = Judged {
            verdict,
            place: FramePlace::default(),
            timing: Timing {
                apply: Timing::clip(took),
                ..Timing::default()
            },
        };
        let Verdict::Applied(outcome) = verdict else {
            return judged;
        };
        judged.place = self.appender.append(
            self.exchange.sequence(),
            working.time,
            command,
            &working.events,
            kept_evidence(&outcome, evidence),
        );
        for event in &working.events {
            if let Event::ModeSet { mode } = event {
                self.mode = *mode;
            }
        }
        working.at = self.clocks.monotonic();
        let took = working.at.saturating_sub(applied);
        self.recorder.note(Stage::Encode, took, 1);
        judged.timing.encode = Timing::clip(took);
        judged
    }

    fn answer(&mut self, done: Done) {
        self.hand_off.push_reply(done);
        // Looked at after the push: whoever raises the durable sequence later rings the bell
        // itself and finds the answer there.
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        self.working.ready_answer |= done.last_sequence <= self.journal.durable();
    }
}

/// An order the book refused is journalled without evidence (protocol 9): it is kept only so that
/// its id stays burned.
const fn kept_evidence<'a>(outcome: &CommandOutcome, evidence: &'a [u8]) -> &'a [u8] {
    match outcome {
        CommandOutcome::Order(OrderResult {
            status: OrderStatus::Killed(_),
            ..
        }) => &[],
        _ => evidence,
    }
}

#[cfg(test)]
mod tests {
    use foretell_journal::{Options, Step, Syncer};
    use foretell_matching::Capacity;
    use foretell_model::limits::MAX_EVIDENCE_BYTES;
    use foretell_model::{Micros, Reference, Sequence, WalletAddress};

    use super::*;
    use crate::clock::SystemClocks;
    use crate::wait::Waiting;

    fn matcher(directory: &std::path::Path) -> (Matcher<SystemClocks>, Syncer) {
        let options = Options {
            segment_bytes: 4 << 20,
            staging_bytes: 1 << 20,
            ..Options::default()
        };
        let journal = directory.join("journal");
        let recovered = foretell_journal::recover(&journal, options, Sequence(0), &mut |_| Ok(()));
        let (appender, syncer, journal) = recovered.unwrap().start().unwrap();
        let poll = mio::Poll::new().unwrap();
        let waker = mio::Waker::new(poll.registry(), mio::Token(0)).unwrap();
        let clocks = SystemClocks::start();
        let matcher = Matcher {
            exchange: Exchange::new(Capacity::default(), 1),
            appender,
            journal,
            hand_off: Arc::new(HandOff::new(16)),
            gauges: Arc::default(),
            recorder: Recorder::new(Arc::default()),
            clock: Clock::start(clocks, TimeNs(0)),
            clocks,
            mode: SystemMode::Running,
            post_only_until: None,
            sleeper: Sleeper::new(Waiting::Park),
            bell: Arc::new(Bell::new(waker)),
            working: Working::default(),
        };
        (matcher, syncer)
    }

    #[test]
    fn what_is_due_does_not_keep_a_blocked_matcher_awake() {
        let directory = tempfile::tempdir().unwrap();
        let (mut matcher, mut syncer) = matcher(directory.path());
        let evidence = vec![7; MAX_EVIDENCE_BYTES];
        let mut number = 0;
        while matcher.appender.has_room_for_largest() {
            number += 1;
            let deposit = Command::Deposit {
                wallet: WalletAddress([1; 20]),
                amount: Micros(1),
                reference: Reference([number; 32]),
            };
            matcher.apply_at_start(&deposit, &evidence).unwrap();
        }
        matcher.post_only_until = Some(TimeNs(0));
        assert_eq!(matcher.until_due(), Some(Duration::ZERO));
        assert_eq!(matcher.turn(), Turn::Blocked);
        assert_eq!(matcher.until_due(), None);

        let durable = syncer.step().unwrap();
        assert_eq!(durable, Step::Durable(Sequence(u64::from(number))));
        matcher.turn();
        assert_eq!(matcher.post_only_until, None);
    }
}
