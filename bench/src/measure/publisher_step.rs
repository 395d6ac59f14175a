//! Effect of the publisher on the engine's step: the same load without a publisher, with a
//! following one, with one that writes snapshots continuously, and with another writer of as many
//! bytes.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_engine::client::Client;
use foretell_journal::receipt;
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
/// Bytes written and synced at once, as by the publisher.
const PIECE: usize = 2 << 20;
/// Poll interval until the publisher has caught up.
const PAUSE: Duration = Duration::from_millis(20);

/// Activity of the publisher during a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Publisher {
    Off,
    Follows,
    /// It follows while another thread hashes, writes and syncs unrelated bytes: the cost of any
    /// program that does as much.
    OtherWriter,
    Snapshots,
}

impl Publisher {
    const ALL: [Self; 4] = [Self::Off, Self::Follows, Self::OtherWriter, Self::Snapshots];

    const fn name(self) -> &'static str {
        match self {
            Self::Off => "step: no publisher",
            Self::Follows => "step: publisher, no snapshot",
            Self::OtherWriter => "step: as many bytes written beside it",
            Self::Snapshots => "step: snapshots all the time",
        }
    }
}

/// One round of the engine's step.
struct StepRound {
    apply: StageSummary,
    /// Snapshots written meanwhile, or how often the same number of bytes was written.
    written: u64,
}

/// Measures the engine's step in alternating lanes; `image_bytes` is the size of a snapshot.
pub(super) fn measure(
    report: &mut Report,
    data: &Path,
    image_bytes: u64,
    rounds: usize,
    turn: Duration,
) -> Result<(), MeasureError> {
    let image_bytes = usize::try_from(image_bytes).unwrap_or(usize::MAX);
    let mut lanes = Publisher::ALL.map(|_| Vec::new());
    let mut number = 0;
    for _ in 0..rounds {
        for (publisher, lane) in Publisher::ALL.into_iter().zip(&mut lanes) {
            number += 1;
            lane.push(round(data, (publisher, image_bytes), number, turn)?);
        }
    }
    add_lanes(report, &lanes);
    Ok(())
}

/// One round on an engine of its own.
fn round(
    data: &Path,
    (publisher, image_bytes): (Publisher, usize),
    number: u32,
    turn: Duration,
) -> Result<StepRound, MeasureError> {
    let mut config = on_generated_journal(data);
    config.publishing.enabled = publisher != Publisher::Off;
    let engine = RunningEngine::start(config)?;
    let mut operator = engine.operator()?;
    while publisher != Publisher::Off && status(&mut operator)?.publisher_lag() > 0 {
        std::thread::park_timeout(PAUSE);
    }
    let mut flow = OrderFlow::connect(&engine.ready.socket, number)?;
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| -> Result<u64, MeasureError> {
        let load = scope.spawn(|| flow.run(ORDERS_PER_SECOND, &stop, |_| Ok(())));
        let stopping = StopAtEnd(&stop);
        let end = Instant::now() + turn;
        let written = match publisher {
            Publisher::Off | Publisher::Follows => {
                sleep_until(end);
                Ok(0)
            }
            Publisher::OtherWriter => write_unrelated(data, image_bytes, end),
            Publisher::Snapshots => take_snapshots(&mut operator, end),
        };
        drop(stopping);
        joined("the load", load.join())??;
        written
    })?;
    let apply = *status(&mut operator)?.stage(Stage::Apply);
    drop((operator, flow));
    engine.stop()?;
    Ok(StepRound { apply, written })
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

/// Hashes, writes and syncs as many bytes as a snapshot has, piece by piece, until `end`; returns
/// the number of repetitions.
fn write_unrelated(data: &Path, image_bytes: usize, end: Instant) -> Result<u64, MeasureError> {
    let path = data.join("beside.tmp");
    let bytes = vec![0x5A; PIECE];
    let written = File::create_new(&path).and_then(|file| {
        let mut times = 0;
        while Instant::now() < end {
            for offset in (0..image_bytes.max(PIECE)).step_by(PIECE) {
                black_box(receipt(&bytes));
                file.write_all_at(&bytes, offset as u64)?;
                file.sync_data()?;
            }
            times += 1;
        }
        Ok(times)
    });
    let removed = std::fs::remove_file(&path);
    written
        .and_then(|times| removed.map(|()| times))
        .map_err(MeasureError::io("writing during the step"))
}

/// Adds all lanes to a report, in the order of [`Publisher::ALL`].
fn add_lanes(report: &mut Report, lanes: &[Vec<StepRound>; 4]) {
    let measure = |publisher: Publisher| {
        let rounds = &lanes[publisher as usize];
        let of = |nanos: fn(&StageSummary) -> u64| -> Vec<f64> {
            rounds.iter().map(|it| ratio(nanos(&it.apply), 1)).collect()
        };
        // The p99 of each round; the quantiles are medians over the rounds.
        let p99 = of(|apply| apply.p99);
        let quantiles = Quantiles {
            p50: median(&of(|apply| apply.p50)),
            p99: median(&p99),
            p999: median(&of(|apply| apply.p999)),
        };
        Measure::of(publisher.name(), "ns, p99", p99).quantiles(quantiles)
    };
    let [off, follows, other, with] = Publisher::ALL.map(measure);
    let (other, with) = (other.over(&follows), with.over(&follows));
    let times = |publisher: Publisher| -> u64 {
        let rounds = lanes[publisher as usize].iter();
        rounds.map(|round| round.written).sum()
    };
    report.notes.push(format!(
        "{} snapshots were taken during the rounds, and as many bytes written {} times",
        times(Publisher::Snapshots),
        times(Publisher::OtherWriter)
    ));
    let goal = Goal::at_most("step p99, snapshots / none", GOAL, with.ratio());
    report.goals.push(goal);
    report.measures.extend([off, follows, other, with]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_of_the_rounds_ratios() {
        let rounds = |p99s: [u64; 3]| {
            let round = |p99| StepRound {
                apply: StageSummary {
                    count: 10,
                    p50: 1,
                    p99,
                    p999: 3 * p99,
                    max: 9_000,
                },
                written: 2,
            };
            p99s.map(round).into()
        };
        let lanes = [[1, 1, 1], [50, 100, 500], [9, 9, 9], [110, 120, 90]].map(rounds);
        let mut report = Report::begin("start", "disk");
        add_lanes(&mut report, &lanes);
        // The median of the rounds' ratios 2.2, 1.2 and 0.18.
        assert_eq!(report.goals[0].found, Some(1.2));
        assert!(report.goals[0].is_met());
        add_lanes(&mut report, &Default::default());
        assert_eq!(report.goals[1].found, None);
    }
}
