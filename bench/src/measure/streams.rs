//! Streams: CPU time of a delivered message with many connections, in turns with servers that send the
//! same bytes; delay from the engine's reply to the client's read, also while some clients do not read;
//! memory of an idle connection.

use std::time::{Duration, Instant};

use clap::Args;
use foretell_auth::Domains;
use foretell_gateway::ConnectionLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::ScratchDir;
use crate::baselines::stream_servers::{
    BROADCAST_THREAD, BroadcastServer, WRITE_THREAD, WriteServer,
};
use crate::error::MeasureError;
use crate::harness::latency::{NANOS_PER_MS, NANOS_PER_US, Stopwatch, median, nanos, ratio};
use crate::harness::live_exchange::{LiveExchange, LiveOptions};
use crate::harness::order_flow::OrderFlow;
use crate::harness::stream_clients::{
    Greeting, Record, Records, StreamClients, stalled, text_frame,
};
use crate::harness::thread_time::ThreadTime;
use crate::report::{Goal, Measure, Report};
use crate::workloads::signed_orders::{self, Terms};

/// Maximum CPU time of a delivered message as a part of each baseline's.
const BROADCAST_GOAL: f64 = 0.8;
const WRITE_GOAL: f64 = 1.3;
/// Maximum delay in milliseconds, p99.
const DELAY_GOAL_MS: f64 = 5.0;
/// Maximum p99 with stalled readers as a part of the p99 without.
const STALLED_GOAL: f64 = 1.25;
/// Connections while the delay is measured; each 16th is timed.
const DELAY_CONNECTIONS: usize = 1_000;
const TIMED_EVERY: usize = 16;
/// One of so many connections does not read.
const STALLED_EVERY: usize = 100;
/// Orders a second; as many are cancelled, and each of both is one message.
const ORDERS_PER_SECOND: u32 = 10;
const DELAY_ORDERS_PER_SECOND: u32 = 25;
/// Descriptors of the process for everything but the two ends of each connection.
const RESERVED_DESCRIPTORS: usize = 1_000;

/// Arguments of `foretell-bench streams`.
#[derive(Debug, Args)]
pub struct StreamsScope {
    /// Connections at most while CPU time is measured
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(16..))]
    connections: u32,
    /// Rounds of every server; medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of messages in each round
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = super::seconds)]
    seconds: Duration,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// CPU time per delivered message in nanoseconds, in one round.
struct Round {
    streams: f64,
    broadcast: f64,
    write: f64,
}

/// Starts an exchange and measures in rounds.
pub(super) fn measure(scope: &StreamsScope) -> Result<Report, MeasureError> {
    let rounds = scope.rounds.max(1);
    let mut report = Report::begin("streams", "disk");
    let connections = fitting(usize::try_from(scope.connections).unwrap_or(usize::MAX));
    let scratch = scope.scratch.directory("streams")?;
    let owner = signed_orders::signer()?.address();
    let exchange = LiveExchange::start_with(
        &scratch.path().join("data"),
        &Domains::default(),
        &[owner],
        LiveOptions {
            connections: limits(connections),
            ..LiveOptions::default()
        },
    )?;
    let mut site = Site {
        flow: OrderFlow::connect(&exchange.socket, 0)?,
        subscription: format!(
            r#"{{"type":"market","assets_ids":["{}"]}}"#,
            Terms::LIVE_EXCHANGE.token_text()
        ),
        exchange,
    };
    site.flow.group(10)?;

    let idle = site.idle_bytes(connections)?;
    let costs: Result<Vec<Round>, _> = (0..rounds)
        .map(|_| site.cost(connections, scope.seconds))
        .collect();
    add_costs(&mut report, &costs?);
    let (mut all, mut with_stalled) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        all.push(site.delay(0, scope.seconds)?);
        with_stalled.push(site.delay(DELAY_CONNECTIONS / STALLED_EVERY, scope.seconds)?);
    }
    add_delays(&mut report, &all, &with_stalled);
    report
        .measures
        .push(Measure::single("an idle connection", "bytes", idle));
    report.rounds = rounds;
    report.scope = format!(
        "{connections} connections to one token, {} messages a second for {} s a round; delay with \
         {DELAY_CONNECTIONS} connections at {} messages a second",
        2 * ORDERS_PER_SECOND,
        scope.seconds.as_secs_f64(),
        2 * DELAY_ORDERS_PER_SECOND
    );
    let note =
        "both ends of every connection are in this process; memory is without kernel buffers";
    report.notes.push(note.to_owned());
    drop(site.flow);
    site.exchange.stop()?;
    Ok(report.end())
}

/// The running exchange, with clients and messages on request.
struct Site {
    exchange: LiveExchange,
    flow: OrderFlow,
    subscription: String,
}

impl Site {
    /// Clients of the gateway that got their first book.
    fn clients(&self, count: usize, record: Record) -> Result<StreamClients, MeasureError> {
        let greeting = Greeting::WebSocket(&self.subscription);
        let clients = StreamClients::open(self.exchange.trading, count, greeting, record)?;
        clients.wait(count as u64)?;
        Ok(clients)
    }

    /// Memory of one more connection in bytes.
    fn idle_bytes(&self, count: usize) -> Result<f64, MeasureError> {
        // The first connections also fill what all share.
        self.clients(16, Record::Texts)?.close()?;
        let before = own_memory()?;
        let clients = self.clients(count, Record::Texts)?;
        let after = own_memory()?;
        clients.close()?;
        Ok(ratio(after.saturating_sub(before), count as u64))
    }

    /// One round of the gateway and of each baseline, which send what the gateway sent.
    fn cost(&mut self, count: usize, length: Duration) -> Result<Round, MeasureError> {
        let serving = ThreadTime::of(&self.exchange.serving_thread());
        let serving = serving.map_err(MeasureError::io("finding a thread"))?;
        let clients = self.clients(count, Record::Texts)?;
        let before = time(&serving)?;
        let sent = self.send(ORDERS_PER_SECOND, length, |_| {})?;
        clients.wait((1 + sent) * count as u64)?;
        let streams = ratio(time(&serving)? - before, sent * count as u64);
        let Records { texts, .. } = clients.close()?;
        // The first text is the book.
        let texts = texts.get(1..).unwrap_or_default();
        if texts.len() as u64 != sent {
            let text = format!("{} messages of {sent} frames", texts.len());
            return Err(MeasureError::Wrong(text));
        }
        Ok(Round {
            streams,
            broadcast: broadcast(count, texts)?,
            write: write(count, texts)?,
        })
    }

    /// Delay from the engine's reply to the read of its message, with clients that do not read.
    fn delay(&mut self, stuck: usize, length: Duration) -> Result<Stopwatch, MeasureError> {
        let timed = DELAY_CONNECTIONS / TIMED_EVERY;
        let others = self.clients(DELAY_CONNECTIONS - timed - stuck, Record::Texts)?;
        let stuck = stalled(self.exchange.trading, stuck, &self.subscription)?;
        let clients = self.clients(timed, Record::Arrivals)?;
        let mut replies = Vec::new();
        let sent = self.send(DELAY_ORDERS_PER_SECOND, length, |message| {
            replies.push((message, Instant::now()));
        })?;
        clients.wait((1 + sent) * timed as u64)?;
        let Records { arrivals, .. } = clients.close()?;
        others.close()?;
        drop(stuck);
        let mut delays = Stopwatch::new();
        let mut replies = replies
            .into_iter()
            .collect::<std::collections::HashMap<_, _>>();
        for (index, at) in arrivals {
            if let Some(replied) = replies.get_mut(&(index as u64)) {
                delays.record(nanos(at.saturating_duration_since(*replied)));
            }
        }
        Ok(delays)
    }

    /// Places and cancels orders; calls `replied` with the number of the newest message after each
    /// reply, the first is 1. Returns the number of messages.
    fn send(
        &mut self,
        orders_per_second: u32,
        length: Duration,
        mut replied: impl FnMut(u64),
    ) -> Result<u64, MeasureError> {
        let first = self.flow.sequence()?.0;
        let (stop, end) = (AtomicBool::new(false), Instant::now() + length);
        let mut last = first;
        self.flow.run(orders_per_second, &stop, |sequence| {
            if sequence.0 > last {
                last = sequence.0;
                replied(last - first);
            }
            stop.store(Instant::now() >= end, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(last - first)
    }
}

/// Sends texts to connections of tokio-tungstenite, in pairs at the rate of the flow.
fn broadcast(count: usize, texts: &[bytes::Bytes]) -> Result<f64, MeasureError> {
    let server = BroadcastServer::start().map_err(MeasureError::io("starting a baseline"))?;
    let texts: Result<Vec<_>, _> = texts
        .iter()
        .map(|text| Utf8Bytes::try_from(text.clone()))
        .collect();
    let texts = texts.map_err(MeasureError::wrong)?;
    let clients = StreamClients::open(
        server.address(),
        count,
        Greeting::WebSocket(""),
        Record::Texts,
    )?;
    let cost = pace(&texts, BROADCAST_THREAD, &clients, count, |text| {
        server.send(text)
    })?;
    clients.close()?;
    server.stop()?;
    Ok(cost)
}

/// Writes frames to plain connections, in pairs at the rate of the flow.
fn write(count: usize, texts: &[bytes::Bytes]) -> Result<f64, MeasureError> {
    let failed = MeasureError::io;
    let server = WriteServer::start(count).map_err(failed("starting a baseline"))?;
    let frames: Vec<_> = texts.iter().map(|text| text_frame(text)).collect();
    let clients = StreamClients::open(server.address, count, Greeting::Plain, Record::Texts)?;
    let cost = pace(&frames, WRITE_THREAD, &clients, count, |frame| {
        server.send(frame)
    })?;
    // The server must be gone before its clients: it writes to all of them.
    server.stop()?;
    clients.close().or_else(|error| match error {
        MeasureError::Io { source, .. } if source.kind() == std::io::ErrorKind::UnexpectedEof => {
            Ok(Records::default())
        }
        error => Err(error),
    })?;
    Ok(cost)
}

/// Sends messages by the schedule of the flow; returns the CPU time of the server's thread per delivery.
fn pace<T>(
    messages: &[T],
    thread: &str,
    clients: &StreamClients,
    count: usize,
    send: impl Fn(&T),
) -> Result<f64, MeasureError> {
    let serving = ThreadTime::of(thread).map_err(MeasureError::io("finding a thread"))?;
    let interval = Duration::from_secs(1) / ORDERS_PER_SECOND;
    let before = time(&serving)?;
    let begun = Instant::now();
    for (pair, number) in messages.chunks(2).zip(1..) {
        std::thread::park_timeout(
            (begun + interval * number).saturating_duration_since(Instant::now()),
        );
        pair.iter().for_each(&send);
    }
    let deliveries = (messages.len() * count) as u64;
    clients.wait(deliveries)?;
    Ok(ratio(time(&serving)? - before, deliveries))
}

fn time(thread: &ThreadTime) -> Result<u64, MeasureError> {
    thread.nanos().map_err(MeasureError::io("reading a clock"))
}

/// Anonymous memory of this process in bytes.
fn own_memory() -> Result<u64, MeasureError> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")
        .map_err(MeasureError::io("reading the memory of this process"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Anonymous:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let kibibytes = kibibytes.ok_or_else(|| MeasureError::wrong("no memory figure"))?;
    Ok(kibibytes << 10)
}

/// The limits of a gateway that takes all connections, which come from one address.
fn limits(connections: usize) -> ConnectionLimits {
    // A gateway keeps one connection in eight for requests.
    let room = (connections.max(DELAY_CONNECTIONS) + RESERVED_DESCRIPTORS) / 7 * 8;
    ConnectionLimits {
        total: room,
        per_address: room,
        ..ConnectionLimits::default()
    }
}

/// Raises the limit of open files, and lowers a number of connections to what it allows.
fn fitting(connections: usize) -> usize {
    let before = getrlimit(Resource::Nofile);
    // The limit stays as it is if it cannot be raised.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: before.maximum,
            ..before
        },
    );
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let room = usize::try_from(limit).unwrap_or(usize::MAX);
    connections.min(room.saturating_sub(RESERVED_DESCRIPTORS) / 2)
}

fn add_costs(report: &mut Report, costs: &[Round]) {
    let of = |name: &str, value: fn(&Round) -> f64| {
        let rounds = costs.iter().map(|round| value(round) / NANOS_PER_US);
        Measure::of(name, "us", rounds.collect())
    };
    let broadcast = of("tokio-tungstenite, a message", |round| round.broadcast);
    let write = of("plain writes, a message", |round| round.write);
    for (baseline, most) in [(&broadcast, BROADCAST_GOAL), (&write, WRITE_GOAL)] {
        let streams = of("a message", |round| round.streams).over(baseline);
        let name = format!("processor time, a delivered message / {}", baseline.name);
        let name = name.trim_end_matches(", a message");
        report
            .goals
            .push(Goal::at_most(name, most, streams.ratio()));
    }
    let streams = of("a message", |round| round.streams).over(&broadcast);
    report.measures.extend([broadcast, write, streams]);
}

fn add_delays(report: &mut Report, all: &[Stopwatch], with_stalled: &[Stopwatch]) {
    let p99s = |rounds: &[Stopwatch]| -> Vec<f64> {
        let p99 = |round: &Stopwatch| round.quantiles(NANOS_PER_MS).p99;
        rounds.iter().map(p99).collect()
    };
    let whole = |rounds: &[Stopwatch]| {
        let mut sum = Stopwatch::new();
        rounds.iter().for_each(|round| sum.add(round));
        sum.quantiles(NANOS_PER_MS)
    };
    let plain = Measure::of("reply to read, p99", "ms", p99s(all)).quantiles(whole(all));
    let stuck = Measure::of("reply to read, p99, 1% stalled", "ms", p99s(with_stalled));
    let stuck = stuck.quantiles(whole(with_stalled)).over(&plain);
    report.goals.extend([
        Goal::at_most(
            "ms from reply to read of a message, p99",
            DELAY_GOAL_MS,
            Some(median(&p99s(all))),
        ),
        Goal::at_most(
            "p99 with 1% stalled readers / without",
            STALLED_GOAL,
            stuck.ratio(),
        ),
    ]);
    report.measures.extend([plain, stuck]);
}
