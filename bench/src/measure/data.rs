//! Data surface on a long history: response time of every query for the busiest wallets and
//! markets, two queries against a bare HTTP server that sends the same bytes, and the gateway's
//! memory.
//!
//! The gateway is a child process, so its memory and CPU time are measured alone.

mod cached_history;
mod figures;
mod queries;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use foretell_engine::EngineConfig;

use self::figures::QueryResult;
use self::queries::DataQuery;
use crate::error::MeasureError;
use crate::harness::ab_rounds::{AbRounds, REQUESTS, micros, request, success};
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::http::Connection;
use crate::harness::latency::{Stopwatch, median};
use crate::harness::running_engine::{RunningEngine, snapshot};
use crate::harness::thread_time::ThreadTime;
use crate::report::Report;
use crate::workloads::history::{self, MAKERS, Shape};

/// Requests per query and round.
const TIMES: usize = 20;
const NANOS_PER_MS: f64 = 1e6;
/// Snapshots are published on request only.
const NEVER: Duration = Duration::from_secs(1_000_000);
/// Name prefix of a gateway's serving threads.
const SERVING: &str = "http-";

/// Size of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataScope {
    /// Trades of the history.
    pub trades: u32,
    /// Its wallets.
    pub wallets: u32,
    /// Its markets.
    pub markets: u32,
    /// Rounds of all queries, and of the comparison with the bare server.
    pub rounds: usize,
}

/// Finds or makes the history under `directory`, publishes it with an engine, and queries a gateway
/// on it. `gateway` is the command line of a gateway that serves the data surface on a free port
/// and reports it. The history stays cached.
///
/// # Errors
/// The disk, the engine or the gateway fails, or a response is not a success.
pub fn measure(
    directory: &Path,
    scope: &DataScope,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Report, MeasureError> {
    let shape = Shape {
        trades: scope.trades.into(),
        live_orders: scope.trades / 1_000,
        crowd: scope.wallets.saturating_sub(MAKERS).max(1),
        markets: scope.markets.max(2),
        lived: true,
    };
    let rounds = scope.rounds.max(1);
    let mut report = Report::begin("data", "none");
    let kept = cached_history::find_or_make(directory, &shape)?;
    let mut config = EngineConfig::new(kept.data.clone());
    config.accept_clock_jump = true;
    (config.publishing.interval, config.publishing.frames) = (NEVER, u64::MAX);
    let engine = RunningEngine::start(config)?;
    let mut operator = engine.operator()?;
    let began = Instant::now();
    let last = snapshot(&mut operator)?;
    let publish_seconds = began.elapsed().as_secs_f64();

    let running = GatewayProcess::start(gateway(&kept.data), "/trades?limit=1", last)?;
    let mut connection =
        Connection::open(running.address).map_err(MeasureError::io("connecting"))?;
    let all = queries::all(&shape);
    let queries = ask_all(&mut connection, &serving(&running)?, &all, rounds)?;
    figures::add_queries(&mut report, &queries);
    add_costs(&mut report, &running, &shape, rounds)?;
    figures::add_memory(&mut report, &running.memory()?, shape.trades);
    let made = match kept.write_seconds {
        Some(seconds) => format!("written in {seconds:.0} s to {}", kept.data.display()),
        None => format!("found in {}", kept.data.display()),
    };
    report.notes.push(format!(
        "{} hold one token, one wallet has closed {} positions by selling",
        kept.census.holders, kept.census.closed_positions
    ));
    report.notes.push(format!(
        "the history was {made}, published in {publish_seconds:.0} s"
    ));
    report.rounds = rounds;
    report.scope = format!(
        "{} trades, {} wallets, {} markets, {} commands; {} queries, each {} times; {REQUESTS} \
         requests a round to each server",
        shape.trades,
        shape.crowd + MAKERS,
        shape.markets,
        last.0,
        queries.len(),
        rounds * TIMES
    );
    drop((running, operator));
    engine.stop()?;
    Ok(report.end())
}

/// Results of one query.
struct QueryRounds<'a> {
    question: &'a DataQuery,
    request: Vec<u8>,
    bytes: usize,
    stopwatch: Stopwatch,
    /// Mean CPU time in microseconds, per round.
    processor: Vec<f64>,
}

impl QueryRounds<'_> {
    fn round(
        &mut self,
        connection: &mut Connection,
        serving: &ThreadTime,
    ) -> Result<(), MeasureError> {
        let time = || serving.nanos().map_err(MeasureError::io("reading a clock"));
        let before = time()?;
        for _ in 0..TIMES {
            success(self.stopwatch.time(|| connection.ask(&self.request)))?;
        }
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let mean = micros(time()? - before) / TIMES as f64;
        self.processor.push(mean);
        Ok(())
    }
}

/// Times every query with one client. Each is requested once before, so that reads into the page
/// cache are not measured.
fn ask_all<'a>(
    connection: &mut Connection,
    serving: &ThreadTime,
    questions: &'a [DataQuery],
    rounds: usize,
) -> Result<Vec<QueryResult<'a>>, MeasureError> {
    let mut asked = Vec::new();
    for question in questions {
        let request = request(&question.query, "");
        asked.push(QueryRounds {
            question,
            bytes: success(connection.ask(&request))?.body.len(),
            request,
            stopwatch: Stopwatch::new(),
            processor: Vec::new(),
        });
    }
    for _ in 0..rounds {
        for asked in &mut asked {
            asked.round(connection, serving)?;
        }
    }
    let measured = asked.into_iter().map(|asked| QueryResult {
        path: asked.question.path(),
        name: asked.question.name(),
        bytes: asked.bytes,
        ms: asked.stopwatch.quantiles(NANOS_PER_MS),
        processor_us: median(&asked.processor),
    });
    Ok(measured.collect())
}

fn serving(running: &GatewayProcess) -> Result<ThreadTime, MeasureError> {
    ThreadTime::of_process(running.process(), SERVING)
        .map_err(MeasureError::io("finding the gateway's threads"))
}

/// Measures the queries whose rate has a baseline, for the busiest crowd wallet.
fn add_costs(
    report: &mut Report,
    running: &GatewayProcess,
    shape: &Shape,
    rounds: usize,
) -> Result<(), MeasureError> {
    let [_, (_, buyer), ..] = queries::wallets(shape);
    let user = history::wallet(buyer);
    for path in ["/trades", "/positions"] {
        let query = format!("{path}?user={user}");
        let mut ab_rounds = AbRounds::open(running.address, serving(running)?, &query)?;
        let rounds = ab_rounds.rounds(rounds)?;
        figures::add_cost(report, path, ab_rounds.bytes, &rounds);
        ab_rounds.close();
    }
    Ok(())
}
