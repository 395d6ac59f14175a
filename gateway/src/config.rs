//! The configuration of a gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use foretell_auth::{Domains, MasterSecret, Window};
use foretell_view::Chunking;
use foretell_wire::time::TimeForm;

use crate::catalog_pool::CatalogConfig;
use crate::limits::ConnectionLimits;
use crate::operator_token::OperatorToken;
use crate::request_policy::RequestPolicyConfig;

/// A family of paths on a listener of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Orders, cancels, books, a caller's own orders and trades.
    Trading,
    /// Trade fills, positions, holders; for addresses on the allowlist.
    Data,
    /// Markets, events, series, tags, search.
    Catalog,
    /// Deposits, markets, modes, health, metrics. Loopback only.
    Operator,
}

impl Surface {
    /// The surface's name in configuration and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Data => "data",
            Self::Catalog => "catalog",
            Self::Operator => "operator",
        }
    }
}

/// The side whose price `/price` and `/prices` return (docs/api/market-data.md §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriceSide {
    /// BUY is what a buyer pays now: the best ask.
    #[default]
    Taker,
    /// BUY is what the best buyer bids.
    Maker,
}

/// A family of credential headers: `<name>_ADDRESS` and so on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderPrefix {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// Format of `match_time` and `last_update` for its clients (docs/api/market-data.md §6).
    pub times: TimeForm,
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
    /// A snapshot's history of at most this many bytes is verified before the gateway serves, a
    /// longer one while it serves. [`crate::CHECKED_AT_START`] except in tests.
    pub checked_at_start: u64,
    /// Rows of a history chunk; only tests change it.
    pub chunking: Chunking,
    /// The engine's Unix socket.
    pub engine_socket: PathBuf,
    /// Surfaces and their addresses; port 0 takes a free port.
    pub listen: Vec<(Surface, SocketAddr)>,
    /// Server threads, at least 1.
    pub threads: usize,
    /// Bounds of connections.
    pub connections: ConnectionLimits,
    /// Rate limits, trusted proxies, origins, allowlist.
    pub policy: RequestPolicyConfig,
    /// Prefixes of credential headers, at least one.
    pub prefixes: Vec<HeaderPrefix>,
    /// The side whose price `/price` returns.
    pub price_side: PriceSide,
    /// The accepted window of L1 and L2 timestamps around the current time.
    pub window: Window,
    /// A 401 names the failed check in `x-auth-hint`. Development only.
    pub dev_auth_hints: bool,
    /// The secret from which API secrets are derived.
    pub master: MasterSecret,
    /// Signing domains of orders, and the chain.
    pub domains: Domains,
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
    /// The operator surface requires it.
    pub operator_token: Option<OperatorToken>,
}
