//! What public reads cost, and how soon they show what was acknowledged: a gateway answers
//! `/book`, `/price` and `/midpoint` beside a bare hyper server that returns the same bytes, in
//! turns, while the book rests and while it changes; and a client that was told a sequence asks for
//! a state that shows it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_auth::{Domains, Signer};

use crate::book_writer::BookWriter;
use crate::error::MeasureError;
use crate::http::Connection;
use crate::latency::{Quantiles, Stopwatch};
use crate::live_exchange::{LiveExchange, TOKENS};
use crate::report::{Goal, Interval, Measure, Report};
use crate::thread_time::ThreadTime;
use crate::turns::{CONNECTIONS, REQUESTS, Round, Turns, request, success};

/// Highest ratio of the processor time of a read to the bare server's.
const COST_GOAL: f64 = 1.15;
/// From acknowledged to readable, at most, in microseconds: at the median and of 99 in 100.
const VISIBLE_GOALS_US: [f64; 2] = [1_000.0, 5_000.0];
/// Book changes a second (placements and cancels) while reads are measured.
const CHANGES_PER_SECOND: u32 = 1_000;
/// Orders placed a second while freshness is measured; as many are cancelled.
const ORDERS_PER_SECOND: u32 = 2_000;
/// From an acknowledgement on: the request alone, and with what has to be waited for.
const REQUEST: &str = "a request";
const VISIBLE: &str = "acknowledged to visible";
const NANOS_PER_US: f64 = 1e3;
/// A key of no value.
const PRIVATE_KEY: [u8; 32] = [0x42; 32];

/// Starts an exchange under `directory` (a temporary one is made there and removed), measures
/// reads in `rounds` rounds, and freshness for `freshness`.
///
/// # Errors
/// The exchange does not start, or an answer is not what it must be.
pub fn measure(
    directory: &Path,
    rounds: usize,
    freshness: Duration,
) -> Result<Report, MeasureError> {
    let rounds = rounds.max(1);
    let mut report = Report::begin("reads", "disk");
    let scratch = tempfile::Builder::new()
        .prefix("foretell-reads-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let signer = Signer::from_bytes(&PRIVATE_KEY)
        .ok_or_else(|| MeasureError::Wrong("the key is none".to_owned()))?;
    let data = scratch.path().join("data");
    let exchange = LiveExchange::start(&data, &Domains::default(), signer.address())?;
    let mut writer = BookWriter::connect(&exchange.socket)?;
    for _ in 0..10 {
        writer.group(10)?;
    }
    let last = writer.group(1)?;

    let token = alloy_primitives::U256::from_be_bytes(TOKENS[0].0);
    let queries = [
        ("/book", format!("/book?token_id={token}")),
        ("/price", format!("/price?token_id={token}&side=SELL")),
        ("/midpoint", format!("/midpoint?token_id={token}")),
    ];
    let fresh_book = |minimum: u64| {
        let (_, query) = &queries[0];
        request(query, &format!("x-min-sequence: {minimum}\r\n"))
    };
    // From here on every connection sees the whole book.
    let mut reader = open(&exchange)?;
    success(reader.ask(&fresh_book(last.0)))?;

    for changing in [false, true] {
        for (path, query) in &queries {
            let serving = ThreadTime::of(&exchange.serving_thread());
            let serving = serving.map_err(MeasureError::io("finding a thread"))?;
            let mut lane = Turns::open(exchange.trading, serving, query)?;
            let rounds = if changing {
                while_changing(&mut writer, || lane.rounds(rounds))?
            } else {
                lane.rounds(rounds)?
            };
            add_cost(&mut report, path, changing, &lane, &rounds);
            lane.close();
        }
    }

    let begun = report.elapsed();
    let (mut visible, mut floor) = (Stopwatch::new(), Stopwatch::new());
    let mut acknowledgements = 0_u64;
    let stop = AtomicBool::new(false);
    let end = Instant::now() + freshness;
    writer.run(ORDERS_PER_SECOND, &stop, |sequence| {
        let request = fresh_book(sequence.0);
        success(visible.time(|| reader.ask(&request)))?;
        success(floor.time(|| reader.ask(&request)))?;
        acknowledgements += 1;
        stop.store(Instant::now() >= end, Ordering::Relaxed);
        Ok(())
    })?;
    drop((reader, writer));
    exchange.stop()?;
    let length = report.elapsed() - begun;
    for (name, stopwatch) in [(REQUEST, &floor), (VISIBLE, &visible)] {
        report.record(name, Interval::new(begun, length, stopwatch.times()));
    }
    add_freshness(&mut report, &floor, &visible);
    report.rounds = rounds;
    report.scope = format!(
        "{} requests a round to each server over {CONNECTIONS} connections, {CHANGES_PER_SECOND} \
         book changes a second where it changes; {acknowledgements} acknowledgements followed at \
         {ORDERS_PER_SECOND} orders a second",
        REQUESTS
    );
    Ok(report.end())
}

/// From an acknowledgement to the end of an answer that shows it.
fn add_freshness(report: &mut Report, request: &Stopwatch, visible: &Stopwatch) {
    let of = |name, stopwatch: &Stopwatch| {
        let quantiles = stopwatch.quantiles(NANOS_PER_US);
        Measure::single(name, "us", quantiles.p50).quantiles(quantiles)
    };
    let request = of(REQUEST, request);
    let visible = of(VISIBLE, visible).over(&request);
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
    writer: &mut BookWriter,
    measure: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| writer.run(CHANGES_PER_SECOND / 2, &stop, |_| Ok(())));
        let measured = measure();
        stop.store(true, Ordering::Relaxed);
        writing.join().expect("the book writer does not panic")?;
        measured
    })
}

/// Processor time of one kind of read, and its goal.
fn add_cost(report: &mut Report, path: &str, changing: bool, lane: &Turns, rounds: &[Round]) {
    let of = |value: fn(&Round) -> f64| rounds.iter().map(value).collect();
    let path = if changing {
        format!("{path}, changing")
    } else {
        path.to_owned()
    };
    let bare = Measure::of(format!("bare hyper, {path}"), "us", of(|round| round.bare));
    let gateway = Measure::of(path.clone(), "us", of(|round| round.gateway)).over(&bare);
    report.goals.push(Goal::at_most(
        format!("processor time, {path} / bare hyper"),
        COST_GOAL,
        gateway.ratio(),
    ));
    report.notes.push(format!("{path}: {} bytes", lane.bytes));
    report.measures.extend([bare, gateway]);
}

fn open(exchange: &LiveExchange) -> Result<Connection, MeasureError> {
    Connection::open(exchange.trading).map_err(MeasureError::io("connecting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_answer_and_acknowledged_states_are_read() {
        let report = measure(&std::env::temp_dir(), 1, Duration::from_millis(20)).unwrap();
        assert_eq!(report.measures.len(), 2 * 6 + 2);
        assert!(
            report.measures.iter().all(|measure| measure.value > 0.0),
            "{report}"
        );
        assert_eq!(report.goals.len(), 8);
        assert!(
            report.goals.iter().all(|goal| goal.found.is_some()),
            "{report}"
        );
    }
}
