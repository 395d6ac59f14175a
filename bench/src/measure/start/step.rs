//! Effect of the publisher on the engine's step: the same load without a publisher, with a
//! following one, with one that writes snapshots continuously, and with another writer of as many
//! bytes.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_engine::client::Client;
use foretell_journal::receipt;
use foretell_link::Stage;

use super::figures::StepRound;
use super::{PAUSE, StartScope, publishing_on_request};
use crate::error::MeasureError;
use crate::harness::book_writer::BookWriter;
use crate::harness::running_engine::{RunningEngine, snapshot, status};

/// Orders per second while the engine's step is measured; as many are cancelled.
const ORDERS_PER_SECOND: u32 = 1_000;
/// Bytes written and synced at once, as by the publisher.
const PIECE: usize = 2 << 20;

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

/// Rounds of each lane.
#[derive(Default)]
pub(super) struct Lanes {
    pub(super) off: Vec<StepRound>,
    pub(super) follows: Vec<StepRound>,
    pub(super) other_writer: Vec<StepRound>,
    pub(super) snapshots: Vec<StepRound>,
}

/// Measures the engine's step in alternating lanes; `image` is the size of a snapshot in bytes.
pub(super) fn measure(data: &Path, scope: &StartScope, image: u64) -> Result<Lanes, MeasureError> {
    let image = usize::try_from(image).unwrap_or(usize::MAX);
    let mut lanes = Lanes::default();
    let mut number = 0;
    for _ in 0..scope.rounds.max(1) {
        for (publisher, turns) in [
            (Publisher::Off, &mut lanes.off),
            (Publisher::Follows, &mut lanes.follows),
            (Publisher::OtherWriter, &mut lanes.other_writer),
            (Publisher::Snapshots, &mut lanes.snapshots),
        ] {
            number += 1;
            turns.push(turn(data, (publisher, image), number, scope.turn)?);
        }
    }
    Ok(lanes)
}

/// One round on an engine of its own.
fn turn(
    data: &Path,
    (publisher, image): (Publisher, usize),
    number: u32,
    length: Duration,
) -> Result<StepRound, MeasureError> {
    let mut config = publishing_on_request(data);
    config.publishing.enabled = publisher != Publisher::Off;
    let engine = RunningEngine::start(config)?;
    let mut operator = engine.operator()?;
    while publisher != Publisher::Off && status(&mut operator)?.publisher_lag() > 0 {
        std::thread::park_timeout(PAUSE);
    }
    let mut writer = BookWriter::connect_again(&engine.ready.socket, number)?;
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| -> Result<u64, MeasureError> {
        let load = scope.spawn(|| writer.run(ORDERS_PER_SECOND, &stop, |_| Ok(())));
        let end = Instant::now() + length;
        let written = match publisher {
            Publisher::Off | Publisher::Follows => rest(end),
            Publisher::OtherWriter => write_unrelated(data, image, end),
            Publisher::Snapshots => take(&mut operator, end),
        };
        stop.store(true, Ordering::Relaxed);
        load.join().expect("the load does not panic")?;
        written
    })?;
    let apply = *status(&mut operator)?.stage(Stage::Apply);
    drop((operator, writer));
    engine.stop()?;
    Ok(StepRound { apply, written })
}

fn rest(end: Instant) -> Result<u64, MeasureError> {
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
    Ok(0)
}

/// Takes snapshots until `end`; returns their number.
fn take(operator: &mut Client, end: Instant) -> Result<u64, MeasureError> {
    let mut taken = 0;
    while Instant::now() < end {
        snapshot(operator)?;
        taken += 1;
    }
    Ok(taken)
}

/// Hashes, writes and syncs as many bytes as a snapshot has, piece by piece, until `end`; returns
/// the number of repetitions.
fn write_unrelated(data: &Path, image: usize, end: Instant) -> Result<u64, MeasureError> {
    let path = data.join("beside.tmp");
    let io = MeasureError::io("writing during the step");
    let bytes = vec![0x5A; PIECE];
    let image = image.max(PIECE);
    let written = File::create_new(&path).and_then(|file| {
        let mut times = 0;
        while Instant::now() < end {
            for offset in (0..image).step_by(PIECE) {
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
        .map_err(io)
}
