//! Cost of registered markets in the core: one stream over 1,000 markets, on an exchange with only
//! these and on one with a hundred times as many, among which they are scattered.

use clap::Args;

use super::core_step::{Subject, pinned, same_work};
use super::lap;
use crate::error::MeasureError;
use crate::harness::latency::ratio;
use crate::report::{Goal, Measure, Report};
use crate::workloads::stream::{Entry, Stream};
use crate::workloads::workload::WorkloadKind;

/// Markets in the stream.
const TRADED: u32 = 1_000;
/// Registered markets per market in the stream.
const FOR_EACH: u32 = 100;
/// Maximum ratio of the step with many markets to that with few.
const GOAL: f64 = 1.3;
/// Commands per resting order.
const RESTING_PART: usize = 16;

/// Arguments of `foretell-bench markets`.
#[derive(Debug, Args)]
pub struct MarketsScope {
    /// Commands in the stream
    #[arg(long, default_value_t = 2_000_000)]
    commands: usize,
    /// Runs of every lane; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// Runs the stream on both exchanges, alternating.
pub(super) fn measure(scope: &MarketsScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("markets", "none");
    report.rounds = scope.rounds.max(1);
    let [few, many] = pinned(|| laps(scope.commands.max(1), report.rounds))?;
    let registered = TRADED * FOR_EACH;
    let few = Measure::of(format!("{TRADED} markets"), "ns", few);
    let many = Measure::of(format!("{TRADED} of {registered} markets"), "ns", many).over(&few);
    report.goals.push(Goal::at_most(
        format!("core step, {registered} markets registered / {TRADED}"),
        GOAL,
        many.ratio(),
    ));
    report.measures = vec![few, many];
    report.scope = format!("{} commands", scope.commands);
    Ok(report.end())
}

/// Nanoseconds per command in each lap, by lane: few markets and many.
fn laps(commands: usize, rounds: usize) -> Result<[Vec<f64>; 2], MeasureError> {
    let (few, many) = streams(commands)?;
    let lanes = [&few, &many].map(|stream| Subject::new(stream, WorkloadKind::Plain));
    let mut nanos = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        let lap = |lane: &Subject<'_>| lap::lap(&mut lane.open()?, &lane.workload);
        let laps = [lap(&lanes[0])?, lap(&lanes[1])?];
        same_work("many markets", laps[1].totals, laps[0].totals)?;
        for (lane, lap) in nanos.iter_mut().zip(laps) {
            lane.push(ratio(lap.nanos, commands as u64));
        }
    }
    Ok(nanos)
}

/// The stream, and the same stream over scattered markets.
fn streams(commands: usize) -> Result<(Stream, Stream), MeasureError> {
    let live = u32::try_from(commands / RESTING_PART).unwrap_or(u32::MAX);
    let few = crate::generate(TRADED, commands, live.max(1))?;
    let scattered = few.entries().iter().map(|entry| Entry {
        book: entry.book * FOR_EACH + FOR_EACH - 1,
        ..*entry
    });
    let many = Stream::new(scattered.collect())?;
    Ok((few, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_markets_are_as_many_as_are_said() {
        let (few, many) = streams(200_000).unwrap();
        assert_eq!(many.markets(), few.markets() * FOR_EACH);
        assert_eq!(
            (few.orders(), few.entries().len()),
            (many.orders(), 200_000)
        );
    }
}
