//! A host of the simulated cluster.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::clock_and_random::ClockAndRandom;
use foretell_journal::replica::{self, MAX_ITEM_BYTES, ReplicaWriter, SET_ASIDE_DIRECTORY};
use foretell_journal::{Appender, JournalState, Options, Preallocator, Scratch, SyncStep, Syncer};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::Deposit;
use foretell_model::{Command, Micros, Sequence, TimeNs, Verdict, WalletAddress};
use foretell_replication::{
    ConnectLog, Fault, Heartbeat, Keys, LogError, Model, ReplicatedLog, SignedLog, Window,
};

use super::disk::CutDisk;
use crate::clock::Clocks;
use crate::cluster::join::{Attempt, attempt};
use crate::cluster::standby::{Standby, StandbyStep, now};
use crate::cluster::status::StatusFile;
use crate::config::{ClusterConfig, ClusterRole, EngineConfig};
use crate::directory::Directory;
use crate::recovery;
use crate::simulation::rng::Rng;

/// The clock of all hosts, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct SimClock(pub(super) Arc<AtomicU64>);

impl Clocks for SimClock {
    fn monotonic(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn wall(&self) -> u64 {
        1_700_000_000_000_000_000 + self.monotonic()
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
    Acknowledged { sequence: u64, command: u64 },
    Superseded,
}

/// The exchange of a host that leads, without its sockets.
struct Leading {
    exchange: Exchange,
    appender: Appender,
    syncer: Syncer,
    window: Window,
    log: SignedLog,
    journal: JournalState,
    term: u64,
    last_time: TimeNs,
    beats: u64,
    next_beat: u64,
    /// Commands that wait for their acknowledgement.
    pending: Vec<(Sequence, u64)>,
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
            now(&self.clock) < leading.window.led_at() + self.cluster.takeover_after
        };
        matches!(&self.life, Life::Leading(leading) if leads(leading))
    }

    /// Whether it has everything of a log that ends at `end`, and nothing waits.
    pub(super) fn is_settled(&self, end: u64) -> bool {
        match &self.life {
            Life::Down => false,
            Life::Following(standby) => standby.applied() == end,
            Life::Leading(leading) => leading.pending.is_empty() && leading.window.is_idle(),
        }
    }

    pub(super) fn describe(&self) -> String {
        match &self.life {
            Life::Down => format!("{} down", self.name),
            Life::Following(standby) => format!("{} follows at {}", self.name, standby.applied()),
            Life::Leading(leading) => format!(
                "{} leads term {} at {}, {} pending",
                self.name,
                leading.term,
                leading.window.last(),
                leading.pending.len()
            ),
        }
    }

    /// The digest of the state.
    pub(super) fn digest(&self) -> [u8; 32] {
        match &self.life {
            Life::Down => self.last_digest,
            Life::Following(standby) => standby.digest(),
            Life::Leading(leading) => leading.exchange.digest(),
        }
    }

    /// Sequence and command of every deposit in the journal of a host that is down.
    pub(super) fn commands(&self) -> Vec<(u64, u64)> {
        let mut scratch = Scratch::default();
        let mut commands = Vec::new();
        foretell_journal::scan(&self.journal(), Sequence(0), &mut |frame| {
            let shown = frame.decode(&mut scratch).map_err(|e| e.to_string())?;
            if let Command::Deposit(Deposit { reference, .. }) = shown.command {
                let number = u64::from_le_bytes(reference.0[..8].try_into().unwrap());
                commands.push((shown.sequence.0, number));
            }
            Ok(())
        })
        .unwrap();
        commands
    }

    /// A client sends a command; a host that does not lead rejects it.
    pub(super) fn submit(&mut self, command: u64) {
        if let Life::Leading(leading) = &mut self.life {
            leading.submit(&self.clock, command);
        }
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
                    self.start(&mut events)?;
                }
            }
            Life::Following(mut standby) => {
                let status = self.status.as_mut().expect("it runs");
                match standby.step(status).map_err(|error| error.to_string())? {
                    StandbyStep::More | StandbyStep::Idle => self.life = Life::Following(standby),
                    StandbyStep::Leads => {
                        let leading = Leading::new(*standby);
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

    fn start(&mut self, events: &mut Vec<Event>) -> Result<(), String> {
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
        let standby = Standby::new(
            &self.config,
            &self.cluster,
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

enum EndOfLead {
    Superseded,
    Failed(String),
}

impl Leading {
    fn new(standby: Standby<SimClock>) -> Self {
        let taken = standby.lead();
        Self {
            exchange: taken.exchange,
            appender: taken.appender,
            syncer: taken.syncer,
            window: taken.leader.window,
            log: taken.leader.log,
            journal: taken.leader.journal,
            term: taken.leader.term,
            last_time: taken.last_time,
            beats: 0,
            next_beat: 0,
            pending: Vec::new(),
        }
    }

    fn submit(&mut self, clock: &SimClock, number: u64) {
        if !self.appender.has_room_for_largest() {
            return;
        }
        let mut reference = [0; 32];
        reference[..8].copy_from_slice(&number.to_le_bytes());
        let wallet = WalletAddress([u8::try_from(number % 9).unwrap(); 20]);
        let command = foretell_fixtures::deposit(wallet, Micros(1_000 + number), reference);
        let time = TimeNs(clock.wall()).max(self.last_time);
        let mut events = Vec::new();
        if let Verdict::Applied(_) = self.exchange.apply(&command, time, &mut events) {
            self.last_time = time;
            let sequence = self.exchange.sequence();
            // Evidence makes some batches long, so that segments end.
            let evidence = vec![7; usize::try_from(number % 37).unwrap() * 1_500];
            self.appender
                .append(sequence, time, &command, &events, &evidence);
            self.pending.push((sequence, number));
        }
        self.appender.publish();
    }

    fn step(
        &mut self,
        clock: &SimClock,
        name: &str,
        rng: &mut Rng,
    ) -> Result<Vec<Event>, EndOfLead> {
        let time = now(clock);
        if rng.percent(60) {
            match self.syncer.step() {
                Ok(SyncStep::Ended) | Err(_) => {
                    return Err(EndOfLead::Failed("the sync thread ended".to_owned()));
                }
                Ok(_) => {}
            }
        }
        if rng.percent(60) && self.window.step(&mut self.log, time).is_err() {
            return Err(EndOfLead::Superseded);
        }
        if clock.monotonic() >= self.next_beat {
            self.next_beat = clock.monotonic() + 500_000_000;
            if self.window.is_idle() && self.window.check_idle(&mut self.log, time).is_err() {
                return Err(EndOfLead::Superseded);
            }
            self.beats += 1;
            self.log.beat(&Heartbeat {
                host: name.to_owned(),
                address: String::new(),
                term: self.term,
                count: self.beats,
                sequence: self.journal.durable().0,
                wall_ms: clock.wall() / 1_000_000,
                resigned: false,
            });
        }
        let durable = self.journal.durable();
        let done = self
            .pending
            .iter()
            .take_while(|(sequence, _)| *sequence <= durable);
        let done = done.count();
        let done = self.pending.drain(..done);
        Ok(done
            .map(|(sequence, command)| Event::Acknowledged {
                sequence: sequence.0,
                command,
            })
            .collect())
    }
}
