//! How fast an engine restarts: a journal of placements that all rest is written once, and engines
//! start on it; beside them, in turns, the same files are only read and their CRC32C taken.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foretell_engine::{EngineConfig, JOURNAL_DIRECTORY};
use foretell_journal::segment;
use foretell_model::{FramePlace, Sequence};
use serde::Serialize;

use crate::error::MeasureError;
use crate::latency::median;
use crate::report::Goal;
use crate::resting_journal::write_journal;

/// Most seconds a restart over a million placements may take.
const GOAL_SECONDS: f64 = 5.0;
const MILLION: f64 = 1e6;
const READ_BYTES: usize = 1 << 20;

/// What restarts took: medians over the rounds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Placements in the journal; all of them rest.
    pub orders: u32,
    /// All commands in it.
    pub commands: u64,
    /// Rounds.
    pub rounds: usize,
    /// Bytes from the start of the first segment to the last frame's end.
    pub journal_bytes: u64,
    /// From the engine's start until gateways can connect.
    pub seconds: f64,
    /// The slowest of the rounds.
    pub slowest_seconds: f64,
    /// Commands executed again a second, everything a restart does included.
    pub commands_per_second: f64,
    /// Reading the same bytes and taking their CRC32C.
    pub floor_seconds: f64,
    /// Restart to floor.
    pub ratio: f64,
}

impl Report {
    /// The one goal, as seconds for a million placements.
    #[must_use]
    pub fn goal(&self) -> Goal {
        Goal {
            name: "seconds for 1,000,000 orders",
            most: GOAL_SECONDS,
            found: Some(self.seconds * MILLION / f64::from(self.orders)),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} orders, {} commands, {} bytes of journal, medians of {} rounds",
            self.orders, self.commands, self.journal_bytes, self.rounds
        )?;
        writeln!(
            f,
            "restart           {:>8.3} s  {:.0} commands/s, slowest {:.3} s",
            self.seconds, self.commands_per_second, self.slowest_seconds
        )?;
        writeln!(
            f,
            "read and CRC32C   {:>8.3} s  restart is {:.1} times that",
            self.floor_seconds, self.ratio
        )?;
        writeln!(f, "{}", self.goal())
    }
}

/// Writes a journal with `orders` resting orders under `directory` (a temporary one is made there
/// and removed) and restarts an engine on it `rounds` times.
///
/// # Errors
/// The disk, the journal or the engine fails, or an engine comes back with another state.
pub fn measure(directory: &Path, orders: u32, rounds: usize) -> Result<Report, MeasureError> {
    let (orders, rounds) = (orders.max(1), rounds.max(1));
    let scratch = tempfile::Builder::new()
        .prefix("foretell-recover-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let data = scratch.path();
    let written = write_journal(&data.join(JOURNAL_DIRECTORY), orders, false)?;
    let files = files(&data.join(JOURNAL_DIRECTORY), written.end)?;

    let (mut restarts, mut reads, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut journal_bytes = 0;
    for _ in 0..rounds {
        let (read, bytes) =
            read_and_check(&files).map_err(MeasureError::io("reading the journal"))?;
        journal_bytes = bytes;
        let restart = restart(data, written.last)?.as_secs_f64();
        reads.push(read.as_secs_f64());
        restarts.push(restart);
        ratios.push(restart / read.as_secs_f64());
    }
    let seconds = median(&restarts);
    #[allow(
        clippy::cast_precision_loss,
        reason = "a count far below 2^53, for a rate"
    )]
    let commands_per_second = written.last.0 as f64 / seconds;
    Ok(Report {
        orders,
        commands: written.last.0,
        rounds,
        journal_bytes,
        seconds,
        slowest_seconds: restarts.iter().copied().fold(0.0, f64::max),
        commands_per_second,
        floor_seconds: median(&reads),
        ratio: median(&ratios),
    })
}

/// Starts an engine, stops it as soon as it is ready, and says how long that took.
fn restart(data: &Path, last: Sequence) -> Result<Duration, MeasureError> {
    let mut config = EngineConfig::new(data.to_owned());
    // Ctrl-C ends the measurement, not one of its engines.
    config.handle_signals = false;
    // What is measured is the whole journal, and no second execution beside it.
    config.ignore_images = true;
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
            "an engine came back at {other:?}, written were {last:?}"
        ))),
    }
}

/// The segments up to the last frame, in order, with the bytes of each that count.
fn files(journal: &Path, end: FramePlace) -> Result<Vec<(PathBuf, u64)>, MeasureError> {
    let failed = MeasureError::io("listing the journal");
    let listed = || -> std::io::Result<Vec<(PathBuf, u64)>> {
        (1..=end.segment)
            .map(|number| segment::path(journal, number))
            .filter(|path| path.exists())
            .map(|path| Ok((path.clone(), path.metadata()?.len())))
            .collect()
    };
    let mut files = listed().map_err(failed)?;
    match files.last_mut() {
        Some((_, bytes)) => *bytes = u64::from(end.offset) + u64::from(end.length),
        None => return Err(MeasureError::Wrong("the journal has no segment".to_owned())),
    }
    Ok(files)
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
    use crate::resting_journal::{ACCOUNTS, BURST, MARKETS, SIGNATURE_BYTES};
    use foretell_model::evidence::WORDS_BYTES;

    #[test]
    fn engines_come_back_with_every_order() {
        let orders = 3 * BURST + 1;
        let report = measure(&std::env::temp_dir(), orders, 2).unwrap();
        let set_up = u64::from(2 + 2 * MARKETS + 2 * ACCOUNTS);
        assert_eq!(report.commands, u64::from(orders) + set_up);
        let evidence = (WORDS_BYTES + SIGNATURE_BYTES) as u64;
        assert!(report.journal_bytes > u64::from(orders) * evidence);
        assert!(report.slowest_seconds >= report.seconds);
    }

    #[test]
    fn the_goal_is_for_a_million() {
        let report = Report {
            orders: 250_000,
            commands: 250_000,
            rounds: 1,
            journal_bytes: 1,
            seconds: 1.0,
            slowest_seconds: 1.0,
            commands_per_second: 250_000.0,
            floor_seconds: 1.0,
            ratio: 1.0,
        };
        assert_eq!(report.goal().found, Some(4.0));
        assert!(report.goal().is_met());
    }
}
