//! Every setting with its meaning and default.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use foretell_gateway::{
    Compatibility, HeaderPrefix, RateLimits, RequestPolicyConfig, SIGNER_CACHE_MIB, StreamLimits,
};
use foretell_model::Durability;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::networks;

/// The catalog's name in the data directory.
pub(crate) const CATALOG_NAME: &str = "catalog.db";

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The data directory. A text in place of the section is `data.directory`.
    pub data: Data,
    /// Format of public requests and responses where the two families differ: `interface` or `polymarket`.
    pub compatibility: Compatibility,
    /// The trading surface.
    pub trading: Trading,
    /// The catalog: its surface and its upstream.
    pub catalog: Catalog,
    /// The operator surface.
    pub operator: Operator,
    /// The engine process.
    pub engine: Engine,
    /// Gateway processes.
    pub gateway: Gateway,
    /// Stream connections: `/ws/market`, `/ws/user`.
    pub streams: Streams,
    /// Rate limits per client; `gateway.trusted_proxies` determines the client address.
    pub limits: RateLimits,
    /// The page of the trading surface.
    pub site: Site,
    /// The cluster of hosts with a replicated journal (docs/operate/cluster.md).
    pub cluster: Cluster,
    /// Webhooks to the systems of the operator (docs/operate/webhooks.md).
    pub webhooks: Webhooks,
    /// Accepted signatures.
    pub signing: Signing,
    /// Logs.
    pub log: Log,
}

/// The data directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Data {
    /// Data directory: journal, sockets, secrets. `data = "path"` is short for it.
    pub directory: PathBuf,
}

impl Default for Data {
    fn default() -> Self {
        Self {
            directory: PathBuf::from("data"),
        }
    }
}

/// The trading surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trading {
    /// Listen address of the trading surface.
    #[serde(deserialize_with = "networks::listen")]
    pub listen: SocketAddr,
}

impl Default for Trading {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
        }
    }
}

/// The catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Catalog {
    /// Listen address of the catalog surface.
    #[serde(deserialize_with = "networks::listen")]
    pub listen: SocketAddr,
    /// Base URL of the upstream; empty = files only.
    pub upstream: String,
    /// Seconds between two syncs of upstream changes.
    pub every_seconds: u32,
    /// Hours between two full reads of the upstream.
    pub full_every_hours: u32,
    /// Pay out markets that the upstream reports as resolved, without an operator.
    pub resolve: bool,
    /// Highest fee that the sync may set on a market without approval: millionths of a unit per share at a price of
    /// ½.
    pub max_fee_ppm: u32,
    /// Largest minimum order size, in shares, that the sync may set on a market without approval.
    pub max_minimum_shares: u32,
    /// Finest tick that the sync may set on a market without approval.
    pub finest_tick: String,
    /// Markets that the sync may close before their end date per day without approval, in percent of live markets.
    pub early_close_percent: u32,
    /// Markets that the sync may pause at a time because the upstream stopped them, in percent of live markets.
    /// Markets with a known outcome do not count.
    pub hold_percent: u32,
    /// Stop trading in markets that vanished from the upstream.
    pub hold_vanished: bool,
    /// Largest taker delay (ms) that the sync may set on a market without approval.
    pub max_taker_delay_ms: u32,
    /// Largest maker rebate, in millionths of the fee, that the sync may set on a market without approval.
    pub max_rebate_ppm: u32,
    /// Maximum markets registered per round.
    pub new_markets: u32,
    /// Maximum rows per read of one list; a sixteenth of that for tags and series.
    pub list_rows: u32,
    /// Maximum MiB per read of one list; a sixteenth of that for tags and series.
    pub list_mib: u32,
    /// Maximum pages per round.
    pub round_pages: u32,
    /// Maximum MiB per round.
    pub round_mib: u32,
    /// Size of `catalog.db` in MiB at which syncing stops.
    pub size_mib: u32,
    /// Syncing pauses below this free space on the data directory's disk, in MiB. Keep it above
    /// `engine.disk_reserve_mib`.
    pub disk_reserve_mib: u32,
    /// Creators that a site name in the `creator` filter stands for: name = ["0x…", …].
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
            hold_percent: 20,
            hold_vanished: true,
            max_taker_delay_ms: 10_000,
            max_rebate_ppm: 500_000,
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
    /// Listen address of the operator surface.
    #[serde(deserialize_with = "networks::listen")]
    pub listen: SocketAddr,
    /// Additional values of the `Host` header that are accepted, for a reverse proxy; loopback names are always
    /// accepted.
    pub hosts: Vec<String>,
    /// File with the token that the command line uses; empty = `operator.token` in the data directory, the token of
    /// the first admin.
    pub token_file: PathBuf,
    /// File with the secret that authenticates an oracle's proposals, mode 600; empty = the webhook is disabled.
    pub oracle_secret_file: PathBuf,
    /// Name of the operator in whose name the oracle proposes.
    pub oracle_operator: String,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8090)),
            hosts: Vec::new(),
            token_file: PathBuf::new(),
            oracle_secret_file: PathBuf::new(),
            oracle_operator: "oracle".to_owned(),
        }
    }
}

/// The engine process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engine {
    /// What a reply waits for: `fdatasync` (survives a power cut), the write (survives `kill -9`), or
    /// nothing (benchmarks only).
    pub durability: Durability,
    /// Size of a journal segment in MiB. Two segments are always allocated: the current one and the
    /// next.
    pub segment_mib: u32,
    /// New orders are rejected below this free space on the journal's disk, in MiB.
    pub disk_reserve_mib: u32,
    /// Seconds of post-only mode after a restart; 0 = none.
    pub post_only_seconds: u32,
    /// Hours until a new operator counts as one of the two approvers, at most 720; 0 = immediately. It must be equal on
    /// every host of a cluster.
    pub new_operator_hours: u32,
    /// Wait strategy of idle threads. `auto` = `spin` with four or more cores, else `park`.
    pub wait: Wait,
    /// Maximum commands that wait for the matcher.
    pub ring: u32,
    /// Resting orders for which memory is preallocated at startup.
    pub reserve_orders: u32,
    /// Accounts for which memory is preallocated at startup.
    pub reserve_accounts: u32,
}

impl Default for Engine {
    fn default() -> Self {
        Self {
            durability: Durability::Disk,
            segment_mib: 16,
            disk_reserve_mib: 256,
            post_only_seconds: 0,
            new_operator_hours: 0,
            wait: Wait::Auto,
            ring: 4_096,
            reserve_orders: 262_144,
            reserve_accounts: 16_384,
        }
    }
}

/// Wait strategies (docs/internals/decisions/0004).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// `spin` with four or more cores, else `park`.
    Auto,
    /// Busy-wait on a core.
    Spin,
    /// Yield the core between polls.
    Yield,
    /// Sleep until woken.
    Park,
}

/// Gateway processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gateway {
    /// Gateway processes that `up` starts.
    pub processes: u32,
    /// Server threads per gateway; 0 = one per core, at most 8.
    pub threads: u32,
    /// Maximum connections per gateway, excluding the operator's; lowered when file descriptors are scarce.
    pub connections: u32,
    /// Maximum connections per client address; a trusted proxy may have more.
    pub connections_per_address: u32,
    /// Accept HTTP/2 from clients that begin with it (prior knowledge).
    pub http2: bool,
    /// Networks of trusted proxies: their `X-Forwarded-For` header determines the client address.
    #[serde(with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Listen address of the data surface.
    #[serde(deserialize_with = "networks::listen")]
    pub data_listen: SocketAddr,
    /// Networks allowed to read the data surface.
    #[serde(with = "networks")]
    pub data_allowlist: Vec<IpNet>,
    /// Origins whose pages may read responses in a browser: `https://app.example`.
    pub cors_origins: Vec<String>,
    /// Accepted header families for credentials: `name` (the prefix) and `times` (`iso` or `unix`).
    pub header_prefixes: Vec<HeaderPrefix>,
    /// Memory per gateway for tables that check the signatures of frequent traders in half the time, in MiB: 9 signers per MiB. 0 = none.
    pub signer_cache_mib: u32,
    /// Return the failed check in a header of each 401 response. For development only.
    pub dev_auth_hints: bool,
    /// Maximum age of an L2 timestamp, in seconds.
    pub timestamp_past_seconds: u32,
    /// Maximum lead of an L2 timestamp over the server's clock, in seconds.
    pub timestamp_future_seconds: u32,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            processes: 1,
            threads: 0,
            connections: 10_000,
            connections_per_address: 400,
            http2: false,
            trusted_proxies: Vec::new(),
            data_listen: SocketAddr::from(([127, 0, 0, 1], 8081)),
            data_allowlist: RequestPolicyConfig::default().data_allowlist,
            cors_origins: Vec::new(),
            header_prefixes: HeaderPrefix::usual(),
            signer_cache_mib: SIGNER_CACHE_MIB,
            dev_auth_hints: false,
            timestamp_past_seconds: 60,
            timestamp_future_seconds: 10,
        }
    }
}

/// Stream connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Streams {
    /// Maximum stream connections per client address.
    pub per_address: u32,
    /// Maximum tokens of a connection of the market channel.
    pub assets: u32,
    /// Maximum markets in the filter of a user channel connection.
    pub markets: u32,
    /// Maximum size of one message from a client, in KiB.
    pub message_kib: u32,
    /// Messages per second accepted from a client after a burst.
    pub messages_per_second: u32,
    /// Messages accepted from a client in one burst.
    pub message_burst: u32,
    /// Maximum bytes waiting for one connection, in MiB; a slower reader is closed with 4002.
    pub max_lag_mib: u32,
    /// Maximum time a message waits for its connection, in ms; a slower reader is closed with 4002.
    pub max_lag_ms: u32,
    /// Seconds between the server's pings.
    pub ping_seconds: u32,
    /// Seconds without a frame from the client until it is closed with 1008.
    pub idle_seconds: u32,
    /// Time without an event after which a market connection receives a book, in ms; 0 = never.
    pub quiet_book_ms: u32,
    /// Time that messages are kept for reconnecting clients, in ms.
    pub resume_window_ms: u32,
    /// Maximum bytes of messages kept for resuming, in MiB.
    pub ring_mib: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            per_address: 50,
            assets: 4_000,
            markets: 4_000,
            message_kib: 512,
            messages_per_second: 20,
            message_burst: 1_000,
            max_lag_mib: 8,
            max_lag_ms: 5_000,
            ping_seconds: 30,
            idle_seconds: 120,
            quiet_book_ms: 45_000,
            resume_window_ms: 60_000,
            ring_mib: 64,
        }
    }
}

impl Streams {
    /// The limits of a gateway's stream connections.
    #[must_use]
    pub fn limits(&self) -> StreamLimits {
        let number = |setting: u32| usize::try_from(setting).unwrap_or(usize::MAX);
        let millis = |setting: u32| Duration::from_millis(setting.into());
        StreamLimits {
            per_address: number(self.per_address),
            assets: number(self.assets),
            markets: number(self.markets),
            message: number(self.message_kib) << 10,
            messages_per_second: self.messages_per_second,
            message_burst: self.message_burst,
            max_lag_bytes: number(self.max_lag_mib) << 20,
            max_lag: millis(self.max_lag_ms),
            ping: Duration::from_secs(self.ping_seconds.into()),
            idle: Duration::from_secs(self.idle_seconds.into()),
            quiet_book: millis(self.quiet_book_ms),
            resume_window: millis(self.resume_window_ms),
            ring: number(self.ring_mib) << 20,
        }
    }
}

/// The page of the trading surface (docs/api/page.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Site {
    /// Serve the web page at `/ui/`, including the data surface endpoints that it uses.
    pub page: bool,
    /// Name of the site, 1 to 64 characters.
    pub name: String,
    /// File of the logo, at most 256 KiB: `.svg`, `.png` or `.ico`; empty = none.
    pub logo: PathBuf,
    /// Symbol before amounts, at most 8 characters.
    pub currency_symbol: String,
    /// Code of the currency, 1 to 8 letters.
    pub currency_code: String,
    /// Decimals of amounts.
    pub currency_decimals: u32,
}

impl Default for Site {
    fn default() -> Self {
        Self {
            page: true,
            name: "Foretell".to_owned(),
            logo: PathBuf::new(),
            currency_symbol: "$".to_owned(),
            currency_code: "USD".to_owned(),
            currency_decimals: 2,
        }
    }
}

/// The cluster of hosts with a replicated journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cluster {
    /// Role of this host at startup: without a cluster; founding and leading; standby, which takes over from a
    /// silent leader; or read-only.
    pub role: ClusterRole,
    /// Name of this host, unique in the cluster: letters, digits, hyphens.
    pub host: String,
    /// Servers of the replicated log: `tls://` URLs, or `nats://` URLs of loopback addresses.
    pub servers: Vec<String>,
    /// Name of the stream, and of the cluster: letters, digits, hyphens.
    pub stream: String,
    /// File with the certificate authority of the servers; empty = the system's authorities.
    pub tls_ca_file: PathBuf,
    /// File with this host's client certificate; empty = none.
    pub tls_certificate_file: PathBuf,
    /// File with the private key of that certificate.
    pub tls_key_file: PathBuf,
    /// Read-only hosts whose records are accepted, each as `host=key` with the 64 hex digits of its `reader.pub`.
    pub readers: Vec<String>,
    /// Silence of the leader after which a standby takes over, in ms.
    pub takeover_after_ms: u32,
    /// Listen address of `/readyz?for=writes`, `/readyz?for=reads` and `/livez`, for load balancers;
    /// empty = none.
    pub health_listen: String,
    /// URL of this host's trading surface, which other hosts return in `x-leader` while this host leads.
    pub address: String,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            role: ClusterRole::Standalone,
            host: String::new(),
            servers: Vec::new(),
            stream: "foretell".to_owned(),
            tls_ca_file: PathBuf::new(),
            tls_certificate_file: PathBuf::new(),
            tls_key_file: PathBuf::new(),
            readers: Vec::new(),
            takeover_after_ms: 2_000,
            health_listen: String::new(),
            address: String::new(),
        }
    }
}

/// Where a host starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterRole {
    /// No cluster.
    Standalone,
    /// Founds the journal, and leads when no host does.
    Leader,
    /// Takes over when the leader is silent.
    Standby,
    /// Never leads.
    Reader,
}

/// Webhooks to the systems of the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Webhooks {
    /// URL that receives deliveries; empty = no webhooks.
    pub url: String,
    /// File with the secret that signs deliveries, mode 600.
    pub secret_file: PathBuf,
}

/// Accepted signatures (docs/api/authentication.md §7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signing {
    /// Chain id of all signatures.
    pub chain: u64,
    /// Required to use the chain and domain of another venue, where signatures are then
    /// interchangeable.
    pub allow_shared_domain: bool,
    /// EIP-712 domains of orders, tried in this order: `name`, `version`, `contract` and `markets`
    /// (`plain`, `neg-risk` or `all`).
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

/// An EIP-712 domain for signing orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SigningDomain {
    /// `name` of the domain.
    pub name: String,
    /// `version` of the domain.
    pub version: String,
    /// `verifyingContract`, 0x and 40 hex digits.
    pub contract: String,
    /// Markets whose orders are signed in this domain.
    pub markets: DomainMarkets,
}

/// Markets of a signing domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainMarkets {
    /// Plain markets.
    Plain,
    /// Markets of neg-risk events.
    NegRisk,
    /// All markets.
    All,
}

/// Logs go to standard error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Format of the log on standard error.
    pub format: LogFormat,
    /// A filter such as `info` or `warn,foretell_gateway=debug`; `FORETELL_LOG` takes precedence.
    pub level: String,
    /// Directory for HdrHistogram logs of the duration of each write stage, per second, one file
    /// per process start; empty = none.
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

/// Log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

impl Config {
    /// Path of the engine's socket.
    #[must_use]
    pub fn engine_socket(&self) -> PathBuf {
        self.data.directory.join("engine.sock")
    }

    /// Path of the operator's bearer token.
    #[must_use]
    pub fn operator_token_file(&self) -> PathBuf {
        self.data.directory.join("operator.token")
    }

    /// Path of the bearer token of the synchronization of the catalog.
    #[must_use]
    pub fn sync_token_file(&self) -> PathBuf {
        self.data.directory.join("sync.token")
    }

    /// Path of the token that the command line sends.
    #[must_use]
    pub fn own_token_file(&self) -> PathBuf {
        let own = &self.operator.token_file;
        if own.as_os_str().is_empty() {
            self.operator_token_file()
        } else {
            own.clone()
        }
    }

    /// Directory of the stage-duration logs.
    #[must_use]
    pub fn stage_log(&self) -> Option<PathBuf> {
        let directory = &self.log.stages;
        (!directory.as_os_str().is_empty()).then(|| directory.clone())
    }

    /// Path of the secret key that signs checkpoints.
    #[must_use]
    pub fn checkpoint_key_file(&self) -> PathBuf {
        self.data.directory.join("checkpoint.key")
    }

    /// Path of the public key that verifies checkpoints.
    #[must_use]
    pub fn checkpoint_public_key_file(&self) -> PathBuf {
        self.data.directory.join("checkpoint.pub")
    }

    /// Path of the secret key that the hosts which may lead share: it signs what they write into the log.
    #[must_use]
    pub fn cluster_key_file(&self) -> PathBuf {
        self.data.directory.join("cluster.key")
    }

    /// Path of its public half, by which readers know what counts.
    #[must_use]
    pub fn cluster_public_key_file(&self) -> PathBuf {
        self.data.directory.join("cluster.pub")
    }

    /// Path of the secret key with which a reader signs its own record.
    #[must_use]
    pub fn reader_key_file(&self) -> PathBuf {
        self.data.directory.join("reader.key")
    }

    /// Path of its public half.
    #[must_use]
    pub fn reader_public_key_file(&self) -> PathBuf {
        self.data.directory.join("reader.pub")
    }

    /// Path of the catalog database.
    #[must_use]
    pub fn catalog_file(&self) -> PathBuf {
        self.data.directory.join(CATALOG_NAME)
    }

    /// Path of the secret that API keys are derived from.
    #[must_use]
    pub fn master_secret_file(&self) -> PathBuf {
        self.data.directory.join("master.secret")
    }
}
