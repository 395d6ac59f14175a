//! Benefit and cost of snapshots: start time and memory of a gateway on a long history; size and
//! write time of snapshots for several sizes of live state and history; and their effect on the
//! engine's step.
//!
//! Gateways are child processes, so their memory is measured alone.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use foretell_engine::SNAPSHOT_DIRECTORY;
use foretell_journal::snapshot::images;
use foretell_model::command::Deposit;
use foretell_model::{Command, Micros, Sequence, WalletAddress};

use super::{HistorySize, ScratchDir, publisher_step};
use crate::error::MeasureError;
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::latency::{median, ratio};
use crate::harness::running_engine::{
    RunningEngine, apply, on_generated_journal, snapshot, status,
};
use crate::report::{Goal, Measure, Report};
use crate::workloads::history::{self, Shape};
use crate::workloads::signed_orders::Terms;
use crate::workloads::venue;

/// Maximum seconds from a gateway's start to its first answer, at ten million trades.
const START_GOAL: f64 = 2.0;
/// Maximum bytes of a gateway's own memory per trade.
const MEMORY_GOAL: f64 = 48.0;
/// Trades for which the goals are stated.
const GOAL_TRADES: u64 = 10_000_000;
/// Snapshots written in sequence for a median.
const IMAGES: u32 = 5;

/// Arguments of `foretell-bench start`.
#[derive(Debug, Args)]
pub struct StartScope {
    /// Trades of the long history; 2 GB of disk a million
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    trades: u32,
    /// Starts per history, rounds per lane; medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds per round
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    turn: Duration,
    #[command(flatten)]
    size: HistorySize,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Publishes histories with engines, and starts gateways on them; then measures the engine's step
/// on the longest.
pub(super) fn measure(scope: &StartScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("start", "disk");
    let scratch = scope.scratch.directory("start")?;
    let (trades, rounds) = (scope.trades, scope.rounds.max(1));
    let whole = scope.size.shape(trades);
    let short = Shape {
        trades: whole.trades / 10,
        ..whole
    };
    let shapes = [
        Shape {
            trades: 0,
            live_orders: 0,
            crowd: 1,
            markets: 1,
            ..whole
        },
        short,
        Shape {
            live_orders: trades / 50,
            ..short
        },
        whole,
    ];
    let (runs, longest) = run_histories(&mut report, scratch.path(), &shapes, rounds)?;
    report
        .goals
        .extend(runs.last().map(goals).into_iter().flatten());
    let image_bytes = runs.last().map_or(0, |run| run.image_bytes);
    publisher_step::measure(&mut report, &longest, image_bytes, rounds, scope.turn)?;
    report.rounds = rounds;
    report.scope = format!("gateways and images on histories of up to {trades} trades");
    Ok(report.end())
}

/// Runs every history in turn and adds its figures to the report. Returns the data directory of the
/// last one, too; the others are removed.
fn run_histories(
    report: &mut Report,
    directory: &Path,
    shapes: &[Shape],
    rounds: usize,
) -> Result<(Vec<HistoryRun>, PathBuf), MeasureError> {
    let data = directory.join("history");
    let mut runs = Vec::new();
    for shape in shapes {
        if data.exists() {
            std::fs::remove_dir_all(&data).map_err(MeasureError::io("removing a journal"))?;
        }
        runs.push(HistoryRun::of(&data, shape, rounds)?);
    }
    report.notes.extend(runs.iter().map(HistoryRun::text));
    report
        .measures
        .extend(runs.iter().flat_map(HistoryRun::measures));
    Ok((runs, data))
}

/// One history, its snapshots, and gateways on it.
#[derive(Default)]
struct HistoryRun {
    trades: u64,
    live_orders: u64,
    accounts: u32,
    markets: u32,
    commands: u64,
    /// From the engine's readiness until its publisher has executed and published the whole
    /// history.
    publish_seconds: f64,
    image_bytes: u64,
    /// Further snapshots, with everything before each already published.
    image_seconds: Vec<f64>,
    chunks: u64,
    chunk_bytes: u64,
    /// From the start of each gateway process until it answered with the newest state.
    start_seconds: Vec<f64>,
    /// A gateway's anonymous memory at that time: the maximum of all rounds.
    own_bytes: u64,
    /// Resident memory, touched file pages and the program included.
    resident_bytes: u64,
}

impl HistoryRun {
    fn of(data: &Path, shape: &Shape, rounds: usize) -> Result<Self, MeasureError> {
        let (written, _) = history::write(data, shape)?;
        let engine = RunningEngine::start(on_generated_journal(data))?;
        let mut operator = engine.operator()?;
        let began = Instant::now();
        let mut last = snapshot(&mut operator)?;
        let mut run = Self {
            trades: shape.trades,
            commands: written.last.0,
            publish_seconds: began.elapsed().as_secs_f64(),
            ..Self::default()
        };
        for number in 0..IMAGES {
            // Changes the state, so that the next snapshot differs.
            let deposit = Command::Deposit(Deposit {
                wallet: WalletAddress([0xEE; 20]),
                amount: Micros(1),
                reference: venue::reference(u32::MAX - number),
            });
            apply(&mut operator, 0, deposit)?;
            let began = Instant::now();
            last = snapshot(&mut operator)?;
            run.image_seconds.push(began.elapsed().as_secs_f64());
        }
        let status = status(&mut operator)?;
        (run.live_orders, run.accounts) = (status.live_orders, status.accounts);
        run.markets = status.markets;
        run.add_files(&data.join(SNAPSHOT_DIRECTORY), last)?;
        run.add_starts(data, rounds, last)?;
        drop(operator);
        engine.stop()?;
        Ok(run)
    }

    /// Adds the sizes of published files.
    fn add_files(&mut self, snapshots: &Path, newest: Sequence) -> Result<(), MeasureError> {
        let failed = |source| MeasureError::io("listing the snapshots")(source);
        let images = images(snapshots).map_err(failed)?;
        if images.first() != Some(&newest) {
            return Err(MeasureError::Wrong(format!("the images are {images:?}")));
        }
        let newest = format!("{:020}.image", newest.0);
        for entry in std::fs::read_dir(snapshots).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, bytes) = (entry.file_name(), entry.metadata().map_err(failed)?.len());
            let name = name.to_string_lossy();
            if name == newest {
                self.image_bytes = bytes;
            } else if name.ends_with(".chunk") {
                self.chunks += 1;
                self.chunk_bytes += bytes;
            }
        }
        Ok(())
    }

    /// Starts gateways in sequence.
    fn add_starts(
        &mut self,
        data: &Path,
        rounds: usize,
        last: Sequence,
    ) -> Result<(), MeasureError> {
        let path = format!("/book?token_id={}", Terms::LIVE_EXCHANGE.token_text());
        for _ in 0..rounds {
            let gateway = GatewayProcess::start("trading", data, &path, last)?;
            let memory = gateway.memory()?;
            self.start_seconds.push(gateway.after.as_secs_f64());
            self.own_bytes = self.own_bytes.max(memory.anonymous);
            self.resident_bytes = self.resident_bytes.max(memory.resident);
        }
        Ok(())
    }

    /// A name that distinguishes it from the others.
    fn name(&self) -> String {
        format!("{} trades, {} orders", self.trades, self.live_orders)
    }

    /// Its measures, with its name as prefix.
    fn measures(&self) -> Vec<Measure> {
        let of = |what: &str, unit: &str, rounds: &[f64]| {
            Measure::of(format!("{}: {what}", self.name()), unit, rounds.to_vec())
        };
        let bytes = |what: &str, bytes| of(what, "bytes", &[ratio(bytes, 1)]);
        vec![
            bytes("image", self.image_bytes),
            of("one more image", "s", &self.image_seconds),
            of("first image", "s", &[self.publish_seconds]),
            bytes("history", self.chunk_bytes),
            of("gateway answers", "s", &self.start_seconds),
            bytes("gateway's own memory", self.own_bytes),
            bytes("gateway's memory with files", self.resident_bytes),
        ]
    }

    fn text(&self) -> String {
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

/// The goals, for the longest history.
fn goals(long: &HistoryRun) -> [Goal; 2] {
    let is_full = long.trades >= GOAL_TRADES;
    let note = |goal: Goal| match is_full {
        true => goal,
        false => goal.note(format!("on {} of {GOAL_TRADES} trades", long.trades)),
    };
    let seconds = Some(median(&long.start_seconds));
    // On a short history, memory that does not grow with trades dominates.
    let memory = is_full.then(|| ratio(long.own_bytes, long.trades));
    [
        note(Goal::at_most(
            "s until a gateway answers",
            START_GOAL,
            seconds,
        )),
        note(Goal::at_most(
            "own bytes of a gateway per trade",
            MEMORY_GOAL,
            memory,
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_of_medians_and_memory_only_of_a_full_history() {
        let mut run = HistoryRun {
            trades: GOAL_TRADES,
            start_seconds: vec![1.5, 9.0, 1.0],
            own_bytes: 49 * GOAL_TRADES,
            ..HistoryRun::default()
        };
        let found = |run: &HistoryRun| goals(run).map(|goal| goal.found);
        assert_eq!(found(&run), [Some(1.5), Some(49.0)]);
        assert_eq!(goals(&run).map(|goal| goal.is_met()), [true, false]);
        assert!(goals(&run).iter().all(|goal| goal.note.is_none()));
        run.trades = 100;
        assert_eq!(found(&run), [Some(1.5), None]);
        assert!(goals(&run).iter().all(|goal| goal.note.is_some()));
    }
}
