//! The gateway process: what starts, in which order, and how it ends.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use foretell_link::Role;
use foretell_stages::{Seconds, StageLog};
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, watch};

use crate::app::App;
use crate::auth::{Auth, BadPrefix};
use crate::bounds::AllBounds;
use crate::catalog_door::CatalogDoor;
use crate::config::{GatewayConfig, Surface};
use crate::descriptions::Descriptions;
use crate::dispatch::Dispatcher;
use crate::edge::Edge;
use crate::engine_link::EngineLink;
use crate::follower;
use crate::headings::Headings;
use crate::market_pages::MarketPages;
use crate::market_texts::MarketTexts;
use crate::metrics::Metrics;
use crate::profiles::Profiles;
use crate::replica::Replica;
use crate::routes::Routes;
use crate::server::{self, Servers, Shared};
use crate::signatures::SignatureGate;
use crate::start::Sources;
use crate::surfaces;
use crate::targets::Targets;
use crate::texts::BookTexts;
use crate::words::{self, Kept};

/// Between two looks whether the gateway is ready to listen.
const READY_PAUSE: Duration = Duration::from_millis(2);

/// Why a gateway does not start, or ends without being asked to.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// A surface cannot listen where it was told to.
    #[error("{surface} surface on {address}: {source}")]
    Listen {
        /// Which.
        surface: &'static str,
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The operator surface was asked for without a token, or outside loopback.
    #[error("the operator surface needs a token and a loopback address")]
    OperatorExposed,
    /// A header prefix cannot be one.
    #[error(transparent)]
    Prefix(#[from] BadPrefix),
    /// A thread, a runtime or a signal handler cannot be had.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
    /// A thread the gateway cannot do without has panicked.
    #[error("thread {0} is gone")]
    ThreadLost(&'static str),
}

/// A running gateway.
pub struct Gateway {
    addresses: Vec<(Surface, SocketAddr)>,
    servers: Vec<JoinHandle<()>>,
    stop_serving: watch::Sender<bool>,
    follower: JoinHandle<()>,
    /// Keeps names and profiles, where a catalog is configured.
    words: Option<JoinHandle<()>>,
    stop_following: Arc<AtomicBool>,
    /// Told when a line or the follower ends.
    vital: Arc<Notify>,
    /// Ends with the gateway.
    _seconds: Seconds,
}

/// Tells that its thread or task has ended, in whatever way.
struct EndOfThread(Arc<Notify>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Runs a gateway until SIGTERM or SIGINT; requests under way are finished first. `bound` is told
/// where each surface listens.
///
/// # Errors
/// When it cannot start, or loses a thread it needs.
pub fn run(
    config: GatewayConfig,
    bound: impl FnOnce(&[(Surface, SocketAddr)]),
) -> Result<(), GatewayError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    // Before anything is started: a signal that comes early ends the process in order, too.
    let (mut term, mut interrupt) = {
        let _inside = runtime.enter();
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        )
    };
    let gateway = start(config)?;
    bound(gateway.addresses());
    runtime.block_on(async {
        tokio::select! {
            _ = term.recv() => tracing::info!("asked to stop"),
            _ = interrupt.recv() => tracing::info!("interrupted"),
            () = gateway.vital.notified() => tracing::error!("a vital thread ended"),
        }
    });
    gateway.stop()
}

/// Starts a gateway. It listens when it is ready, or after its patience: then what needs the engine
/// or the journal says so until they are there.
///
/// # Errors
/// When it cannot listen, or cannot start its threads.
pub fn start(config: GatewayConfig) -> Result<Gateway, GatewayError> {
    let threads = config.threads.max(1);
    let serves = |surface| {
        config
            .listen
            .iter()
            .any(|(listening, _)| *listening == surface)
    };
    let exposed = |(surface, address): &(Surface, SocketAddr)| {
        *surface == Surface::Operator && !address.ip().is_loopback()
    };
    if config.listen.iter().any(exposed)
        || (serves(Surface::Operator) && config.operator_token.is_none())
    {
        return Err(GatewayError::OperatorExposed);
    }
    let mut bound = Vec::new();
    let mut addresses = Vec::new();
    let mut tables = Vec::new();
    for &(surface, address) in &config.listen {
        let listener = server::bind(address, threads).map_err(|source| GatewayError::Listen {
            surface: surface.name(),
            address,
            source,
        })?;
        addresses.push((surface, listener.address));
        bound.push(listener);
        tables.push((surface, Arc::new(surfaces::routes(surface))));
    }
    let app = app(&config, threads)?;

    let stage_log = config.stage_log.as_deref();
    let stage_log = stage_log.map(|directory| StageLog::create(directory, "gateway"));
    let seconds = Seconds::start(Arc::clone(&app.durations), stage_log.transpose()?)?;

    let role = if serves(Surface::Operator) {
        Role::Operator
    } else {
        Role::Trading
    };
    let vital = Arc::new(Notify::new());
    let port = addresses.first().map_or(0, |(_, address)| address.port());
    let gates: Vec<_> = (0..threads)
        .map(|_| Arc::new(SignatureGate::new()))
        .collect();
    let servers = Servers::spawn(threads, port, |line, stop| {
        let end = EndOfThread(Arc::clone(&vital));
        let (gate, socket) = (Arc::clone(&gates[line]), config.engine_socket.clone());
        let running = app.engine.clone().run(line, gate, socket, role, stop);
        async move {
            let _end = end;
            running.await;
        }
    })?;
    let stop_following = Arc::new(AtomicBool::new(false));
    let follower = std::thread::Builder::new()
        .name("follower".to_owned())
        .spawn({
            let app = Arc::clone(&app);
            let sources = Sources {
                journal: config.journal.clone(),
                snapshots: config.snapshots.clone(),
                checked_at_start: config.checked_at_start,
                chunking: config.chunking,
            };
            let (stop, end) = (Arc::clone(&stop_following), EndOfThread(Arc::clone(&vital)));
            move || {
                let _end = end;
                follower::follow(&sources, &app.replica, &stop);
            }
        })?;
    let kept = Kept {
        lists: serves(Surface::Catalog),
        // The catalog's own surface asks the catalog itself.
        names: (config.listen.iter()).any(|(it, _)| *it != Surface::Catalog),
        profiles: serves(Surface::Data),
    };
    let words = match &app.catalog {
        Some(door) if kept.anything() => Some(spawn_words(&app, door, kept, &stop_following)?),
        _ => None,
    };
    wait_ready(&app, config.ready_patience);
    let (stop_serving, stop) = watch::channel(false);
    let shared = Shared {
        limits: config.connections,
        stop,
    };
    let body_timeout = config.connections.body;
    let dispatchers = |thread| dispatchers(&app, &tables, &gates[thread], body_timeout);
    let servers = servers.serve(bound, dispatchers, &shared)?;
    Ok(Gateway {
        addresses,
        servers,
        stop_serving,
        follower,
        words,
        stop_following,
        vital,
        _seconds: seconds,
    })
}

/// Returns when the gateway could serve, or after `patience`.
fn wait_ready(app: &App, patience: Duration) {
    let began = Instant::now();
    let has_view = || app.replica.is_ready() || app.replica.stopped().is_some();
    while began.elapsed() < patience && !(has_view() && app.engine.welcome().is_some()) {
        std::thread::park_timeout(READY_PAUSE);
    }
}

fn spawn_words(
    app: &Arc<App>,
    door: &Arc<CatalogDoor>,
    kept: Kept,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, GatewayError> {
    let (app, door, stop) = (Arc::clone(app), Arc::clone(door), Arc::clone(stop));
    let thread = std::thread::Builder::new().name("words".to_owned());
    Ok(thread.spawn(move || words::follow(&app, &door, kept, &stop))?)
}

impl Gateway {
    /// Where each surface listens.
    #[must_use]
    pub fn addresses(&self) -> &[(Surface, SocketAddr)] {
        &self.addresses
    }

    /// Stops accepting, finishes what is under way, and ends every thread.
    ///
    /// # Errors
    /// When one of the threads had panicked.
    pub fn stop(self) -> Result<(), GatewayError> {
        // Servers first: their last requests still need the view.
        self.stop_serving.send_replace(true);
        for server in self.servers {
            server
                .join()
                .map_err(|_| GatewayError::ThreadLost("http"))?;
        }
        self.stop_following.store(true, Ordering::Relaxed);
        self.follower.thread().unpark();
        self.follower
            .join()
            .map_err(|_| GatewayError::ThreadLost("follower"))?;
        if let Some(words) = self.words {
            words.thread().unpark();
            words
                .join()
                .map_err(|_| GatewayError::ThreadLost("words"))?;
        }
        Ok(())
    }
}

fn app(config: &GatewayConfig, lines: usize) -> Result<Arc<App>, GatewayError> {
    let auth = Auth::new(
        &config.prefixes,
        config.dev_auth_hints,
        config.window,
        config.master.clone(),
        config.domains.clone(),
    )?;
    let edge = Edge::new(&config.edge, auth.header_names());
    Ok(Arc::new(App {
        replica: Replica::new(),
        engine: EngineLink::new(lines),
        auth,
        operator_token: config.operator_token.clone(),
        metrics: Metrics::new(),
        durations: Arc::default(),
        edge,
        bounds: AllBounds::new(&config.connections),
        headings: Headings::default(),
        targets: Targets::default(),
        texts: BookTexts::default(),
        checkpoints: config.checkpoints.clone(),
        price_side: config.price_side,
        descriptions: Descriptions::default(),
        market_texts: MarketTexts::default(),
        market_pages: MarketPages::default(),
        profiles: Profiles::default(),
        catalog: config.catalog.clone().map(CatalogDoor::new).map(Arc::new),
    }))
}

fn dispatchers(
    app: &Arc<App>,
    tables: &[(Surface, Arc<Routes>)],
    gate: &Arc<SignatureGate>,
    body_timeout: std::time::Duration,
) -> Vec<Dispatcher> {
    let dispatcher = |(surface, routes): &(Surface, Arc<Routes>)| Dispatcher {
        app: Arc::clone(app),
        surface: *surface,
        routes: Arc::clone(routes),
        gate: Arc::clone(gate),
        body_timeout,
    };
    tables.iter().map(dispatcher).collect()
}
