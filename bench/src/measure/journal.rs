//! Cost of durability inside the engine: acknowledgements compared with a bare write and `fdatasync`
//! of as many bytes, one at a time and at half the engine's capacity.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use foretell_auth::Domains;
use foretell_engine::JOURNAL_DIRECTORY;
use foretell_journal::{PAGE, segment};
use foretell_model::{Sequence, WalletAddress};

use super::ScratchDir;
use super::replay::batches;
use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, nanos, ratio};
use crate::harness::live_exchange::start_alone;
use crate::harness::order_flow::OrderFlow;
use crate::harness::rounds::Rounds;
use crate::report::{Goal, Measure, Report};

/// Maximum ratio of an acknowledgement to a write and sync on an idle engine, minus two wake-ups.
const IDLE_GOAL: f64 = 1.3;
/// Maximum ratios at half load, at median and p99.
const LOAD_GOALS: [f64; 2] = [2.0, 4.0];
/// Owner of the account.
const OWNER: WalletAddress = WalletAddress([9; 20]);
/// Commands in flight when measuring the engine's capacity.
const WINDOW: usize = 512;
/// Attempts of a round in which the engine's ring was full, each at half the previous rate.
const ATTEMPTS: usize = 6;

const SYNC: &str = "write and fdatasync";
const ECHO: &str = "echo through a socket";
const IDLE: &str = "acknowledgement, idle";
const LOAD_SYNC: &str = "write and fdatasync, batches of half load";
const GROUPED: &str = "waiting for those syncs alone, half load";
const LOADED: &str = "acknowledgement, half load";

/// Arguments of `foretell-bench journal`.
#[derive(Debug, Args)]
pub struct JournalScope {
    /// Rounds; medians are reported
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Orders per round, one at a time
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    orders: u32,
    /// Seconds per round at half load
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "1", value_parser = super::seconds)]
    turn: Duration,
    #[command(flatten)]
    scratch: ScratchDir,
}

pub(super) fn measure(scope: &JournalScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("journal", "disk");
    report.rounds = scope.rounds.max(1);
    let scratch = scope.scratch.directory("journal")?;
    let data = scratch.path().join("data");
    let engine = start_alone(&data, &Domains::default(), &[OWNER])?;
    let mut file = SyncFile::create(&scratch.path().join("floor"))
        .map_err(MeasureError::io("preparing the floor's file"))?;
    let socket = &engine.ready.socket;
    alone(&mut report, socket, &mut file, scope.orders)?;
    let journal = data.join(JOURNAL_DIRECTORY);
    under_load(&mut report, socket, &journal, &mut file, scope.turn)?;
    engine.stop()?;
    Ok(report.end())
}

/// Measures one order at a time.
fn alone(
    report: &mut Report,
    socket: &Path,
    file: &mut SyncFile,
    orders: u32,
) -> Result<(), MeasureError> {
    let (mut flow, mut echo) = (OrderFlow::connect(socket, 0)?, echo()?);
    let mut lanes = [SYNC, ECHO, IDLE].map(Rounds::new);
    let mut ratios = Vec::new();
    for _ in 0..report.rounds {
        let begun = report.elapsed();
        let times = alone_turn(&mut flow, &mut echo, file, orders)?;
        for (lane, times) in lanes.iter_mut().zip(&times) {
            lane.push(report, begun, times);
        }
        let [sync, echo, acknowledged] = lanes.each_ref().map(Rounds::last_p50);
        // Subtracts the socket's two wake-ups; the engine may have two more.
        ratios.push((acknowledged - 2.0 * echo) / sync);
    }
    report.measures.extend(lanes.iter().map(Rounds::medians));
    let ratio = Measure::of("acknowledgement less four wake-ups / sync", "", ratios);
    report.goals.push(Goal::at_most_of_part(
        "acknowledgement, idle, less two wake-ups / write and fdatasync",
        IDLE_GOAL,
        Some(ratio.value),
    ));
    report.measures.push(ratio);
    Ok(())
}

/// A socket whose peer, a thread, sends every byte back until the socket closes.
fn echo() -> Result<UnixStream, MeasureError> {
    let pair = UnixStream::pair().map_err(MeasureError::io("making a pair of sockets"))?;
    let (echo, mut other) = pair;
    std::thread::spawn(move || {
        let mut byte = [0];
        while other.read_exact(&mut byte).is_ok() && other.write_all(&byte).is_ok() {}
    });
    Ok(echo)
}

/// Times write and sync, echo, and acknowledgement, alternating per order: another program that
/// takes the CPU for a while disturbs all three.
fn alone_turn(
    flow: &mut OrderFlow,
    echo: &mut UnixStream,
    file: &mut SyncFile,
    orders: u32,
) -> Result<[Stopwatch; 3], MeasureError> {
    let [mut sync, mut echoed, mut acknowledged] = std::array::from_fn(|_| Stopwatch::new());
    // The frames of an order and a cancel fit into one page, so the batch is one page.
    let page = [0x5A; PAGE];
    for _ in 0..orders {
        sync.time(|| file.write_and_sync(&page))
            .map_err(MeasureError::io("the floor's sync"))?;
        echoed
            .time(|| {
                let mut byte = [1];
                echo.write_all(&byte)?;
                echo.read_exact(&mut byte)
            })
            .map_err(MeasureError::io("an echo"))?;
        acknowledged.time(|| flow.group(1))?;
    }
    Ok([sync, echoed, acknowledged])
}

/// Measures at half the engine's capacity.
fn under_load(
    report: &mut Report,
    socket: &Path,
    journal: &Path,
    file: &mut SyncFile,
    turn: Duration,
) -> Result<(), MeasureError> {
    let mut flow = OrderFlow::connect(socket, 1)?;
    let full = flow.full_rate(WINDOW, turn)?;
    let mut rate = full / 2.0;
    let [mut acknowledged, mut syncs, mut waits] = [LOADED, LOAD_SYNC, GROUPED].map(Rounds::new);
    let mut batches = Vec::new();
    for _ in 0..report.rounds {
        let begun = report.elapsed();
        let (answers, after) = loaded_turn(&mut flow, &mut rate, turn)?;
        acknowledged.push(report, begun, &answers);
        let (_, bytes) = batches_after(journal, after)?;
        let begun = report.elapsed();
        let (sync, wait) = sync_turn(file, bytes, rate, turn / 4)?;
        syncs.push(report, begun, &sync);
        waits.push(report, begun, &wait);
        batches.push(ratio(bytes as u64, 1));
    }
    let [p99_of_waits, p99] = [&waits, &acknowledged].map(|lane| lane.p99s().over(&syncs.p99s()));
    let syncs = syncs.medians();
    let [waits, loaded] = [waits, acknowledged].map(|lane| lane.medians().over(&syncs));
    for (quantile, most, measure) in [
        ("p50", LOAD_GOALS[0], &loaded),
        ("p99", LOAD_GOALS[1], &p99),
    ] {
        let name = format!("acknowledgement, half load / write and fdatasync, {quantile}");
        let goal = Goal::at_most_of_part(name, most, measure.ratio());
        report.goals.push(goal);
    }
    let explained = less_wake_ups(report, &loaded, &waits);
    let batches = Measure::of("a batch, half load", "bytes", batches);
    let full = Measure::single("full load", "1/s", full).higher();
    report.scope = format!(
        "an engine of its own; half load is {rate:.0} commands a second, half of the {:.0} that \
         one client gets with {WINDOW} on their way, or less where a sync took so long that the ring was full",
        full.value,
    );
    report.measures.extend([
        syncs,
        waits,
        loaded,
        p99_of_waits,
        p99,
        explained,
        batches,
        full,
    ]);
    Ok(())
}

/// One round at `rate`. If the disk stalls until the ring is full, repeats at half the rate, which
/// stays. Returns the last sequence before, too.
pub(super) fn loaded_turn(
    flow: &mut OrderFlow,
    rate: &mut f64,
    turn: Duration,
) -> Result<(Stopwatch, Sequence), MeasureError> {
    for _ in 0..ATTEMPTS {
        let before = flow.sequence()?;
        if let Some(times) = flow.open_loop(*rate, turn)? {
            return Ok((times, before));
        }
        *rate /= 2.0;
    }
    Err(MeasureError::Wrong(format!(
        "the ring was full in {ATTEMPTS} attempts: the disk stalls for too long"
    )))
}

/// Number and mean size of the batches after the sequence `after`, headers and padding included. The
/// last batch is on disk too, because its frames are acknowledged.
pub(super) fn batches_after(journal: &Path, after: Sequence) -> Result<(u32, usize), MeasureError> {
    let (mut count, mut bytes) = (0, 0);
    let paths = (1..).map(|number| segment::path(journal, number));
    for path in paths.take_while(|path| path.exists()) {
        let segment = std::fs::read(path).map_err(MeasureError::io("reading the journal"))?;
        for (header, _) in batches(&segment).filter(|(header, _)| header.first > after) {
            count += 1;
            bytes += header.total();
        }
    }
    match count {
        0 => Err(MeasureError::wrong("nothing was written under load")),
        _ => Ok((count, bytes / count as usize)),
    }
}

/// Writes and syncs `bytes` repeatedly; returns the duration of each sync. Also returns the wait of
/// commands at `rate` a second if only those syncs existed: each waits for the end of the running
/// sync, which cannot include it, and for the next one.
fn sync_turn(
    file: &mut SyncFile,
    bytes: usize,
    rate: f64,
    turn: Duration,
) -> Result<(Stopwatch, Stopwatch), MeasureError> {
    let content = vec![0x5A; bytes];
    let (mut times, mut waits) = (Stopwatch::new(), Stopwatch::new());
    let (mut running, begun) = (0, Instant::now());
    while waits.times().is_empty() || begun.elapsed() < turn {
        let start = Instant::now();
        file.write_and_sync(&content)
            .map_err(MeasureError::io("the floor's sync"))?;
        let next = nanos(start.elapsed());
        times.record(next);
        arrivals(running, rate).for_each(|left| waits.record(left + next));
        running = next;
    }
    Ok((times, waits))
}

/// Time left of a sync of `sync` nanoseconds when each command arrives, evenly spaced: at least one
/// command, and none without a sync.
fn arrivals(sync: u64, rate: f64) -> impl Iterator<Item = u64> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "commands of a sync, and nanoseconds far below 2^53"
    )]
    let count = ((sync as f64 * rate / 1e9) as u64).max(1).min(sync);
    (0..count).map(move |number| sync - sync * (2 * number + 1) / (2 * count))
}

/// Ratio of an acknowledgement to waiting for the same syncs alone, without the wake-ups on its
/// way: client, ingress, matcher, ingress, client, each as long as in an echo.
fn less_wake_ups(report: &Report, loaded: &Measure, waits: &Measure) -> Measure {
    let echoes = report.measure(ECHO).map_or(&[][..], |echo| &echo.rounds);
    let rounds = loaded.rounds.iter().zip(&waits.rounds).zip(echoes);
    let ratios = rounds.map(|((loaded, waits), echo)| (loaded - 2.0 * echo) / waits);
    Measure::of(
        "half load less four wake-ups / waiting for those syncs alone",
        "",
        ratios.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_are_measured_alone_and_under_load() {
        let scope = JournalScope {
            rounds: 1,
            orders: 5,
            turn: Duration::from_millis(50),
            scratch: ScratchDir::default(),
        };
        let report = measure(&scope).unwrap();
        for name in [SYNC, ECHO, IDLE, LOAD_SYNC, GROUPED, LOADED, "full load"] {
            assert!(
                report.measure(name).unwrap().value > 0.0,
                "{name}\n{report}"
            );
        }
        assert_eq!(report.goals.len(), 3);
        assert!(report.measure("a batch, half load").unwrap().value >= 4096.0);
    }

    #[test]
    fn commands_come_evenly_while_a_sync_runs() {
        assert_eq!(
            arrivals(1_000, 4e6).collect::<Vec<_>>(),
            [875, 625, 375, 125]
        );
        assert_eq!(arrivals(1_000, 1.0).collect::<Vec<_>>(), [500]);
        assert_eq!(arrivals(0, 1e6).count(), 0);
    }
}
