//! The matcher: takes commands from the ring, applies them, stages their frames, queues their
//! answers.
//!
//! It takes a command only when the journal's staging buffer has room for the largest frame and the
//! reply ring has room for an answer. So it never waits inside a command. It allocates nothing per
//! command.

use std::sync::Arc;
use std::time::Duration;

use foretell_journal::{Appender, JournalState};
use foretell_link::{Stage, Timing};
use foretell_matching::Exchange;
use foretell_model::limits::{MAX_EVENTS, MAX_VISITED_ORDERS};
use foretell_model::{
    Command, CommandOutcome, CommandStamp, Event, FramePosition, OperatorNumber, OrderResult,
    OrderStatus, Rejection, RejectionReason, Sequence, SystemMode, TimeNs, Verdict,
};

use foretell_stages::Recorder;

use crate::clock::{Clock, Clocks};
use crate::command_ring::{CommandRing, PendingReply, QueuedCommand};
use crate::prefetch_queue::PrefetchQueue;
use crate::status::Gauges;
use crate::wait::{PollWaker, ThreadParker};

/// Commands that share one time stamp and one wake-up of the sync thread.
const BURST: usize = 64;
/// The longest sleep. It bounds the delay until a stopped journal is detected.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Matcher<C> {
    pub(crate) exchange: Exchange,
    pub(crate) appender: Appender,
    pub(crate) journal: JournalState,
    pub(crate) ring: Arc<CommandRing>,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) recorder: Recorder<Stage>,
    pub(crate) clock: Clock<C>,
    pub(crate) clocks: C,
    pub(crate) mode: SystemMode,
    /// End of post-only mode after a restart, on the monotonic clock: engine time may stand still, or jump.
    pub(crate) post_only_until: Option<u64>,
    /// How it waits on its own thread.
    pub(crate) parker: ThreadParker,
    /// Wakes ingress for an answer that is durable already.
    pub(crate) waker: Arc<PollWaker>,
    pub(crate) state: LoopState,
}

/// Working state between commands.
#[derive(Debug)]
pub(crate) struct LoopState {
    events: Vec<Event>,
    /// Commands taken from the ring and not applied yet.
    prefetch_queue: PrefetchQueue,
    /// The answer to a command that `Continue` commands still have to finish.
    unfinished: Option<PendingReply>,
    /// The exchange rejected advancing time to here although a thing is due.
    rejected_due: Option<TimeNs>,
    /// The last step of background work.
    last_step: Sequence,
    /// Monotonic reading at the end of the last command.
    at: u64,
    /// Engine time of the burst.
    time: TimeNs,
    /// An answer was queued that is durable already.
    ready_answer: bool,
    /// The last turn had no room.
    blocked: bool,
}

impl Default for LoopState {
    fn default() -> Self {
        Self {
            events: Vec::with_capacity(MAX_EVENTS),
            prefetch_queue: PrefetchQueue::default(),
            unfinished: None,
            rejected_due: None,
            last_step: Sequence(0),
            at: 0,
            time: TimeNs(0),
            ready_answer: false,
            blocked: false,
        }
    }
}

/// The result of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LoopStep {
    /// At least one command was applied; more may wait.
    Worked,
    /// Nothing to do.
    Idle,
    /// Staging or the reply ring is full: the sync thread has to make progress first.
    Blocked,
}

/// The verdict on a command, and the place of its frame.
#[derive(Clone, Copy, Debug)]
struct AppliedCommand {
    verdict: Verdict,
    place: FramePosition,
    timing: Timing,
}

impl AppliedCommand {
    /// The answer to a command that was not given to the exchange.
    fn refused(verdict: Verdict) -> Self {
        Self {
            verdict,
            place: FramePosition::default(),
            timing: Timing::default(),
        }
    }
}

/// What the earlier commands of a replace did.
#[derive(Clone, Copy, Debug)]
struct GroupProgress {
    /// As in [`CommandStamp::touched`].
    touched: u16,
    /// Each cancel ended its order.
    all_canceled: bool,
}

impl Default for GroupProgress {
    fn default() -> Self {
        Self {
            touched: 0,
            all_canceled: true,
        }
    }
}

impl GroupProgress {
    fn count(
        &mut self,
        command: &Command,
        applied: &AppliedCommand,
        events: &[Event],
        visited: usize,
    ) {
        const ENDED: Verdict = Verdict::Applied(CommandOutcome::Cancelled { orders: 1 });
        if let Command::CancelOrder(_) = command {
            self.all_canceled &= applied.verdict == ENDED;
        }
        if let Verdict::Applied(_) = applied.verdict {
            let is_touched =
                |event: &&Event| matches!(event, Event::Fill(_) | Event::OrderClosed(_));
            let ended = usize::from(self.touched) + events.iter().filter(is_touched).count();
            let most = ended.max(visited).min(MAX_VISITED_ORDERS);
            self.touched = u16::try_from(most).expect("the bound has 16 bits");
        }
    }
}

impl<C: Clocks> Matcher<C> {
    /// The loop of the matcher's own thread; runs until stopped.
    pub(crate) fn run(mut self) {
        loop {
            let step = self.step();
            if self.state.ready_answer {
                self.state.ready_answer = false;
                self.waker.wake();
            }
            if step == LoopStep::Worked {
                continue;
            }
            if self.ring.is_stopped() {
                return;
            }
            let limit = self
                .until_next_timer()
                .unwrap_or(LONGEST_SLEEP)
                .min(LONGEST_SLEEP);
            self.parker.arm();
            if !self.has_work() && !self.ring.is_stopped() {
                self.parker.sleep(limit);
            }
            self.parker.disarm();
        }
    }

    /// Processes one burst.
    pub(crate) fn step(&mut self) -> LoopStep {
        let step = self.burst();
        self.state.blocked = step == LoopStep::Blocked;
        step
    }

    fn burst(&mut self) -> LoopStep {
        self.read_clock();
        self.gauges.set_clock(&self.clock);
        let mut step = LoopStep::Idle;
        for _ in 0..BURST {
            match self.next() {
                LoopStep::Worked => step = LoopStep::Worked,
                LoopStep::Blocked if step == LoopStep::Idle => return LoopStep::Blocked,
                LoopStep::Blocked | LoopStep::Idle => break,
            }
        }
        if self.step_background() {
            step = LoopStep::Worked;
        }
        if step == LoopStep::Worked {
            // Update the gauges before the journal can make the burst durable, so that no answer
            // precedes them.
            self.update_gauges();
        }
        self.appender.publish();
        self.recorder.flush();
        step
    }

    /// Updates the gauges that other threads read.
    pub(crate) fn update_gauges(&self) {
        self.gauges.update(&self.exchange, self.mode);
        self.gauges.set_clock(&self.clock);
    }

    /// Whether a turn would make progress.
    pub(crate) fn has_work(&mut self) -> bool {
        self.read_clock();
        self.has_pending() && self.has_room()
    }

    /// Whether work is available, with or without room for it.
    fn has_pending(&self) -> bool {
        self.exchange.has_pending_work()
            || self.has_step()
            || self.ring.has_waiting()
            || self.clock.jumped_to().is_some()
            || self.next_due().is_some_and(|due| due <= self.state.time)
            || self
                .post_only_until
                .is_some_and(|until| until <= self.state.at)
    }

    /// Engine time of the next thing that falls due.
    fn next_due(&self) -> Option<TimeNs> {
        let due = self.exchange.next_due();
        due.filter(|due| self.state.rejected_due != Some(*due))
    }

    /// Time until the next timer. `None` = there is none, or the sync thread has to make progress
    /// first and will wake this thread.
    pub(crate) fn until_next_timer(&mut self) -> Option<Duration> {
        if self.state.blocked {
            return None;
        }
        let (now, at) = self.clock.read();
        let due = self.next_due().map(|due| due.0.saturating_sub(now.0));
        let protected = self.post_only_until.map(|until| until.saturating_sub(at));
        let timers = due.into_iter().chain(protected);
        timers.min().map(Duration::from_nanos)
    }

    /// Checking the journal for room may take staged frames back from the sync thread. Check only
    /// before a command, and publish after it.
    fn has_room(&mut self) -> bool {
        self.ring.has_reply_room() && self.appender.has_room_for_largest()
    }

    /// Whether a step of the work in the background may be done. Each step waits until the one before
    /// is durable, so a batch has at most one, and commands never wait for a buffer full of steps. A
    /// stop, or a nearly full disk, leaves the rest for later.
    fn has_step(&self) -> bool {
        self.exchange.has_background_work()
            && self.state.last_step <= self.journal.durable()
            && !self.journal.disk_low()
            && !self.ring.is_stopped()
    }

    /// One step of the work in the background, after the commands of a burst: an answer waits for one
    /// step at most.
    pub(crate) fn step_background(&mut self) -> bool {
        if !self.has_step() || self.what_comes_first().is_some() || !self.has_room() {
            return false;
        }
        let applied = self.apply(&Command::Step, CommandStamp::at(self.state.time), &[]);
        assert!(
            matches!(applied.verdict, Verdict::Applied(_)),
            "work in the background has a next step: {:?}",
            applied.verdict
        );
        self.state.last_step = self.exchange.sequence();
        true
    }

    /// The engine's command that must precede every other one, if any.
    pub(crate) fn what_comes_first(&self) -> Option<Command> {
        first_due(&self.exchange, self.state.time).or_else(|| self.reopens())
    }

    /// After a jump of engine time: nobody could dispute in the time that was passed over (docs/verify/rules.md §24).
    fn reopens(&self) -> Option<Command> {
        let at = self.clock.jumped_to()?;
        Some(Command::Reopen { at })
    }

    /// One command or replace: pending work first, then timers, then the ring.
    fn next(&mut self) -> LoopStep {
        if !self.has_pending() {
            return LoopStep::Idle;
        }
        if !self.has_room() {
            return LoopStep::Blocked;
        }
        if self.exchange.has_pending_work() {
            self.continue_pending();
            return LoopStep::Worked;
        }
        if self.run_timers() {
            return LoopStep::Worked;
        }
        if let Some(reopens) = self.reopens() {
            self.apply(&reopens, CommandStamp::at(self.state.time), &[]);
            return LoopStep::Worked;
        }
        let Some(mut queued) = self.state.prefetch_queue.next(&self.ring, &self.exchange) else {
            return LoopStep::Idle;
        };
        // No other command and no end of a batch comes between the commands of a replace.
        let mut group = GroupProgress::default();
        loop {
            let left = queued.group.left;
            self.apply_queued(queued, &mut group);
            if left == 0 {
                return LoopStep::Worked;
            }
            self.end_frozen_quotes(&mut group);
            let next = self.state.prefetch_queue.next(&self.ring, &self.exchange);
            queued = next.expect("the queue had the whole replace");
        }
    }

    /// Ends the quotes of groups that an order of a replace froze, before its next one, as far as its
    /// frames have room: they touch no more orders than one command may.
    fn end_frozen_quotes(&mut self, group: &mut GroupProgress) {
        if !self.exchange.has_pending_work() || usize::from(group.touched) == MAX_VISITED_ORDERS {
            return;
        }
        let stamp = CommandStamp {
            touched: group.touched,
            ..CommandStamp::at(self.state.time)
        };
        let applied = self.apply(&Command::Continue, stamp, &[]);
        let visited = self.exchange.visited();
        group.count(&Command::Continue, &applied, &self.state.events, visited);
    }

    /// Applies a command from the ring.
    fn apply_queued(&mut self, queued: QueuedCommand, group: &mut GroupProgress) {
        let waited = self.state.at.saturating_sub(queued.pushed);
        self.recorder.record(Stage::RingWait, waited, 1);
        let applied = match self.held_back(&queued, group) {
            Some(verdict) => AppliedCommand::refused(verdict),
            None => {
                let stamp = CommandStamp {
                    time: self.state.time,
                    operator: queued.group.operator,
                    touched: group.touched,
                };
                self.apply(&queued.command, stamp, &queued.evidence)
            }
        };
        let visited = self.exchange.visited();
        group.count(&queued.command, &applied, &self.state.events, visited);
        self.ring.recycle(queued.evidence);
        let sequence = self.exchange.sequence();
        let reply = PendingReply {
            origin: queued.origin,
            verdict: applied.verdict,
            sequence,
            last_sequence: sequence,
            place: applied.place,
            staged: self.state.at,
            timing: Timing {
                ring_wait: Timing::clip(waited),
                ..applied.timing
            },
        };
        // An order's pending work is that of others, whose quotes it froze.
        let is_order = matches!(queued.command, Command::PlaceOrder(_));
        if self.exchange.has_pending_work() && !is_order {
            self.state.unfinished = Some(reply);
        } else {
            self.answer(reply);
        }
    }

    /// Returns the answer to a command that is not applied, else `None`. In a replace, an order is not applied after a
    /// cancel that ended nothing. On a nearly full disk, whose rest is for commands that end something, a set that ends
    /// no quotes is not applied.
    fn held_back(&self, queued: &QueuedCommand, group: &GroupProgress) -> Option<Verdict> {
        match &queued.command {
            Command::PlaceOrder(order) if queued.group.if_all_canceled && !group.all_canceled => {
                let refusal = Verdict::Rejected(RejectionReason::NotAllCanceled.into());
                Some(self.exchange.known_order(order).unwrap_or(refusal))
            }
            Command::SetQuotes(set)
                if self.journal.disk_low() && !self.exchange.ends_quotes(set, &queued.evidence) =>
            {
                let refusal = Verdict::Rejected(RejectionReason::CancelOnly.into());
                Some(self.exchange.known_set(set).unwrap_or(refusal))
            }
            _ => None,
        }
    }

    /// Applies the next part of a command's pending work.
    fn continue_pending(&mut self) {
        let applied = self.apply(&Command::Continue, CommandStamp::at(self.state.time), &[]);
        assert!(
            matches!(applied.verdict, Verdict::Applied(_)),
            "pending work can be continued: {:?}",
            applied.verdict
        );
        if self.exchange.has_pending_work() {
            return;
        }
        // After a restart the pending work may belong to a command that an earlier run answered.
        if let Some(reply) = self.state.unfinished.take() {
            self.answer(PendingReply {
                last_sequence: self.exchange.sequence(),
                staged: self.state.at,
                ..reply
            });
        }
    }

    /// Advances time, or ends post-only mode; `false` when neither is due.
    fn run_timers(&mut self) -> bool {
        let now = self.state.time;
        let due = self.exchange.next_due().filter(|due| *due <= now);
        if let Some(due) = due.filter(|due| self.state.rejected_due != Some(*due)) {
            return self.advance_time(due);
        }
        if self
            .post_only_until
            .is_some_and(|until| until <= self.state.at)
        {
            self.post_only_until = None;
            // A mode that an operator has set meanwhile stays.
            if self.mode == SystemMode::PostOnly {
                let mode = SystemMode::Running;
                self.apply(&Command::SetMode { mode }, CommandStamp::at(now), &[]);
                return true;
            }
        }
        false
    }

    /// Does the first due thing.
    fn advance_time(&mut self, due: TimeNs) -> bool {
        let now = self.state.time;
        let applied = self.apply(&Command::AdvanceTime, CommandStamp::at(now), &[]);
        if let Verdict::Rejected(refusal) = applied.verdict {
            tracing::error!(?refusal, due = due.0, now = now.0, "cannot advance time");
            self.state.rejected_due = Some(due);
            return false;
        }
        true
    }

    /// The events of the last command.
    pub(crate) fn events(&self) -> &[Event] {
        &self.state.events
    }

    /// Sets the time of the next commands: until [`Self::reopens`] is done that of the last frame.
    pub(crate) fn read_clock(&mut self) {
        (self.state.time, self.state.at) = self.clock.read();
        if self.clock.jumped_to().is_some() {
            self.stop_clock();
        }
    }

    /// Sets the time to that of the last frame, so that nothing has fallen due since.
    pub(crate) fn stop_clock(&mut self) {
        self.state.time = self.appender.last_time();
    }

    /// Applies a command before serving starts, at the time of the last [`Self::read_clock`] or
    /// [`Self::stop_clock`]. The caller has checked for room.
    ///
    /// # Errors
    /// The exchange's rejection.
    pub(crate) fn apply_at_start(
        &mut self,
        operator: OperatorNumber,
        command: &Command,
        evidence: &[u8],
    ) -> Result<Verdict, Rejection> {
        let stamp = CommandStamp {
            operator,
            ..CommandStamp::at(self.state.time)
        };
        let verdict = self.apply(command, stamp, evidence).verdict;
        self.appender.publish();
        match verdict {
            Verdict::Rejected(refusal) => Err(refusal),
            verdict => Ok(verdict),
        }
    }

    /// Applies a command and stages its frame unless it was rejected.
    fn apply(&mut self, command: &Command, stamp: CommandStamp, evidence: &[u8]) -> AppliedCommand {
        let state = &mut self.state;
        state.events.clear();
        let verdict = self
            .exchange
            .apply_with(command, evidence, stamp, &mut state.events);
        let applied_at = self.clocks.monotonic();
        let took = applied_at.saturating_sub(state.at);
        self.recorder.record(Stage::Apply, took, 1);
        state.at = applied_at;
        let mut applied = AppliedCommand {
            verdict,
            place: FramePosition::default(),
            timing: Timing {
                apply: Timing::clip(took),
                ..Timing::default()
            },
        };
        if let Command::Reopen { at } = *command {
            self.clock.note_jump();
            state.time = state.time.max(at);
        }
        let Verdict::Applied(outcome) = verdict else {
            return applied;
        };
        applied.place = self.appender.append(
            self.exchange.sequence(),
            stamp,
            command,
            &state.events,
            kept_evidence(&outcome, stamp.operator, evidence),
        );
        for event in &state.events {
            match *event {
                Event::ModeSet { mode } => self.mode = mode,
                Event::ClockMoved { clock } => {
                    // The rest of the burst follows, and what fell due comes before it.
                    self.clock.follow(clock);
                    (state.time, _) = self.clock.read();
                }
                _ => {}
            }
        }
        state.at = self.clocks.monotonic();
        let took = state.at.saturating_sub(applied_at);
        self.recorder.record(Stage::Encode, took, 1);
        applied.timing.encode = Timing::clip(took);
        applied
    }

    fn answer(&mut self, reply: PendingReply) {
        self.ring.push_reply(reply);
        // Read after the push: a thread that raises the durable sequence later wakes ingress
        // itself, and ingress finds the answer in the ring.
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        self.state.ready_answer |= reply.last_sequence <= self.journal.durable();
    }
}

/// A client's order that the book rejected is journalled without evidence (docs/verify/rules.md §8): the
/// frame only keeps its id used.
fn kept_evidence<'a>(
    outcome: &CommandOutcome,
    operator: OperatorNumber,
    evidence: &'a [u8],
) -> &'a [u8] {
    match outcome {
        CommandOutcome::Order(OrderResult {
            status: OrderStatus::Killed(_),
            ..
        }) if operator == OperatorNumber::NONE => &[],
        _ => evidence,
    }
}

/// The command of the engine that must precede every other one at `time`, if any.
pub(crate) fn first_due(exchange: &Exchange, time: TimeNs) -> Option<Command> {
    if exchange.has_pending_work() {
        return Some(Command::Continue);
    }
    let is_due = exchange.next_due().is_some_and(|due| due <= time);
    is_due.then_some(Command::AdvanceTime)
}

#[cfg(test)]
mod tests {
    use foretell_fixtures::deposit;
    use foretell_journal::{Options, SyncStep, Syncer};
    use foretell_matching::Capacity;
    use foretell_model::limits::MAX_EVIDENCE_BYTES;
    use foretell_model::{Micros, Sequence, WalletAddress};

    use super::*;
    use crate::clock::{SystemClocks, Trust};
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
        let clocks = SystemClocks::start(None);
        let matcher = Matcher {
            exchange: Exchange::new(Capacity::default(), 1),
            appender,
            journal,
            ring: Arc::new(CommandRing::new(16)),
            gauges: Arc::default(),
            recorder: Recorder::new(Arc::default()),
            clock: Clock::start(clocks, TimeNs(0), Trust::Alone, None),
            clocks,
            mode: SystemMode::Running,
            post_only_until: None,
            parker: ThreadParker::new(Waiting::Park),
            waker: Arc::new(PollWaker::new(waker)),
            state: LoopState::default(),
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
            let deposit = deposit(WalletAddress([1; 20]), Micros(1), [number; 32]);
            let applied = matcher.apply_at_start(OperatorNumber::NONE, &deposit, &evidence);
            applied.unwrap();
        }
        matcher.post_only_until = Some(0);
        assert_eq!(matcher.until_next_timer(), Some(Duration::ZERO));
        assert_eq!(matcher.step(), LoopStep::Blocked);
        assert_eq!(matcher.until_next_timer(), None);

        let durable = syncer.step().unwrap();
        assert_eq!(durable, SyncStep::Durable(Sequence(u64::from(number))));
        matcher.step();
        assert_eq!(matcher.post_only_until, None);
    }
}
