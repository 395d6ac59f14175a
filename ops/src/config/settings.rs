//! Every setting, its meaning and its default.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use foretell_gateway::{EdgeConfig, RateLimits};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Everything an operator may set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Data directory: journal, sockets, secrets.
    pub data: DataDir,
    /// The trading surface.
    pub trading: Trading,
    /// The catalog: its surface, its upstream.
    pub catalog: Catalog,
    /// The operator surface.
    pub operator: Operator,
    /// The engine process.
    pub engine: Engine,
    /// Gateway processes.
    pub gateway: Gateway,
    /// How often a client may ask; `gateway.trusted_proxies` says who a client is.
    pub limits: RateLimits,
    /// Which signatures are accepted.
    pub signing: Signing,
    /// Logs.
    pub log: Log,
}

/// Path of the data directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataDir(pub PathBuf);

impl Default for DataDir {
    fn default() -> Self {
        Self(PathBuf::from("data"))
    }
}

/// The trading surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trading {
    /// Where it listens.
    pub listen: SocketAddr,
    /// What `/price?side=BUY` answers: `taker` = the best ask, `maker` = the best bid.
    pub price_side: PriceSide,
}

impl Default for Trading {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            price_side: PriceSide::Taker,
        }
    }
}

/// Whose side `/price` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceSide {
    /// BUY = what a buyer pays now.
    Taker,
    /// BUY = what the best buyer bids.
    Maker,
}

/// The catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Catalog {
    /// Where its surface listens.
    pub listen: SocketAddr,
    /// Base URL of the upstream it is read from; empty = files only.
    pub upstream: String,
    /// Between two looks at what changed upstream, 1 to 86,400.
    pub every_seconds: u32,
    /// Between two full readings of the upstream, 1 to 720.
    pub full_every_hours: u32,
    /// Pay out what the upstream says is resolved, without an operator looking at it.
    pub resolve: bool,
    /// Highest fee that a registered market gets without consent: millionths of a unit for a share at
    /// the price ½, 0 to 1,000,000.
    pub max_fee_ppm: u32,
    /// Largest smallest order, in shares, that a registered market gets without consent.
    pub max_minimum_shares: u32,
    /// Finest tick that a registered market gets without consent.
    pub finest_tick: String,
    /// Of 100 live markets, how many are closed before their end date without consent, in a day.
    pub early_close_percent: u32,
    /// Markets registered in a round, at least 128.
    pub new_markets: u32,
    /// Rows of one list in one reading of it; of tags and of series a sixteenth.
    pub list_rows: u32,
    /// MiB of one list in one reading of it; of tags and of series a sixteenth.
    pub list_mib: u32,
    /// Pages of a round, at least 10.
    pub round_pages: u32,
    /// MiB of a round.
    pub round_mib: u32,
    /// Size of `catalog.db` in MiB from which the upstream is read no more.
    pub size_mib: u32,
    /// The upstream is not followed when less than this is free on the data directory's disk.
    pub disk_reserve_mib: u32,
    /// Creators that a site name stands for in `creator`: name = ["0x…", …].
    pub sites: BTreeMap<String, Vec<String>>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8082)),
            upstream: String::new(),
            every_seconds: 60,
            full_every_hours: 24,
            resolve: false,
            max_fee_ppm: 25_000,
            max_minimum_shares: 100,
            finest_tick: "0.001".to_owned(),
            early_close_percent: 10,
            new_markets: 5_000,
            list_rows: 1_000_000,
            list_mib: 8_192,
            round_pages: 5_000,
            round_mib: 4_096,
            size_mib: 8_192,
            disk_reserve_mib: 1_024,
            sites: BTreeMap::new(),
        }
    }
}

/// The operator surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Operator {
    /// Where it listens; loopback only.
    pub listen: SocketAddr,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8090)),
        }
    }
}

/// The engine process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engine {
    /// When an answer may leave: `disk`, `process` or `none`.
    pub durability: Durability,
    /// Size of a journal segment in MiB, 1 to 1,024. The journal takes one for the segment being
    /// written and one for the next, whatever they hold.
    pub segment_mib: u32,
    /// New orders are refused when less than this is free on the journal's disk.
    pub disk_reserve_mib: u32,
    /// After a restart only post-only orders are taken for this long; 0 = not at all.
    pub post_only_seconds: u32,
    /// How idle threads wait: `auto` chooses by core count.
    pub wait: Wait,
    /// Commands the ring between ingress and matcher holds; a power of two.
    pub ring: u32,
    /// Resting orders memory is reserved for at start.
    pub reserve_orders: u32,
    /// Accounts memory is reserved for at start.
    pub reserve_accounts: u32,
}

impl Default for Engine {
    fn default() -> Self {
        Self {
            durability: Durability::Disk,
            segment_mib: 16,
            disk_reserve_mib: 256,
            post_only_seconds: 0,
            wait: Wait::Auto,
            ring: 4_096,
            reserve_orders: 262_144,
            reserve_accounts: 16_384,
        }
    }
}

/// Durability levels by name (design 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// After `fdatasync`: survives a power cut.
    Disk,
    /// After the write: survives `kill -9`.
    Process,
    /// Benchmarks only.
    None,
}

/// Idle strategies by name (design 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// `spin` from four cores on, else `park`.
    Auto,
    /// Burn a core.
    Spin,
    /// Give the core away between looks.
    Yield,
    /// Sleep until woken.
    Park,
}

/// Gateway processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gateway {
    /// How many processes `up` starts for the trading surface, 1 to 16.
    pub processes: u32,
    /// Server threads of each; 0 = one a core, at most 8.
    pub threads: u32,
    /// Open connections of each, at most; the operator's are not counted. As far as descriptors go.
    pub connections: u32,
    /// Open connections from one address, at most; a trusted proxy may have more.
    pub connections_per_address: u32,
    /// Networks of proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Where the data surface listens.
    pub data_listen: SocketAddr,
    /// Networks whose addresses may ask it.
    pub data_allowlist: Vec<IpNet>,
    /// Origins whose pages may read answers in a browser: `https://app.example`.
    pub cors_origins: Vec<String>,
    /// Header families accepted for credentials.
    pub header_prefixes: Vec<HeaderPrefix>,
    /// A 401 says in a header which check failed. Development only.
    pub dev_auth_hints: bool,
    /// How old an L2 timestamp may be.
    pub timestamp_past_seconds: u32,
    /// How far ahead it may be.
    pub timestamp_future_seconds: u32,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            processes: 1,
            threads: 0,
            connections: 10_000,
            connections_per_address: 400,
            trusted_proxies: Vec::new(),
            data_listen: SocketAddr::from(([127, 0, 0, 1], 8081)),
            data_allowlist: EdgeConfig::default().data_allowlist,
            cors_origins: Vec::new(),
            header_prefixes: vec![
                HeaderPrefix {
                    name: "SERVICE".to_owned(),
                    times: Times::Iso,
                },
                HeaderPrefix {
                    name: "POLY".to_owned(),
                    times: Times::Unix,
                },
            ],
            dev_auth_hints: false,
            timestamp_past_seconds: 60,
            timestamp_future_seconds: 10,
        }
    }
}

/// A family of credential headers, `<name>_ADDRESS` and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPrefix {
    /// The prefix.
    pub name: String,
    /// How its clients want `match_time` and `last_update`.
    pub times: Times,
}

/// Form of times in trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    /// ISO 8601.
    Iso,
    /// Unix seconds as text.
    Unix,
}

/// Which signatures are accepted (protocol 7, 8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signing {
    /// The one chain.
    pub chain: u64,
    /// Needed to run on a chain and domain that another venue uses: signatures are then
    /// interchangeable with that venue.
    pub allow_shared_domain: bool,
    /// Signing domains, tried in this order.
    pub domains: Vec<SigningDomain>,
}

impl Default for Signing {
    fn default() -> Self {
        let domain = |version: &str, contract: &str, market: DomainMarkets| SigningDomain {
            name: "Polymarket CTF Exchange".to_owned(),
            version: version.to_owned(),
            contract: contract.to_owned(),
            markets: market,
        };
        Self {
            chain: 80_002,
            allow_shared_domain: false,
            domains: vec![
                domain(
                    "2",
                    "0xE111180000d2663C0091e4f400237545B87B996B",
                    DomainMarkets::Plain,
                ),
                domain(
                    "2",
                    "0xe2222d279d744050d28e00520010520000310F59",
                    DomainMarkets::NegRisk,
                ),
                domain(
                    "3",
                    "0x9fE6e61422AdB6F610d8597F9684b16912D50C3D",
                    DomainMarkets::All,
                ),
            ],
        }
    }
}

/// One EIP-712 domain orders may be signed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SigningDomain {
    /// `name` of the domain.
    pub name: String,
    /// `version` of the domain.
    pub version: String,
    /// `verifyingContract`, 0x and 40 hex digits.
    pub contract: String,
    /// Markets whose orders it signs.
    pub markets: DomainMarkets,
}

/// Which markets a domain is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainMarkets {
    /// Plain ones.
    Plain,
    /// Those of neg-risk events.
    NegRisk,
    /// Both.
    All,
}

/// Logs go to standard error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `text` or `json`.
    pub format: LogFormat,
    /// A filter such as `info` or `warn,foretell_gateway=debug`; `FORETELL_LOG` wins over it.
    pub level: String,
    /// A directory for logs of what every stage of a write took, second by second, one file for
    /// each start of a process (HdrHistogram logs); empty = none.
    pub stages: PathBuf,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".to_owned(),
            stages: PathBuf::new(),
        }
    }
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Config {
    /// Socket of the engine.
    #[must_use]
    pub fn engine_socket(&self) -> PathBuf {
        self.data.0.join("engine.sock")
    }

    /// File with the operator's bearer token.
    #[must_use]
    pub fn operator_token_file(&self) -> PathBuf {
        self.data.0.join("operator.token")
    }

    /// Where the durations of stages are logged.
    #[must_use]
    pub fn stage_log(&self) -> Option<PathBuf> {
        let directory = &self.log.stages;
        (!directory.as_os_str().is_empty()).then(|| directory.clone())
    }

    /// File with the secret key that signs checkpoints.
    #[must_use]
    pub fn checkpoint_key_file(&self) -> PathBuf {
        self.data.0.join("checkpoint.key")
    }

    /// File with the public key they are verified with.
    #[must_use]
    pub fn checkpoint_public_key_file(&self) -> PathBuf {
        self.data.0.join("checkpoint.pub")
    }

    /// File of the catalog.
    #[must_use]
    pub fn catalog_file(&self) -> PathBuf {
        self.data.0.join("catalog.db")
    }

    /// File with the secret that API keys are derived from.
    #[must_use]
    pub fn master_secret_file(&self) -> PathBuf {
        self.data.0.join("master.secret")
    }
}
