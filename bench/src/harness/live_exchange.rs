//! A whole exchange in this process: an engine with durability `disk` and a gateway of one thread.
//! One market; accounts with one API key each.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foretell_auth::{Domains, KeyOrigin, KeyTrio, MasterSecret, Window};
use foretell_engine::client::Client;
use foretell_engine::{
    EngineConfig, JOURNAL_DIRECTORY, Ready, SNAPSHOT_DIRECTORY, SOCKET_NAME, SigningDomain,
};
use foretell_gateway::{
    ConnectionLimits, Gateway, GatewayConfig, HeaderPrefix, RateLimits, RequestPolicyConfig,
    SIGNER_CACHE_MIB, Surface, TimeForm,
};
use foretell_link::Role;
use foretell_model::limits::{MAX_BALANCE, ORDER_ID_SHARES};
use foretell_model::{Command, Micros, Sequence, Settings, WalletAddress};

use crate::error::MeasureError;
use crate::harness::http;
use crate::harness::running_engine::{RunningEngine, apply};
use crate::workloads::venue::{Account, Venue};

/// Family of credential headers.
pub(crate) const PREFIX: &str = "BENCH";
/// Maximum age of requests: all are signed before the first is sent.
const OLDEST_SECONDS: u32 = 24 * 3_600;
/// Longest pause of a client, which shares the machine with what it measures.
const CLIENT_PATIENCE: Duration = Duration::from_secs(600);
/// Far above the time of a start.
const READY_PATIENCE: Duration = Duration::from_secs(30);

/// The running exchange.
pub(crate) struct LiveExchange {
    gateway: Gateway,
    engine: RunningEngine,
    /// Listen address of the trading surface.
    pub(crate) trading: SocketAddr,
    /// Socket of the engine.
    pub(crate) socket: PathBuf,
    /// API key of the first owner.
    pub(crate) key: KeyTrio,
}

impl LiveExchange {
    /// Starts it on an empty directory, with a funded account of `owner`.
    pub(crate) fn start(
        data: &Path,
        domains: &Domains,
        owner: WalletAddress,
    ) -> Result<Self, MeasureError> {
        Self::start_with(data, domains, &[owner], LiveOptions::default())
    }

    /// The same with an account for each owner, and with options.
    pub(crate) fn start_with(
        data: &Path,
        domains: &Domains,
        owners: &[WalletAddress],
        options: LiveOptions,
    ) -> Result<Self, MeasureError> {
        let first = owners.first();
        let first = *first.ok_or_else(|| MeasureError::wrong("an exchange without accounts"))?;
        let LiveOptions {
            connections,
            signer_cache_mib,
        } = options;
        let engine = start_alone(data, domains, owners)?;
        let (journal, socket) = (data.join(JOURNAL_DIRECTORY), data.join(SOCKET_NAME));
        let gateway = foretell_gateway::start(GatewayConfig {
            snapshots: data.join(SNAPSHOT_DIRECTORY),
            listen: vec![(Surface::Trading, SocketAddr::from(([127, 0, 0, 1], 0)))],
            connections: ConnectionLimits {
                head: CLIENT_PATIENCE,
                body: CLIENT_PATIENCE,
                idle: CLIENT_PATIENCE,
                ..connections
            },
            streams: foretell_gateway::StreamLimits {
                per_address: usize::MAX,
                // Every message is of a frame, also where clients take long to connect.
                quiet_book: Duration::ZERO,
                ..Default::default()
            },
            // A measurement asks as fast as it can, from one address.
            policy: RequestPolicyConfig {
                limits: RateLimits::off(),
                ..RequestPolicyConfig::default()
            },
            prefixes: vec![HeaderPrefix {
                name: PREFIX.to_owned(),
                times: TimeForm::Iso,
            }],
            window: Window {
                past_seconds: u64::from(OLDEST_SECONDS),
                ..Window::default()
            },
            dev_auth_hints: true,
            domains: domains.clone(),
            signer_cache_mib,
            ready_patience: READY_PATIENCE,
            ..GatewayConfig::new(journal, socket, master())
        })?;
        let trading = gateway
            .addresses()
            .first()
            .map(|(_, address)| *address)
            .ok_or_else(|| MeasureError::wrong("the gateway does not listen"))?;
        // A stream is refused until the gateway has a state.
        http::await_state(trading, "/markets", Sequence(1))?;
        Ok(Self {
            gateway,
            socket: engine.ready.socket.clone(),
            engine,
            trading,
            key: trio(first, domains),
        })
    }

    /// Name of the gateway's only serving thread.
    pub(crate) fn serving_thread(&self) -> String {
        format!("http-{}-0", self.trading.port())
    }

    /// Registers further markets, which stay closed, up to `count` in all. Returns the last frame.
    pub(crate) fn register_markets(&self, count: u32) -> Result<Sequence, MeasureError> {
        let mut client = Client::connect(&self.socket, "bench", Role::Operator)?;
        let whole = venue(count, Vec::new());
        let markets =
            (whole.commands()).filter(|command| matches!(command, Command::RegisterMarket(_)));
        let mut last = Sequence(0);
        // The first one is there.
        for (request, market) in (1..).zip(markets.skip(1)) {
            last = apply(&mut client, request, market)?;
        }
        Ok(last)
    }

    /// Stops gateway and engine.
    pub(crate) fn stop(self) -> Result<(), MeasureError> {
        self.gateway.stop()?;
        self.engine.stop()
    }
}

/// What measurements vary of an exchange.
pub(crate) struct LiveOptions {
    pub(crate) connections: ConnectionLimits,
    pub(crate) signer_cache_mib: u32,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            connections: ConnectionLimits::default(),
            signer_cache_mib: SIGNER_CACHE_MIB,
        }
    }
}

/// The API key of an owner.
pub(crate) fn trio(owner: WalletAddress, domains: &Domains) -> KeyTrio {
    let (master, origin) = secrets(owner);
    master.trio(&origin, domains.chain_id())
}

/// Secrets that the owner's key is derived from.
pub(crate) fn secrets(owner: WalletAddress) -> (MasterSecret, KeyOrigin) {
    let nonce = [0; 32];
    (master(), KeyOrigin { owner, nonce })
}

/// The secret that all keys are derived from.
pub(crate) fn master() -> MasterSecret {
    MasterSecret::from_bytes([7; 32])
}

/// Starts the engine alone, with an open market and a funded account of each owner.
pub(crate) fn start_alone(
    data: &Path,
    domains: &Domains,
    owners: &[WalletAddress],
) -> Result<RunningEngine, MeasureError> {
    let engine = start_engine(data, domains)?;
    open_venue(&engine.ready, domains, owners)?;
    Ok(engine)
}

fn settings() -> Settings {
    Settings {
        timestamp_past_ms: u64::from(OLDEST_SECONDS) * 1_000,
        live_orders_per_account: u32::MAX,
        // One wallet of the load uses as many ids as all owners of an exchange.
        remembered_order_ids: ORDER_ID_SHARES * Settings::default().remembered_order_ids,
        ..Settings::default()
    }
}

fn start_engine(data: &Path, domains: &Domains) -> Result<RunningEngine, MeasureError> {
    let mut config = EngineConfig::new(data.to_owned());
    config.domains = domains
        .iter()
        .map(|domain| SigningDomain {
            number: domain.number(),
            separator: *domain.separator(),
            text: domain.text(),
        })
        .collect();
    RunningEngine::start(config)
}

/// Opens the market, issues the keys, funds their owners.
pub(crate) fn open_venue(
    ready: &Ready,
    domains: &Domains,
    owners: &[WalletAddress],
) -> Result<(), MeasureError> {
    let mut client = Client::connect(&ready.socket, "bench", Role::Operator)?;
    let account = |owner: &WalletAddress| Account {
        owner: *owner,
        api_key: trio(*owner, domains).api_key,
        collateral: Micros(MAX_BALANCE.0 / owners.len() as u64),
    };
    let accounts = owners.iter().map(account).collect();
    for (request, command) in (1..).zip(venue(1, accounts).commands()) {
        apply(&mut client, request, command)?;
    }
    Ok(())
}

fn venue(markets: u32, accounts: Vec<Account>) -> Venue {
    Venue {
        settings: settings(),
        markets,
        fee_ppm: 0,
        accounts,
        shares: Default::default(),
    }
}
