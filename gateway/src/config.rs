//! The configuration of a gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use foretell_auth::{Domains, MasterSecret, Window};
use foretell_catalog::Sites;
use foretell_view::Chunking;
use foretell_wire::Compatibility;
use foretell_wire::text::time::TimeForm;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};

use crate::access::operator_token::OperatorToken;
use crate::access::oracle::OracleConfig;
use crate::http::surface::Surface;
use crate::page::PageConfig;
use crate::policy::cors::Origin;
use crate::policy::limits::{ConnectionLimits, StreamLimits};
use crate::policy::rate_limits::RateLimits;

/// Default of [`GatewayConfig::signer_cache_mib`]: some 600 signers.
pub const SIGNER_CACHE_MIB: u32 = 64;

/// A family of credential headers: `<name>_ADDRESS` and so on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPrefix {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// Format of `match_time` and `last_update` for its clients (docs/api/market-data.md §6).
    pub times: TimeForm,
}

impl HeaderPrefix {
    /// The name of the interface's own family.
    pub const OWN: &str = "SERVICE";

    /// The families without a setting: the interface's own, and that of Polymarket's clients.
    #[must_use]
    pub fn usual() -> Vec<Self> {
        let prefix = |name: &str, times| Self {
            name: name.to_owned(),
            times,
        };
        vec![
            prefix(Self::OWN, TimeForm::Iso),
            prefix("POLY", TimeForm::Unix),
        ]
    }
}

/// Rate limits, trusted proxies, origins, allowlist.
#[derive(Clone, Debug)]
pub struct RequestPolicyConfig {
    /// Rate limits of a client.
    pub limits: RateLimits,
    /// Processes that serve the same surfaces, at least 1; each enforces its part of the limits.
    pub gateways: u32,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may read answers in a browser.
    pub origins: Vec<Origin>,
    /// Networks that may use the data surface.
    pub data_allowlist: Vec<IpNet>,
    /// Names by which the operator surface is reached, besides those of loopback.
    pub operator_hosts: Vec<String>,
}

impl Default for RequestPolicyConfig {
    /// The limits of the interface, no proxies, no origins, loopback only.
    fn default() -> Self {
        let loopback: [IpNet; 2] = [
            Ipv4Net::new_assert([127, 0, 0, 0].into(), 8).into(),
            Ipv6Net::new_assert(std::net::Ipv6Addr::LOCALHOST, 128).into(),
        ];
        Self {
            limits: RateLimits::default(),
            gateways: 1,
            trusted_proxies: Vec::new(),
            origins: Vec::new(),
            data_allowlist: loopback.to_vec(),
            operator_hosts: Vec::new(),
        }
    }
}

/// Location of the catalog.
#[derive(Clone, Debug)]
pub struct CatalogConfig {
    /// Its file; it may be created later.
    pub file: PathBuf,
    /// Creators that the `creator` sites map to.
    pub sites: Sites,
}

/// The whole configuration of a gateway.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The journal it follows.
    pub journal: PathBuf,
    /// Directory of the engine's snapshots; it may be empty.
    pub snapshots: PathBuf,
    /// The file of the engine's checkpoints; it may be missing.
    pub checkpoints: PathBuf,
    /// The record of the last backup: JSON with `time_ms`.
    pub last_backup: PathBuf,
    /// The data directory in which the other processes of the host report; empty = none does.
    pub reports: PathBuf,
    /// A snapshot's history of at most this many bytes is verified before the gateway serves, a
    /// longer one while it serves. [`crate::CHECKED_AT_START`] except in tests.
    pub checked_at_start: u64,
    /// Rows of a history chunk; only tests change it.
    pub chunking: Chunking,
    /// The engine's Unix socket.
    pub engine_socket: PathBuf,
    /// The engine's report of its cluster; `None` of a host that is alone.
    pub cluster_status: Option<PathBuf>,
    /// Surfaces and their addresses; port 0 takes a free port.
    pub listen: Vec<(Surface, SocketAddr)>,
    /// Server threads, at least 1.
    pub threads: usize,
    /// Bounds of connections.
    pub connections: ConnectionLimits,
    /// Bounds of stream connections.
    pub streams: StreamLimits,
    /// Rate limits, trusted proxies, origins, allowlist.
    pub policy: RequestPolicyConfig,
    /// Prefixes of credential headers, at least one.
    pub prefixes: Vec<HeaderPrefix>,
    /// Whose forms public requests and answers have.
    pub compatibility: Compatibility,
    /// The accepted window of L1 and L2 timestamps around the current time.
    pub window: Window,
    /// A 401 names the failed check in `x-auth-hint`. Development only.
    pub dev_auth_hints: bool,
    /// The secret from which API secrets are derived.
    pub master: MasterSecret,
    /// Signing domains of orders, and the chain.
    pub domains: Domains,
    /// MiB of tables of known signers at most; 0 recovers the key of every order.
    pub signer_cache_mib: u32,
    /// How long a start waits, before it listens, for the engine and for its view to catch up:
    /// where gateways share a port, clients then reach only gateways that are ready. After that it
    /// listens, and requests get errors that name the missing part.
    pub ready_patience: Duration,
    /// The catalog; the catalog surface requires it.
    pub catalog: Option<CatalogConfig>,
    /// A directory for a log of stage durations, second by second; see [`StageLog`].
    ///
    /// [`StageLog`]: foretell_stages::StageLog
    pub stage_log: Option<PathBuf>,
    /// The page on the trading surface; `None` turns it off.
    pub page: Option<PageConfig>,
    /// The operator surface requires it.
    pub operator_token: Option<OperatorToken>,
    /// The token of the synchronization of the catalog.
    pub sync_token: Option<OperatorToken>,
    /// The oracle's adapter; `None` turns its webhook off.
    pub oracle: Option<OracleConfig>,
    /// Which gateway of its exchange it is: the one that is scraped has the metrics of all.
    pub place: GatewayPlace,
}

impl GatewayConfig {
    /// The defaults of the settings for a journal and an engine's socket: one thread, no surfaces,
    /// no snapshots, catalog, page or operators.
    #[must_use]
    pub fn new(journal: PathBuf, engine_socket: PathBuf, master: MasterSecret) -> Self {
        Self {
            journal,
            snapshots: PathBuf::new(),
            checkpoints: PathBuf::new(),
            last_backup: PathBuf::new(),
            reports: PathBuf::new(),
            checked_at_start: crate::CHECKED_AT_START,
            chunking: Chunking::default(),
            engine_socket,
            cluster_status: None,
            listen: Vec::new(),
            threads: 1,
            connections: ConnectionLimits::default(),
            streams: StreamLimits::default(),
            policy: RequestPolicyConfig::default(),
            prefixes: HeaderPrefix::usual(),
            compatibility: Compatibility::default(),
            window: Window::default(),
            dev_auth_hints: false,
            master,
            domains: Domains::default(),
            signer_cache_mib: SIGNER_CACHE_MIB,
            ready_patience: Duration::ZERO,
            catalog: None,
            stage_log: None,
            page: None,
            operator_token: None,
            sync_token: None,
            oracle: None,
            place: GatewayPlace::ALONE,
        }
    }
}

/// This gateway among those of its exchange.
#[derive(Clone, Debug)]
pub struct GatewayPlace {
    /// Its number, from 1.
    pub number: u32,
    /// Number of all.
    pub of: u32,
    /// Directory of their sockets; `None` where each is scraped alone.
    pub directory: Option<PathBuf>,
}

impl GatewayPlace {
    /// The only one.
    pub const ALONE: Self = Self {
        number: 1,
        of: 1,
        directory: None,
    };
}
