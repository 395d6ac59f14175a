//! Compares our exchange with baseline servers that make the same checks, alternating in one run:
//! throughput at the knee, latency at half of that load, and CPU cost of an order in the gateway.

mod cost;
mod figures;

use std::path::Path;
use std::time::Duration;

use super::figures::Outcome;
use super::knee_search::{KneeSearch, search};
use super::request_mix::RequestMix;
use super::server_under_test::{ServerUnderTest, scratch};
use super::{FACTOR, Plan, nanos, run, words};
use crate::error::MeasureError;
use crate::report::Report;
use cost::Costs;

/// First rate of the first search.
const FIRST_RATE: u32 = 1_000;
/// Later searches start at the knee of the previous round, stepping by this factor.
const LATER_FACTOR: f64 = 1.15;
const HALF: &str = "half load";
const HALF_FLOOR: &str = "half load on checks and sync";
/// A search run ends when it is this far behind schedule.
const PATIENCE: Duration = Duration::from_secs(1);
/// Limit of a run that must finish.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// Size of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareScope {
    /// Rounds; the medians are reported.
    pub rounds: usize,
    /// Measured duration of each run, after a warm-up of a quarter of it.
    pub measured: Duration,
    /// Kinds of requests.
    pub mix: RequestMix,
    /// Connections of all threads together.
    pub connections: usize,
    /// Threads that send.
    pub threads: usize,
    /// Maximum p99 at the knee.
    pub bound: Duration,
    /// Orders per measurement of the CPU cost.
    pub orders: u32,
}

impl CompareScope {
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

/// Results of one round.
struct Round {
    exchange: KneeSearch,
    checks: KneeSearch,
    /// The same checks plus one sync per batch of concurrent requests.
    synced: KneeSearch,
    /// The exchange at half of its knee.
    half: Outcome,
    /// Checks and a sync at the same rate.
    half_floor: Outcome,
    costs: Costs,
}

/// In each round, starts an exchange and the baseline servers in a temporary directory under
/// `directory`, and measures all of them.
///
/// # Errors
/// A server does not start, an answer is wrong, or the lowest rate cannot be sustained.
pub fn compare(directory: &Path, scope: &CompareScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", "disk");
    report.scope = format!(
        "{}, p99 <= {} ms at the knee",
        words(&scope.plan(FIRST_RATE)),
        scope.bound.as_millis()
    );
    let mut rounds: Vec<Round> = Vec::new();
    for number in 0..scope.rounds.max(1) {
        let scratch = scratch(directory)?;
        let exchange = ServerUnderTest::exchange(&scratch.path().join("data"))?;
        let checks = ServerUnderTest::checks()?;
        let synced = ServerUnderTest::checks_and_sync(scratch.path())?;
        let before = rounds.last();
        let knee = |server: &ServerUnderTest, before: Option<&KneeSearch>| {
            let (first, factor) = match before.and_then(|search| search.knee) {
                Some(knee) => (knee, LATER_FACTOR),
                None => (FIRST_RATE, FACTOR),
            };
            let run = |rate| run(&server.endpoint, &scope.plan(rate));
            search(first, factor, nanos(scope.bound), run)
        };
        let exchange_knee = knee(&exchange, before.map(|round| &round.exchange))?;
        let checks_knee = knee(&checks, before.map(|round| &round.checks))?;
        let synced_knee = knee(&synced, before.map(|round| &round.synced))?;
        let half = exchange_knee.knee.ok_or_else(|| {
            MeasureError::Wrong("the exchange kept up with no rate at all".to_owned())
        })? / 2;
        let plan = Plan {
            patience: LONG_PATIENCE,
            ..scope.plan(half.max(1))
        };
        // Alternate the order: the second one finds a warmer machine.
        let mut at_half = |server: &ServerUnderTest, name| {
            let began = report.elapsed();
            let outcome = run(&server.endpoint, &plan)?;
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
