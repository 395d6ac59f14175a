//! Our exchange beside bare servers that make the same checks, in turns and in one run: how much
//! of their throughput is left at the knee, what half of that load waits, and what an order costs
//! a core of the gateway.

mod cost;
mod figures;

use std::path::Path;
use std::time::Duration;

use super::figures::Outcome;
use super::mix::Mix;
use super::rig::{Rig, scratch};
use super::search::{Search, search};
use super::{FACTOR, Plan, nanos, run, words};
use crate::error::MeasureError;
use crate::report::Report;
use cost::Costs;

/// Where the first search begins.
const FIRST_RATE: u32 = 1_000;
/// Later ones begin at the knee of the round before.
const LATER_FACTOR: f64 = 1.15;
/// Recordings.
const HALF: &str = "half load";
const HALF_FLOOR: &str = "half load on checks and sync";
/// A run of a search that is so far behind has shown what it can.
const PATIENCE: Duration = Duration::from_secs(1);
/// A run that must be finished.
const MUCH_PATIENCE: Duration = Duration::from_secs(30);

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Rounds; the medians are reported.
    pub rounds: usize,
    /// Of each run, after a warm-up of a quarter of it.
    pub measured: Duration,
    /// What is asked.
    pub mix: Mix,
    /// Connections of all threads together.
    pub connections: usize,
    /// Threads that send.
    pub threads: usize,
    /// Longest p99 at the knee.
    pub bound: Duration,
    /// Orders by which each cost is measured.
    pub orders: u32,
}

impl Scope {
    fn plan(&self, rate: u32) -> Plan {
        Plan {
            rate,
            warm_up: self.measured / 4,
            measured: self.measured,
            mix: self.mix,
            connections: self.connections,
            threads: self.threads,
            patience: PATIENCE,
        }
    }
}

/// One round.
struct Round {
    exchange: Search,
    checks: Search,
    /// The same checks, and a sync of what came together: what the disk alone leaves of them.
    synced: Search,
    /// The exchange at half its knee.
    half: Outcome,
    /// Checks and a bare sync at the same rate.
    half_floor: Outcome,
    costs: Costs,
}

/// Starts an exchange and the bare servers under `directory` (a temporary one is made there and
/// removed) in each round, and measures all of them.
///
/// # Errors
/// A server does not start; an answer is wrong; not even the lowest rate can be kept up with.
pub fn compare(directory: &Path, scope: &Scope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", "disk");
    report.scope = format!(
        "{}, p99 <= {} ms at the knee",
        words(&scope.plan(FIRST_RATE)),
        scope.bound.as_millis()
    );
    let mut rounds: Vec<Round> = Vec::new();
    for number in 0..scope.rounds.max(1) {
        let scratch = scratch(directory)?;
        let exchange = Rig::exchange(&scratch.path().join("data"))?;
        let checks = Rig::checks()?;
        let synced = Rig::checks_and_sync(scratch.path())?;
        let before = rounds.last();
        let knee = |rig: &Rig, before: Option<&Search>| {
            let (first, factor) = match before.and_then(|search| search.knee) {
                Some(knee) => (knee, LATER_FACTOR),
                None => (FIRST_RATE, FACTOR),
            };
            let run = |rate| run(&rig.site, &scope.plan(rate));
            search(first, factor, nanos(scope.bound), run)
        };
        let exchange_knee = knee(&exchange, before.map(|round| &round.exchange))?;
        let checks_knee = knee(&checks, before.map(|round| &round.checks))?;
        let synced_knee = knee(&synced, before.map(|round| &round.synced))?;
        let half = exchange_knee.knee.ok_or_else(|| {
            MeasureError::Wrong("the exchange kept up with no rate at all".to_owned())
        })? / 2;
        let plan = Plan {
            patience: MUCH_PATIENCE,
            ..scope.plan(half.max(1))
        };
        // By turns first and second: what comes second finds a warmer machine.
        let mut at_half = |rig: &Rig, name| {
            let began = report.elapsed();
            let outcome = run(&rig.site, &plan)?;
            outcome.record(&mut report, name, began);
            Ok::<_, MeasureError>(outcome)
        };
        let (half, half_floor) = if number % 2 == 0 {
            let half = at_half(&exchange, HALF)?;
            (half, at_half(&synced, HALF_FLOOR)?)
        } else {
            let floor = at_half(&synced, HALF_FLOOR)?;
            (at_half(&exchange, HALF)?, floor)
        };
        let costs = cost::measure(&exchange, &checks, scope)?;
        rounds.push(Round {
            exchange: exchange_knee,
            checks: checks_knee,
            synced: synced_knee,
            half,
            half_floor,
            costs,
        });
        exchange.stop()?;
        checks.stop()?;
        synced.stop()?;
    }
    figures::fill(&mut report, &rounds);
    Ok(report.end())
}
