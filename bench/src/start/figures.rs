//! What was found about starts, images and the engine's step, and which goals it meets.

use std::fmt::{self, Display};

use foretell_link::StageSummary;
use serde::Serialize;

use crate::latency::median;
use crate::report::Goal;

/// Most seconds from a gateway's start until it answers, at ten million trades.
const START_GOAL: f64 = 2.0;
/// Most bytes of a gateway's own memory per trade.
const MEMORY_GOAL: f64 = 48.0;
/// Highest ratio of the engine step's p99 with snapshots to that without.
const STEP_GOAL: f64 = 1.2;

/// Starts of gateways on one history.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Starts {
    /// From the start of the process until it answers with the newest state: the median.
    pub seconds: f64,
    /// The slowest.
    pub slowest_seconds: f64,
    /// The process's own memory then, the most of all rounds.
    pub anonymous_bytes: u64,
    /// With all it had touched of files, the programme's own among them.
    pub resident_bytes: u64,
}

/// One history, its images, and gateways on it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Site {
    /// Trades.
    pub trades: u64,
    /// Orders that rest.
    pub live_orders: u64,
    /// Accounts, each with a key.
    pub accounts: u32,
    /// Markets.
    pub markets: u32,
    /// Commands of the journal.
    pub commands: u64,
    /// Making the journal.
    pub write_seconds: f64,
    /// From the engine's readiness until its publisher has executed all of it and has published.
    pub publish_seconds: f64,
    /// Bytes of the image.
    pub image_bytes: u64,
    /// One more image, everything before it being published: the median.
    pub image_seconds: f64,
    /// Chunks of history.
    pub chunks: u64,
    /// Bytes of all chunks.
    pub chunk_bytes: u64,
    /// Gateways on it.
    pub starts: Starts,
}

/// The engine's step while its publisher does one thing: medians of the turns, in nanoseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Steps {
    /// What the publisher did.
    pub publisher: &'static str,
    /// Commands of all turns.
    pub commands: u64,
    /// Snapshots taken in all turns.
    pub snapshots: u64,
    /// Half of the commands took at most this.
    pub p50: f64,
    /// 99 of 100.
    pub p99: f64,
    /// 999 of 1,000.
    pub p999: f64,
}

/// One turn of the engine's step.
pub(super) struct Turn {
    pub(super) apply: StageSummary,
    pub(super) snapshots: u64,
}

impl Steps {
    pub(super) fn of_turns(publisher: &'static str, turns: &[Turn]) -> Self {
        let middle = |nanos: fn(&StageSummary) -> u64| {
            let nanos = turns.iter().map(|turn| figure(nanos(&turn.apply)));
            median(&nanos.collect::<Vec<_>>())
        };
        Self {
            publisher,
            commands: turns.iter().map(|turn| turn.apply.count).sum(),
            snapshots: turns.iter().map(|turn| turn.snapshots).sum(),
            p50: middle(|apply| apply.p50),
            p99: middle(|apply| apply.p99),
            p999: middle(|apply| apply.p999),
        }
    }
}

/// All figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Nothing at all, a short history, the same with more that lives, a long history.
    pub sites: Vec<Site>,
    /// Without a publisher, with one, with snapshots all the time; on the long history.
    pub steps: Vec<Steps>,
}

impl Report {
    /// Every goal, met or not.
    #[must_use]
    pub fn goals(&self) -> [Goal; 3] {
        let long = self.sites.last();
        let own = |site: &Site| figure(site.starts.anonymous_bytes) / figure(site.trades);
        let p99 = |steps: &[Steps]| match steps {
            [_, without, with] if without.p99 > 0.0 => Some(with.p99 / without.p99),
            _ => None,
        };
        [
            Goal {
                name: "s until a gateway answers",
                most: START_GOAL,
                found: long.map(|site| site.starts.seconds),
            },
            Goal {
                name: "own bytes of it per trade",
                most: MEMORY_GOAL,
                found: long.map(own),
            },
            Goal {
                name: "step p99, snapshots / none",
                most: STEP_GOAL,
                found: p99(&self.steps),
            },
        ]
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for site in &self.sites {
            writeln!(f, "{site}")?;
        }
        writeln!(
            f,
            "{:<26}{:>10}{:>11}{:>9}{:>9}{:>10}",
            "engine step, ns", "commands", "snapshots", "p50", "p99", "p99.9"
        )?;
        for lane in &self.steps {
            writeln!(
                f,
                "{:<26}{:>10}{:>11}{:>9.0}{:>9.0}{:>10.0}",
                lane.publisher, lane.commands, lane.snapshots, lane.p50, lane.p99, lane.p999
            )?;
        }
        writeln!(f, "{:<30}{:>8}{:>8}", "goal", "found", "most")?;
        self.goals()
            .iter()
            .try_for_each(|goal| writeln!(f, "{goal}"))
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} trades, {} live orders, {} accounts, {} markets: {} commands, written in {:.1} s",
            self.trades,
            self.live_orders,
            self.accounts,
            self.markets,
            self.commands,
            self.write_seconds
        )?;
        writeln!(
            f,
            "  image    {:>12} bytes, written in {:.3} s; the first after {:.1} s",
            self.image_bytes, self.image_seconds, self.publish_seconds
        )?;
        writeln!(
            f,
            "  history  {:>12} bytes in {} chunks",
            self.chunk_bytes, self.chunks
        )?;
        writeln!(
            f,
            "  gateway  {:>12} bytes of its own, {} with files; answers after {:.3} s, slowest {:.3} s",
            self.starts.anonymous_bytes,
            self.starts.resident_bytes,
            self.starts.seconds,
            self.starts.slowest_seconds
        )
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts far below 2^53, for ratios"
)]
fn figure(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(p99: u64) -> Turn {
        Turn {
            apply: StageSummary {
                count: 10,
                p50: 1,
                p99,
                p999: 3 * p99,
                max: 9_000,
            },
            snapshots: 2,
        }
    }

    #[test]
    fn goals_are_of_the_longest_history_and_of_medians() {
        let site = |trades, seconds, anonymous_bytes| Site {
            trades,
            live_orders: 1,
            accounts: 1,
            markets: 1,
            commands: 1,
            write_seconds: 1.0,
            publish_seconds: 1.0,
            image_bytes: 1,
            image_seconds: 1.0,
            chunks: 1,
            chunk_bytes: 1,
            starts: Starts {
                seconds,
                slowest_seconds: seconds,
                anonymous_bytes,
                resident_bytes: anonymous_bytes,
            },
        };
        let lane = |p99: [u64; 3]| Steps::of_turns("", &p99.map(turn));
        let report = Report {
            sites: vec![site(0, 9.0, 9_000), site(100, 1.5, 4_900)],
            steps: vec![lane([1, 1, 1]), lane([50, 100, 500]), lane([110, 120, 90])],
        };
        let goals = report.goals();
        assert_eq!(
            goals.map(|goal| goal.found),
            [Some(1.5), Some(49.0), Some(1.1)]
        );
        assert_eq!(goals.map(|goal| goal.is_met()), [true, false, true]);
        assert_eq!(
            (report.steps[0].commands, report.steps[0].snapshots),
            (30, 6)
        );
        let without = Report {
            sites: Vec::new(),
            steps: Vec::new(),
        };
        assert!(without.goals().iter().all(|goal| !goal.is_met()));
    }
}
