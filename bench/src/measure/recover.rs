//! Starts: of an engine on a journal of resting placements, alternating with its baseline, reading the
//! same files with their CRC32C; and of gateways on a long history, with what snapshots of it cost the
//! engine's step.

mod publisher_step;
mod start;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use foretell_engine::{EngineConfig, JOURNAL_DIRECTORY};
use foretell_journal::segment;
use foretell_model::{FramePosition, Sequence};

use super::{HistorySize, ScratchDir};
use crate::error::MeasureError;
use crate::harness::latency::ratio;
use crate::report::{Goal, Measure, Report};
use crate::workloads::journals::write_resting;

/// Maximum seconds of a restart on a million placements.
const GOAL_SECONDS: f64 = 5.0;
const MILLION: f64 = 1e6;
const READ_BYTES: usize = 1 << 20;

/// Arguments of `foretell-bench recover`.
#[derive(Debug, Args)]
pub struct RecoverScope {
    /// Placements in the journal
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    orders: u32,
    /// Trades of the history; 2 GB of disk a million
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    trades: u32,
    #[command(flatten)]
    size: HistorySize,
    /// Starts of each kind, rounds per lane; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of a round with or without snapshots
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    turn: Duration,
    #[command(flatten)]
    scratch: ScratchDir,
}

pub(super) fn measure(scope: &RecoverScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("recover", "disk");
    report.rounds = scope.rounds.max(1);
    restarts(&mut report, scope.orders, &scope.scratch)?;
    let scratch = scope.scratch.directory("start")?;
    let history = scratch.path().join("history");
    start::measure(&mut report, &history, &scope.size.shape(scope.trades))?;
    publisher_step::measure(&mut report, &history, scope.turn)?;
    report.scope += &format!("; gateways on a history of {} trades", scope.trades);
    Ok(report.end())
}

/// Writes a journal once, and restarts an engine on it.
fn restarts(report: &mut Report, orders: u32, scratch: &ScratchDir) -> Result<(), MeasureError> {
    let scratch = scratch.directory("recover")?;
    let data = scratch.path();
    let written = write_resting(&data.join(JOURNAL_DIRECTORY), orders, false)?;
    let files = files(&data.join(JOURNAL_DIRECTORY), written.end)?;

    let (mut restarts, mut reads) = (Vec::new(), Vec::new());
    let mut journal_bytes = 0;
    for _ in 0..report.rounds {
        let (read, bytes) =
            read_and_check(&files).map_err(MeasureError::io("reading the journal"))?;
        journal_bytes = bytes;
        reads.push(read.as_secs_f64());
        restarts.push(restart(data, written.last)?.as_secs_f64());
    }
    report.scope = format!(
        "{orders} orders that rest, {} commands, {journal_bytes} bytes of journal",
        written.last
    );
    let commands = ratio(written.last.0, 1);
    let order_bytes = ratio(journal_bytes, orders.into());
    let rates = restarts.iter().map(|seconds| commands / seconds).collect();
    let slowest = restarts.iter().copied().fold(0.0, f64::max);
    let read = Measure::of("reading and CRC32C", "s", reads);
    let restart = Measure::of("restart", "s", restarts).over(&read);
    report.goals.push(goal(restart.value, orders));
    report.measures.extend([
        read,
        restart,
        Measure::single("slowest restart", "s", slowest),
        Measure::of("commands a second", "1/s", rates).higher(),
        Measure::single("journal, an order", "bytes", order_bytes),
    ]);
    Ok(())
}

/// Goal, scaled to a million orders.
fn goal(seconds: f64, orders: u32) -> Goal {
    let found = seconds * MILLION / f64::from(orders);
    Goal::at_most(
        "s of a restart on 1,000,000 orders",
        GOAL_SECONDS,
        Some(found),
    )
}

/// Starts an engine, stops it when it is ready, and returns the start time.
fn restart(data: &Path, last: Sequence) -> Result<Duration, MeasureError> {
    let mut config = EngineConfig::new(data.to_owned());
    // The journal has times of another day.
    config.accept_clock_jump = true;
    // Ctrl-C ends the measurement, not one of its engines.
    config.handle_signals = false;
    // Measure the whole journal, without a concurrent second execution.
    config.ignore_snapshots = true;
    config.publishing.enabled = false;
    let start = Instant::now();
    let mut ready_after = None;
    foretell_engine::run(&config, |ready| {
        ready_after = Some((start.elapsed(), ready.sequence));
        ready.stop.stop();
    })?;
    match ready_after {
        Some((elapsed, sequence)) if sequence == last => Ok(elapsed),
        other => Err(MeasureError::Wrong(format!(
            "an engine restarted at {other:?}, expected {last:?}"
        ))),
    }
}

/// The segments up to the last frame, in order, with their valid bytes.
fn files(journal: &Path, end: FramePosition) -> Result<Vec<(PathBuf, u64)>, MeasureError> {
    let valid = |number| -> std::io::Result<(PathBuf, u64)> {
        let path = segment::path(journal, number);
        let bytes = match number == end.segment {
            true => u64::from(end.offset) + u64::from(end.length),
            false => path.metadata()?.len(),
        };
        Ok((path, bytes))
    };
    let files: std::io::Result<Vec<_>> = (1..=end.segment).map(valid).collect();
    files.map_err(MeasureError::io("listing the journal"))
}

fn read_and_check(files: &[(PathBuf, u64)]) -> std::io::Result<(Duration, u64)> {
    let mut buffer = vec![0; READ_BYTES];
    let (mut crc, mut total) = (0, 0);
    let start = Instant::now();
    for (path, bytes) in files {
        let mut file = File::open(path)?.take(*bytes);
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            crc = crc32c::crc32c_append(crc, &buffer[..count]);
            total += count as u64;
        }
    }
    let elapsed = start.elapsed();
    std::hint::black_box(crc);
    Ok((elapsed, total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::journal_writer::BURST;
    use crate::workloads::journals::RESTING_VENUE_COMMANDS;

    #[test]
    fn engines_come_back_with_every_order() {
        let orders = 3 * BURST + 1;
        let mut report = Report::begin("recover", "disk");
        report.rounds = 2;
        restarts(&mut report, orders, &ScratchDir::default()).unwrap();
        let commands = u64::from(orders) + RESTING_VENUE_COMMANDS;
        assert!(
            report.scope.contains(&format!(" {commands} commands")),
            "{}",
            report.scope
        );
        let restart = report.measure("restart").unwrap();
        assert!(restart.rounds.len() == 2 && restart.ratio().is_some_and(|ratio| ratio > 0.0));
        assert!(report.measure("slowest restart").unwrap().value >= restart.value);
    }

    #[test]
    fn the_goal_is_for_a_million() {
        let goal = goal(1.0, 250_000);
        assert!(goal.found == Some(4.0) && goal.is_met());
    }
}
