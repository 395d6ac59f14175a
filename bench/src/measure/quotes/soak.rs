//! Sets at the highest durable rate for a while: whether readers keep up and memory stays bounded.

use std::time::{Duration, Instant};

use super::Lanes;
use crate::error::MeasureError;
use crate::harness::http::{get, success};
use crate::report::{Goal, Measure, Report};
use crate::workloads::signed_orders::Terms;
use foretell_model::limits::MAX_QUOTES;

/// Sets that are signed together.
const SIGNED: u32 = 256;
/// Most milliseconds from the last acknowledgement to a read that shows it.
const MOST_BEHIND_MS: f64 = 100.0;
/// Highest memory at the end as a multiple of that after the first tenth.
const MOST_GROWTH: f64 = 1.5;

/// Moves all quotes of every set for this long.
pub(super) fn measure(
    lanes: &mut Lanes,
    length: Duration,
    report: &mut Report,
) -> Result<(), MeasureError> {
    let (begun, mut moved, mut early) = (Instant::now(), 0.0, None);
    let mut sending_s = 0.0;
    while begun.elapsed() < length {
        let sets: Vec<_> = (0..SIGNED)
            .map(|index| lanes.set(index, MAX_QUOTES))
            .collect();
        let spent = lanes.send(&sets, MAX_QUOTES)?;
        moved += spent.moved;
        sending_s += spent.wall_s;
        if early.is_none() && begun.elapsed() > length / 10 {
            early = Some(resident_mb()?);
        }
    }
    let behind_ms = behind(lanes)?;
    let late = resident_mb()?;
    let measures = [
        Measure::single("quotes moved a second, sustained", "1/s", moved / sending_s).higher(),
        Measure::single("behind the last acknowledgement", "ms", behind_ms),
        Measure::single("memory after a tenth", "MB", early.unwrap_or(late)),
        Measure::single("memory at the end", "MB", late),
    ];
    report.measures.extend(measures);
    report.goals.push(Goal::at_most(
        "readers behind, ms",
        MOST_BEHIND_MS,
        Some(behind_ms),
    ));
    let growth = early.map(|early| late / early);
    report.goals.push(Goal::at_most(
        "memory at the end / after a tenth",
        MOST_GROWTH,
        growth,
    ));
    Ok(())
}

/// Milliseconds until a read shows the last set.
fn behind(lanes: &mut Lanes) -> Result<f64, MeasureError> {
    let set = lanes.set(0, MAX_QUOTES);
    let connection = &mut lanes.connections[0];
    let head = success(connection.ask(&set))?.head.to_vec();
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let sequence = head
        .lines()
        .find_map(|line| line.strip_prefix("x-sequence: "));
    let sequence = sequence.ok_or_else(|| MeasureError::wrong("an answer without a sequence"))?;
    let token = Terms::LIVE_EXCHANGE.token_text();
    let header = format!("x-min-sequence: {}\r\n", sequence.trim());
    let read = get(&format!("/midpoint?token_id={token}"), &header);
    let begun = Instant::now();
    success(connection.ask(&read))?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// Resident memory of this process: engine, gateway and their client.
fn resident_mb() -> Result<f64, MeasureError> {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.map_err(MeasureError::io("reading the memory of this process"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    let kilobytes = kilobytes.ok_or_else(|| MeasureError::wrong("no resident memory"))?;
    Ok(kilobytes / 1_024.0)
}
