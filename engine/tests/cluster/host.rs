//! A host of the simulated cluster.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::clock_and_random::ClockAndRandom;
use foretell_journal::replica::{self, MAX_ITEM_BYTES, ReplicaWriter, SET_ASIDE_DIRECTORY};
use foretell_journal::{Options, Preallocator, Scratch, SyncStep, Syncer};
use foretell_link::ClockState;
use foretell_log_model::{Fault, Model};
use foretell_matching::Capacity;
use foretell_model::{
    self as model, CloseReason, Command, MarketNumber, MarketState, OperatorNumber, Sequence,
    SystemMode, TimeNs, Verdict,
};
use foretell_replication::{ConnectLog, Heartbeat, Keys, LogError, ReplicatedLog, SignedLog};
use foretell_stages::Recorder;

use super::disk::CutDisk;
use super::intents::{self, Intent};
use crate::clock::{Clock, Clocks, Trust, now};
use crate::cluster::identity::Identity;
use crate::cluster::join::{Attempt, attempt};
use crate::cluster::standby::{LeaderParts, Standby, StandbyStep};
use crate::cluster::status::StatusFile;
use crate::command_ring::CommandRing;
use crate::config::{ClusterConfig, ClusterRole, EngineConfig};
use crate::directory::Directory;
use crate::matcher::{LoopState, Matcher};
use crate::recovery;
use crate::simulation::rng::Rng;
use crate::wait::{PollWaker, ThreadParker, Waiting};

/// The clocks of a host, in nanoseconds: clones share them, and the hosts of a world the monotonic one.
#[derive(Clone, Debug)]
pub(super) struct SimClock {
    pub(super) monotonic: Arc<AtomicU64>,
    /// What its wall clock is ahead of the true clock.
    error: Arc<AtomicI64>,
}

impl SimClock {
    pub(super) fn new() -> Self {
        Self {
            monotonic: Arc::new(AtomicU64::new(1_000_000_000)),
            error: Arc::default(),
        }
    }

    /// The clocks of another host.
    pub(super) fn of_another_host(&self) -> Self {
        Self {
            monotonic: Arc::clone(&self.monotonic),
            error: Arc::default(),
        }
    }

    /// The true time.
    pub(super) fn now(&self) -> TimeNs {
        TimeNs(1_700_000_000_000_000_000 + self.monotonic())
    }

    pub(super) fn set_error(&self, error: i64) {
        self.error.store(error, Ordering::Relaxed);
    }

    pub(super) fn error(&self) -> i64 {
        self.error.load(Ordering::Relaxed)
    }
}

impl Clocks for SimClock {
    fn monotonic(&self) -> u64 {
        self.monotonic.load(Ordering::Relaxed)
    }

    fn wall(&self) -> u64 {
        self.now().0.saturating_add_signed(self.error())
    }
}

/// Time and randomness of a journal.
#[derive(Debug)]
struct SimMachine(SimClock, AtomicU64);

impl ClockAndRandom for SimMachine {
    fn uptime(&self) -> Duration {
        Duration::from_nanos(self.0.monotonic())
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut rng = Rng::new(self.1.fetch_add(1, Ordering::Relaxed));
        bytes.fill_with(|| rng.next().to_le_bytes()[0]);
        Ok(())
    }
}

/// The connection is made by the host itself.
#[derive(Debug)]
struct NoLink;

impl ConnectLog for NoLink {
    fn connect(&self) -> Result<Box<dyn ReplicatedLog>, LogError> {
        Err(LogError::Unreachable("simulated".to_owned()))
    }
}

/// What a host did.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Started,
    SetAside,
    TookOver,
    Acknowledged {
        sequence: u64,
        command: u64,
    },
    /// By time: what was due then.
    Expired(TimeNs),
    Closed(TimeNs),
    Paid(TimeNs),
    Superseded,
}

/// The exchange of a host that leads, without its sockets.
struct Leading {
    matcher: Matcher<SimClock>,
    syncer: Syncer,
    parts: LeaderParts,
    beats: u64,
    next_beat: u64,
    /// What it did by time since its last step.
    done: Vec<Event>,
    /// Commands that wait for their acknowledgement.
    pending: Vec<(Sequence, u64)>,
    /// When the windows of the proposals that it took end by the true clock.
    windows: BTreeMap<MarketNumber, TimeNs>,
}

enum Life {
    Down,
    Following(Box<Standby<SimClock>>),
    Leading(Box<Leading>),
}

pub(super) struct Host {
    pub(super) name: &'static str,
    directory: tempfile::TempDir,
    config: EngineConfig,
    cluster: ClusterConfig,
    clock: SimClock,
    disk: CutDisk,
    model: Model,
    is_reachable: Arc<AtomicBool>,
    fault_percent: Arc<AtomicU64>,
    fault_seed: u64,
    life: Life,
    lock: Option<Directory>,
    /// It does not run before this time.
    suspended_until: u64,
    helper: Option<Preallocator>,
    status: Option<StatusFile>,
    /// The digest of the state, while it runs.
    last_digest: [u8; 32],
}

impl Host {
    pub(super) fn new(
        name: &'static str,
        role: ClusterRole,
        model: &Model,
        clock: &SimClock,
        seed: u64,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = CutDisk::default();
        let clock = &clock.of_another_host();
        let cluster = ClusterConfig {
            role,
            host: name.to_owned(),
            address: String::new(),
            takeover_after: Duration::from_secs(2),
            fingerprint: String::new(),
            keys: Keys::of_leader(name, &[1; 32], &BTreeMap::new()).unwrap(),
            log: Arc::new(NoLink),
        };
        let fault_seed = seed ^ u64::from(name.as_bytes()[0]) << 40;
        let config = EngineConfig {
            journal: Options {
                segment_bytes: Options::MIN_SEGMENT_BYTES,
                staging_bytes: MAX_ITEM_BYTES,
                disk_reserve_bytes: 0,
                disk: Arc::new(disk.clone()),
                host: Arc::new(SimMachine(clock.clone(), AtomicU64::new(fault_seed))),
                ..Options::default()
            },
            capacity: Capacity {
                accounts: 64,
                keys: 64,
                orders: 64,
                positions: 64,
                ..Capacity::default()
            },
            ..EngineConfig::new(directory.path().join("data"))
        };
        Self {
            name,
            directory,
            config,
            cluster,
            clock: clock.clone(),
            disk,
            model: model.clone(),
            is_reachable: Arc::new(AtomicBool::new(true)),
            fault_percent: Arc::new(AtomicU64::new(0)),
            fault_seed,
            life: Life::Down,
            lock: None,
            suspended_until: 0,
            helper: None,
            status: None,
            last_digest: [0; 32],
        }
    }

    fn journal(&self) -> PathBuf {
        self.directory.path().join("data/journal")
    }

    pub(super) fn set_reachable(&self, is_reachable: bool) {
        self.is_reachable.store(is_reachable, Ordering::Relaxed);
    }

    /// The process does not run for this many nanoseconds.
    pub(super) fn suspend(&mut self, nanoseconds: u64) {
        self.suspended_until = self.clock.monotonic() + nanoseconds;
    }

    /// The chance of a fault for each request to the log.
    pub(super) fn set_faults(&self, percent: u64) {
        self.fault_percent.store(percent, Ordering::Relaxed);
    }

    /// Ends the process; with `rng` also the power.
    pub(super) fn kill(&mut self, rng: Option<&mut Rng>) {
        self.life = Life::Down;
        (self.helper, self.status, self.lock) = (None, None, None);
        if let Some(rng) = rng {
            self.disk.power_cut(rng);
        }
    }

    pub(super) const fn is_leading(&self) -> bool {
        matches!(self.life, Life::Leading(_))
    }

    /// Whether no other host may have taken over yet, as far as this one knows.
    pub(super) fn certainly_leads(&self) -> bool {
        let leads = |leading: &Leading| {
            now(&self.clock) < leading.parts.window.led_at() + self.cluster.takeover_after
        };
        matches!(&self.life, Life::Leading(leading) if leads(leading))
    }

    /// The last message that a leader sent, and whether it knows the fate of all.
    pub(super) fn published(&self) -> Option<(u64, bool)> {
        match &self.life {
            Life::Leading(leading) => {
                let window = &leading.parts.window;
                Some((window.last(), window.is_idle()))
            }
            _ => None,
        }
    }

    /// A leader reads the answers of the log, and does nothing else.
    pub(super) fn read_answers(&mut self) {
        if let Life::Leading(leading) = &mut self.life {
            let parts = &mut leading.parts;
            parts.window.step(&mut parts.log, now(&self.clock)).unwrap();
        }
    }

    /// Whether it has everything of a log that ends at `end`, and nothing waits.
    pub(super) fn is_settled(&self, end: u64) -> bool {
        match &self.life {
            Life::Down => false,
            Life::Following(standby) => standby.applied() == end,
            Life::Leading(leading) => leading.is_settled(),
        }
    }

    pub(super) fn describe(&self) -> String {
        match &self.life {
            Life::Down => format!("{} down", self.name),
            Life::Following(standby) => format!("{} follows at {}", self.name, standby.applied()),
            Life::Leading(leading) => format!(
                "{} leads term {} at {}, {} pending",
                self.name,
                leading.parts.term,
                leading.parts.window.last(),
                leading.pending.len()
            ),
        }
    }

    /// The digest of the state.
    pub(super) fn digest(&self) -> [u8; 32] {
        match &self.life {
            Life::Down => self.last_digest,
            Life::Following(standby) => standby.digest(),
            Life::Leading(leading) => leading.matcher.exchange.digest(),
        }
    }

    /// Sequence and command of every deposit and order in the journal of a host that is down.
    pub(super) fn commands(&self) -> Vec<(u64, u64)> {
        let mut scratch = Scratch::default();
        let mut commands = Vec::new();
        foretell_journal::scan(&self.journal(), Sequence(0), &mut |frame| {
            let shown = frame.decode(&mut scratch).map_err(|e| e.to_string())?;
            commands.extend(intents::number_of(shown.command).map(|it| (shown.sequence.0, it)));
            Ok(())
        })
        .unwrap();
        commands
    }

    /// A client with a right clock sends a command; a host that does not lead rejects it. Returns the verdict.
    pub(super) fn submit(&mut self, intent: &Intent) -> Option<Verdict> {
        let Life::Leading(leading) = &mut self.life else {
            return None;
        };
        leading.submit(intent)
    }

    /// What it does, as its report says.
    pub(super) fn state(&self) -> &str {
        self.status
            .as_ref()
            .map_or("down", |status| &status.now.state)
    }

    /// Number of the message that its report says the log lost.
    pub(super) fn lost_message(&self) -> u64 {
        self.status
            .as_ref()
            .map_or(0, |status| status.now.lost_message)
    }

    /// What its engine time does about its clock, while it leads.
    pub(super) fn clock_state(&self) -> Option<ClockState> {
        match &self.life {
            Life::Leading(leading) => Some(leading.matcher.clock.state()),
            _ => None,
        }
    }

    /// Steps its wall clock to this much ahead of the true clock.
    pub(super) fn step_clock(&self, error: i64) {
        self.clock.set_error(error);
    }

    pub(super) fn step(&mut self, rng: &mut Rng) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        if self.clock.monotonic() < self.suspended_until {
            return Ok(events);
        }
        if let Some(helper) = &mut self.helper {
            let _ = helper.run_once();
        }
        match std::mem::replace(&mut self.life, Life::Down) {
            Life::Down => {
                if rng.percent(20) {
                    self.start(rng, &mut events)?;
                }
            }
            Life::Following(mut standby) => {
                // A clock that is ahead when nothing can be compared with it is seen by nobody: no promise.
                if standby.leads_unseen() {
                    self.clock.set_error(self.clock.error().min(0));
                }
                let status = self.status.as_mut().expect("it runs");
                match standby.step(status).map_err(|error| error.to_string())? {
                    StandbyStep::More | StandbyStep::Idle => self.life = Life::Following(standby),
                    StandbyStep::Leads => {
                        let leading = Leading::new(*standby, &self.clock);
                        events.push(Event::TookOver);
                        self.life = Life::Leading(Box::new(leading));
                    }
                }
            }
            Life::Leading(mut leading) => match leading.step(&self.clock, self.name, rng) {
                Ok(acknowledged) => {
                    events.extend(acknowledged);
                    self.life = Life::Leading(leading);
                }
                Err(EndOfLead::Superseded) => {
                    events.push(Event::Superseded);
                    self.kill(None);
                }
                Err(EndOfLead::Failed(why)) => return Err(why),
            },
        }
        Ok(events)
    }

    fn start(&mut self, rng: &mut Rng, events: &mut Vec<Event>) -> Result<(), String> {
        let text = |error: crate::EngineError| error.to_string();
        let lock = Directory::lock(&self.config.data_directory).map_err(text)?;
        std::fs::create_dir_all(self.journal()).unwrap();
        std::fs::write(replica::marker_path(&self.journal()), "").unwrap();
        let mut log = self.connect();
        let aside = || {
            let folder = std::fs::read_dir(self.journal().join(SET_ASIDE_DIRECTORY));
            folder.map_or(0, Iterator::count)
        };
        let before = aside();
        let joined = attempt(
            &self.config,
            &self.cluster,
            &self.journal(),
            &mut log,
            &mut || {},
            &mut || true,
        );
        if aside() > before {
            events.push(Event::SetAside);
        }
        let Attempt::Joined(applied) = joined.map_err(text)? else {
            return Ok(());
        };
        let restored = recovery::restore(&self.config, &lock, 7, replica::recover_replica);
        let restored = restored.map_err(text)?;
        let opened = ReplicaWriter::open(restored.journal).map_err(|e| e.to_string())?;
        let (writer, _, helper) = opened;
        let status = StatusFile::create(&self.config.data_directory, &self.cluster);
        self.status = Some(status.map_err(|error| error.to_string())?);
        self.helper = Some(helper);
        self.lock = Some(lock);
        let identity = Identity::new(self.name.to_owned(), rng.next());
        let standby = Standby::new(
            &self.config,
            (&self.cluster, identity),
            log,
            writer,
            restored.exchange,
            applied,
            self.clock.clone(),
        );
        self.life = Life::Following(Box::new(standby.with_pause(|| {})));
        events.push(Event::Started);
        Ok(())
    }

    fn connect(&mut self) -> SignedLog {
        let mut log = self.model.connect(Arc::clone(&self.is_reachable));
        self.fault_seed = self.fault_seed.wrapping_add(1);
        let mut rng = Rng::new(self.fault_seed);
        let percent = Arc::clone(&self.fault_percent);
        log.set_faults(move || {
            if !rng.percent(percent.load(Ordering::Relaxed)) {
                return Fault::None;
            }
            rng.pick(&[
                Fault::RequestLost,
                Fault::AnswerLost,
                Fault::Repeated,
                Fault::Delayed,
                Fault::Late,
            ])
        });
        SignedLog::new(Box::new(log), self.cluster.keys.clone())
    }
}

/// A window of `windows` ends by the true clock, whatever engine time was when it began.
fn what_was_due(
    events: &[model::Event],
    due: TimeNs,
    windows: &BTreeMap<MarketNumber, TimeNs>,
) -> Option<Event> {
    events.iter().find_map(|event| match event {
        model::Event::OrderClosed(closed) if closed.reason == CloseReason::Expired => {
            Some(Event::Expired(due))
        }
        model::Event::MarketStateSet(set) if set.state == MarketState::Closed => {
            Some(Event::Closed(due))
        }
        model::Event::MarketResolved(resolved) => {
            let end = windows.get(&resolved.market).copied();
            Some(Event::Paid(end.unwrap_or(due)))
        }
        _ => None,
    })
}

enum EndOfLead {
    Superseded,
    Failed(String),
}

impl Leading {
    fn new(standby: Standby<SimClock>, clock: &SimClock) -> Self {
        let taken = standby.lead();
        let trust = Trust::Cluster(Arc::clone(&taken.leader.confirmed));
        let poll = mio::Poll::new().unwrap();
        let waker = mio::Waker::new(poll.registry(), mio::Token(0)).unwrap();
        let matcher = Matcher {
            exchange: taken.exchange,
            appender: taken.appender,
            journal: taken.leader.journal.clone(),
            ring: Arc::new(CommandRing::new(16)),
            gauges: Arc::default(),
            recorder: Recorder::new(Arc::default()),
            clock: Clock::start(clock.clone(), taken.last_time, trust, None),
            clocks: clock.clone(),
            mode: SystemMode::Running,
            post_only_until: None,
            parker: ThreadParker::new(Waiting::Park),
            waker: Arc::new(PollWaker::new(waker)),
            state: LoopState::default(),
        };
        Self {
            matcher,
            syncer: taken.syncer,
            parts: taken.leader,
            beats: 0,
            next_beat: 0,
            done: Vec::new(),
            pending: Vec::new(),
            windows: BTreeMap::new(),
        }
    }

    /// Whether all it did is in the log.
    fn is_settled(&self) -> bool {
        let sequence = self.matcher.exchange.sequence();
        self.parts.window.is_idle() && self.parts.journal.durable() == sequence
    }

    /// Does what must precede a command, as long as there is room.
    fn do_what_is_due(&mut self) {
        let matcher = &mut self.matcher;
        matcher.read_clock();
        while matcher.appender.has_room_for_largest()
            && let Some(first) = matcher.what_comes_first()
        {
            let due = matcher.exchange.next_due();
            let applied = matcher.apply_at_start(OperatorNumber::NONE, &first, &[]);
            applied.expect("what comes first is accepted");
            let due = due.filter(|_| first == Command::AdvanceTime);
            let done = due.and_then(|due| what_was_due(matcher.events(), due, &self.windows));
            self.done.extend(done);
        }
    }

    fn submit(&mut self, intent: &Intent) -> Option<Verdict> {
        let mut ask = |operator, command: Command| {
            self.do_what_is_due();
            let matcher = &mut self.matcher;
            if !matcher.appender.has_room_for_largest() || matcher.what_comes_first().is_some() {
                return None;
            }
            // Evidence makes some batches long, so that segments end.
            let number = intents::number_of(&command);
            let evidence = vec![7; usize::try_from(number.unwrap_or(0) % 37).unwrap() * 1_500];
            let verdict = matcher.apply_at_start(operator, &command, &evidence);
            let sequence = matcher.exchange.sequence();
            if let (Ok(Verdict::Applied(_)), Command::Propose(proposal)) = (&verdict, &command) {
                let window = u64::from(proposal.window_seconds.expect("it has one"));
                let end = matcher.clocks.now().0 + window * 1_000_000_000;
                self.windows.insert(proposal.market, TimeNs(end));
            }
            if let (Ok(Verdict::Applied(_)), Some(number)) = (&verdict, number) {
                self.pending.push((sequence, number));
            }
            Some(verdict.unwrap_or_else(Verdict::Rejected))
        };
        intent.send(&mut ask)
    }

    fn step(
        &mut self,
        clock: &SimClock,
        name: &str,
        rng: &mut Rng,
    ) -> Result<Vec<Event>, EndOfLead> {
        let time = now(clock);
        self.do_what_is_due();
        let mut events = std::mem::take(&mut self.done);
        if rng.percent(60) {
            match self.syncer.step() {
                Ok(SyncStep::Ended) | Err(_) => {
                    return Err(EndOfLead::Failed("the sync thread ended".to_owned()));
                }
                Ok(_) => {}
            }
        }
        let parts = &mut self.parts;
        if rng.percent(60) && parts.window.step(&mut parts.log, time).is_err() {
            return Err(EndOfLead::Superseded);
        }
        if clock.monotonic() >= self.next_beat {
            self.next_beat = clock.monotonic() + 500_000_000;
            let check = |parts: &mut LeaderParts| parts.window.check_idle(&mut parts.log, time);
            if parts.window.is_idle() && check(parts).is_err() {
                return Err(EndOfLead::Superseded);
            }
            self.beats += 1;
            let durable = parts.journal.durable();
            parts.hear(clock);
            parts.log.beat(&Heartbeat {
                host: name.to_owned(),
                address: String::new(),
                term: parts.term,
                count: self.beats,
                sequence: durable.0,
                wall_ms: clock.wall() / 1_000_000,
                time_ms: self.matcher.clock.read().0.millis().0,
                heard: parts.witnesses.heard(time),
                resigned: false,
            });
            parts.announce(durable, clock.wall() / 1_000_000);
        }
        let durable = self.parts.journal.durable();
        let done = self
            .pending
            .iter()
            .take_while(|(sequence, _)| *sequence <= durable);
        let done = done.count();
        let done = self.pending.drain(..done);
        events.extend(done.map(|(sequence, command)| Event::Acknowledged {
            sequence: sequence.0,
            command,
        }));
        Ok(events)
    }
}
