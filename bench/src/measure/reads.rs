//! Cost of public reads, and delay from acknowledgement to visibility. A gateway answers `/book`,
//! `/price` and `/midpoint`, alternating with a bare hyper server that returns the same bytes,
//! while the book is idle and while it changes. Then a client that knows a sequence requests a
//! state that includes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use foretell_auth::Domains;

use super::ScratchDir;
use crate::error::MeasureError;
use crate::harness::ab_rounds::{AbRounds, Bursts, CONNECTIONS};
use crate::harness::http::{Connection, get, success};
use crate::harness::latency::{Quantiles, Stopwatch};
use crate::harness::live_exchange::LiveExchange;
use crate::harness::order_flow::OrderFlow;
use crate::harness::rounds::Rounds;
use crate::harness::thread_time::ThreadTime;
use crate::harness::threads::{StopAtEnd, joined};
use crate::report::{Goal, Report};
use crate::workloads::signed_orders::{self, Terms};

/// Maximum ratio of a read's CPU time to the bare server's.
const COST_GOAL: f64 = 1.15;
/// Maximum delay from acknowledged to readable in microseconds, at p50 and p99.
const VISIBLE_GOALS_US: [f64; 2] = [1_000.0, 5_000.0];
/// Book changes per second (placements and cancels) while reads are measured.
const CHANGES_PER_SECOND: u32 = 1_000;
/// Orders placed per second while the delay is measured; as many are cancelled.
const ORDERS_PER_SECOND: u32 = 2_000;
/// Recordings from an acknowledgement on: the request alone, and with the wait for the state.
const REQUEST: &str = "a request";
const VISIBLE: &str = "acknowledged to visible";

/// Arguments of `foretell-bench reads`.
#[derive(Debug, Args)]
pub struct ReadsScope {
    /// Rounds of every read; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds to sample the delay
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    sampled: Duration,
    #[command(flatten)]
    length: Bursts,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Starts an exchange; measures reads in rounds, then the visibility delay.
pub(super) fn measure(scope: &ReadsScope) -> Result<Report, MeasureError> {
    let rounds = scope.rounds.max(1);
    let mut report = Report::begin("reads", "disk");
    let scratch = scope.scratch.directory("reads")?;
    let owner = signed_orders::signer()?.address();
    let data = scratch.path().join("data");
    let exchange = LiveExchange::start(&data, &Domains::default(), owner)?;
    let mut flow = OrderFlow::connect(&exchange.socket, 0)?;
    for _ in 0..10 {
        flow.group(10)?;
    }
    let last = flow.group(1)?;

    let token = Terms::LIVE_EXCHANGE.token_text();
    let queries = [
        ("/book", format!("/book?token_id={token}")),
        ("/price", format!("/price?token_id={token}&side=SELL")),
        ("/midpoint", format!("/midpoint?token_id={token}")),
    ];
    let fresh_book = |minimum: u64| {
        let (_, query) = &queries[0];
        get(query, &format!("x-min-sequence: {minimum}\r\n"))
    };
    // From here on every connection sees the whole book.
    let mut reader = open(&exchange)?;
    success(reader.ask(&fresh_book(last.0)))?;

    for changing in [false, true] {
        for (path, query) in &queries {
            let serving = ThreadTime::of(&exchange.serving_thread());
            let serving = serving.map_err(MeasureError::io("finding a thread"))?;
            let mut ab_rounds = AbRounds::open(exchange.trading, serving, query, scope.length)?;
            let rounds = if changing {
                while_changing(&mut flow, || ab_rounds.rounds(rounds))?
            } else {
                ab_rounds.rounds(rounds)?
            };
            let name = match changing {
                true => format!("{path}, changing"),
                false => (*path).to_owned(),
            };
            report
                .notes
                .push(format!("{name}: {} bytes", ab_rounds.bytes));
            let cost = ab_rounds.close(&mut report, &name, &rounds)?;
            let goal = format!("processor time, {name} / bare hyper");
            report.goals.push(Goal::at_most(goal, COST_GOAL, cost));
        }
    }

    let begun = report.elapsed();
    let (mut visible, mut floor) = (Stopwatch::new(), Stopwatch::new());
    let mut acknowledgements = 0_u64;
    let stop = AtomicBool::new(false);
    let end = Instant::now() + scope.sampled;
    flow.run(ORDERS_PER_SECOND, &stop, |sequence| {
        let request = fresh_book(sequence.0);
        success(visible.time(|| reader.ask(&request)))?;
        success(floor.time(|| reader.ask(&request)))?;
        acknowledgements += 1;
        stop.store(Instant::now() >= end, Ordering::Relaxed);
        Ok(())
    })?;
    drop((reader, flow));
    exchange.stop()?;
    add_freshness(&mut report, begun, &floor, &visible);
    report.rounds = rounds;
    report.scope = format!(
        "{} requests a round to each server over {CONNECTIONS} connections, {CHANGES_PER_SECOND} \
         book changes a second where it changes; {acknowledgements} acknowledgements followed at \
         {ORDERS_PER_SECOND} orders a second",
        scope.length.requests()
    );
    Ok(report.end())
}

/// Adds the delay from an acknowledgement to the end of a response that shows it.
fn add_freshness(report: &mut Report, begun: f64, request: &Stopwatch, visible: &Stopwatch) {
    let [request, visible] = [(REQUEST, request), (VISIBLE, visible)].map(|(name, times)| {
        let mut lane = Rounds::new(name);
        lane.push(report, begun, times);
        lane.medians()
    });
    let visible = visible.over(&request);
    let found = |at: fn(Quantiles) -> f64| visible.quantiles.map(at);
    let [p50, p99] = VISIBLE_GOALS_US;
    report.goals.extend([
        Goal::at_most(
            "us from acknowledged to visible, p50",
            p50,
            found(|it| it.p50),
        ),
        Goal::at_most(
            "us from acknowledged to visible, p99",
            p99,
            found(|it| it.p99),
        ),
    ]);
    report.measures.extend([request, visible]);
}

/// Runs `measure` while another thread changes the book.
fn while_changing<T: Send>(
    flow: &mut OrderFlow,
    measure: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| flow.run(CHANGES_PER_SECOND / 2, &stop, |_| Ok(())));
        let measured = {
            let _stop = StopAtEnd(&stop);
            measure()
        };
        joined("the book's writer", writing.join())??;
        measured
    })
}

fn open(exchange: &LiveExchange) -> Result<Connection, MeasureError> {
    Connection::open(exchange.trading).map_err(MeasureError::io("connecting"))
}
