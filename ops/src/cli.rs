//! The command line, as the user sees it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Flags;

/// An open prediction-market exchange: matching engine, verifiable journal, HTTP gateways.
#[derive(Debug, Parser)]
#[command(name = "foretell", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Settings file [default: foretell.toml if it is there]
    #[arg(long, global = true, env = "FORETELL_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Data directory [default: ./data]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the whole exchange: engine and gateways, each a process of its own
    Up(Up),
    /// Run the engine process
    Engine(EngineArgs),
    /// Run a gateway process
    Gateway(GatewayArgs),
    /// Register markets and move them through their life
    #[command(subcommand)]
    Market(Market),
    /// Deposits, withdrawals, bound wallets, balances
    #[command(subcommand)]
    Account(Account),
    /// The catalog: read an upstream, import files, look things up
    #[command(subcommand)]
    Catalog(Catalog),
    /// What wallets are called on the data surface
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// API keys
    #[command(subcommand)]
    Keys(Keys),
    /// What the whole system accepts, fees collected, core settings
    #[command(subcommand)]
    System(System),
    /// Processes, sequences, durability, books, latency of each stage
    Status,
    /// Check or print the settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Prove a journal, replay it, look things up in it
    Audit(crate::audit::Audit),
    /// Measure this machine: every stage beside a bare floor, and which goals are met
    Bench(Bench),
    /// Run the demo's market-making bots against a running exchange
    #[command(hide = true)]
    DemoBots(DemoBots),
}

/// `foretell up`
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Register a sample of markets, fund development wallets, run market-making bots
    #[arg(long)]
    pub demo: bool,
    /// With --demo: leave the bots out
    #[arg(long, requires = "demo")]
    pub no_bots: bool,
    /// Where the trading surface listens [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub trading_listen: Option<SocketAddr>,
    /// Where the data surface listens [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS")]
    pub data_listen: Option<SocketAddr>,
    /// Where the catalog surface listens [default: 127.0.0.1:8082]
    #[arg(long, value_name = "ADDRESS")]
    pub catalog_listen: Option<SocketAddr>,
    /// Where the operator surface listens [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// Keep the catalog in step with the upstream at this base URL
    #[arg(long, value_name = "URL")]
    pub catalog: Option<String>,
    /// Options handed to the engine
    #[command(flatten)]
    pub engine: EngineRecovery,
}

/// How the engine shall recover: what an operator may have to say after something bad happened.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineRecovery {
    /// Start although the last run ended with an I/O error
    #[arg(long)]
    pub after_io_error: bool,
    /// Accept that re-execution differs from the record at this sequence
    #[arg(long, value_name = "SEQUENCE")]
    pub accept_divergence: Option<u64>,
    /// Start although the clock is more than 7 days ahead of the journal
    #[arg(long)]
    pub accept_clock_jump: bool,
    /// Execute the whole journal again, whatever snapshots there are
    #[arg(long)]
    pub full_replay: bool,
}

/// `foretell engine`
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Stop when this process, which started us, ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
    /// Recovery
    #[command(flatten)]
    pub recovery: EngineRecovery,
}

/// `foretell gateway`
#[derive(Debug, Args)]
pub(crate) struct GatewayArgs {
    /// Surfaces to serve
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "trading,operator"
    )]
    pub surfaces: Vec<Surface>,
    /// A 401 says in a header which check failed (development)
    #[arg(long)]
    pub dev_auth_hints: bool,
    /// Where the trading surface listens
    #[arg(long, value_name = "ADDRESS")]
    pub trading_listen: Option<SocketAddr>,
    /// Where the data surface listens
    #[arg(long, value_name = "ADDRESS")]
    pub data_listen: Option<SocketAddr>,
    /// Where the catalog surface listens
    #[arg(long, value_name = "ADDRESS")]
    pub catalog_listen: Option<SocketAddr>,
    /// Where the operator surface listens
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// It is one of so many gateways and holds its part of every rate limit
    #[arg(long, value_name = "GATEWAYS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub one_of: u32,
    /// Stop when this process, which started us, ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

/// A surface of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Surface {
    /// Order books, orders, trades
    Trading,
    /// Trade fills, positions, holders; for addresses on the allowlist
    Data,
    /// Markets, events, series, tags, search
    Catalog,
    /// Operator commands; loopback, bearer token
    Operator,
}

/// `foretell config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read every source and say whether it holds
    Check,
    /// Print the settings in force
    Print {
        /// Print the names of the environment variables instead
        #[arg(long)]
        env: bool,
    },
}

/// `foretell demo-bots`
#[derive(Debug, Args)]
pub(crate) struct DemoBots {
    /// Address of the trading surface
    #[arg(long, value_name = "URL")]
    pub trading: String,
    /// Where the operator surface listens
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// Seconds a short market is open
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub round_seconds: u64,
    /// Seconds the first of them is open, so that a visitor soon sees one end
    #[arg(long, default_value_t = 90, value_name = "SECONDS")]
    pub first_round_seconds: u64,
    /// Stop when this process, which started us, ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

pub(crate) use crate::bench::arguments::Bench;
pub(crate) use crate::catalog::arguments::Catalog;
pub(crate) use crate::operator::arguments::{Account, Keys, Market, System};
use crate::profile::ProfileCommand;

impl Cli {
    /// Flags that stand for settings.
    #[must_use]
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags::new();
        if let Some(data) = &self.data {
            flags.push(("data", data.to_string_lossy().into_owned().into()));
        }
        let [trading, data, catalog, operator] = match &self.command {
            Command::Up(up) => {
                if let Some(upstream) = &up.catalog {
                    flags.push(("catalog.upstream", upstream.as_str().into()));
                }
                [
                    up.trading_listen,
                    up.data_listen,
                    up.catalog_listen,
                    up.operator_listen,
                ]
            }
            Command::Gateway(gateway) => {
                if gateway.dev_auth_hints {
                    flags.push(("gateway.dev_auth_hints", true.into()));
                }
                [
                    gateway.trading_listen,
                    gateway.data_listen,
                    gateway.catalog_listen,
                    gateway.operator_listen,
                ]
            }
            Command::DemoBots(bots) => [None, None, None, bots.operator_listen],
            _ => [None; 4],
        };
        for (setting, listen) in [
            ("trading.listen", trading),
            ("gateway.data_listen", data),
            ("catalog.listen", catalog),
            ("operator.listen", operator),
        ] {
            if let Some(listen) = listen {
                flags.push((setting, listen.to_string().into()));
            }
        }
        flags
    }
}
