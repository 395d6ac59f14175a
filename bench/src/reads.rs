//! What public reads cost, and how soon they show what was acknowledged: a gateway answers
//! `/book`, `/price` and `/midpoint` beside a bare hyper server that returns the same bytes, in
//! turns, while the book rests and while it changes; and a client that was told a sequence asks for
//! a state that shows it.

use std::fmt::{self, Display};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foretell_auth::{Domains, Signer};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use crate::bare_server::{self, BareAnswer, BareServer};
use crate::book_writer::BookWriter;
use crate::error::MeasureError;
use crate::http::Connection;
use crate::latency::{Quantiles, Stopwatch, median};
use crate::live_exchange::{LiveExchange, TOKENS};
use crate::report::Goal;
use crate::thread_time::ThreadTime;

/// Highest ratio of the processor time of a read to the bare server's.
const COST_GOAL: f64 = 1.15;
/// From acknowledged to readable, at most, in microseconds: at the median and of 99 in 100.
const VISIBLE_GOALS_US: [f64; 2] = [1_000.0, 5_000.0];
/// Book changes a second (placements and cancels) while reads are measured.
const CHANGES_PER_SECOND: u32 = 1_000;
/// Orders placed a second while freshness is measured; as many are cancelled.
const ORDERS_PER_SECOND: u32 = 2_000;
/// Connections that ask at once.
const CONNECTIONS: usize = 16;
/// Requests of one burst on each connection; gateway and bare server take bursts in turns.
const BURST: usize = 50;
/// Bursts of a round.
const BURSTS: usize = 10;
/// A key of no value.
const PRIVATE_KEY: [u8; 32] = [0x42; 32];

/// Processor time of one read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// What is read.
    pub path: &'static str,
    /// While the book changed, or rested.
    pub changing: bool,
    /// Bytes of the body.
    pub bytes: usize,
    /// Microseconds of the gateway's serving thread, per request.
    pub gateway_us: f64,
    /// Of the bare server's.
    pub bare_us: f64,
    /// Gateway to bare server: the median of the rounds' ratios.
    pub ratio: f64,
}

/// What was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Rounds; requests of a round to each server, of each kind.
    pub rounds: usize,
    /// Requests of a round to each server.
    pub requests: usize,
    /// Every read, resting and changing.
    pub costs: Vec<Cost>,
    /// Acknowledgements after which a state that shows them was asked for.
    pub acknowledgements: u64,
    /// From the acknowledgement to the end of an answer that shows it, in nanoseconds.
    pub visible: Quantiles,
    /// The same request when nothing had to be waited for.
    pub visible_floor: Quantiles,
}

impl Report {
    /// Every goal, met or not.
    #[must_use]
    pub fn goals(&self) -> Vec<Goal> {
        let costs = self.costs.iter().map(|cost| Goal {
            name: match (cost.path, cost.changing) {
                ("/book", false) => "/book / bare hyper",
                ("/price", false) => "/price / bare hyper",
                ("/midpoint", false) => "/midpoint / bare hyper",
                ("/book", true) => "/book / bare, changing",
                ("/price", true) => "/price / bare, changing",
                _ => "/midpoint / bare, changing",
            },
            most: COST_GOAL,
            found: Some(cost.ratio),
        });
        let visible = [
            ("us until visible, p50", self.visible.p50),
            ("us until visible, p99", self.visible.p99),
        ];
        let visible = visible.into_iter().zip(VISIBLE_GOALS_US);
        costs
            .chain(visible.map(|((name, nanos), most)| Goal {
                name,
                most,
                found: (self.acknowledgements > 0).then(|| micros(nanos)),
            }))
            .collect()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} rounds of {} requests to each server over {CONNECTIONS} connections; \
             {CHANGES_PER_SECOND} book changes a second where it changes",
            self.rounds, self.requests
        )?;
        writeln!(
            f,
            "{:<30}{:>8}{:>9}{:>8}",
            "us of processor a read", "bytes", "gateway", "bare"
        )?;
        for cost in &self.costs {
            let name = if cost.changing { "changing" } else { "" };
            writeln!(
                f,
                "{:<16}{name:<14}{:>8}{:>9.2}{:>8.2}",
                cost.path, cost.bytes, cost.gateway_us, cost.bare_us
            )?;
        }
        let lanes = [
            ("acknowledged to readable", &self.visible),
            ("  of it the request alone", &self.visible_floor),
        ];
        writeln!(
            f,
            "{:<30}{:>8}{:>9}{:>8}   {} acknowledgements at {ORDERS_PER_SECOND} orders/s",
            "us", "p50", "p99", "p99.9", self.acknowledgements
        )?;
        for (name, Quantiles { p50, p99, p999 }) in lanes {
            let [p50, p99, p999] = [p50, p99, p999].map(|nanos| nanos / 1_000);
            writeln!(f, "{name:<30}{p50:>8}{p99:>9}{p999:>8}")?;
        }
        writeln!(f, "{:<30}{:>8}{:>8}", "goal", "found", "most")?;
        self.goals()
            .iter()
            .try_for_each(|goal| writeln!(f, "{goal}"))
    }
}

#[allow(clippy::cast_precision_loss, reason = "nanoseconds far below 2^53")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}

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
    expect_success(reader.ask(&fresh_book(last.0)))?;

    let mut costs = Vec::new();
    for changing in [false, true] {
        for (path, query) in &queries {
            let mut lane = Lane::open(&exchange, query)?;
            let rounds = if changing {
                while_changing(&mut writer, || lane.rounds(rounds))?
            } else {
                lane.rounds(rounds)?
            };
            costs.push(cost(path, changing, &lane, &rounds));
            lane.bare.stop();
        }
    }

    let (mut visible, mut floor) = (Stopwatch::new(), Stopwatch::new());
    let mut acknowledgements = 0;
    let stop = AtomicBool::new(false);
    let end = Instant::now() + freshness;
    writer.run(ORDERS_PER_SECOND, &stop, |sequence| {
        let request = fresh_book(sequence.0);
        expect_success(visible.time(|| reader.ask(&request)))?;
        expect_success(floor.time(|| reader.ask(&request)))?;
        acknowledgements += 1;
        stop.store(Instant::now() >= end, Ordering::Relaxed);
        Ok(())
    })?;
    drop((reader, writer));
    exchange.stop()?;
    Ok(Report {
        rounds,
        requests: CONNECTIONS * BURST * BURSTS,
        costs,
        acknowledgements,
        visible: visible.quantiles(),
        visible_floor: floor.quantiles(),
    })
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

/// Microseconds a request in one round.
struct Round {
    gateway: f64,
    bare: f64,
}

fn cost(path: &'static str, changing: bool, lane: &Lane, rounds: &[Round]) -> Cost {
    let of = |value: fn(&Round) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
    Cost {
        path,
        changing,
        bytes: lane.bytes,
        gateway_us: of(|round| round.gateway),
        bare_us: of(|round| round.bare),
        ratio: of(|round| round.gateway / round.bare),
    }
}

/// One kind of read: connections to the gateway and to a bare server that answers alike.
struct Lane {
    request: Vec<u8>,
    bytes: usize,
    to_gateway: Vec<Connection>,
    to_bare: Vec<Connection>,
    gateway: ThreadTime,
    bare_time: ThreadTime,
    bare: BareServer,
}

impl Lane {
    fn open(exchange: &LiveExchange, query: &str) -> Result<Self, MeasureError> {
        let failed = MeasureError::io;
        let request = request(query, "");
        let mut first = open(exchange)?;
        let answer = first.ask(&request).map_err(failed("asking the gateway"))?;
        if answer.status != 200 {
            return Err(MeasureError::Wrong(format!("{query}: {}", answer.status)));
        }
        let answer = BareAnswer {
            fields: fields(answer.head)?,
            body: Bytes::copy_from_slice(answer.body),
        };
        let bytes = answer.body.len();
        let bare = BareServer::start(answer).map_err(failed("starting the bare server"))?;
        let many = |address| -> std::io::Result<Vec<Connection>> {
            (0..CONNECTIONS)
                .map(|_| Connection::open(address))
                .collect()
        };
        Ok(Self {
            request,
            bytes,
            to_gateway: many(exchange.trading).map_err(failed("connecting"))?,
            to_bare: many(bare.address).map_err(failed("connecting"))?,
            gateway: ThreadTime::of(&serving_thread(exchange))
                .map_err(failed("finding a thread"))?,
            bare_time: ThreadTime::of(bare_server::THREAD).map_err(failed("finding a thread"))?,
            bare,
        })
    }

    /// The first round warms up and is not counted.
    fn rounds(&mut self, rounds: usize) -> Result<Vec<Round>, MeasureError> {
        self.round()?;
        (0..rounds).map(|_| self.round()).collect()
    }

    fn round(&mut self) -> Result<Round, MeasureError> {
        let (mut gateway, mut bare) = (0, 0);
        for _ in 0..BURSTS {
            gateway += burst(&mut self.to_gateway, &self.request, &self.gateway)?;
            bare += burst(&mut self.to_bare, &self.request, &self.bare_time)?;
        }
        #[allow(clippy::cast_precision_loss, reason = "a count of some thousands")]
        let requests = (CONNECTIONS * BURST * BURSTS) as f64;
        Ok(Round {
            gateway: micros(gateway) / requests,
            bare: micros(bare) / requests,
        })
    }
}

/// Asks over all connections at once, [`BURST`] times; the nanoseconds `server` ran meanwhile.
fn burst(
    connections: &mut [Connection],
    request: &[u8],
    server: &ThreadTime,
) -> Result<u64, MeasureError> {
    let time = || server.nanos().map_err(MeasureError::io("reading a clock"));
    let before = time()?;
    for _ in 0..BURST {
        for connection in &mut *connections {
            let sent = connection.send(request);
            sent.map_err(MeasureError::io("asking"))?;
        }
        for connection in &mut *connections {
            expect_success(connection.receive())?;
        }
    }
    Ok(time()? - before)
}

/// The name of the gateway's only serving thread.
fn serving_thread(exchange: &LiveExchange) -> String {
    format!("http-{}-0", exchange.trading.port())
}

fn open(exchange: &LiveExchange) -> Result<Connection, MeasureError> {
    Connection::open(exchange.trading).map_err(MeasureError::io("connecting"))
}

fn expect_success(
    answer: std::io::Result<crate::http::HttpAnswer<'_>>,
) -> Result<(), MeasureError> {
    let answer = answer.map_err(MeasureError::io("waiting for an answer"))?;
    if answer.status == 200 && answer.body.starts_with(b"{") {
        return Ok(());
    }
    let body = String::from_utf8_lossy(answer.body);
    Err(MeasureError::Wrong(format!("{} {body}", answer.status)))
}

fn request(query: &str, more: &str) -> Vec<u8> {
    format!("GET {query} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n{more}\r\n").into_bytes()
}

/// The fields a server chose itself; length and date it makes anew.
fn fields(head: &[u8]) -> Result<HeaderMap, MeasureError> {
    let text = String::from_utf8_lossy(head);
    let mut fields = HeaderMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        let malformed = |_| MeasureError::Wrong(format!("a malformed field {name}"));
        let name: HeaderName = name.parse().map_err(malformed)?;
        if name == http::header::DATE || name == http::header::CONTENT_LENGTH {
            continue;
        }
        let value = HeaderValue::from_str(value).map_err(|_| malformed_value(&name))?;
        fields.append(name, value);
    }
    Ok(fields)
}

fn malformed_value(name: &HeaderName) -> MeasureError {
    MeasureError::Wrong(format!("a malformed value of {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_answer_and_acknowledged_states_are_read() {
        let report = measure(&std::env::temp_dir(), 1, Duration::from_millis(20)).unwrap();
        assert_eq!(report.costs.len(), 6);
        assert!(
            report
                .costs
                .iter()
                .all(|cost| cost.gateway_us > 0.0 && cost.bare_us > 0.0)
        );
        assert!(report.acknowledgements > 0 && report.visible.p50 > 0);
        assert_eq!(report.goals().len(), 8);
    }

    #[test]
    fn the_bare_server_sends_the_fields_of_the_gateway() {
        let head = b"HTTP/1.1 200 OK\r\nx-epoch: 1\r\ndate: now\r\ncontent-length: 2\r\n\r\n";
        let fields = fields(head).unwrap();
        assert_eq!(fields.len(), 1);
        assert_eq!(fields["x-epoch"], "1");
    }
}
