//! Cost of durability inside the engine: frame encoding compared with a copy of the same bytes, and
//! acknowledgements compared with a bare write and `fdatasync` of as many bytes, one at a time and
//! at half the engine's capacity.

mod batches;
mod idle;
mod load;

use std::path::Path;
use std::time::Duration;

use foretell_auth::Domains;
use foretell_engine::JOURNAL_DIRECTORY;
use foretell_model::WalletAddress;

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::latency::{Quantiles, Stopwatch};
use crate::harness::live_exchange::start_alone;
use crate::measure::encoding;
use crate::measure::matching::Subject;
use crate::report::{Goal, Interval, Measure, Report};
use crate::workloads::workload::WorkloadKind;

/// Maximum ratio of encoding a frame to copying its bytes.
const ENCODE_GOAL: f64 = 2.0;
/// Maximum ratio of an acknowledgement to a write and sync on an idle engine, minus two wake-ups.
const IDLE_GOAL: f64 = 1.3;
/// Maximum ratios at half load, at median and p99.
const LOAD_GOALS: [f64; 2] = [2.0, 3.0];
const NANOS_PER_US: f64 = 1e3;
/// Stream whose frames are encoded.
const STREAM: (u32, usize, u32) = (1, 500_000, 10_000);
/// Owner of the account.
const OWNER: WalletAddress = WalletAddress([9; 20]);

const SYNC: &str = "write and fdatasync";
const ECHO: &str = "echo through a socket";
const IDLE: &str = "acknowledgement, idle";
const LOAD_SYNC: &str = "write and fdatasync, batches of half load";
const GROUPED: &str = "waiting for those syncs alone, half load";
const LOADED: &str = "acknowledgement, half load";

/// Size of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalScope {
    /// Rounds.
    pub rounds: usize,
    /// Orders per round, one at a time.
    pub orders: u32,
    /// Duration of a round under load.
    pub turn: Duration,
}

/// Measures an engine in a temporary directory under `directory`.
///
/// # Errors
/// The disk or the engine fails, or an order is rejected.
pub fn measure(directory: &Path, scope: &JournalScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("journal", "disk");
    report.rounds = scope.rounds.max(1);
    let scratch = tempfile::Builder::new()
        .prefix("foretell-journal-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let data = scratch.path().join("data");
    encode(&mut report)?;
    let (engine, ..) = start_alone(&data, &Domains::default(), OWNER)?;
    let mut file = SyncFile::create(&scratch.path().join("floor"))
        .map_err(MeasureError::io("preparing the floor's file"))?;
    alone(&mut report, &engine.ready.socket, &mut file, scope.orders)?;
    let journal = data.join(JOURNAL_DIRECTORY);
    under_load(
        &mut report,
        &engine.ready.socket,
        &journal,
        &mut file,
        scope.turn,
    )?;
    engine.stop()?;
    Ok(report.end())
}

/// Encodes frames with evidence, and copies them.
fn encode(report: &mut Report) -> Result<(), MeasureError> {
    let (markets, commands, live) = STREAM;
    let stream = crate::generate(markets, commands, live)
        .map_err(|error| MeasureError::Wrong(error.to_string()))?;
    let subject = Subject::new(&stream, WorkloadKind::Plain);
    let (mut copies, mut encodes) = (Vec::new(), Vec::new());
    for _ in 0..report.rounds {
        let lap = encoding::lap(&mut subject.open(), &subject.workload);
        #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a lap")]
        let each = |nanos: u64| nanos as f64 / lap.frames.max(1) as f64;
        copies.push(each(lap.copy));
        encodes.push(each(lap.encode));
    }
    let copy = Measure::of("copying a frame", "ns", copies);
    let encode = Measure::of("encoding a frame", "ns", encodes).over(&copy);
    let ratio = encode.ratio();
    report
        .goals
        .push(Goal::at_most("frame encoding / copy", ENCODE_GOAL, ratio));
    report.measures.extend([copy, encode]);
    Ok(())
}

/// Measures one order at a time.
fn alone(
    report: &mut Report,
    socket: &Path,
    file: &mut SyncFile,
    orders: u32,
) -> Result<(), MeasureError> {
    let mut idle = idle::Idle::open(socket)?;
    let names = [SYNC, ECHO, IDLE];
    let mut medians = names.map(|_| Vec::new());
    let mut ratios = Vec::new();
    for _ in 0..report.rounds {
        let begun = report.elapsed();
        let lanes = idle.turn(file, orders)?;
        let length = report.elapsed() - begun;
        let lane = lanes
            .each_ref()
            .map(|lane| lane.quantiles(NANOS_PER_US).p50);
        let [sync, echo, acknowledged] = lane;
        // Subtracts the socket's two wake-ups; the engine may have two more.
        ratios.push((acknowledged - 2.0 * echo) / sync);
        for (((name, lane), median), medians) in
            names.into_iter().zip(&lanes).zip(lane).zip(&mut medians)
        {
            medians.push(median);
            report.record(name, Interval::new(begun, length, lane.times()));
        }
    }
    let totals = names.map(|name| quantiles(report, name));
    for ((name, medians), quantiles) in names.into_iter().zip(medians).zip(totals) {
        let measure = Measure::of(name, "us", medians).quantiles(quantiles);
        report.measures.push(measure);
    }
    let ratio = Measure::of("acknowledgement less four wake-ups / sync", "", ratios);
    report.goals.push(Goal::at_most(
        "acknowledgement, idle, less two wake-ups / write and fdatasync",
        IDLE_GOAL,
        sound(ratio.value),
    ));
    report.measures.push(ratio);
    Ok(())
}

/// Measures at half the engine's capacity.
fn under_load(
    report: &mut Report,
    socket: &Path,
    journal: &Path,
    file: &mut SyncFile,
    turn: Duration,
) -> Result<(), MeasureError> {
    let mut load = load::Load::open(socket)?;
    let most = load.most(turn)?;
    let mut rate = most / 2.0;
    let mut lanes = Lanes::default();
    for _ in 0..report.rounds {
        let begun = report.elapsed();
        let (answers, after) = load.turn(&mut rate, turn)?;
        lanes.acknowledged.push(report, begun, LOADED, &answers);
        let bytes = batches::mean_bytes(journal, after)?;
        lanes.batches.push(bytes);
        let begun = report.elapsed();
        let (syncs, waits) = load::syncs(file, bytes, rate, turn / 4)?;
        lanes.syncs.push(report, begun, LOAD_SYNC, &syncs);
        lanes.waits.push(report, begun, GROUPED, &waits);
    }
    lanes.add_to(report);
    let most = Measure::single("full load", "1/s", most).higher();
    report.scope = format!(
        "an engine of its own; half load is {rate:.0} commands a second, half of the {:.0} that \
         one client gets with {} on their way, or less where a sync took so long that the ring was full",
        most.value,
        load::WINDOW
    );
    report.measures.push(most);
    Ok(())
}

/// Results at half load.
#[derive(Default)]
struct Lanes {
    acknowledged: Rounds,
    /// Mean batch bytes of each round.
    batches: Vec<usize>,
    syncs: Rounds,
    /// Time that commands at the same rate would wait for those syncs.
    waits: Rounds,
}

impl Lanes {
    fn add_to(self, report: &mut Report) {
        let [(syncs, p99_of_syncs), waits, loaded] = [
            (self.syncs, LOAD_SYNC),
            (self.waits, GROUPED),
            (self.acknowledged, LOADED),
        ]
        .map(|(rounds, name)| rounds.measures(name, quantiles(report, name)));
        let (waits, p99_of_waits) = (waits.0.over(&syncs), waits.1.over(&p99_of_syncs));
        let (loaded, p99) = (loaded.0.over(&syncs), loaded.1.over(&p99_of_syncs));
        let explained = less_wake_ups(report, &loaded, &waits);
        let [half, most_of_all] = LOAD_GOALS;
        let name = "acknowledgement, half load / write and fdatasync";
        let goal = |quantile, most, measure: &Measure| {
            Goal::at_most(
                format!("{name}, {quantile}"),
                most,
                measure.ratio().and_then(sound),
            )
        };
        report
            .goals
            .extend([goal("p50", half, &loaded), goal("p99", most_of_all, &p99)]);
        #[allow(clippy::cast_precision_loss, reason = "bytes of a batch")]
        let batches = self.batches.iter().map(|bytes| *bytes as f64).collect();
        report.measures.extend([
            syncs,
            waits,
            loaded,
            p99_of_waits,
            p99,
            explained,
            Measure::of("a batch, half load", "bytes", batches),
        ]);
    }
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

/// An acknowledgement includes the baseline, so a ratio below 1 means that the baseline was
/// disturbed.
fn sound(ratio: f64) -> Option<f64> {
    (ratio >= 1.0).then_some(ratio)
}

fn quantiles(report: &Report, name: &str) -> Quantiles {
    let recording = report.recordings.iter().find(|it| it.name == name);
    let total = recording.and_then(crate::report::Recording::total);
    total.map_or_else(
        || Stopwatch::new().quantiles(1.0),
        |total| Quantiles::of(&total, NANOS_PER_US),
    )
}

/// Medians and p99s of rounds.
#[derive(Default)]
struct Rounds {
    p50: Vec<f64>,
    p99: Vec<f64>,
}

impl Rounds {
    /// Adds a round that began at `begun` and ends now.
    fn push(&mut self, report: &mut Report, begun: f64, name: &str, lane: &Stopwatch) {
        let length = report.elapsed() - begun;
        report.record(name, Interval::new(begun, length, lane.times()));
        let Quantiles { p50, p99, .. } = lane.quantiles(NANOS_PER_US);
        self.p50.push(p50);
        self.p99.push(p99);
    }

    /// The measures of medians and of p99s.
    fn measures(self, name: &str, quantiles: Quantiles) -> (Measure, Measure) {
        (
            Measure::of(name, "us", self.p50).quantiles(quantiles),
            Measure::of(format!("p99 of {name}"), "us", self.p99),
        )
    }
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
        };
        let report = measure(&std::env::temp_dir(), &scope).unwrap();
        for name in [SYNC, ECHO, IDLE, LOAD_SYNC, GROUPED, LOADED, "full load"] {
            assert!(
                report.measure(name).unwrap().value > 0.0,
                "{name}\n{report}"
            );
        }
        assert_eq!(report.goals.len(), 4);
        assert!(report.measure("a batch, half load").unwrap().value >= 4096.0);
    }
}
