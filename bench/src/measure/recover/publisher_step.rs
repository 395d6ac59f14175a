//! Effect of the publisher on the engine's step: the same load beside a publisher that follows, and
//! beside one that writes snapshots continuously.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_engine::client::Client;
use foretell_link::{Stage, StageSummary};

use crate::error::MeasureError;
use crate::harness::latency::{Quantiles, median, ratio};
use crate::harness::order_flow::{OrderFlow, sleep_until};
use crate::harness::running_engine::{RunningEngine, on_generated_journal, snapshot, status};
use crate::harness::threads::{StopAtEnd, joined};
use crate::report::{Goal, Measure, Report};

/// Maximum ratio of the engine step's p99 with snapshots to that without.
const GOAL: f64 = 1.2;
/// Orders per second while the engine's step is measured; as many are cancelled.
const ORDERS_PER_SECOND: u32 = 1_000;
/// Poll interval until the publisher has caught up.
const PAUSE: Duration = Duration::from_millis(20);

/// Activity of the publisher during a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Publisher {
    Follows,
    Snapshots,
}

impl Publisher {
    const ALL: [Self; 2] = [Self::Follows, Self::Snapshots];

    const fn name(self) -> &'static str {
        match self {
            Self::Follows => "step: publisher, no snapshot",
            Self::Snapshots => "step: snapshots all the time",
        }
    }
}

/// Measures the engine's step in alternating lanes.
pub(super) fn measure(
    report: &mut Report,
    data: &Path,
    turn: Duration,
) -> Result<(), MeasureError> {
    let (mut lanes, mut taken, mut number) = (Publisher::ALL.map(|_| Vec::new()), 0, 0);
    for _ in 0..report.rounds {
        for (publisher, lane) in Publisher::ALL.into_iter().zip(&mut lanes) {
            number += 1;
            let (step, snapshots) = round(data, publisher, number, turn)?;
            lane.push(step);
            taken += snapshots;
        }
    }
    add_lanes(report, &lanes);
    let note = format!("{taken} snapshots were taken during the rounds");
    report.notes.push(note);
    Ok(())
}

/// One round on an engine of its own: the step, and the number of snapshots meanwhile.
fn round(
    data: &Path,
    publisher: Publisher,
    number: u32,
    turn: Duration,
) -> Result<(StageSummary, u64), MeasureError> {
    let engine = RunningEngine::start(on_generated_journal(data))?;
    let mut operator = engine.operator()?;
    while status(&mut operator)?.publisher_lag() > 0 {
        std::thread::park_timeout(PAUSE);
    }
    let mut flow = OrderFlow::connect(&engine.ready.socket, number)?;
    let stop = AtomicBool::new(false);
    let taken = std::thread::scope(|scope| -> Result<u64, MeasureError> {
        let load = scope.spawn(|| flow.run(ORDERS_PER_SECOND, &stop, |_| Ok(())));
        let stopping = StopAtEnd(&stop);
        let end = Instant::now() + turn;
        let taken = match publisher {
            Publisher::Follows => {
                sleep_until(end);
                Ok(0)
            }
            Publisher::Snapshots => take_snapshots(&mut operator, end),
        };
        drop(stopping);
        joined("the load", load.join())??;
        taken
    })?;
    let step = *status(&mut operator)?.stage(Stage::Apply);
    drop((operator, flow));
    engine.stop()?;
    Ok((step, taken))
}

/// Takes snapshots until `end`; returns their number.
fn take_snapshots(operator: &mut Client, end: Instant) -> Result<u64, MeasureError> {
    let mut taken = 0;
    while Instant::now() < end {
        snapshot(operator)?;
        taken += 1;
    }
    Ok(taken)
}

/// Adds all lanes to a report, in the order of [`Publisher::ALL`].
fn add_lanes(report: &mut Report, lanes: &[Vec<StageSummary>; 2]) {
    let measure = |publisher: Publisher| {
        let rounds = &lanes[publisher as usize];
        let of = |nanos: fn(&StageSummary) -> u64| -> Vec<f64> {
            rounds.iter().map(|step| ratio(nanos(step), 1)).collect()
        };
        // The p99 of each round; the quantiles are medians over the rounds.
        let p99 = of(|step| step.p99);
        let quantiles = Quantiles {
            p50: median(&of(|step| step.p50)),
            p99: median(&p99),
            p999: median(&of(|step| step.p999)),
        };
        Measure::of(publisher.name(), "ns, p99", p99).quantiles(quantiles)
    };
    let [follows, with] = Publisher::ALL.map(measure);
    let with = with.over(&follows);
    let goal = Goal::at_most("step p99, snapshots / none", GOAL, with.ratio());
    report.goals.push(goal);
    report.measures.extend([follows, with]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_of_the_rounds_ratios() {
        let rounds = |p99s: [u64; 3]| {
            let step = |p99| StageSummary {
                count: 10,
                p50: 1,
                p99,
                p999: 3 * p99,
                max: 9_000,
            };
            p99s.map(step).into()
        };
        let lanes = [[50, 100, 500], [110, 120, 90]].map(rounds);
        let mut report = Report::begin("recover", "disk");
        add_lanes(&mut report, &lanes);
        // The median of the rounds' ratios 2.2, 1.2 and 0.18.
        assert_eq!(report.goals[0].found, Some(1.2));
        assert!(report.goals[0].is_met());
        add_lanes(&mut report, &Default::default());
        assert_eq!(report.goals[1].found, None);
    }
}
