//! Simulation of a cluster: the real joining, standby, takeover, publishing window, sync and journal
//! of three hosts run as steps of one scheduler, on an in-memory log with the faults of a network and
//! disks that lose what was not synced. A stranger without a key writes into the log. The wall clock of each host is stepped
//! forward and back by up to a week; clients have a right one. A seed determines the schedule and all faults.
//!
//! Promises: no order expires, no market closes and no proposal pays before its time by the true clock; a client trades
//! within ten seconds after the clocks agree; an acknowledged command is in every journal, once, at its sequence; no sequence is
//! acknowledged by two terms; no host takes over from one that certainly leads; all journals and states
//! are equal; hosts return by themselves.
//!
//! `FORETELL_CLUSTER_SEEDS=n` runs n seeds, `FORETELL_CLUSTER_SEED=s` runs seed s alone with a trace.

mod arranged;
mod disk;
mod host;
mod intents;
mod stranger;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_link::ClockState;
use foretell_log_model::Model;
use foretell_model::{TimeNs, Verdict};

use self::host::{Host, SimClock};
use self::intents::Intent;
use crate::config::ClusterRole;
use crate::simulation::rng::Rng;

/// Seeds of a default run.
const SEEDS: u64 = 150;
/// Steps of a seed with faults.
const STEPS: u64 = 2_500;
/// One second in nanoseconds.
const SECOND: i64 = 1_000_000_000;
/// The largest step of a clock.
const WEEK: i64 = 7 * 86_400 * SECOND;
/// Clocks that differ by less count as one: engine time is slewed by up to 2 s, and hosts agree within 1 s.
const SAME_CLOCK: i64 = 4 * SECOND;
/// A client trades this long after the clocks agree.
const TRADES_WITHIN: i64 = 10 * SECOND;
/// Steps within which a healed cluster must have recovered.
const MAX_STEPS: u64 = 60_000;

macro_rules! situations {
    ($($(#[$about:meta])* $situation:ident),+ $(,)?) => {
        /// What came up, so that a run that tests nothing fails.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        enum Situation {
            $($(#[$about])* $situation),+
        }

        /// Every situation.
        const SITUATIONS: &[Situation] = &[$(Situation::$situation),+];
    };
}

situations! {
    Acknowledged,
    TookOver,
    Superseded,
    SetAside,
    PowerCut,
    LateRequest,
    Stranger,
    ClockStepped,
    /// A host did not take over for its clock.
    ClockRefused,
    /// A leader whose clock was stepped went on without it.
    ClockUnconfirmed,
    /// Engine time was behind, and jumped forward.
    ClockFollowed,
    /// Engine time was ahead, and stood still.
    ClockAwaited,
    Expired,
    Closed,
    Paid,
}

struct World {
    rng: Rng,
    clock: SimClock,
    model: Model,
    hosts: Vec<Host>,
    /// The command acknowledged at each sequence.
    acknowledged: BTreeMap<u64, u64>,
    /// What was sent, by number from 1 on.
    sent: Vec<Intent>,
    /// The chance that a stranger writes at a step, in percent.
    strangers: u64,
    seen: BTreeSet<Situation>,
    is_traced: bool,
}

impl World {
    fn new(seed: u64, is_traced: bool) -> Self {
        let clock = SimClock::new();
        let model = Model::default();
        let roles = [
            ClusterRole::Leader,
            ClusterRole::Standby,
            ClusterRole::Standby,
        ];
        let hosts = ["a", "b", "c"]
            .into_iter()
            .zip(roles)
            .map(|(name, role)| Host::new(name, role, &model, &clock, seed));
        let hosts: Vec<Host> = hosts.collect();
        let mut rng = Rng::new(seed);
        if rng.percent(30) {
            // A machine that has no clock of its own, before it hears of the time.
            hosts[0].step_clock(-rng.below(WEEK.unsigned_abs()).cast_signed());
        }
        Self {
            rng,
            hosts,
            clock,
            model,
            acknowledged: BTreeMap::new(),
            sent: Vec::new(),
            strangers: 0,
            seen: BTreeSet::new(),
            is_traced,
        }
    }

    fn note(&self, line: impl FnOnce() -> String) {
        if self.is_traced {
            println!("{}", line());
        }
    }

    /// One step of a random host; with `faults` also of the nemesis.
    fn step(&mut self, faults: bool) -> Result<(), String> {
        let passed = self.rng.below(20_000_000);
        self.pass(passed);
        let at = self.rng.index(self.hosts.len());
        if faults && self.rng.below(1_000) < 12 {
            self.disturb(at);
        }
        // Rare, so that some arrive between the last look of a host and its takeover ([`ModelLog::announce`]).
        if self.rng.below(200) == 0 {
            self.model.deliver_late();
        }
        if !self.acknowledged.is_empty() && self.rng.percent(self.strangers) {
            self.seen.insert(Situation::Stranger);
            stranger::write(&self.model, &mut self.rng);
        }
        if self.rng.percent(30) {
            let intent = self.intent();
            self.hosts[at].submit(&intent);
        }
        let before = self.hosts[at].clock_state();
        let noted = self.hosts[at].step(&mut self.rng)?;
        self.note_clock(at, before);
        for event in noted {
            self.note(|| format!("{} {event:?}", self.hosts[at].name));
            match event {
                host::Event::Acknowledged { sequence, command } => {
                    self.seen.insert(Situation::Acknowledged);
                    let before = self.acknowledged.insert(sequence, command);
                    if before.is_some_and(|before| before != command) {
                        return Err(format!("sequence {sequence} was acknowledged twice"));
                    }
                }
                host::Event::TookOver => {
                    self.seen.insert(Situation::TookOver);
                    let certain = self.hosts.iter().filter(|host| host.certainly_leads());
                    if certain.count() > 1 {
                        return Err("a host took over from one that certainly leads".to_owned());
                    }
                }
                host::Event::Superseded => drop(self.seen.insert(Situation::Superseded)),
                host::Event::SetAside => drop(self.seen.insert(Situation::SetAside)),
                host::Event::Started => {}
                host::Event::Expired(due) => self.by_time(Situation::Expired, due)?,
                host::Event::Closed(due) => self.by_time(Situation::Closed, due)?,
                host::Event::Paid(due) => self.by_time(Situation::Paid, due)?,
            }
        }
        Ok(())
    }

    /// Nothing happens before its time by the true clock.
    fn by_time(&mut self, situation: Situation, due: TimeNs) -> Result<(), String> {
        self.seen.insert(situation);
        let now = self.clock.now();
        match due.0 > now.0 + SAME_CLOCK.unsigned_abs() {
            true => Err(format!("{situation:?} at {}, due at {}", now.0, due.0)),
            false => Ok(()),
        }
    }

    fn note_clock(&mut self, at: usize, before: Option<ClockState>) {
        let host = &self.hosts[at];
        let refused = "not taking over: the clock differs";
        if host.state().starts_with(refused) {
            self.seen.insert(Situation::ClockRefused);
        }
        let now = host.clock_state();
        let situation = match (before, now) {
            (_, Some(ClockState::Unconfirmed)) => Situation::ClockUnconfirmed,
            (_, Some(ClockState::Ahead)) => Situation::ClockAwaited,
            (Some(ClockState::Stepped), Some(ClockState::Right)) => Situation::ClockFollowed,
            _ => return,
        };
        self.seen.insert(situation);
    }

    fn pass(&mut self, nanoseconds: u64) {
        self.clock
            .monotonic
            .fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// A new intent, or a repeat of one whose outcome may be unknown.
    fn intent(&mut self) -> Intent {
        if self.rng.percent(20) && !self.sent.is_empty() {
            return self.sent[self.rng.index(self.sent.len())];
        }
        self.new_intent(false)
    }

    fn new_intent(&mut self, is_order: bool) -> Intent {
        let intent = Intent {
            number: self.sent.len() as u64 + 1,
            signed: self.clock.now().millis(),
            is_order,
        };
        self.sent.push(intent);
        intent
    }

    fn disturb(&mut self, at: usize) {
        let kind = self.rng.below(15);
        self.note(|| format!("disturb {at} {kind}"));
        match kind {
            0 => self.hosts[at].kill(None),
            1 => {
                self.seen.insert(Situation::PowerCut);
                self.hosts[at].kill(Some(&mut self.rng));
            }
            2 | 3 => self.hosts[at].set_reachable(false),
            4..=6 => self.hosts.iter().for_each(|host| host.set_reachable(true)),
            // As SIGSTOP, and SIGCONT after longer than a takeover.
            7 => self.hosts[at].suspend(self.rng.below(5_000_000_000)),
            8 => {
                self.seen.insert(Situation::LateRequest);
                self.hosts[at].set_faults(self.rng.below(60));
            }
            9 => self.hosts[at].set_faults(0),
            10..=12 => {
                let error = self.clock_error();
                self.hosts[at].step_clock(error);
                // Two that ask one server of time agree that it is late. Were both early, nobody could know.
                if error < 0 && self.rng.percent(50) {
                    let other = (at + 1) % self.hosts.len();
                    self.hosts[other].step_clock(error);
                }
            }
            _ => self.strangers = self.rng.below(3) * self.rng.below(20),
        }
    }

    /// How far a clock is set ahead of the true one.
    fn clock_error(&mut self) -> i64 {
        self.seen.insert(Situation::ClockStepped);
        let most = self
            .rng
            .pick(&[0, 0, SECOND, 60 * SECOND, 3_600 * SECOND, WEEK]);
        let error = self.rng.below(most.unsigned_abs() + 1).cast_signed();
        if self.rng.percent(50) { error } else { -error }
    }

    /// Whatever the clocks were, a client with a right one trades soon after they agree.
    fn set_clocks(&mut self) -> Result<(), String> {
        for host in &self.hosts {
            host.step_clock(0);
        }
        let since = self.clock.now().0;
        loop {
            self.step(false)?;
            let intent = self.new_intent(true);
            for host in &mut self.hosts {
                if let Some(Verdict::Applied(_)) = host.submit(&intent) {
                    return Ok(());
                }
            }
            if self.clock.now().0 - since > TRADES_WITHIN.unsigned_abs() {
                let states = self.describe();
                return Err(format!("the clocks agree, and nobody trades: {states:?}"));
            }
        }
    }

    /// Without faults one host leads, and all have everything.
    fn heal(&mut self) -> Result<(), String> {
        for host in &self.hosts {
            host.set_reachable(true);
            host.set_faults(0);
        }
        self.set_clocks()?;
        // They go on: nothing may stop.
        self.strangers = self.strangers.min(5);
        for _ in 0..MAX_STEPS {
            self.step(false)?;
            let leads = self.hosts.iter().filter(|host| host.is_leading()).count();
            let end = self.model.last();
            if leads == 1 && self.hosts.iter().all(|host| host.is_settled(end)) {
                return Ok(());
            }
        }
        Err(format!(
            "the cluster does not recover: {:?}",
            self.describe()
        ))
    }

    fn describe(&self) -> Vec<String> {
        self.hosts.iter().map(Host::describe).collect()
    }

    fn check(&mut self) -> Result<(), String> {
        let digests: BTreeSet<[u8; 32]> = self.hosts.iter().map(Host::digest).collect();
        if digests.len() != 1 {
            return Err("the states of the hosts differ".to_owned());
        }
        for host in &mut self.hosts {
            host.kill(None);
        }
        let journals: Vec<_> = self.hosts.iter().map(Host::commands).collect();
        if journals.iter().any(|journal| *journal != journals[0]) {
            return Err("the journals differ".to_owned());
        }
        let mut sequences: BTreeMap<u64, u64> = BTreeMap::new();
        for (sequence, command) in &journals[0] {
            if sequences.insert(*command, *sequence).is_some() {
                return Err(format!("command {command} was executed twice"));
            }
        }
        for (sequence, command) in &self.acknowledged {
            if sequences.get(command) != Some(sequence) {
                let found = sequences.get(command);
                return Err(format!(
                    "command {command} was acknowledged at {sequence}, the journals have it at {found:?}"
                ));
            }
        }
        Ok(())
    }
}

fn run(seed: u64, is_traced: bool) -> (BTreeSet<Situation>, Result<(), String>) {
    let mut world = World::new(seed, is_traced);
    let mut lived = (0..STEPS).try_for_each(|_| world.step(true));
    lived = lived
        .and_then(|()| world.heal())
        .and_then(|()| world.check());
    (world.seen, lived)
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn every_promise_of_a_cluster_holds() {
    if let Some(seed) = number_from("FORETELL_CLUSTER_SEED") {
        let (seen, lived) = run(seed, true);
        println!("{seen:?}");
        assert_eq!(lived, Ok(()), "seed {seed}");
        return;
    }
    let seeds = number_from("FORETELL_CLUSTER_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut seen = BTreeSet::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return (seen, None);
            }
            let (noted, lived) = run(seed, false);
            seen.extend(noted);
            if let Err(what) = lived {
                next.store(seeds, Ordering::Relaxed);
                return (seen, Some((seed, what)));
            }
        }
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let mut all = BTreeSet::new();
    for (seen, failure) in results {
        all.extend(seen);
        if let Some((seed, what)) = failure {
            panic!(
                "seed {seed}: {what}\nreplay it: FORETELL_CLUSTER_SEED={seed} cargo test -p \
                 foretell-engine --lib every_promise_of_a_cluster -- --nocapture"
            );
        }
    }
    for situation in SITUATIONS {
        assert!(all.contains(situation), "{situation:?} never came up");
    }
}
