//! Benefit and cost of snapshots: start time and memory of a gateway on a long history; size and
//! write time of snapshots for several sizes of live state and history; and their effect on the
//! engine's step.
//!
//! Gateways are child processes, so their memory is measured alone.

mod figures;
mod step;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use alloy_primitives::U256;
use foretell_engine::client::Client;
use foretell_engine::{EngineConfig, SNAPSHOT_DIRECTORY};
use foretell_journal::snapshot::images;
use foretell_link::{Answer, Request, Submit};
use foretell_model::{Command as Order, Micros, Reference, Sequence, Verdict, WalletAddress};

use self::figures::Starts;
pub(crate) use self::figures::{HistoryRun, figure};
use self::figures::{add_sites, add_steps};
use crate::error::MeasureError;
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::running_engine::{RunningEngine, snapshot, status};
use crate::report::Report;
use crate::workloads::history::{self, Shape};

/// Snapshots written in sequence for a median.
const IMAGES: u8 = 5;
/// Snapshots are published on request only.
const NEVER: Duration = Duration::from_secs(1_000_000);
/// Poll interval until the publisher has caught up.
const PAUSE: Duration = Duration::from_millis(20);

/// Size of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartScope {
    /// Trades of the long history; the short ones have a tenth.
    pub trades: u32,
    /// Starts of each gateway, and rounds of the engine's lanes.
    pub rounds: usize,
    /// Duration of a round of the engine's step.
    pub turn: Duration,
}

/// Makes journals in a temporary directory under `directory`, publishes them with engines, and
/// starts gateways on them. `gateway` is the command line of a gateway on a data directory, which
/// listens on a free port and reports it.
///
/// # Errors
/// The disk, an engine or a gateway fails.
pub fn measure(
    directory: &Path,
    scope: &StartScope,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Report, MeasureError> {
    let mut report = Report::begin("start", "disk");
    let scratch = tempfile::Builder::new()
        .prefix("foretell-start-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let trades = scope.trades.max(100);
    let (crowd, markets) = (
        (trades / 100).min(100_000),
        (trades / 2_000).clamp(1, 5_000),
    );
    let (few, many) = (trades / 1_000, trades / 50);
    let nothing = (0, 0, 1, 1);
    let shapes = [
        nothing,
        (trades / 10, few, crowd, markets),
        (trades / 10, many, crowd, markets),
        (trades, few, crowd, markets),
    ];
    let mut sites = Vec::new();
    let mut long = None;
    for (index, (trades, live_orders, crowd, markets)) in shapes.into_iter().enumerate() {
        let data = scratch.path().join(format!("site-{index}"));
        let shape = Shape {
            trades: trades.into(),
            live_orders,
            crowd,
            markets,
            lived: false,
        };
        sites.push(site(&data, &shape, scope.rounds.max(1), gateway)?);
        // Only the last and longest history is needed later.
        if let Some(done) = long.replace(data) {
            std::fs::remove_dir_all(done).map_err(MeasureError::io("removing a journal"))?;
        }
    }
    add_sites(&mut report, &sites);
    if let Some(data) = long {
        let image = sites.last().map_or(0, |site| site.image_bytes);
        add_steps(&mut report, &step::measure(&data, scope, image)?);
    }
    report.rounds = scope.rounds.max(1);
    report.scope = format!("gateways and images on histories of up to {trades} trades");
    Ok(report.end())
}

/// Measures one history.
pub(crate) fn site(
    data: &Path,
    shape: &Shape,
    rounds: usize,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<HistoryRun, MeasureError> {
    let (written, _) = history::write(data, shape)?;
    let engine = RunningEngine::start(publishing_on_request(data))?;
    let mut operator = engine.operator()?;
    let began = Instant::now();
    snapshot(&mut operator)?;
    let publish_seconds = began.elapsed().as_secs_f64();
    let mut image_seconds = Vec::new();
    let mut last = Sequence(0);
    for number in 0..IMAGES {
        deposit(&mut operator, number)?;
        let began = Instant::now();
        last = snapshot(&mut operator)?;
        image_seconds.push(began.elapsed().as_secs_f64());
    }
    let status = status(&mut operator)?;
    let files = Files::of(&data.join(SNAPSHOT_DIRECTORY), last)?;
    let starts = starts(data, rounds, last, gateway)?;
    drop(operator);
    engine.stop()?;
    Ok(HistoryRun {
        trades: shape.trades,
        live_orders: status.live_orders,
        accounts: status.accounts,
        markets: status.markets,
        commands: written.last.0,
        publish_seconds,
        image_bytes: files.image,
        image_seconds,
        chunks: files.chunks,
        chunk_bytes: files.chunk_bytes,
        starts,
    })
}

fn publishing_on_request(data: &Path) -> EngineConfig {
    let mut config = EngineConfig::new(data.to_owned());
    config.accept_clock_jump = true;
    (config.publishing.interval, config.publishing.frames) = (NEVER, u64::MAX);
    config
}

/// Changes the state, so that the next snapshot differs.
fn deposit(operator: &mut Client, number: u8) -> Result<(), MeasureError> {
    let submit = Submit {
        request: 0,
        command: Order::Deposit {
            wallet: WalletAddress([0xEE; 20]),
            amount: Micros(1),
            reference: Reference([0xE0 | number; 32]),
        },
        evidence: &[],
    };
    match operator.ask(Request::Submit(submit))? {
        Answer::Reply(reply) if matches!(reply.verdict, Verdict::Applied(_)) => Ok(()),
        other => Err(MeasureError::Wrong(format!("a deposit: {other:?}"))),
    }
}

/// Published bytes.
#[derive(Default)]
struct Files {
    image: u64,
    chunks: u64,
    chunk_bytes: u64,
}

impl Files {
    fn of(snapshots: &Path, newest: Sequence) -> Result<Self, MeasureError> {
        let listed = || -> std::io::Result<(Vec<Sequence>, Self)> {
            let mut files = Self::default();
            let newest = format!("{:020}.image", newest.0);
            for entry in std::fs::read_dir(snapshots)? {
                let entry = entry?;
                let (name, bytes) = (entry.file_name(), entry.metadata()?.len());
                let name = name.to_string_lossy();
                if name == newest {
                    files.image = bytes;
                } else if name.ends_with(".chunk") {
                    files.chunks += 1;
                    files.chunk_bytes += bytes;
                }
            }
            Ok((images(snapshots)?, files))
        };
        let (images, files) = listed().map_err(MeasureError::io("listing the snapshots"))?;
        if images.first() == Some(&newest) {
            Ok(files)
        } else {
            Err(MeasureError::Wrong(format!("the images are {images:?}")))
        }
    }
}

/// Starts gateways in sequence.
fn starts(
    data: &Path,
    rounds: usize,
    last: Sequence,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Starts, MeasureError> {
    let [token, _] = history::tokens(0).map(|token| U256::from_be_bytes(token.0));
    let path = format!("/book?token_id={token}");
    let (mut seconds, mut anonymous, mut resident) = (Vec::new(), 0, 0);
    for _ in 0..rounds {
        let running = GatewayProcess::start(gateway(data), &path, last)?;
        let memory = running.memory()?;
        seconds.push(running.after.as_secs_f64());
        anonymous = anonymous.max(memory.anonymous);
        resident = resident.max(memory.resident);
    }
    Ok(Starts {
        seconds,
        anonymous_bytes: anonymous,
        resident_bytes: resident,
    })
}
