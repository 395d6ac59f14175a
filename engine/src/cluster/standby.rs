//! Follows the log with a hot exchange, and takes over.

use std::sync::Arc;
use std::time::Duration;

use foretell_journal::replica::{Item, LogQueue, ReplicaError, ReplicaWriter};
use foretell_journal::{Appender, Frame, JournalState, Scratch, Syncer};
use foretell_matching::{Difference, Exchange, Replay};
use foretell_model::{Sequence, TimeNs};
use foretell_replication::{
    Bounds, ClockVerdict, Decision, Heartbeat, MAX_CLOCK_DIFFERENCE, Message, SignedLog, Silence,
    Window, Witnesses, decide,
};

use super::identity::{Identity, Namesakes};
use super::join::{another_runs, of_another_format};
use super::status::StatusFile;
use crate::clock::{Clocks, Confirmed, in_ms, now};
use crate::config::{ClusterConfig, ClusterRole, EngineConfig};
use crate::error::EngineError;
use crate::wiring::check_clock_advance;

/// Messages between two syncs.
const MESSAGES_PER_STEP: usize = 64;
/// Looks at the log within the time of a takeover.
const LOOKS: u32 = 8;
/// A host that announces itself has been heard within this many times the time of a takeover: a leader that lives names
/// it in its heartbeats by then.
const HEARD_WITHIN: u32 = 10;
/// What another host said longer ago says nothing of the present.
const PRESENT: Duration = Duration::from_secs(5);
/// Attempts to learn the fate of a takeover's message before it counts as failed.
const MAX_ATTEMPTS: u32 = 200;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(25);

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StandbyStep {
    /// More may have arrived.
    More,
    /// Nothing to do.
    Idle,
    /// This host has taken over.
    Leads,
}

/// A host that follows.
#[derive(Debug)]
pub(crate) struct Standby<C> {
    cluster: ClusterConfig,
    log: SignedLog,
    writer: ReplicaWriter,
    replay: Replay,
    scratch: Scratch,
    /// Number of the last message that was applied, or passed over.
    applied: u64,
    silence: Silence,
    beat: Option<Heartbeat>,
    /// Number of a message that the log did not have at the last look.
    suspected_loss: Option<u64>,
    /// As in its report.
    engine_ahead_ms: i64,
    /// Age of the first heartbeat it found: a later one was sent, or sent again, while it listened.
    first_beat: Option<(u64, u64)>,
    identity: Identity,
    namesakes: Namesakes,
    witnesses: Witnesses,
    listening_since: Duration,
    next_look: Duration,
    /// When it last had everything.
    complete_at: Duration,
    /// When it last tried to take over.
    took_over_at: Duration,
    accept_divergence: Option<Sequence>,
    accept_clock_jump: bool,
    /// The wall clock that was fit to lead, as its distance.
    compared: u64,
    /// Passes time between two questions to the log.
    pause: fn(),
    clocks: C,
}

/// What a host that has taken over publishes with.
pub(crate) struct LeaderParts {
    pub(crate) cluster: ClusterConfig,
    pub(crate) log: SignedLog,
    pub(crate) queue: LogQueue,
    pub(crate) window: Window,
    pub(crate) journal: JournalState,
    pub(crate) term: u64,
    pub(crate) identity: Identity,
    pub(crate) witnesses: Witnesses,
    /// The wall clock with which most hosts agree.
    pub(crate) confirmed: Arc<Confirmed>,
}

impl LeaderParts {
    /// Takes note of the hosts that have announced themselves, and of whether most agree with this host's clock.
    /// Returns how it differs.
    pub(crate) fn hear<C: Clocks>(&mut self, clocks: &C) -> Option<String> {
        let (now, distance) = (now(clocks), clocks.distance());
        for record in self.log.announced() {
            self.witnesses.hear(&record, now);
        }
        let verdict = self.witnesses.judge(wall_ms(distance, now), now);
        match verdict {
            ClockVerdict::Agrees => self.confirmed.set(Some(distance)),
            ClockVerdict::Differs { .. } => self.confirmed.set(None),
            // The clock that was compared last, or with which it took over, stays.
            ClockVerdict::Unseen => {}
        }
        difference(verdict)
    }

    /// Says that this host runs.
    pub(crate) fn announce(&mut self, durable: Sequence, wall_ms: u64) {
        let message = self.window.last();
        let record = (self.identity).record(&self.cluster, durable, message, wall_ms);
        self.log.announce(&record);
    }
}

/// What a host that has taken over writes with.
pub(crate) struct TakenOver {
    pub(crate) exchange: Exchange,
    pub(crate) last_time: TimeNs,
    pub(crate) appender: Appender,
    pub(crate) syncer: Syncer,
    pub(crate) leader: LeaderParts,
}

impl<C: Clocks> Standby<C> {
    /// A host whose journal and exchange end with message `applied` of the log.
    pub(crate) fn new(
        config: &EngineConfig,
        (cluster, identity): (&ClusterConfig, Identity),
        log: SignedLog,
        writer: ReplicaWriter,
        exchange: Exchange,
        applied: u64,
        clocks: C,
    ) -> Self {
        Self {
            silence: Silence::new(2 * cluster.takeover_after / LOOKS),
            cluster: cluster.clone(),
            log,
            writer,
            replay: Replay::new(exchange),
            scratch: Scratch::default(),
            applied,
            beat: None,
            suspected_loss: None,
            engine_ahead_ms: 0,
            first_beat: None,
            namesakes: Namesakes::new(&cluster.host, &identity),
            identity,
            witnesses: Witnesses::new(&cluster.host, PRESENT.max(2 * cluster.takeover_after)),
            listening_since: now(&clocks),
            next_look: Duration::ZERO,
            complete_at: now(&clocks),
            took_over_at: Duration::ZERO,
            accept_divergence: config.accept_divergence,
            accept_clock_jump: config.accept_clock_jump,
            compared: clocks.distance(),
            pause: || std::thread::park_timeout(ATTEMPT_PAUSE),
            clocks,
        }
    }

    /// Applies the frames that have arrived; looks at the leader; takes over when it is silent.
    pub(crate) fn step(&mut self, status: &mut StatusFile) -> Result<StandbyStep, EngineError> {
        let applied = self.apply_arrived(status)?;
        if applied == MESSAGES_PER_STEP {
            return Ok(StandbyStep::More);
        }
        self.writer.idle().map_err(EngineError::Failed)?;
        let now = now(&self.clocks);
        if now < self.next_look {
            return Ok(StandbyStep::Idle);
        }
        self.next_look = now + self.cluster.takeover_after / LOOKS;
        let may_lead = self.look(now, status);
        self.report(status);
        if may_lead && self.take_over(status)? {
            return Ok(StandbyStep::Leads);
        }
        Ok(StandbyStep::Idle)
    }

    /// Replaces the pause between two questions to the log.
    #[cfg(test)]
    pub(crate) const fn with_pause(mut self, pause: fn()) -> Self {
        self.pause = pause;
        self
    }

    /// The digest of the hot exchange.
    #[cfg(test)]
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.replay.exchange.digest()
    }

    /// Number of the last message that was applied.
    #[cfg(test)]
    pub(crate) const fn applied(&self) -> u64 {
        self.applied
    }

    /// Ends in order.
    pub(crate) fn finish(self) -> Result<(), EngineError> {
        self.writer.finish().map_err(EngineError::Failed)
    }

    /// What it writes with, after [`StandbyStep::Leads`].
    pub(crate) fn lead(mut self) -> TakenOver {
        self.witnesses.lead();
        let (term, last_time) = (self.writer.term(), self.writer.last_time());
        let journal = self.writer.state().clone();
        let (appender, syncer, queue) = self.writer.lead();
        let window = Window::new(queue.clone(), term, self.applied, self.took_over_at);
        TakenOver {
            exchange: self.replay.exchange,
            last_time,
            appender,
            syncer,
            leader: LeaderParts {
                cluster: self.cluster,
                log: self.log,
                queue,
                window,
                journal,
                term,
                identity: self.identity,
                witnesses: self.witnesses,
                confirmed: Arc::new(Confirmed::new(self.compared)),
            },
        }
    }

    /// Writes and executes the messages that have arrived, then syncs. Returns their number.
    fn apply_arrived(&mut self, status: &mut StatusFile) -> Result<usize, EngineError> {
        let (mut read, mut is_any_applied) = (0, false);
        while read < MESSAGES_PER_STEP {
            let message = match self.log.next(self.applied) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    status.set_state(&format!("waiting for the log: {error}"));
                    break;
                }
            };
            match self.apply(&message) {
                Ok(counts) => is_any_applied |= counts,
                Err(ApplyError::Message(why)) => {
                    // Another server may have it intact; it is asked again.
                    let number = self.applied + 1;
                    tracing::error!(number, why, "message of the replicated log not applied");
                    status.set_state(&format!("message {number} of the log is damaged: {why}"));
                    self.silence.reset();
                    break;
                }
                Err(ApplyError::Engine(error)) => return Err(error),
            }
            self.applied += 1;
            read += 1;
        }
        if is_any_applied {
            self.writer.sync().map_err(EngineError::Failed)?;
            self.silence.reset();
            self.complete_at = now(&self.clocks);
        }
        Ok(read)
    }

    /// Writes and executes the next message; returns whether it counts.
    fn apply(&mut self, message: &Message) -> Result<bool, ApplyError> {
        let counts = match message {
            Message::Foreign => false,
            Message::Signed { content, .. } => self.apply_item(content)?,
        };
        if !counts {
            self.log.note_foreign(self.applied + 1);
        }
        Ok(counts)
    }

    /// Returns whether the item is the journal's next.
    fn apply_item(&mut self, content: &[u8]) -> Result<bool, ApplyError> {
        let item = Item::read(content).map_err(ApplyError::Message)?;
        match self.writer.write(&item, content) {
            Ok(_) => {}
            // Its leader had it in flight when a stranger took the number before it. If it were this host that lacks
            // something, the heartbeat would say so.
            Err(ReplicaError::Mismatch(why)) => {
                tracing::debug!(
                    number = self.applied + 1,
                    why,
                    "a signed message follows nothing"
                );
                return Ok(false);
            }
            Err(ReplicaError::Journal(error)) => {
                return Err(ApplyError::Engine(EngineError::Failed(error)));
            }
        }
        for frame in item.frames() {
            self.execute(&frame.expect("the writer verified the frames"))?;
        }
        Ok(true)
    }

    fn execute(&mut self, frame: &Frame<'_>) -> Result<(), ApplyError> {
        let sequence = frame.sequence();
        let shown = frame.decode(&mut self.scratch).map_err(|error| {
            let what = error.to_string();
            ApplyError::Engine(EngineError::Impossible { sequence, what })
        })?;
        match self.replay.execute(&shown) {
            Ok(()) => Ok(()),
            Err(Difference::Events(_)) if self.accept_divergence == Some(sequence) => Ok(()),
            Err(Difference::Events(what)) => {
                Err(ApplyError::Engine(EngineError::Diverged { sequence, what }))
            }
            Err(Difference::Rejected(verdict)) => {
                let what = format!("{verdict:?}");
                Err(ApplyError::Engine(EngineError::ReplayRefused {
                    sequence,
                    what,
                }))
            }
        }
    }

    /// Reads the log's end and the leader's heartbeat. Returns whether this host should take over.
    fn look(&mut self, now: Duration, status: &mut StatusFile) -> bool {
        let seen = self
            .log
            .bounds()
            .and_then(|bounds| Ok((bounds, self.log.last_beat()?.cloned())));
        let (bounds, beat) = match seen {
            Ok(seen) => seen,
            Err(error) => {
                self.silence.reset();
                status.set_state(&format!("waiting for the log: {error}"));
                return false;
            }
        };
        self.hear(beat, now);
        if !self.is_complete(bounds, now, status) {
            self.silence.reset();
            return false;
        }
        status.set_state("following");
        let term = self.writer.term();
        let living = self.beat.as_ref().filter(|beat| self.is_alive(beat, now));
        let silent = self.silence.look(now, living, term);
        if self.cluster.role == ClusterRole::Reader {
            return false;
        }
        if !self.is_free(term) && silent < self.cluster.takeover_after {
            return false;
        }
        self.is_fit(now, status)
    }

    /// Whether everything of the log that counts is applied, and everything that the leader says it has.
    fn is_complete(&mut self, bounds: Bounds, now: Duration, status: &mut StatusFile) -> bool {
        if self.has_lost_message(bounds, status) {
            return false;
        }
        // What strangers write at every moment may not look like a leader.
        if bounds.last > self.applied
            && let Ok(Some(last)) = self.log.end_without_items(self.applied)
        {
            self.applied = last;
        }
        let (own, term) = (self.writer.last_sequence().0, self.writer.term());
        let beat = self.beat.as_ref();
        let lacking = beat.filter(|beat| (beat.term, beat.sequence) > (term, own));
        if bounds.last <= self.applied && lacking.is_none() {
            self.complete_at = now;
            status.now.stream_sequence = own;
            return true;
        }
        if let Some(beat) = lacking {
            status.now.stream_sequence = beat.sequence;
        }
        status.set_state("catching up");
        false
    }

    /// Whether the log lost a message that this host does not have, or that it has and others need. Reports it.
    fn has_lost_message(&mut self, bounds: Bounds, status: &mut StatusFile) -> bool {
        let next = self.applied + 1;
        let (lost, text) = if bounds.last < self.applied {
            let last = bounds.last;
            let applied = self.applied;
            let text = format!(
                "the log ends at message {last}, before {applied} that this host has: it lost messages"
            );
            (bounds.last + 1, text)
        } else if bounds.last > self.applied && matches!(self.log.read(next), Ok(None)) {
            // A server that has just begun to lead may not have read its own log yet.
            if self.suspected_loss.replace(next) != Some(next) {
                return false;
            }
            let last = bounds.last;
            let text = format!(
                "the log lacks message {next} of {last}: this host cannot follow, and no start can"
            );
            (next, text)
        } else {
            self.suspected_loss = None;
            status.now.lost_message = 0;
            return false;
        };
        if status.now.lost_message != lost {
            tracing::error!(number = lost, "{text}");
            status.now.lost_message = lost;
        }
        status.set_state(&text);
        true
    }

    /// Whether no host leads, so that nobody's silence need be awaited.
    fn is_free(&self, term: u64) -> bool {
        match &self.beat {
            None => self.cluster.role == ClusterRole::Leader && !self.log.has_heard(),
            Some(beat) if beat.term < term => false,
            // Its own last one; another process of its name may send them still.
            Some(beat) => beat.resigned || beat.host == self.cluster.host && !self.rose(beat),
        }
    }

    /// Whether this host may lead: its name, its clock and its disk.
    fn is_fit(&mut self, now: Duration, status: &mut StatusFile) -> bool {
        let unfit = if self.namesakes.lived_within(PRESENT, now) {
            another_runs(&self.cluster.host)
        } else if let Some(why) = self.clock_is_unfit(now) {
            why
        } else if self.writer.state().disk_low() {
            "the disk is nearly full".to_owned()
        } else {
            return true;
        };
        status.set_state(&format!("not taking over: {unfit}"));
        false
    }

    /// Why this host's clock may not lead: orders would expire, markets close and proposals pay before their time, or none
    /// would. A clock that nothing can be compared with is taken as it is, after a while of listening.
    fn clock_is_unfit(&mut self, now: Duration) -> Option<String> {
        // A step of the clock after this moment changes nothing of what was compared.
        self.compared = self.clocks.distance();
        let (wall_ms, last) = (wall_ms(self.compared, now), self.writer.last_time());
        match self.witnesses.judge(wall_ms, now) {
            verdict @ (ClockVerdict::Agrees | ClockVerdict::Differs { .. }) => difference(verdict),
            ClockVerdict::Unseen if last == TimeNs(0) || self.has_just_led(wall_ms) => None,
            ClockVerdict::Unseen => {
                if now.saturating_sub(self.listening_since) < self.cluster.takeover_after {
                    return Some("listening whether another host's clock differs".to_owned());
                }
                if self.accept_clock_jump {
                    return None;
                }
                let error = check_clock_advance(last, wall_ms * 1_000_000).err()?;
                Some(error.to_string())
            }
        }
    }

    /// Whether the last heartbeat says that a leader's engine time was this clock's a moment ago.
    fn has_just_led(&self, wall_ms: u64) -> bool {
        let within = in_ms(MAX_CLOCK_DIFFERENCE + self.cluster.takeover_after);
        let is_near = |beat: &Heartbeat| beat.time_ms.abs_diff(wall_ms) <= within;
        self.beat.as_ref().is_some_and(is_near)
    }

    /// Takes note of the heartbeat and of the hosts that have announced themselves.
    fn hear(&mut self, beat: Option<Heartbeat>, now: Duration) {
        for record in self.log.announced() {
            self.witnesses.hear(&record, now);
            self.namesakes.look(&record, now);
        }
        let age = beat.as_ref().map(Heartbeat::age);
        let is_new = age != self.beat.as_ref().map(Heartbeat::age);
        self.first_beat = self.first_beat.or(age);
        self.beat = beat;
        let Some(beat) = self.beat.as_ref().filter(|_| is_new) else {
            return;
        };
        // One that may be a stranger's repetition tells no time.
        let is_of_another = beat.host != self.cluster.host;
        if is_of_another && self.rose(beat) && (!self.is_old(beat) || self.is_heard_in(beat)) {
            self.witnesses.hear_leader(beat, now);
            let wall_ms = self.clocks.wall() / 1_000_000;
            self.engine_ahead_ms = beat.time_ms.wrapping_sub(wall_ms).cast_signed();
        }
    }

    /// Whether a heartbeat is a sign of life: whatever its time, if it came while this host listened. A stranger sends what
    /// a dead leader said again, and a host that has just started has not heard it: such heartbeats are old, and name
    /// this process in none.
    fn is_alive(&self, beat: &Heartbeat, now: Duration) -> bool {
        let patience = HEARD_WITHIN * self.cluster.takeover_after;
        let is_patient = now.saturating_sub(self.listening_since) < patience;
        !self.is_old(beat) || self.rose(beat) && (is_patient || self.is_heard_in(beat))
    }

    /// Whether a heartbeat came after the first one that this process found.
    fn rose(&self, beat: &Heartbeat) -> bool {
        self.first_beat.is_some_and(|first| first < beat.age())
    }

    /// Whether its sender had heard this process.
    fn is_heard_in(&self, beat: &Heartbeat) -> bool {
        beat.heard.contains(&self.identity.life())
    }

    /// Whether a heartbeat was sent before the silence of a takeover began, as far as the two clocks agree.
    fn is_old(&self, beat: &Heartbeat) -> bool {
        let longest = in_ms(MAX_CLOCK_DIFFERENCE + self.cluster.takeover_after);
        beat.wall_ms.saturating_add(longest) < self.clocks.wall() / 1_000_000
    }

    /// Whether this host would lead by a clock that nothing was compared with.
    #[cfg(test)]
    pub(crate) fn leads_unseen(&self) -> bool {
        let now = now(&self.clocks);
        let wall_ms = self.clocks.wall() / 1_000_000;
        let listened = now.saturating_sub(self.listening_since);
        self.witnesses.judge(wall_ms, now) == ClockVerdict::Unseen
            && (self.writer.last_time() == TimeNs(0)
                || listened + self.cluster.takeover_after / LOOKS >= self.cluster.takeover_after)
    }

    fn report(&mut self, status: &mut StatusFile) {
        let (now, wall) = (now(&self.clocks), self.clocks.wall());
        let verdict = self.witnesses.judge(wall / 1_000_000, now);
        let report = &mut status.now;
        report.clock = difference(verdict).unwrap_or_default();
        report.engine_ahead_ms = self.engine_ahead_ms;
        (report.leading, report.leads_until_ms) = (false, 0);
        report.term = self.writer.term();
        report.own_sequence = self.writer.last_sequence().0;
        report.stream_sequence = report.stream_sequence.max(report.own_sequence);
        report.message = self.applied;
        report.foreign_messages = self.log.foreign();
        report.lag_ms = match report.lag_frames() {
            0 => 0,
            _ => u64::try_from((now.saturating_sub(self.complete_at)).as_millis())
                .unwrap_or(u64::MAX),
        };
        if let Some(beat) = &self.beat {
            report.leader.clone_from(&beat.host);
            report.leader_address.clone_from(&beat.address);
        }
        status.write(wall);
        let (sequence, wall_ms) = (self.writer.last_sequence(), wall / 1_000_000);
        let (cluster, identity) = (&self.cluster, &mut self.identity);
        let record = identity.record(cluster, sequence, self.applied, wall_ms);
        self.log.announce(&record);
    }

    /// Publishes the header of a segment of the next term, right after the last message applied. If
    /// the log takes it, no other host has written since, and none of an earlier term can.
    fn take_over(&mut self, status: &mut StatusFile) -> Result<bool, EngineError> {
        let hosts = self.log.hosts().unwrap_or_default();
        let wall_ms = self.clocks.wall() / 1_000_000;
        if let Some(other) = of_another_format(&hosts, &self.cluster, wall_ms) {
            status.set_state(&format!("not taking over: {other}"));
            self.silence.reset();
            return Ok(false);
        }
        let term = self.writer.term() + 1;
        let header = self.writer.takeover_header(term);
        tracing::info!(term, after = self.applied, "taking over");
        self.took_over_at = now(&self.clocks);
        let (mut attempts, pause) = (0, self.pause);
        let mut wait = || {
            pause();
            attempts += 1;
            attempts < MAX_ATTEMPTS
        };
        let content = &header.page()[..];
        let decision = decide(&mut self.log, self.applied, content, &mut wait);
        tracing::info!(term, ?decision, "takeover decided");
        self.silence.reset();
        let Decision::Accepted(number) = decision else {
            // Whoever wrote instead is heard of by the next messages.
            return Ok(false);
        };
        match self.apply_item(content) {
            Ok(true) => self.applied = number,
            Ok(false) => {
                return Err(EngineError::Cluster(
                    "the own header follows nothing".to_owned(),
                ));
            }
            Err(ApplyError::Message(why)) => return Err(EngineError::Cluster(why)),
            Err(ApplyError::Engine(error)) => return Err(error),
        }
        status.now.takeovers += 1;
        Ok(true)
    }
}

/// Why a message was not applied.
enum ApplyError {
    /// The message is damaged or not the next one.
    Message(String),
    /// The engine must end.
    Engine(EngineError),
}

/// How this clock differs from another host's.
fn difference(verdict: ClockVerdict) -> Option<String> {
    match verdict {
        ClockVerdict::Agrees | ClockVerdict::Unseen => None,
        ClockVerdict::Differs { host, by_ms } => Some(format!(
            "the clock differs from that of host {host} by {by_ms} ms: set both by NTP"
        )),
    }
}

/// Wall time, by its distance to the monotonic clock.
fn wall_ms(distance: u64, now: Duration) -> u64 {
    let monotonic = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
    monotonic.wrapping_add(distance) / 1_000_000
}
