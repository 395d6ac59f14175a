//! What a gateway core takes of quotes: single orders, batches, and sets of 64 quotes that move 1, 8 or all.
//!
//! Requests are signed before they are sent, on several connections with one request each. A rate is per
//! second of the serving thread's CPU time, since a disk bounds the wall time of everything durable.

mod soak;

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_auth::{Domain, Domains, L2Credentials, Signer};
use foretell_journal::{Follower, Next, Scratch};
use foretell_model::limits::MAX_QUOTES;
use foretell_model::quote::{Quote, QuoteWord};
use foretell_model::{
    Command, ConditionId, Event, Lots, Outcome, Price, Sequence, Side, TimeMs, WalletKind,
};
use foretell_ops::trader::quotes_body;
use serde_json::Value;

use super::ScratchDir;
use crate::error::MeasureError;
use crate::harness::http::{Connection, success};
use crate::harness::latency::now_ms;
use crate::harness::live_exchange::LiveExchange;
use crate::harness::thread_time::ThreadTime;
use crate::report::{Goal, Measure, Report};
use crate::workloads::signed_orders::{self, Sender, Terms};
use crate::workloads::venue;

/// Connections, each with a group of its own and one request at a time.
const CONNECTIONS: u8 = 8;
/// Orders of a batch.
const BATCH: usize = foretell_wire::limits::MAX_ORDERS;
/// Quotes that a set moves, by lane.
const MOVED: [usize; 3] = [1, 8, MAX_QUOTES];
/// Lanes, in the order of [`Lanes::round`].
const LANES: [&str; 5] = [
    "order",
    "order of a batch",
    "1 of 64",
    "8 of 64",
    "64 of 64",
];
/// Quotes moved a second on a gateway core, as multiples of its single orders: of 8 and of 64 in a set.
const GOALS: [(usize, f64); 2] = [(3, 3.0), (4, 8.0)];
/// Bytes of journal for a quote of a set that moves all.
const MOST_BYTES: f64 = 160.0;

/// Arguments of `foretell-bench quotes`.
#[derive(Debug, Args)]
pub struct QuotesScope {
    /// Requests of each lane and round
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Rounds; a rate is their median
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Then move all quotes of every set for so many seconds
    #[arg(long, value_parser = super::seconds)]
    soak: Option<Duration>,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Sends the lanes to an exchange of its own, in rounds.
pub(super) fn measure(scope: &QuotesScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("quotes", "disk");
    let scratch = scope.scratch.directory("quotes")?;
    let data = scratch.path().join("data");
    let (signer, domains) = (signed_orders::signer()?, Domains::default());
    let exchange = LiveExchange::start(&data, &domains, signer.address())?;
    let mut lanes = Lanes::open(&exchange, &domains, signer)?;
    lanes.round(scope.requests.div_ceil(4))?;
    let mut rounds = LANES.map(|_| Vec::new());
    let mut followed = [Vec::new(), Vec::new()];
    let mut walls = LANES.map(|_| Vec::new());
    for _ in 0..scope.rounds {
        let round = lanes.round(scope.requests)?;
        for (lane, spent) in round.iter().enumerate() {
            rounds[lane].push(spent.per_core_second());
            walls[lane].push(spent.per_second());
        }
        followed[0].push(round[0].followed_us());
        followed[1].push(round[LANES.len() - 1].followed_us());
    }
    let mut soaked = Report::begin("quotes", "disk");
    if let Some(length) = scope.soak {
        soak::measure(&mut lanes, length, &mut soaked)?;
    }
    exchange.stop()?;

    let name = |lane: usize| format!("{}, a second of a gateway core", LANES[lane]);
    let orders = Measure::of(name(0), "1/s", rounds[0].clone()).higher();
    let rates = (1..LANES.len()).map(|lane| {
        Measure::of(name(lane), "1/s", rounds[lane].clone())
            .higher()
            .over(&orders)
    });
    report.measures = std::iter::once(orders.clone()).chain(rates).collect();
    for (lane, least) in GOALS {
        let found = report.measures[lane].ratio();
        let goal = format!("quotes, {} in a set / orders", MOVED[lane - 2]);
        report.goals.push(Goal::at_least(goal, least, found));
    }
    let walls = walls.into_iter().enumerate();
    report.measures.extend(walls.map(|(lane, walls)| {
        Measure::of(format!("{}, a second", LANES[lane]), "1/s", walls).higher()
    }));
    let [order, quote] = followed;
    let order = Measure::of("to follow an order", "us", order);
    let quote = Measure::of("to follow a moved quote", "us", quote).over(&order);
    report.goals.push(Goal::at_most(
        "to follow a quote / an order",
        1.0,
        quote.ratio(),
    ));
    report.measures.extend([order, quote]);
    let bytes = journal_bytes(&data)?;
    report.goals.push(Goal::at_most(
        "bytes of journal a moved quote",
        MOST_BYTES,
        bytes,
    ));
    let bytes = bytes.ok_or_else(|| MeasureError::wrong("the journal has no whole set"))?;
    report.measures.push(Measure::single(
        "bytes of journal a moved quote",
        "B",
        bytes,
    ));
    report.measures.append(&mut soaked.measures);
    report.goals.append(&mut soaked.goals);
    report.rounds = rounds[0].len();
    report.scope = format!(
        "{} requests a lane and round, {CONNECTIONS} connections",
        scope.requests
    );
    Ok(report.end())
}

/// What a lane of a round took.
#[derive(Clone, Copy)]
struct Spent {
    /// Orders, or quotes that moved.
    moved: f64,
    /// CPU time of the serving thread.
    serving_s: f64,
    /// CPU time of those who follow the journal: the engine's publisher and the gateway.
    following_s: f64,
    wall_s: f64,
}

impl Spent {
    fn per_core_second(&self) -> f64 {
        self.moved / self.serving_s
    }

    fn per_second(&self) -> f64 {
        self.moved / self.wall_s
    }

    fn followed_us(&self) -> f64 {
        self.following_s * 1e6 / self.moved
    }
}

/// The connections, and the threads that are watched.
struct Lanes {
    connections: Vec<Connection>,
    serving: ThreadTime,
    following: [ThreadTime; 2],
    signer: Signer,
    credentials: L2Credentials,
    domain: Domain,
    separator: [u8; 32],
    /// Number of the next order.
    salt: u64,
    /// Revision of the next sets.
    revision: u64,
}

impl Lanes {
    fn open(
        exchange: &LiveExchange,
        domains: &Domains,
        signer: Signer,
    ) -> Result<Self, MeasureError> {
        let open = |_| Connection::open(exchange.trading);
        let connections = (0..CONNECTIONS).map(open).collect::<Result<Vec<_>, _>>();
        let mut connections = connections.map_err(MeasureError::io("connecting"))?;
        let asked = connections[0].ask(&crate::harness::http::get("/quotes/domain", ""));
        let domain: Value = serde_json::from_slice(success(asked)?.body).unwrap_or_default();
        let salt = domain["salt"]
            .as_str()
            .and_then(foretell_wire::text::ids::bytes32);
        let salt = salt.ok_or_else(|| MeasureError::wrong("the gateway names no domain"))?;
        let thread =
            |name: &str| ThreadTime::newest(name).map_err(MeasureError::io("finding a thread"));
        Ok(Self {
            connections,
            serving: thread(&exchange.serving_thread())?,
            following: [thread("publisher")?, thread("follower")?],
            credentials: L2Credentials::from_trio(signer.address(), &exchange.key),
            signer,
            domain: signed_orders::domain(false)?,
            separator: quotes_separator(domains.chain_id(), &salt),
            salt: 0,
            revision: 0,
        })
    }

    /// Runs each lane with so many requests.
    fn round(&mut self, requests: u32) -> Result<[Spent; LANES.len()], MeasureError> {
        let singles: Vec<_> = (0..requests).map(|_| self.orders(1)).collect();
        let batches: Vec<_> = (0..requests / 4 + 1).map(|_| self.orders(BATCH)).collect();
        let mut sent = vec![self.send(&singles, 1)?, self.send(&batches, BATCH)?];
        for moved in MOVED {
            let sets: Vec<_> = (0..requests).map(|index| self.set(index, moved)).collect();
            sent.push(self.send(&sets, moved)?);
        }
        sent.try_into()
            .map_err(|_| MeasureError::wrong("a lane is missing"))
    }

    fn orders(&mut self, count: usize) -> Vec<u8> {
        let (key, terms) = (self.credentials.api_key(), &Terms::LIVE_EXCHANGE);
        let bodies = (0..count).map(|_| {
            self.salt += 1;
            signed_orders::sign(&self.signer, key, &self.domain, terms, self.salt).body
        });
        let bodies: Vec<_> = bodies.collect();
        match &bodies[..] {
            [only] => self.request("/order", only),
            all => self.request("/orders", &format!("[{}]", all.join(","))),
        }
    }

    /// A set of 64 quotes of the connection's group, of which the first `moved` are larger than before.
    fn set(&mut self, index: u32, moved: usize) -> Vec<u8> {
        let group = index.to_le_bytes()[0] % CONNECTIONS;
        self.revision += 1;
        let quotes: Vec<QuoteWord> = (0..MAX_QUOTES)
            .map(|quote| {
                let grown = if quote < moved { self.revision } else { 0 };
                Quote {
                    condition: 0,
                    outcome: if quote < MAX_QUOTES / 2 {
                        Outcome::Yes
                    } else {
                        Outcome::No
                    },
                    side: Side::Buy,
                    price: cents(1 + quote % (MAX_QUOTES / 2)),
                    lots: Lots(100 + grown),
                    grow_tail: false,
                }
                .word()
            })
            .collect();
        let now = now_ms();
        let conditions: [ConditionId; 1] = [venue::condition(0)];
        let message = QuotesMessage {
            maker: self.signer.address(),
            signer: self.signer.address(),
            signature_type: WalletKind::Eoa,
            group,
            revision: self.revision,
            seen: Sequence(u64::MAX),
            timestamp: now,
            valid_until: TimeMs(now.0 + 3_600_000),
            builder: [0; 32],
            conditions: &conditions,
            quotes: &quotes,
        };
        let signature = self.signer.sign_quotes(&message, &self.separator);
        self.request("/quotes", &quotes_body(&message, &signature).to_string())
    }

    fn request(&self, path: &str, body: &str) -> Vec<u8> {
        let sender = Sender::bench(&self.credentials);
        sender.request("POST", path, body, now_ms().0 / 1_000)
    }

    /// Sends requests in turn on all connections.
    fn send(&mut self, requests: &[Vec<u8>], moved: usize) -> Result<Spent, MeasureError> {
        let before = self.times()?;
        let begun = Instant::now();
        for turn in requests.chunks(self.connections.len()) {
            for (connection, request) in self.connections.iter_mut().zip(turn) {
                let sent = connection.send(request);
                sent.map_err(MeasureError::io("sending"))?;
            }
            for (connection, _) in self.connections.iter_mut().zip(turn) {
                let answer = success(connection.receive())?;
                if let Some(refused) = refusal(answer.body) {
                    return Err(MeasureError::Wrong(refused));
                }
            }
        }
        let wall_s = begun.elapsed().as_secs_f64();
        let after = self.times()?;
        let seconds = |at: usize| (after[at] - before[at]) as f64 / 1e9;
        Ok(Spent {
            moved: (requests.len() * moved) as f64,
            serving_s: seconds(0),
            following_s: seconds(1) + seconds(2),
            wall_s,
        })
    }

    fn times(&self) -> Result<[u64; 3], MeasureError> {
        let [publisher, follower] = &self.following;
        let nanos = |thread: &ThreadTime| {
            thread
                .nanos()
                .map_err(MeasureError::io("reading a thread's time"))
        };
        Ok([nanos(&self.serving)?, nanos(publisher)?, nanos(follower)?])
    }
}

fn cents(cents: usize) -> Price {
    Price(u16::try_from(100 * cents).expect("a price below 1"))
}

/// What an answer refuses, if anything.
fn refusal(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let all = answer
        .as_array()
        .map_or(std::slice::from_ref(&answer), Vec::as_slice);
    let is_done = |answer: &Value| {
        answer["success"] == true || answer["refused"].as_array().is_some_and(Vec::is_empty)
    };
    (!all.iter().all(is_done)).then(|| answer.to_string())
}

/// Bytes of the frames of sets that moved all their quotes, for each quote.
fn journal_bytes(data: &Path) -> Result<Option<f64>, MeasureError> {
    let (mut bytes, mut quotes) = (0.0, 0.0);
    let mut scratch = Scratch::default();
    let mut follower = Follower::open(&data.join(foretell_engine::JOURNAL_DIRECTORY), Sequence(0))?;
    loop {
        match follower.next_frame()? {
            Next::Frame(frame) => {
                let frame = frame.decode(&mut scratch);
                let frame = frame.map_err(|error| MeasureError::Wrong(error.to_string()))?;
                let is_placed = |event: &&Event| matches!(event, Event::QuotePlaced(_));
                let placed = frame.events.iter().filter(is_placed).count();
                if placed == MAX_QUOTES && matches!(frame.command, Command::SetQuotes(_)) {
                    bytes += f64::from(frame.place.length);
                    quotes += placed as f64;
                }
            }
            _ => return Ok((quotes > 0.0).then(|| bytes / quotes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_taken_and_the_journal_is_short() {
        let scope = QuotesScope {
            requests: 16,
            rounds: 2,
            soak: Some(Duration::from_secs(1)),
            scratch: ScratchDir::default(),
        };
        let report = measure(&scope).unwrap();
        assert_eq!(report.rounds, 2);
        let bytes = report
            .measure("bytes of journal a moved quote")
            .unwrap()
            .value;
        assert!((128.0..MOST_BYTES).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_refused_quote_is_seen() {
        assert_eq!(refusal(br#"{"refused":[]}"#), None);
        assert_eq!(refusal(br#"[{"success":true},{"success":true}]"#), None);
        assert!(refusal(br#"{"refused":[{"quote":1}]}"#).is_some());
        assert!(refusal(br#"[{"success":true},{"success":false}]"#).is_some());
    }
}
