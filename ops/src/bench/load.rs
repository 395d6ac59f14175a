//! `foretell bench load`: an open-loop load, on an exchange of its own or on a server of the
//! caller's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use foretell_bench::load::target::{self, TargetError};
use foretell_bench::load::{
    Loader, Mix, Plan, Scope, Visit, compare, measure, measure_knee, run as send, run_own, visit,
};
use foretell_bench::{MeasureError, Report};
use zeroize::Zeroizing;

use super::{directory, failure};
use crate::failure::Failure;
use crate::operator::private_key;

/// Names the variable with the private key of the account that trades.
pub(crate) const KEY_VARIABLE: &str = "FORETELL_LOAD_PRIVATE_KEY";
/// A search begins here.
const FIRST_RATE: u32 = 100;
/// A run of a search that is so far behind is over; a single run waits longer.
const SEARCH_PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Orders by which the cost of one is measured.
const COST_ORDERS: u32 = 3_000;

/// What `--help` says.
pub(crate) const ABOUT: &str = "\
Send orders, cancels and reads at a constant rate, to an exchange of its own or yours

Requests are signed beforehand and sent when they are due, whatever became of the earlier ones; \
each is timed from when it was due, so a server that stalls is charged for all that was due \
meanwhile. Every answer is checked, and the first wrong one ends the run with exit code 1.

Without --url and --rate it starts an exchange and bare servers with the same checks, finds the \
rates they keep up with, and prints goals. With --rate it makes one run at that rate. With --url it \
loads the server there: its own search, or one run with --rate.

A server on this machine may be loaded freely, any other only with --server-is-mine. The account \
needs collateral there, and limits on requests have to be lifted for it; its bids rest at the \
lowest price of --token. Its private key is read from --private-key-file or from the variable \
FORETELL_LOAD_PRIVATE_KEY.";

/// `foretell bench load`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Requests a second; without it, the highest rate that is kept up with is searched
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: Option<u32>,
    /// Seconds that are counted of each run, after a warm-up of a quarter of it
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=200))]
    seconds: u64,
    /// Weights of place, batch, cancel and read
    #[arg(long, default_value = "place=6,cancel=3,read=1")]
    mix: Mix,
    /// Connections of all threads together
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Threads that send
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Milliseconds that 99 of 100 answers may take at the rate that is searched
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    p99: u64,
    /// Rounds of the comparison with bare servers; the medians are reported
    #[arg(long, default_value_t = 3, conflicts_with_all = ["rate", "url"])]
    rounds: usize,
    /// Load this server: http://HOST:PORT, its trading surface
    #[arg(long, requires = "token")]
    url: Option<String>,
    /// I run the server of --url, or its operator has agreed to this load
    #[arg(long, requires = "url")]
    server_is_mine: bool,
    /// Token to bid for, in decimal digits
    #[arg(long, requires = "url", value_name = "TOKEN")]
    token: Option<String>,
    /// File with the private key of the account that trades, readable by its owner only
    #[arg(long, requires = "url", value_name = "FILE")]
    private_key_file: Option<PathBuf>,
    /// Family of credential headers of the server
    #[arg(
        long,
        requires = "url",
        default_value = "SERVICE",
        value_name = "PREFIX"
    )]
    header_prefix: String,
    /// Chain of the server
    #[arg(long, requires = "url", default_value_t = 80_002)]
    chain: u64,
    /// Where the temporary directory is made [default: the system's]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    scratch: Option<PathBuf>,
}

/// Sends the load, or looks for the highest rate.
///
/// # Errors
/// A server that is not to be loaded, cannot be reached, or answered wrongly.
pub(super) fn run(arguments: &Arguments) -> Result<Report, Failure> {
    if let Some(url) = &arguments.url {
        let target = target::find(url, arguments.server_is_mine);
        let target = target.map_err(|error| refused(&error))?;
        let site = visit(&Visit {
            target: &target,
            prefix: &arguments.header_prefix,
            private_key: &key(arguments.private_key_file.as_deref())?,
            chain: arguments.chain,
            token: arguments.token.as_deref().unwrap_or_default(),
        });
        let site = site.map_err(failure)?;
        let load = arguments.load("unknown", &|plan| send(&site, plan));
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
    /// One run, or a search.
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

    fn scope(&self) -> Scope {
        Scope {
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
            "a load on a server of others is an attack on it; if you run this one, or its operator has agreed, say --server-is-mine",
        ),
        _ => failure,
    }
}

/// The private key: never from an argument, which every user of the machine could see.
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
    fn a_server_of_others_is_refused_with_the_reason() {
        let others = ["--url", "http://192.0.2.1", "--token", "7"];
        let refused = run(&arguments(&others).unwrap()).unwrap_err();
        let text = format!("{refused:?}");
        assert!(
            text.contains("--server-is-mine") && text.contains("192.0.2.1"),
            "{text}"
        );
    }
}
