//! Measures and goals of a comparison.

use hdrhistogram::Histogram;

use super::{Costs, HALF, HALF_FLOOR, Round};
use crate::harness::latency::Quantiles;
use crate::measure::load::figures::NANOS_PER_US;
use crate::measure::load::knee_search::KneeSearch;
use crate::measure::load::latency_record::histogram;
use crate::report::{Goal, Measure, Report};

/// Minimum throughput at the knee as a fraction of the checks alone.
const KNEE_GOAL: f64 = 0.85;
/// Maximum ratio of order latency to the baseline at half load, at p50 and p99.9.
const WAIT_GOAL: f64 = 1.5;
/// Minimum rate of single orders as a fraction of hyper with the same checks, per core.
const SINGLE_GOAL: f64 = 0.9;
/// Minimum rate of orders in batches of 15 as a fraction of the checks alone, per core.
const BATCH_GOAL: f64 = 0.85;

/// Adds measures, goals and notes.
pub(super) fn fill(report: &mut Report, rounds: &[Round]) {
    report.rounds = rounds.len();
    knees(report, rounds);
    waits(report, rounds);
    costs(report, rounds);
    let notes = rounds.iter().map(|round| {
        let (half, answered) = (round.half.rate, round.half.answered);
        format!("half load was {half} requests/s, {answered} of them answered rightly")
    });
    report.notes.extend(notes);
}

fn knees(report: &mut Report, rounds: &[Round]) {
    let knee = |name: &str, of: fn(&Round) -> &KneeSearch| {
        let knee = |round| of(round).knee.map_or(f64::NAN, f64::from);
        Measure::of(name, "requests/s", rounds.iter().map(knee).collect()).higher()
    };
    let floor = knee("knee, checks alone", |round| &round.checks);
    let synced = knee("knee, checks and sync", |round| &round.synced).over(&floor);
    let exchange = knee("knee", |round| &round.exchange).over(&floor);
    let goal = Goal::at_least("knee / checks alone", KNEE_GOAL, exchange.ratio());
    report.goals.push(goal);
    report.measures.extend([floor, synced, exchange]);
}

/// Selects a quantile.
type Quantile = fn(Quantiles) -> f64;
/// Selects latencies of a round.
type Times = fn(&Round) -> &Histogram<u64>;

fn waits(report: &mut Report, rounds: &[Round]) {
    let quantiles: [(&str, Quantile); 2] =
        [("p50", |times| times.p50), ("p99.9", |times| times.p999)];
    for (word, value) in quantiles {
        let floor = wait(&format!("{HALF_FLOOR}, {word}"), rounds, value, |round| {
            round.half_floor.orders()
        });
        let exchange = wait(&format!("{HALF}, {word}"), rounds, value, |round| {
            round.half.orders()
        })
        .over(&floor);
        let goal = format!("{word} of orders at half load / checks and sync");
        let goal = Goal::at_most(goal, WAIT_GOAL, exchange.ratio());
        report.goals.push(goal);
        report.measures.extend([floor, exchange]);
    }
    let beside: [(&str, Times); 2] = [
        ("the generator's lateness", |round| &round.half.generator),
        ("the machine's lateness", |round| &round.half.machine),
    ];
    let beside = beside.map(|(name, of)| wait(name, rounds, |times| times.p50, of));
    report.measures.extend(beside);
}

/// A quantile of each round, and the quantiles of all rounds combined.
fn wait(name: &str, rounds: &[Round], value: Quantile, of: Times) -> Measure {
    let values = rounds
        .iter()
        .map(|round| Quantiles::of(of(round), NANOS_PER_US));
    let values = values.map(value).collect();
    let mut all = histogram();
    for round in rounds {
        all.add(of(round)).expect("all have the same bounds");
    }
    Measure::of(name, "us", values).quantiles(Quantiles::of(&all, NANOS_PER_US))
}

fn costs(report: &mut Report, rounds: &[Round]) {
    let orders = |name: &str, us: fn(&Costs) -> f64| {
        let orders = |round: &Round| 1e6 / us(&round.costs);
        Measure::of(name, "orders/s", rounds.iter().map(orders).collect()).higher()
    };
    let bare = orders("a core of bare hyper with the same checks", |it| {
        it.single_floor_us
    });
    let single = orders("a core of the gateway", |it| it.single_us).over(&bare);
    let check = orders("a core checking alone", |it| it.check_us);
    let batch = orders("a core of the gateway, batches of 15", |it| it.batch_us).over(&check);
    report.goals.extend([
        Goal::at_least("orders a core / bare hyper", SINGLE_GOAL, single.ratio()),
        Goal::at_least(
            "orders a core in batches / checks",
            BATCH_GOAL,
            batch.ratio(),
        ),
    ]);
    report.measures.extend([bare, single, check, batch]);
}
