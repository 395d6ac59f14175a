//! What a gateway is told at its start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use foretell_auth::{Domains, MasterSecret, Window};
use foretell_view::Chunking;
use foretell_wire::time::TimeForm;

use crate::catalog_door::CatalogConfig;
use crate::edge::EdgeConfig;
use crate::limits::ConnectionLimits;
use crate::operator_token::OperatorToken;

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
    /// The word of configuration and logs.
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

/// Whose price `/price` and `/prices` tell (protocol 11).
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
    /// How its clients want `match_time` and `last_update` (protocol 7).
    pub times: TimeForm,
}

/// Everything a gateway needs to know.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The journal it follows.
    pub journal: PathBuf,
    /// Where the engine publishes snapshots; nothing needs to be there.
    pub snapshots: PathBuf,
    /// The file the engine keeps its checkpoints in; nothing needs to be there.
    pub checkpoints: PathBuf,
    /// A history of so many bytes at most is checked before it is shown, a longer one behind;
    /// [`crate::CHECKED_AT_START`] but in tests.
    pub checked_at_start: u64,
    /// Rows of a history chunk; anything but the standard is for tests.
    pub chunking: Chunking,
    /// The engine's Unix socket.
    pub engine_socket: PathBuf,
    /// Surfaces and where they listen; port 0 takes a free port.
    pub listen: Vec<(Surface, SocketAddr)>,
    /// Server threads, at least 1.
    pub threads: usize,
    /// Bounds of connections.
    pub connections: ConnectionLimits,
    /// Who may ask, and how often.
    pub edge: EdgeConfig,
    /// Prefixes of credential headers, at least one.
    pub prefixes: Vec<HeaderPrefix>,
    /// Whose price `/price` tells.
    pub price_side: PriceSide,
    /// Around the present: the timestamps of L1 and L2 headers that are taken.
    pub window: Window,
    /// A 401 says in `x-auth-hint` which check failed. Development only.
    pub dev_auth_hints: bool,
    /// What API secrets are derived from.
    pub master: MasterSecret,
    /// Signing domains of orders, and the chain.
    pub domains: Domains,
    /// How long a start may wait, not listening yet, for the engine and for its view to catch up:
    /// where gateways share a port, clients go to those that can answer. After that it listens
    /// and says what is missing.
    pub ready_patience: Duration,
    /// The catalog, needed by its surface.
    pub catalog: Option<CatalogConfig>,
    /// A directory for a log of what every stage took, second by second; see [`StageLog`].
    ///
    /// [`StageLog`]: foretell_stages::StageLog
    pub stage_log: Option<PathBuf>,
    /// Needed by the operator surface.
    pub operator_token: Option<OperatorToken>,
}
