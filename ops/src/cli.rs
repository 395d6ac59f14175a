//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use foretell_model::CommandKind;
use foretell_wire::operator::OperatorCommand;

use crate::config::Flags;

/// An open prediction-market exchange: matching engine, verifiable journal, HTTP gateways.
#[derive(Debug, Parser)]
#[command(name = "foretell", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Settings file [default: foretell.toml if it exists]
    #[arg(long, global = true, env = "FORETELL_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Data directory [default: ./data]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Reason for an operator's command, stored in the journal
    #[arg(long, global = true, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Command
    #[command(subcommand)]
    pub command: Command,
    /// The operator's command that it is.
    #[arg(skip)]
    pub act: Option<CommandKind>,
}

impl Cli {
    /// The definition. What an operator's command does is said in the table of acts.
    pub(crate) fn definition() -> clap::Command {
        Self::command().mut_subcommands(|group| {
            let name = group.get_name().to_owned();
            group.mut_subcommands(|command| {
                let act = act_at(&name, command.get_name());
                match act.and_then(OperatorCommand::summary_of) {
                    Some(summary) => command.about(summary),
                    None => command,
                }
            })
        })
    }

    /// Reads arguments, the program's name included.
    ///
    /// # Errors
    /// They are wrong, or ask for help.
    pub(crate) fn read<T: Into<OsString> + Clone>(
        arguments: impl IntoIterator<Item = T>,
    ) -> Result<Self, clap::Error> {
        let matches = Self::definition().try_get_matches_from(arguments)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        // A sandbox has what its caller passes.
        if matches!(&cli.command, Command::Up(up) if up.sandbox)
            && matches.value_source("config") == Some(ValueSource::EnvVariable)
        {
            cli.config = None;
        }
        cli.act = matches.subcommand().and_then(|(group, rest)| {
            let (name, _) = rest.subcommand()?;
            act_at(group, name)
        });
        Ok(cli)
    }
}

/// The operator's command at a place of the command line.
fn act_at(group: &str, name: &str) -> Option<CommandKind> {
    let mut acts = OperatorCommand::PLACES.iter();
    let is_there = |place: &str| place.split_once(' ') == Some((group, name));
    acts.find_map(|(kind, place)| is_there(place).then_some(*kind))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the whole exchange: engine, gateways, catalog sync
    Up(Up),
    /// Run the engine process
    Engine(EngineArgs),
    /// Run a gateway process
    Gateway(GatewayArgs),
    /// Register markets and change their state
    #[command(subcommand)]
    Market(Market),
    /// Manage deposits, wallets, balances
    #[command(subcommand)]
    Account(Account),
    /// Claim, pay and reconcile withdrawals
    #[command(subcommand)]
    Withdrawals(Withdrawals),
    /// Sync, import and query the catalog
    #[command(subcommand)]
    Catalog(Catalog),
    /// Set wallet profiles of the data surface
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Manage API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Manage operators: names, roles, tokens
    #[command(subcommand)]
    Operators(Operators),
    /// Set the system mode, withdraw fees, take snapshots
    #[command(subcommand)]
    System(System),
    /// Show processes, sequences, durability, books, latencies
    Status,
    /// Create, show and maintain the replicated log of a cluster
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Check or print the settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Diagnose the exchange and the machine
    Doctor,
    /// Collect the data for a bug report
    SupportBundle(SupportBundle),
    /// Print the completions of a shell
    Completions {
        /// Shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Copy a running or stopped exchange into a directory
    Backup(Backup),
    /// Verify a backup, or restore it to a new data directory
    Restore(Restore),
    /// Archive segments of the journal
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Verify, replay and query a journal
    Audit(foretell_audit::Audit),
    /// Name the program that measures, foretell-bench
    #[command(hide = true, disable_help_flag = true)]
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Tell the systems of an operator what the journal says
    #[command(hide = true)]
    Webhooks(WebhooksArgs),
    /// Run market-making bots against a running exchange
    #[command(hide = true)]
    DemoBots(DemoBots),
}

/// `foretell up`
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Sample markets with simulated history, funded wallets, bots
    #[arg(long)]
    pub demo: bool,
    /// With --demo: no bots and no simulated history
    #[arg(long, requires = "demo")]
    pub no_bots: bool,
    /// An exchange for tests, until standard input ends
    #[arg(long, conflicts_with_all = ["demo", "drill", "catalog", "polymarket"])]
    pub sandbox: bool,
    /// With --sandbox: number of funded wallets to create
    #[arg(long, requires = "sandbox", value_name = "COUNT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=100))]
    pub wallets: u32,
    /// With --sandbox: a setting, such as signing.chain=137
    #[arg(long = "set", requires = "sandbox", value_name = "SETTING=VALUE")]
    pub settings: Vec<String>,
    /// Run a restored copy on free ports, isolated from outside
    #[arg(long, conflicts_with_all = ["demo", "catalog"])]
    pub drill: bool,
    /// Use Polymarket's formats: compatibility = "polymarket"
    #[arg(long)]
    pub polymarket: bool,
    /// Listen address of the trading surface [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub trading_listen: Option<SocketAddr>,
    /// Listen address of the data surface [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS")]
    pub data_listen: Option<SocketAddr>,
    /// Listen address of the catalog surface [default: 127.0.0.1:8082]
    #[arg(long, value_name = "ADDRESS")]
    pub catalog_listen: Option<SocketAddr>,
    /// Listen address of the operator surface [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// Follow the upstream catalog at this base URL
    #[arg(long, value_name = "URL")]
    pub catalog: Option<String>,
    /// Engine recovery options
    #[command(flatten)]
    pub engine: EngineRecovery,
}

/// Recovery options of the engine, for use after a failure.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineRecovery {
    /// Start even if the last run ended with an I/O error
    #[arg(long)]
    pub after_io_error: bool,
    /// Accept that replay differs from the journal at this sequence
    #[arg(long, value_name = "SEQUENCE")]
    pub accept_divergence: Option<u64>,
    /// Start even if the clock is over 7 days past the journal
    #[arg(long)]
    pub accept_clock_jump: bool,
    /// Re-execute the whole journal, ignoring snapshots
    #[arg(long)]
    pub full_replay: bool,
}

/// `foretell engine`
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Stop when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
    /// For `up --drill`
    #[arg(long, hide = true)]
    pub drill: bool,
    /// For `up --sandbox` and `up --demo`: a new journal begins as a sandbox
    #[arg(long, hide = true)]
    pub sandbox: bool,
    /// For `up --sandbox`: resolved markets pay only who redeems
    #[arg(long, hide = true, requires = "sandbox")]
    pub pays_on_redeem: bool,
    /// Digest of the secrets that hosts of a cluster share
    #[arg(long, hide = true, value_name = "HEX")]
    pub cluster_fingerprint: Option<String>,
    /// Recovery options
    #[command(flatten)]
    pub recovery: EngineRecovery,
}

/// `foretell gateway`
#[derive(Debug, Default, Args)]
pub(crate) struct GatewayArgs {
    /// Surfaces to serve
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "trading,operator"
    )]
    pub surfaces: Vec<Surface>,
    /// Return the failed check in each 401 (development only)
    #[arg(long)]
    pub dev_auth_hints: bool,
    /// Use Polymarket's formats: compatibility = "polymarket"
    #[arg(long)]
    pub polymarket: bool,
    /// Sign for the page with the demo's public keys
    #[arg(long, hide = true)]
    pub development_wallets: bool,
    /// For `up --drill`
    #[arg(long, hide = true)]
    pub drill: bool,
    /// Listen address of the trading surface
    #[arg(long, value_name = "ADDRESS")]
    pub trading_listen: Option<SocketAddr>,
    /// Listen address of the data surface
    #[arg(long, value_name = "ADDRESS")]
    pub data_listen: Option<SocketAddr>,
    /// Listen address of the catalog surface
    #[arg(long, value_name = "ADDRESS")]
    pub catalog_listen: Option<SocketAddr>,
    /// Listen address of the operator surface
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// Number of gateways that share every rate limit
    #[arg(long, value_name = "GATEWAYS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub one_of: u32,
    /// Number of this gateway, from 1
    #[arg(long, value_name = "NUMBER")]
    pub number: Option<u32>,
    /// Stop when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

/// A surface of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Surface {
    /// Order books, orders, trades
    Trading,
    /// Trade fills, positions, holders; for allowlisted addresses
    Data,
    /// Markets, events, series, tags, search
    Catalog,
    /// Operator commands; loopback, bearer token
    Operator,
    /// Liveness and readiness, for load balancers
    Health,
}

/// `foretell cluster`
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Create the streams, or check existing ones
    Init {
        /// Fill the stream from the journal of this data directory
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        /// Servers that store each message
        #[arg(long, default_value_t = 3, value_name = "COUNT",
              value_parser = clap::value_parser!(u8).range(1..=5))]
        replicas: u8,
    },
    /// Show role, term, sequences and lag of this host
    Status,
    /// Show whether and how a new host can join
    Seed,
    /// Delete messages from the stream that two hosts have stored
    Purge {
        /// First sequence to keep
        #[arg(long, value_name = "SEQUENCE")]
        before: u64,
        /// Host that has stored all earlier frames; give at least two
        #[arg(long, value_name = "HOST", required = true)]
        verified: Vec<String>,
    },
}

/// `foretell config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read the configuration and check every setting
    Check,
    /// Print the effective settings
    Print {
        /// Print the names of the environment variables instead
        #[arg(long)]
        env: bool,
    },
}

/// `foretell webhooks`
#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    /// Stop when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

/// `foretell support-bundle`
#[derive(Debug, Args)]
pub(crate) struct SupportBundle {
    /// Archive to create, a .tar.gz file
    pub file: PathBuf,
    /// Log to use instead of systemd's (`-` = standard input)
    #[arg(long, value_name = "FILE")]
    pub logs: Option<PathBuf>,
}

/// `foretell demo-bots`
#[derive(Debug, Args)]
pub(crate) struct DemoBots {
    /// Base URL of the trading surface
    #[arg(long, value_name = "URL")]
    pub trading: String,
    /// Listen address of the operator surface
    #[arg(long, value_name = "ADDRESS")]
    pub operator_listen: Option<SocketAddr>,
    /// Seconds a short market is open
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub round_seconds: u64,
    /// Seconds the first short market is open
    #[arg(long, default_value_t = 90, value_name = "SECONDS")]
    pub first_round_seconds: u64,
    /// Stop when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

pub(crate) use crate::backup::arguments::{Backup, Restore};
pub(crate) use crate::catalog::arguments::Catalog;
pub(crate) use crate::journal::JournalCommand;
pub(crate) use crate::operator::arguments::{
    Account, Keys, Market, Operators, System, Withdrawals,
};
use crate::profile::ProfileCommand;

impl Cli {
    /// What this process is called in logs and messages; those of an exchange share one standard error.
    #[must_use]
    pub(crate) fn process_name(&self) -> String {
        match &self.command {
            Command::Engine(_) => "engine".to_owned(),
            Command::Gateway(gateway) => match gateway.number {
                Some(number) => format!("gateway-{number}"),
                None => "gateway".to_owned(),
            },
            Command::DemoBots(_) => "demo-bots".to_owned(),
            Command::Webhooks(_) => "webhooks".to_owned(),
            _ => "foretell".to_owned(),
        }
    }

    /// Settings given as flags.
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
                if up.polymarket {
                    flags.push(("compatibility", "polymarket".into()));
                }
                if up.drill {
                    flags.extend(drill());
                }
                let free = (up.drill || up.sandbox).then_some(FREE_PORT);
                [
                    up.trading_listen,
                    up.data_listen,
                    up.catalog_listen,
                    up.operator_listen,
                ]
                .map(|listen| listen.or(free))
            }
            Command::Engine(engine) => {
                if engine.drill {
                    flags.extend(drill());
                }
                [None; 4]
            }
            Command::Gateway(gateway) => {
                if gateway.drill {
                    flags.extend(drill());
                }
                if gateway.polymarket {
                    flags.push(("compatibility", "polymarket".into()));
                }
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

/// A port that the system chooses.
const FREE_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Settings of a sandbox, where the caller gives no others: the family's formats, one test's worth of memory and
/// disk, orders at once after a restart, no rate limits, which a test's own requests would use up, and chain 137 with
/// wallets that are of no use elsewhere.
pub(crate) fn sandbox_defaults() -> Flags {
    vec![
        ("compatibility", "polymarket".into()),
        ("engine.segment_mib", 1.into()),
        ("engine.post_only_seconds", 0.into()),
        ("engine.reserve_orders", 1_024.into()),
        ("engine.reserve_accounts", 64.into()),
        ("gateway.dev_auth_hints", true.into()),
        ("limits.enabled", false.into()),
        ("signing.allow_shared_domain", true.into()),
    ]
}

/// Settings of a drill, which shares the file of the exchange that runs: nothing that reaches out, or that both
/// would write.
fn drill() -> Flags {
    let cut_off = [
        "webhooks.url",
        "catalog.upstream",
        "operator.oracle_secret_file",
        "cluster.health_listen",
        "log.stages",
    ];
    let cut_off = cut_off.map(|setting| (setting, "".into()));
    let alone = ("cluster.role", "standalone".into());
    cut_off.into_iter().chain([alone]).collect()
}
