//! An open-loop load. Requests are signed in advance and sent at a constant rate over keep-alive
//! connections, each when it is due, and timed from then: a stalled server is charged for all
//! requests due during the stall. Every answer is checked.
//!
//! One run has one rate, `knee_search` finds the highest rate a server sustains, and `compare`
//! compares our exchange with baseline servers that do the same checks, and trading beside a
//! settlement with trading alone. [`load_target`] keeps a load away
//! from servers of others.
//!
//! Deliberately absent: TLS, HTTP/2, redirects, answers without a length.

mod check;
mod clock;
mod compare;
mod connection;
mod endpoint;
mod figures;
mod jitter;
mod knee_search;
mod latency_record;
mod list_reader;
mod remote_endpoint;
mod request_mix;
mod schedule;
mod script;
mod sender;
mod server_under_test;
mod settlement;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use foretell_gateway::SIGNER_CACHE_MIB;
use foretell_ops::failure::Failure;
use foretell_ops::private_key::{self, LOAD_KEY_VARIABLE};
use zeroize::Zeroizing;

use super::ScratchDir;
use crate::error::MeasureError;
use crate::harness::latency::nanos;
use crate::harness::load_target::{self, Target};
use crate::harness::threads::joined;
use crate::report::{Measure, Report};
use clock::SECOND;
use endpoint::Endpoint;
use figures::Outcome;
use jitter::Jitter;
use knee_search::{Steps, search};
use latency_record::LatencyRecord;
use request_mix::RequestMix;
use schedule::Schedule;
use script::{Draft, Script};
use sender::{Common, Sender};
use server_under_test::ServerUnderTest;

/// Minimum age of an order before its cancel, in requests per connection.
const LEAD: usize = 2;
/// Nanoseconds from prepared requests to the first one: all threads have started by then.
const RUN_UP: u64 = 20_000_000;
/// Maximum duration of a run: requests are signed before the start, and servers accept them only
/// for this long.
const LONGEST_RUN: Duration = Duration::from_secs(300);

/// Step between two rates of a search without a starting point.
const FACTOR: f64 = 2.0;

/// First rate of a search, on an exchange of our own or another one.
const FIRST_RATE: u32 = 100;
/// A search run ends when it is this far behind schedule; a single run waits longer.
const SEARCH_PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Long `--help` text.
pub(super) const ABOUT: &str = "\
Send orders, cancels and reads at a constant rate

Requests are signed before the run. Each is sent when it is due, independent of earlier responses, \
and timed from then: a stalled server is charged for all requests due during the stall. Every \
answer is checked; the first wrong one ends the run with exit code 1.

Without --url and --rate: start an exchange and baseline servers with the same checks, search the \
highest rate of each, trade beside the settlement of large markets, and print goals. With --rate: one run at that rate. With --url: load that \
server, by a search or by one run with --rate.

A server on this machine may be loaded freely, any other only with --server-is-mine. The account \
needs collateral there and must be exempt from rate limits; its bids rest at the lowest price of \
--token. Its private key is read from --private-key-file or from the variable \
FORETELL_LOAD_PRIVATE_KEY.";

/// Arguments of `foretell-bench load`.
#[derive(Debug, Args)]
pub struct LoadScope {
    /// Requests per second [default: search for the highest rate]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: Option<u32>,
    /// Seconds measured per run; warm-up adds a quarter of it
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "3", value_parser = super::seconds)]
    measured: Duration,
    /// Weights of place, batch, cancel and read
    #[arg(long, default_value = "place=6,cancel=3,read=1")]
    mix: RequestMix,
    /// Connections of all threads together
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Signers with an account each, who take turns
    #[arg(long, default_value_t = 64, conflicts_with = "url", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    signers: u32,
    /// Threads that send
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Maximum p99 at the rate that is searched, in milliseconds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    p99: u64,
    /// Precision of the rate that is searched, in percent
    #[arg(long, default_value_t = 5, conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..=100))]
    precision: u32,
    /// Rounds against baseline servers; medians are reported
    #[arg(long, default_value_t = 3, conflicts_with_all = ["rate", "url"], value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Accounts that hold shares of the markets settled beside trading
    #[arg(long, default_value_t = 77_000, conflicts_with_all = ["rate", "url"], value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    holders: u32,
    /// URL of the trading surface to load: http://HOST:PORT
    #[arg(long, requires = "token")]
    url: Option<String>,
    /// Confirm that you run the server or its operator has agreed
    #[arg(long, requires = "url")]
    server_is_mine: bool,
    /// Token to bid for, in decimal digits
    #[arg(long, requires = "url", value_name = "TOKEN")]
    token: Option<String>,
    /// File with the account's private key, mode 600
    #[arg(long, requires = "url", value_name = "FILE")]
    private_key_file: Option<PathBuf>,
    /// Header family for credentials
    #[arg(
        long,
        requires = "url",
        default_value = "SERVICE",
        value_name = "PREFIX"
    )]
    header_prefix: String,
    /// Chain id of the server
    #[arg(long, requires = "url", default_value_t = 80_002)]
    chain: u64,
    /// Directory for temporary data [default: the system's]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    scratch: Option<PathBuf>,
}

impl LoadScope {
    /// Reads the account's private key from a file or a variable; every user could see it in an
    /// argument.
    fn private_key(&self) -> Result<Zeroizing<String>, Failure> {
        match (&self.private_key_file, std::env::var(LOAD_KEY_VARIABLE)) {
            (Some(file), _) => private_key::read(file),
            (None, Ok(key)) => Ok(Zeroizing::new(key)),
            (None, Err(_)) => Err(Failure::new("no private key").hint(format!(
                "give --private-key-file FILE, or set {LOAD_KEY_VARIABLE}"
            ))),
        }
    }

    fn target(&self) -> Result<Option<Target>, MeasureError> {
        let target = self.url.as_ref();
        let target = target.map(|url| load_target::find(url, self.server_is_mine));
        Ok(target.transpose()?)
    }

    fn scratch(&self) -> ScratchDir {
        ScratchDir {
            parent: self.scratch.clone(),
        }
    }

    fn plan(&self, rate: u32, patience: Duration) -> Plan {
        Plan {
            rate,
            warm_up: self.measured / 4,
            measured: self.measured,
            mix: self.mix,
            connections: self.connections as usize,
            signers: usize::MAX,
            threads: self.threads as usize,
            patience,
        }
    }

    /// Maximum p99 at the knee in nanoseconds.
    const fn bound(&self) -> u64 {
        self.p99 * 1_000_000
    }

    fn steps(&self, first: u32, factor: f64) -> Steps {
        Steps {
            first,
            factor,
            exact: 1.0 + f64::from(self.precision) / 100.0,
        }
    }

    /// Describes requests and connections.
    fn words(&self) -> String {
        format!(
            "{} of {} signer(s) over {} connections of {} thread(s)",
            self.mix, self.signers, self.connections, self.threads
        )
    }
}

pub(super) fn measure(scope: &LoadScope) -> Result<Report, MeasureError> {
    if let Some(target) = scope.target()? {
        let endpoint = remote_endpoint::open(scope, target)?;
        return load(scope, "unknown", &endpoint);
    }
    if scope.rate.is_none() {
        return compare::compare(scope);
    }
    let scratch = scope.scratch().directory("load")?;
    let server = ServerUnderTest::exchange(
        &scratch.path().join("data"),
        scope.signers,
        SIGNER_CACHE_MIB,
    )?;
    let report = load(scope, "disk", &server.endpoint)?;
    server.stop()?;
    Ok(report)
}

/// Makes one run, or a search if there is no rate. `durability` is what the server's answers wait
/// for.
fn load(scope: &LoadScope, durability: &str, endpoint: &Endpoint) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", durability);
    report.rounds = 1;
    report.scope = scope.words();
    if let Some(rate) = scope.rate {
        let began = report.elapsed();
        run(endpoint, &scope.plan(rate, PATIENCE))?.fill(&mut report, began);
        return Ok(report.end());
    }
    report.scope += &format!(", the highest rate with p99 <= {} ms", scope.p99);
    let found = search(scope.steps(FIRST_RATE, FACTOR), scope.bound(), |rate| {
        run(endpoint, &scope.plan(rate, SEARCH_PATIENCE))
    })?;
    let knee = found.knee.map_or(f64::NAN, f64::from);
    let knee = Measure::single("knee", "requests/s", knee).higher();
    report.measures.push(knee);
    report.notes = found.attempts.iter().map(ToString::to_string).collect();
    Ok(report.end())
}

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Requests a second.
    rate: u32,
    /// Duration sent first and not counted.
    warm_up: Duration,
    measured: Duration,
    mix: RequestMix,
    /// Connections of all threads together.
    connections: usize,
    /// Traders of the endpoint that take turns, at most.
    signers: usize,
    /// Threads that send.
    threads: usize,
    /// A run ends when it is this far behind its schedule.
    patience: Duration,
}

impl Plan {
    /// Number of requests in the run, warm-up included.
    fn ticks(&self) -> usize {
        let nanos = (self.warm_up + self.measured).as_nanos();
        let ticks = nanos * u128::from(self.rate) / u128::from(SECOND);
        usize::try_from(ticks).unwrap_or(usize::MAX).max(1)
    }
}

/// Sends one load.
///
/// # Errors
/// A server cannot be reached or closes a connection, or an answer is wrong: the first one.
fn run(endpoint: &Endpoint, plan: &Plan) -> Result<Outcome, MeasureError> {
    let (connections, threads) = (
        plan.connections.max(1),
        plan.threads.clamp(1, plan.connections.max(1)),
    );
    if plan.warm_up + plan.measured > LONGEST_RUN {
        return Err(MeasureError::Wrong(format!(
            "a run of more than {} s: its orders would be too old at the end",
            LONGEST_RUN.as_secs()
        )));
    }
    let ticks = plan.ticks();
    let shares = |start| {
        let whole = Schedule::new(start, plan.rate);
        (0..threads).map(move |sender| whole.share(sender, threads))
    };
    let traders = &endpoint.traders[..plan.signers.clamp(1, endpoint.traders.len())];
    let lead = LEAD * connections;
    let drafts = shares(0)
        .map(|share| Draft::sign(endpoint, traders, plan.mix, share.count(ticks), lead))
        .collect::<Result<Vec<_>, _>>()?;
    let senders = (0..threads)
        .map(|sender| {
            Sender::connect(
                endpoint,
                connections.saturating_sub(sender).div_ceil(threads),
            )
        })
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(MeasureError::io("connecting"))?;
    let jitter = Jitter::start().map_err(MeasureError::io("starting the jitter meter"))?;
    // Dated for a start that leaves time to write the requests.
    let dates = shares(clock::now() + RUN_UP);
    let scripts: Vec<Script> = drafts
        .into_iter()
        .zip(dates)
        .map(|(draft, share)| draft.date(endpoint, &share))
        .collect();
    let start = clock::now() + RUN_UP;
    let stop = AtomicBool::new(false);
    let common = Common {
        stop: &stop,
        begin: start.saturating_add(nanos(plan.warm_up)),
        patience: nanos(plan.patience),
    };
    let records = send(senders, &scripts, shares(start), &common);
    let machine = jitter.stop()?;
    let mut total = LatencyRecord::new(common.begin);
    for record in records {
        total.add(&record?);
    }
    Ok(Outcome {
        rate: plan.rate,
        latencies: total,
        machine,
    })
}

/// Runs all senders at once, each on its thread.
fn send(
    senders: Vec<Sender>,
    scripts: &[Script],
    schedules: impl Iterator<Item = Schedule>,
    common: &Common<'_>,
) -> Vec<Result<LatencyRecord, MeasureError>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = senders
            .into_iter()
            .zip(scripts)
            .zip(schedules)
            .map(|((sender, script), schedule)| {
                scope.spawn(move || sender.run(script, schedule, common))
            })
            .collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.map(|record| joined("a sender", record)?).collect()
    })
}

#[cfg(test)]
mod tests;
