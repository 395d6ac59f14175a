//! Data surface on a long history: response time of every query for the busiest wallets and
//! markets, two queries against a bare HTTP server that sends the same bytes, and the gateway's
//! memory. Then the import and the queries of a large catalog.
//!
//! The gateways are child processes, so their memory and CPU time are measured alone.

mod cached_history;
mod catalog;
mod figures;
mod queries;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use self::figures::QueryResult;
use self::queries::DataQuery;
use super::HistorySize;
use crate::error::MeasureError;
use crate::harness::ab_rounds::{AbRounds, Bursts};
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::http::{self, Connection, success};
use crate::harness::latency::{NANOS_PER_MS, NANOS_PER_US, Stopwatch, median, ratio};
use crate::harness::running_engine::{RunningEngine, on_generated_journal, snapshot};
use crate::harness::thread_time::ThreadTime;
use crate::report::{Goal, Report};
use crate::workloads::history::{MAKERS, Shape};
use crate::workloads::venue;

/// Minimum request rate as a fraction of the bare server's.
const RATE_GOAL: f64 = 0.3;
/// Name prefix of a gateway's serving threads.
const SERVING: &str = "http-";

/// Arguments of `foretell-bench data`.
#[derive(Debug, Args)]
pub struct DataScope {
    /// Trades in the history
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    trades: u32,
    #[command(flatten)]
    size: HistorySize,
    /// Events in the catalog, four markets each
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    events: u32,
    /// Rounds of every query, and of the baseline server
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Requests per query and round
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    #[command(flatten)]
    length: Bursts,
    /// Cache directory; 10 million trades need 20 GB, 50,000 events 3 GB [default: the system's
    /// directory of temporary files]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Finds or makes history and catalog, and queries gateways on them. Both stay cached.
pub(super) fn measure(scope: &DataScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("data", "none");
    report.rounds = scope.rounds.max(1);
    let cache = scope.cache.clone().unwrap_or_else(std::env::temp_dir);
    let cache = std::path::absolute(cache).map_err(MeasureError::io("finding the cache"))?;
    data_surface(&mut report, scope, &cache)?;
    let times = report.rounds as u64 * u64::from(scope.times);
    catalog::measure(&mut report, &cache, scope.events.into(), times)?;
    let events = scope.events;
    report.scope += &format!("; a catalog of {events} events, each query {times} times");
    Ok(report.end())
}

/// Publishes the history with an engine, and queries a gateway on it.
fn data_surface(report: &mut Report, scope: &DataScope, cache: &Path) -> Result<(), MeasureError> {
    let shape = Shape {
        lived: true,
        ..scope.size.shape(scope.trades)
    };
    let kept = cached_history::find_or_make(cache, &shape)?;
    let engine = RunningEngine::start(on_generated_journal(&kept.data))?;
    let mut operator = engine.operator()?;
    let began = Instant::now();
    let last = snapshot(&mut operator)?;
    let publish_seconds = began.elapsed().as_secs_f64();

    let running = GatewayProcess::start("data", &kept.data, "/trades?limit=1", last)?;
    let mut connection =
        Connection::open(running.address).map_err(MeasureError::io("connecting"))?;
    let all = queries::all(&shape);
    let queries = ask_all(&mut connection, &serving(&running)?, &all, scope)?;
    figures::add_queries(report, &queries);
    add_costs(report, &running, &shape, scope)?;
    figures::add_memory(report, &running.memory()?, shape.trades);
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
    report.scope = format!(
        "{} trades, {} wallets, {} markets, {} commands; {} queries, each {} times; {} \
         requests a round to each server",
        shape.trades,
        shape.crowd + MAKERS,
        shape.markets,
        last.0,
        queries.len(),
        report.rounds * scope.times as usize,
        scope.length.requests()
    );
    drop((running, operator));
    engine.stop()
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
        times: u32,
    ) -> Result<(), MeasureError> {
        let time = || serving.nanos().map_err(MeasureError::io("reading a clock"));
        let before = time()?;
        for _ in 0..times {
            success(self.stopwatch.time(|| connection.ask(&self.request)))?;
        }
        let mean = ratio(time()? - before, times.into());
        self.processor.push(mean / NANOS_PER_US);
        Ok(())
    }
}

/// Times every query with one client. Each is requested once before, so that reads into the page
/// cache are not measured.
fn ask_all<'a>(
    connection: &mut Connection,
    serving: &ThreadTime,
    questions: &'a [DataQuery],
    scope: &DataScope,
) -> Result<Vec<QueryResult<'a>>, MeasureError> {
    let mut asked = Vec::new();
    for question in questions {
        let request = http::get(&question.query, "");
        asked.push(QueryRounds {
            question,
            bytes: success(connection.ask(&request))?.body.len(),
            request,
            stopwatch: Stopwatch::new(),
            processor: Vec::new(),
        });
    }
    for _ in 0..scope.rounds.max(1) {
        for asked in &mut asked {
            asked.round(connection, serving, scope.times)?;
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
    scope: &DataScope,
) -> Result<(), MeasureError> {
    let [_, (_, buyer), ..] = queries::wallets(shape);
    let user = venue::wallet(buyer);
    for path in ["/trades", "/positions"] {
        let query = format!("{path}?user={user}");
        let mut ab_rounds =
            AbRounds::open(running.address, serving(running)?, &query, scope.length)?;
        let rounds = ab_rounds.rounds(scope.rounds.max(1))?;
        report
            .notes
            .push(format!("{path}?user=: {} bytes", ab_rounds.bytes));
        let cost = ab_rounds.close(report, path, &rounds)?;
        // Rates are per CPU time, which excludes other programs.
        report.goals.push(Goal::at_least(
            format!("rate, {path}?user= / bare hyper"),
            RATE_GOAL,
            cost.map(|cost| 1.0 / cost),
        ));
    }
    Ok(())
}
