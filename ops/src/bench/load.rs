//! `foretell bench load`: open-loop load on an exchange started here or on the caller's server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use foretell_bench::measure::load::target::{self, TargetError};
use foretell_bench::measure::load::{
    CompareScope, Loader, Plan, RemoteEndpoint, RequestMix, compare, measure, measure_knee,
    open_remote, run as send, run_own,
};
use foretell_bench::{MeasureError, Report};
use zeroize::Zeroizing;

use super::{directory, failure};
use crate::failure::Failure;
use crate::operator::private_key;

/// Environment variable with the private key of the trading account.
pub(crate) const KEY_VARIABLE: &str = "FORETELL_LOAD_PRIVATE_KEY";
/// First rate of a search.
const FIRST_RATE: u32 = 100;
/// A search run ends when it is this far behind schedule; a single run waits longer.
const SEARCH_PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Orders per measurement of the CPU cost of one.
const COST_ORDERS: u32 = 3_000;

/// Long `--help` text.
pub(crate) const ABOUT: &str = "\
Send orders, cancels and reads at a constant rate

Requests are signed before the run. Each is sent when it is due, independent of earlier responses, \
and timed from then: a stalled server is charged for all requests due during the stall. Every \
answer is checked; the first wrong one ends the run with exit code 1.

Without --url and --rate: start an exchange and baseline servers with the same checks, search the \
highest rate of each, and print goals. With --rate: one run at that rate. With --url: load that \
server, by a search or by one run with --rate.

A server on this machine may be loaded freely, any other only with --server-is-mine. The account \
needs collateral there and must be exempt from rate limits; its bids rest at the lowest price of \
--token. Its private key is read from --private-key-file or from the variable \
FORETELL_LOAD_PRIVATE_KEY.";

/// `foretell bench load`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Requests per second [default: search for the highest rate]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: Option<u32>,
    /// Seconds measured per run; warm-up adds a quarter of it
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=200))]
    seconds: u64,
    /// Weights of place, batch, cancel and read
    #[arg(long, default_value = "place=6,cancel=3,read=1")]
    mix: RequestMix,
    /// Connections of all threads together
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Threads that send
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Maximum p99 at the rate that is searched, in milliseconds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    p99: u64,
    /// Rounds against baseline servers; medians are reported
    #[arg(long, default_value_t = 3, conflicts_with_all = ["rate", "url"])]
    rounds: usize,
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

/// Sends the load, or searches for the highest rate.
///
/// # Errors
/// The server must not be loaded, cannot be reached, or answered wrongly.
pub(super) fn run(arguments: &Arguments) -> Result<Report, Failure> {
    if let Some(url) = &arguments.url {
        let target = target::find(url, arguments.server_is_mine);
        let target = target.map_err(|error| refused(&error))?;
        let endpoint = open_remote(&RemoteEndpoint {
            target: &target,
            prefix: &arguments.header_prefix,
            private_key: &key(arguments.private_key_file.as_deref())?,
            chain: arguments.chain,
            token: arguments.token.as_deref().unwrap_or_default(),
        });
        let endpoint = endpoint.map_err(failure)?;
        let load = arguments.load("unknown", &|plan| send(&endpoint, plan));
        return load.map_err(failure);
    }
    let scratch = directory(&arguments.scratch);
    let found = match arguments.rate {
        Some(_) => run_own(&scratch, |send| arguments.load("disk", send)),
        None => compare(&scratch, &arguments.scope()),
    };
    found.map_err(failure)
}

impl Arguments {
    /// Makes one run, or a search if there is no rate.
    fn load(&self, durability: &str, send: Loader<'_>) -> Result<Report, MeasureError> {
        match self.rate {
            Some(rate) => measure(&self.plan(rate, PATIENCE), durability, send),
            None => {
                let plan = self.plan(FIRST_RATE, SEARCH_PATIENCE);
                measure_knee(&plan, self.bound(), durability, send)
            }
        }
    }

    fn plan(&self, rate: u32, patience: Duration) -> Plan {
        let measured = Duration::from_secs(self.seconds);
        Plan {
            rate,
            warm_up: measured / 4,
            measured,
            mix: self.mix,
            connections: self.connections as usize,
            threads: self.threads as usize,
            patience,
        }
    }

    fn scope(&self) -> CompareScope {
        CompareScope {
            rounds: self.rounds,
            measured: Duration::from_secs(self.seconds),
            mix: self.mix,
            connections: self.connections as usize,
            threads: self.threads as usize,
            bound: self.bound(),
            orders: COST_ORDERS,
        }
    }

    fn bound(&self) -> Duration {
        Duration::from_millis(self.p99)
    }
}

fn refused(error: &TargetError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        TargetError::NotOurs { .. } => failure.hint(
            "a load on somebody else's server is an attack; give --server-is-mine if you run it or its operator has agreed",
        ),
        _ => failure,
    }
}

/// Reads the private key from a file or a variable; every user could see it in an argument.
fn key(file: Option<&Path>) -> Result<Zeroizing<String>, Failure> {
    match (file, std::env::var(KEY_VARIABLE)) {
        (Some(file), _) => private_key::read(file),
        (None, Ok(key)) => Ok(Zeroizing::new(key)),
        (None, Err(_)) => Err(Failure::new("no private key").hint(format!(
            "give --private-key-file FILE, or set {KEY_VARIABLE}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Result<Arguments, clap::Error> {
        use clap::Parser as _;
        #[derive(Debug, clap::Parser)]
        struct Alone {
            #[command(flatten)]
            arguments: Arguments,
        }
        let words = ["load"].iter().chain(words);
        Alone::try_parse_from(words).map(|alone| alone.arguments)
    }

    #[test]
    fn a_load_is_described_by_its_arguments() {
        let plain = arguments(&[]).unwrap();
        assert_eq!((plain.rate, plain.connections, plain.rounds), (None, 32, 3));
        let own = arguments(&["--rate", "500", "--mix", "batch=1x5", "--threads", "2"]).unwrap();
        let plan = own.plan(500, PATIENCE);
        assert_eq!(
            (plan.mix.to_string().as_str(), plan.threads),
            ("batch=1x5", 2)
        );
        for wrong in [
            &["--rate", "0"][..],
            &["--mix", "buy=1"],
            &["--url", "http://localhost"],
            &["--server-is-mine"],
            &["--token", "7"],
            &["--rate", "5", "--rounds", "2"],
            &["--private-key", "0x1"],
        ] {
            assert!(arguments(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_foreign_server_is_rejected_with_a_reason() {
        let others = ["--url", "http://192.0.2.1", "--token", "7"];
        let refused = run(&arguments(&others).unwrap()).unwrap_err();
        let text = format!("{refused:?}");
        assert!(
            text.contains("--server-is-mine") && text.contains("192.0.2.1"),
            "{text}"
        );
    }
}
