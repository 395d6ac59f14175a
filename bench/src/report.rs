//! What a comparison found, and which goals it meets.

use std::fmt::{self, Display, Write as _};

use serde::Serialize;

use crate::encoding::EVIDENCE_BYTES;
use crate::latency::Quantiles;
use crate::totals::Totals;

/// Highest ratio of the core step on a plain stream to the array book.
const CORE_GOAL: f64 = 2.5;
/// The same, dressed.
const DRESSED_GOAL: f64 = 4.0;
/// Highest ratio of encoding a frame to copying its bytes.
const ENCODE_GOAL: f64 = 2.0;
/// Most bytes per resting order.
const MEMORY_GOAL: f64 = 160.0;

/// Time of one way of working through the stream.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Lane {
    /// Per command, from whole laps.
    pub nanos: f64,
    /// Of single commands.
    pub quantiles: Quantiles,
}

/// Memory the core owns.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Memory {
    /// Orders at the stream's peak.
    pub resting_orders: usize,
    /// What room for one of them takes.
    pub bytes_per_resting_order: f64,
    /// Ids of the stream.
    pub remembered_ids: usize,
    /// What room for one of them takes.
    pub bytes_per_remembered_id: f64,
}

/// All figures of a comparison: medians over its rounds; ratios are medians of the rounds' ratios.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Markets of the stream.
    pub markets: u32,
    /// Commands of the stream.
    pub commands: usize,
    /// Rounds.
    pub rounds: usize,
    /// What every lane did alike.
    pub totals: Totals,
    /// Part of every quantile that is the clock's own.
    pub clock_nanos: u64,
    /// The floor.
    pub array: Lane,
    /// The core step on the plain stream.
    pub core: Lane,
    /// The core step and its frame.
    pub core_with_frames: Lane,
    /// The core step on the dressed stream.
    pub core_dressed: Lane,
    /// Core to array book.
    pub core_ratio: f64,
    /// Dressed core to array book.
    pub dressed_ratio: f64,
    /// Encoding one frame.
    pub encode_nanos: f64,
    /// Copying one frame.
    pub copy_nanos: f64,
    /// Encoding to copying.
    pub encode_ratio: f64,
    /// Mean length of a frame.
    pub frame_bytes: f64,
    /// Allocations of all core laps; `None` when the program does not count.
    pub allocations: Option<u64>,
    /// Memory; `None` when the program does not count.
    pub memory: Option<Memory>,
}

/// A goal and what was found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Goal {
    /// What it is about.
    pub name: &'static str,
    /// The most it may be.
    pub most: f64,
    /// What it was; `None` when it could not be measured.
    pub found: Option<f64>,
}

impl Goal {
    /// Whether it is met; something unmeasured is not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.found.is_some_and(|found| found <= self.most)
    }
}

impl Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut found = String::new();
        match self.found {
            Some(found_value) => write!(found, "{found_value:.2}")?,
            None => found.push('-'),
        }
        let verdict = if self.is_met() { "met" } else { "missed" };
        write!(f, "{:<30}{found:>8}{:>8}  {verdict}", self.name, self.most)
    }
}

impl Report {
    /// Every goal, met or not.
    #[must_use]
    pub fn goals(&self) -> [Goal; 5] {
        #[allow(clippy::cast_precision_loss, reason = "a count of few")]
        let allocations = self.allocations.map(|count| count as f64);
        let goal = |name, most, found| Goal { name, most, found };
        let memory = self.memory.map(|memory| memory.bytes_per_resting_order);
        [
            goal("core / array book", CORE_GOAL, Some(self.core_ratio)),
            goal(
                "dressed core / array book",
                DRESSED_GOAL,
                Some(self.dressed_ratio),
            ),
            goal(
                "frame encoding / copy",
                ENCODE_GOAL,
                Some(self.encode_ratio),
            ),
            goal("bytes per resting order", MEMORY_GOAL, memory),
            goal("allocations within capacity", 0.0, allocations),
        ]
    }

    fn write_lanes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<22}{:>10}{:>8}{:>8}{:>8}",
            "", "ns/command", "p50", "p99", "p99.9"
        )?;
        let lanes = [
            ("array book", &self.array),
            ("core", &self.core),
            ("core and frame", &self.core_with_frames),
            ("core, dressed", &self.core_dressed),
        ];
        for (name, lane) in lanes {
            let Quantiles { p50, p99, p999 } = lane.quantiles;
            writeln!(f, "{name:<22}{:>10.1}{p50:>8}{p99:>8}{p999:>8}", lane.nanos)?;
        }
        writeln!(
            f,
            "quantiles hold {} ns of the clock's own",
            self.clock_nanos
        )
    }

    fn write_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(memory) = self.memory else {
            return writeln!(f, "memory: this program does not count allocations");
        };
        writeln!(
            f,
            "memory: {:.0} bytes a resting order (room for {}), {:.0} bytes a remembered id (room for {})",
            memory.bytes_per_resting_order,
            memory.resting_orders,
            memory.bytes_per_remembered_id,
            memory.remembered_ids,
        )
    }

    fn write_goals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<30}{:>8}{:>8}", "goal", "found", "most")?;
        for goal in self.goals() {
            writeln!(f, "{goal}")?;
        }
        Ok(())
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = &self.totals;
        writeln!(
            f,
            "{} commands, {} market(s), {} rounds: {} trades, {} lots, notional {}, {} cancelled, {} refused",
            self.commands,
            self.markets,
            self.rounds,
            totals.trades,
            totals.quantity,
            totals.notional,
            totals.cancelled,
            totals.refused,
        )?;
        self.write_lanes(f)?;
        writeln!(
            f,
            "frame of {:.0} bytes, {EVIDENCE_BYTES} of them evidence: encoded in {:.1} ns, copied in {:.1} ns",
            self.frame_bytes, self.encode_nanos, self.copy_nanos,
        )?;
        self.write_memory(f)?;
        self.write_goals(f)
    }
}
