//! Cost of registered markets in the core: one stream over 1,000 markets, on an exchange with only
//! these and on one with a hundred times as many, among which they are scattered.

use crate::measure::matching::{Disagreement, Subject, disagreement, pinned};
use crate::measure::step;
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

/// Runs a stream of `commands` on both exchanges, alternating, in `rounds` rounds.
///
/// # Errors
/// The lanes did different work.
pub fn measure(commands: usize, rounds: usize) -> Result<Report, Disagreement> {
    let mut report = Report::begin("markets", "none");
    report.rounds = rounds.max(1);
    let [few, many] = pinned(|| laps(commands, report.rounds))?;
    let registered = TRADED * FOR_EACH;
    let few = Measure::of(format!("{TRADED} markets"), "ns", few);
    let many = Measure::of(format!("{TRADED} of {registered} markets"), "ns", many).over(&few);
    report.goals.push(Goal::at_most(
        format!("core step, {registered} markets registered / {TRADED}"),
        GOAL,
        many.ratio(),
    ));
    report.measures = vec![few, many];
    report.scope = format!("{commands} commands");
    Ok(report.end())
}

/// Nanoseconds per command in each lap, by lane: few markets and many.
fn laps(commands: usize, rounds: usize) -> Result<[Vec<f64>; 2], Disagreement> {
    let (few, many) = streams(commands.max(1));
    let lanes = [&few, &many].map(|stream| Subject::new(stream, WorkloadKind::Plain));
    let mut nanos = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        let laps = lanes
            .each_ref()
            .map(|lane| step::lap(&mut lane.open(), &lane.workload));
        if laps[1].totals != laps[0].totals {
            let expected = format!("as with {TRADED} markets {:?}", laps[0].totals);
            return Err(disagreement("many markets", laps[1].totals, &expected));
        }
        #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a lap")]
        let each = laps.map(|lap| lap.nanos as f64 / commands.max(1) as f64);
        nanos
            .iter_mut()
            .zip(each)
            .for_each(|(lane, each)| lane.push(each));
    }
    Ok(nanos)
}

/// The stream, and the same stream over scattered markets.
fn streams(commands: usize) -> (Stream, Stream) {
    let live = u32::try_from(commands / RESTING_PART)
        .unwrap_or(u32::MAX)
        .max(1);
    let sound = "arguments that every stream has";
    let few = crate::generate(TRADED, commands, live).expect(sound);
    let scattered = few.entries().iter().map(|entry| Entry {
        book: entry.book * FOR_EACH + FOR_EACH - 1,
        ..*entry
    });
    let many = Stream::new(scattered.collect()).expect(sound);
    (few, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_is_done_among_many_markets() {
        let report = measure(3_000, 1).unwrap();
        assert_eq!(report.measures.len(), 2);
        assert!(report.measures.iter().all(|measure| measure.value > 0.0));
        assert!(report.goals[0].found.is_some());
    }

    #[test]
    fn scattered_markets_are_as_many_as_are_said() {
        let (few, many) = streams(200_000);
        assert_eq!(many.markets(), few.markets() * FOR_EACH);
        assert_eq!(
            (few.orders(), few.entries().len()),
            (many.orders(), 200_000)
        );
    }
}
