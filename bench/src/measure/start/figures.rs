//! Report on starts, snapshots and the engine's step.

use foretell_link::StageSummary;

use super::step::Lanes;
use crate::harness::latency::{Quantiles, median};
use crate::report::{Goal, Measure, Report};

/// Maximum seconds from a gateway's start to its first answer, at ten million trades.
const START_GOAL: f64 = 2.0;
/// Trades for which the goal is stated.
const START_TRADES: u64 = 10_000_000;
/// Maximum bytes of a gateway's own memory per trade.
const MEMORY_GOAL: f64 = 48.0;
/// Maximum ratio of the engine step's p99 with snapshots to that without.
const STEP_GOAL: f64 = 1.2;

/// Starts of gateways on one history.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Starts {
    /// From the start of each process until it answered with the newest state.
    pub(super) seconds: Vec<f64>,
    /// Anonymous memory at that time: the maximum of all rounds.
    pub(crate) anonymous_bytes: u64,
    /// Resident memory, touched file pages and the program included.
    pub(super) resident_bytes: u64,
}

/// One history, its snapshots, and gateways on it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HistoryRun {
    pub(super) trades: u64,
    pub(super) live_orders: u64,
    pub(super) accounts: u32,
    pub(super) markets: u32,
    pub(super) commands: u64,
    /// From the engine's readiness until its publisher has executed and published the whole
    /// history.
    pub(super) publish_seconds: f64,
    pub(crate) image_bytes: u64,
    /// Further snapshots, with everything before each already published.
    pub(crate) image_seconds: Vec<f64>,
    pub(super) chunks: u64,
    pub(super) chunk_bytes: u64,
    pub(crate) starts: Starts,
}

/// One round of the engine's step.
pub(super) struct StepRound {
    pub(super) apply: StageSummary,
    /// Snapshots written meanwhile, or how often the same number of bytes was written.
    pub(super) written: u64,
}

impl HistoryRun {
    /// A name that distinguishes it from the others.
    pub(super) fn name(&self) -> String {
        format!("{} trades, {} orders", self.trades, self.live_orders)
    }

    /// Its measures, with its name as prefix.
    pub(crate) fn measures(&self) -> Vec<Measure> {
        let of = |what: &str, unit: &str, rounds: &[f64]| {
            Measure::of(format!("{}: {what}", self.name()), unit, rounds.to_vec())
        };
        let mut measures = vec![
            of("image", "bytes", &[figure(self.image_bytes)]),
            of("one more image", "s", &self.image_seconds),
            of("first image", "s", &[self.publish_seconds]),
            of("history", "bytes", &[figure(self.chunk_bytes)]),
        ];
        if !self.starts.seconds.is_empty() {
            measures.push(of("gateway answers", "s", &self.starts.seconds));
            let own = figure(self.starts.anonymous_bytes);
            measures.push(of("gateway's own memory", "bytes", &[own]));
            let all = figure(self.starts.resident_bytes);
            measures.push(of("gateway's memory with files", "bytes", &[all]));
        }
        measures
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "{}: {} accounts, {} markets, {} commands, {} chunks of history",
            self.name(),
            self.accounts,
            self.markets,
            self.commands,
            self.chunks
        )
    }
}

/// Adds sites to a report. The last is the longest; the goals apply to it.
pub(super) fn add_sites(report: &mut Report, sites: &[HistoryRun]) {
    report.notes.extend(sites.iter().map(HistoryRun::text));
    report
        .measures
        .extend(sites.iter().flat_map(HistoryRun::measures));
    let long = sites.last();
    let start = Goal::at_most(
        "s until a gateway answers",
        START_GOAL,
        long.map(|site| median(&site.starts.seconds)),
    );
    let shorter = long.filter(|site| site.trades < START_TRADES);
    // On a short history, memory that does not grow with trades dominates.
    let memory = Goal::at_most(
        "own bytes of a gateway per trade",
        MEMORY_GOAL,
        long.filter(|_| shorter.is_none())
            .map(|site| figure(site.starts.anonymous_bytes) / figure(site.trades)),
    );
    let note = |goal: Goal| match shorter {
        Some(site) => goal.note(format!("on {} of {START_TRADES} trades", site.trades)),
        None => goal,
    };
    report.goals.extend([note(start), note(memory)]);
}

/// Adds the engine's step to a report, by lane.
pub(super) fn add_steps(report: &mut Report, lanes: &Lanes) {
    let follows = lane("step: publisher, no snapshot", &lanes.follows);
    let beside = lane("step: as many bytes written beside it", &lanes.other_writer).over(&follows);
    let with = lane("step: snapshots all the time", &lanes.snapshots).over(&follows);
    let times = |turns: &[StepRound]| turns.iter().map(|turn| turn.written).sum::<u64>();
    report.notes.push(format!(
        "{} snapshots were taken during the rounds, and as many bytes written {} times",
        times(&lanes.snapshots),
        times(&lanes.other_writer)
    ));
    report.goals.push(Goal::at_most(
        "step p99, snapshots / none",
        STEP_GOAL,
        with.ratio(),
    ));
    let off = lane("step: no publisher", &lanes.off);
    report.measures.extend([off, follows, beside, with]);
}

/// The p99 of each round; the quantiles are medians over the rounds.
fn lane(name: &str, turns: &[StepRound]) -> Measure {
    let of = |nanos: fn(&StageSummary) -> u64| -> Vec<f64> {
        turns
            .iter()
            .map(|turn| figure(nanos(&turn.apply)))
            .collect()
    };
    let p99 = of(|apply| apply.p99);
    let quantiles = Quantiles {
        p50: median(&of(|apply| apply.p50)),
        p99: median(&p99),
        p999: median(&of(|apply| apply.p999)),
    };
    Measure::of(name, "ns, p99", p99).quantiles(quantiles)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts far below 2^53, for ratios"
)]
pub(crate) fn figure(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(p99: u64) -> StepRound {
        StepRound {
            apply: StageSummary {
                count: 10,
                p50: 1,
                p99,
                p999: 3 * p99,
                max: 9_000,
            },
            written: 2,
        }
    }

    fn site(trades: u64, seconds: f64, anonymous_bytes: u64) -> HistoryRun {
        HistoryRun {
            trades,
            live_orders: 1,
            accounts: 1,
            markets: 1,
            commands: 1,
            publish_seconds: 1.0,
            image_bytes: 1,
            image_seconds: vec![1.0],
            chunks: 1,
            chunk_bytes: 1,
            starts: Starts {
                seconds: vec![seconds],
                anonymous_bytes,
                resident_bytes: anonymous_bytes,
            },
        }
    }

    #[test]
    fn goals_are_of_the_longest_history_and_of_medians() {
        let mut report = Report::begin("start", "disk");
        let long = site(START_TRADES, 1.5, 49 * START_TRADES);
        add_sites(&mut report, &[site(0, 9.0, 9_000), long]);
        let turns = [[1, 1, 1], [50, 100, 500], [9, 9, 9], [110, 120, 90]];
        let [off, follows, beside, snapshots] = turns.map(|turns| turns.map(turn).into());
        let lanes = Lanes {
            off,
            follows,
            other_writer: beside,
            snapshots,
        };
        add_steps(&mut report, &lanes);
        let found: Vec<_> = report.goals.iter().map(|goal| goal.found).collect();
        // The median of the rounds' ratios 2.2, 1.2 and 0.18.
        assert_eq!(found, [Some(1.5), Some(49.0), Some(1.2)]);
        let met: Vec<_> = report.goals.iter().map(Goal::is_met).collect();
        assert_eq!(met, [true, false, true]);
        assert_eq!(report.goals[0].note, None);

        let mut short = Report::begin("start", "disk");
        add_sites(&mut short, &[site(100, 1.5, 4_900)]);
        let found: Vec<_> = short.goals.iter().map(|goal| goal.found).collect();
        assert_eq!(
            found,
            [Some(1.5), None],
            "memory that does not grow is most"
        );
        assert!(short.goals.iter().all(|goal| goal.note.is_some()));

        let mut without = Report::begin("start", "disk");
        add_sites(&mut without, &[]);
        add_steps(&mut without, &Lanes::default());
        assert!(without.goals.iter().all(|goal| goal.found.is_none()));
    }
}
