//! The gateway process: start order and shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use foretell_journal::wall_clock::since_epoch;
use foretell_link::Role;
use foretell_model::OperatorNumber;
use foretell_stages::{RotationThread, StageLog};
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};

use crate::access::credentials::{Auth, BadPrefix};
use crate::access::known_signers::KnownSigners;
use crate::access::signature_gate::SignatureGate;
use crate::app::App;
use crate::catalog::catalog_exchange;
use crate::catalog::catalog_facts::CatalogFacts;
use crate::catalog::catalog_pool::CatalogPool;
use crate::catalog::catalog_watcher::{self, WatchedData};
use crate::catalog::descriptions::Descriptions;
use crate::catalog::event_markets::EventMarkets;
use crate::catalog::own_catalog::OwnCatalog;
use crate::catalog::profiles::Profiles;
use crate::config::GatewayConfig;
use crate::engine::cluster::ClusterView;
use crate::engine::engine_link::EngineLink;
use crate::engine::waiting_cancels::WaitingCancels;
use crate::http::connections::bounds::AllBounds;
use crate::http::dispatch::Dispatcher;
use crate::http::router::Router;
use crate::http::server::{self, BoundAddress, Servers, Shared};
use crate::http::surface::Surface;
use crate::metrics::{Metrics, siblings};
use crate::page::Page;
use crate::policy::limits::{MAX_STREAM_REPLAYS, REPLAY_BURST, STREAM_RING_FRAMES, StreamLimits};
use crate::policy::request_policy::RequestPolicy;
use crate::policy::work::{Share, WorkAccounts};
use crate::rejected_orders::RejectedOrders;
use crate::render::book_cache::BookCache;
use crate::render::market_pages::MarketPages;
use crate::routes::{self, PageRoutes};
use crate::streams::fan_out::Hub;
use crate::streams::fan_out::replay_reach::ReplayReach;
use crate::streams::fan_out::ring::{RingLimits, StreamRing};
use crate::streams::fan_out::stats::StreamStats;
use crate::streams::subscription::demand::Demand;
use crate::view::follower::{self, Followers};
use crate::view::shared_view::SharedView;
use crate::view::unpaid::UnpaidCount;
use crate::view::view_bootstrap::ViewSources;

/// Interval of the checks for readiness.
const READY_PAUSE: Duration = Duration::from_millis(2);

/// Why a gateway does not start, or ends without a signal.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// A surface cannot listen on its address.
    #[error("{surface} surface on {address}: {source}")]
    Listen {
        /// The surface.
        surface: &'static str,
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The operator surface is configured without a token, or outside loopback.
    #[error("the operator surface requires a token and a loopback address")]
    OperatorExposed,
    /// A header prefix is invalid.
    #[error(transparent)]
    Prefix(#[from] BadPrefix),
    /// The system provides no thread, runtime or signal handler.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
    /// A thread that the gateway requires has panicked.
    #[error("thread {0} panicked")]
    ThreadLost(&'static str),
}

/// A running gateway.
pub struct Gateway {
    addresses: Vec<(Surface, SocketAddr)>,
    servers: Vec<JoinHandle<()>>,
    stop_serving: watch::Sender<bool>,
    follower: JoinHandle<()>,
    /// Gives its metrics to the gateway that is scraped, where there are several.
    metrics: Option<JoinHandle<()>>,
    /// Refreshes names and profiles, if a catalog is configured.
    catalog_watcher: Option<JoinHandle<()>>,
    stop_following: Arc<AtomicBool>,
    /// Notified when an engine connection or the follower ends.
    thread_exited: Arc<Notify>,
    /// Dropped with the gateway.
    _seconds: RotationThread,
}

/// Notifies on drop, however its thread or task ends.
struct ExitNotifier(Arc<Notify>);

impl Drop for ExitNotifier {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Runs a gateway until SIGTERM or SIGINT and finishes requests in progress. `bound` receives the
/// address of each surface.
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
    // Before all else, so that an early signal also ends the process in order.
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
            _ = term.recv() => tracing::info!("SIGTERM received, shutting down"),
            _ = interrupt.recv() => tracing::info!("SIGINT received, shutting down"),
            () = gateway.thread_exited.notified() => tracing::error!("worker thread exited, shutting down"),
        }
    });
    gateway.stop()
}

/// Starts a gateway. It listens when it is ready, or after `ready_patience`; then requests that
/// need the engine or the journal fail with an error until both are available.
///
/// # Errors
/// When it cannot listen, or cannot start its threads.
pub fn start(config: GatewayConfig) -> Result<Gateway, GatewayError> {
    let threads = config.threads.max(1);
    ensure_operator_protected(&config)?;
    let (addresses, bound) = bind(&config.listen, threads)?;
    let app = app(&config, threads)?;

    let stage_log = config.stage_log.as_deref();
    let stage_log =
        stage_log.map(|directory| StageLog::create(directory, "gateway", since_epoch()));
    let seconds = RotationThread::start(Arc::clone(&app.durations), stage_log.transpose()?)?;

    let role = if serves(&config, Surface::Operator) {
        Role::Operator
    } else {
        Role::Trading
    };
    let thread_exited = Arc::new(Notify::new());
    let port = addresses.first().map_or(0, |(_, address)| address.port());
    let gates: Vec<_> = (0..threads)
        .map(|_| Arc::new(SignatureGate::new()))
        .collect();
    let servers = Servers::spawn(threads, port, |index, stop| {
        let end = ExitNotifier(Arc::clone(&thread_exited));
        let (gate, socket) = (Arc::clone(&gates[index]), config.engine_socket.clone());
        let running = app.engine.clone().run(index, gate, socket, role, stop);
        let link = app.engine.clone();
        async move {
            let _end = end;
            // One thread hears of engine time for all.
            let asking = async {
                match index {
                    0 => link.ask_time().await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                () = running => {}
                () = asking => {}
            }
        }
    })?;
    let stop_following = Arc::new(AtomicBool::new(false));
    let exit = ExitNotifier(Arc::clone(&thread_exited));
    let follower = spawn_follower(&app, &stop_following, exit)?;
    let metrics = siblings::serve(&app, &stop_following)?;
    let watched = watched_data(&config);
    let catalog_watcher = match &app.catalog {
        Some(pool) if watched.anything() => {
            Some(spawn_catalog_watcher(&app, pool, watched, &stop_following)?)
        }
        _ => None,
    };
    wait_ready(&app, config.ready_patience);
    let (stop_serving, stop) = watch::channel(false);
    let shared = Shared {
        limits: config.connections,
        stop,
    };
    let tables = route_tables(&config);
    let body_timeout = config.connections.body;
    let dispatchers = |thread: usize| {
        let stats = Arc::clone(&app.stream_stats);
        let hub = Hub::new(thread, &app.stream_ring, config.streams, stats);
        dispatchers(&app, &tables, (&gates[thread], &hub), body_timeout)
    };
    let servers = servers.serve(bound, dispatchers, &shared)?;
    Ok(Gateway {
        addresses,
        servers,
        stop_serving,
        follower,
        metrics,
        catalog_watcher,
        stop_following,
        thread_exited,
        _seconds: seconds,
    })
}

fn serves(config: &GatewayConfig, surface: Surface) -> bool {
    config.listen.iter().any(|(it, _)| *it == surface)
}

/// Rejects an operator surface without a token, or outside loopback.
fn ensure_operator_protected(config: &GatewayConfig) -> Result<(), GatewayError> {
    let operator = |(surface, _): &&(Surface, SocketAddr)| *surface == Surface::Operator;
    for (_, address) in config.listen.iter().filter(operator) {
        if !address.ip().is_loopback() || config.operator_token.is_none() {
            return Err(GatewayError::OperatorExposed);
        }
    }
    Ok(())
}

/// The bound address of each surface, and its listeners.
type Bound = (Vec<(Surface, SocketAddr)>, Vec<BoundAddress>);

fn bind(listen: &[(Surface, SocketAddr)], threads: usize) -> Result<Bound, GatewayError> {
    let (mut addresses, mut bound) = Bound::default();
    for &(surface, address) in listen {
        let listener = server::bind(address, threads).map_err(|source| GatewayError::Listen {
            surface: surface.name(),
            address,
            source,
        })?;
        addresses.push((surface, listener.address));
        bound.push(listener);
    }
    Ok((addresses, bound))
}

fn route_tables(config: &GatewayConfig) -> Vec<(Surface, Arc<Router>)> {
    let page_routes = PageRoutes::of(config.page.as_ref());
    let table = |surface| Arc::new(routes::router(surface, page_routes));
    (config.listen.iter())
        .map(|&(surface, _)| (surface, table(surface)))
        .collect()
}

/// The catalog's data that the surfaces of this process read from memory.
fn watched_data(config: &GatewayConfig) -> WatchedData {
    let has_page = serves(config, Surface::Trading) && config.page.is_some();
    WatchedData {
        lists: serves(config, Surface::Catalog) || has_page,
        // The catalog surface queries the catalog itself.
        names: (config.listen.iter()).any(|(it, _)| *it != Surface::Catalog),
        profiles: serves(config, Surface::Data) || has_page,
        own: serves(config, Surface::Operator),
    }
}

/// Returns when the gateway is ready to serve, or after `patience`.
fn wait_ready(app: &App, patience: Duration) {
    let began = Instant::now();
    let has_view = || app.shared_view.is_ready() || app.shared_view.stopped().is_some();
    // A host that does not lead has no engine to connect to.
    let has_engine = || app.cluster.is_configured() || app.engine.welcome().is_some();
    while began.elapsed() < patience && !(has_view() && has_engine()) {
        std::thread::park_timeout(READY_PAUSE);
    }
}

fn spawn_follower(
    app: &Arc<App>,
    stop: &Arc<AtomicBool>,
    exit: ExitNotifier,
) -> Result<JoinHandle<()>, GatewayError> {
    let (app, stop) = (Arc::clone(app), Arc::clone(stop));
    let thread = std::thread::Builder::new().name("follower".to_owned());
    Ok(thread.spawn(move || {
        let _exit = exit;
        let followers = Followers {
            shared_view: &app.shared_view,
            ring: &app.stream_ring,
            descriptions: &app.descriptions,
        };
        follower::follow(&app.view_sources, followers, &stop);
    })?)
}

fn spawn_catalog_watcher(
    app: &Arc<App>,
    pool: &Arc<CatalogPool>,
    watched: WatchedData,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, GatewayError> {
    let (app, pool, stop) = (Arc::clone(app), Arc::clone(pool), Arc::clone(stop));
    let thread = std::thread::Builder::new().name("catalog-watcher".to_owned());
    Ok(thread.spawn(move || catalog_watcher::watch(&app, &pool, watched, &stop))?)
}

impl Gateway {
    /// The address of each surface.
    #[must_use]
    pub fn addresses(&self) -> &[(Surface, SocketAddr)] {
        &self.addresses
    }

    /// Stops accepting, finishes requests in progress, and ends every thread.
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
        if let Some(metrics) = self.metrics {
            metrics
                .join()
                .map_err(|_| GatewayError::ThreadLost("metrics"))?;
        }
        if let Some(catalog_watcher) = self.catalog_watcher {
            catalog_watcher.thread().unpark();
            catalog_watcher
                .join()
                .map_err(|_| GatewayError::ThreadLost("catalog-watcher"))?;
        }
        Ok(())
    }
}

fn app(config: &GatewayConfig, links: usize) -> Result<Arc<App>, GatewayError> {
    let auth = Auth::new(
        &config.prefixes,
        config.dev_auth_hints,
        config.window,
        config.master.clone(),
        config.domains.clone(),
    )?;
    let policy = RequestPolicy::new(&config.policy, auth.header_names());
    let app = Arc::new(App {
        shared_view: SharedView::new(),
        engine: EngineLink::new(links),
        cluster: ClusterView::new(config.cluster_status.clone()),
        auth,
        first_tokens: [
            (&config.operator_token, OperatorNumber::FIRST_ADMIN),
            (&config.sync_token, OperatorNumber::SYNC),
        ]
        .into_iter()
        .filter_map(|(token, number)| Some((token.clone()?, number)))
        .collect(),
        oracle: config.oracle.clone(),
        unpaid: UnpaidCount::default(),
        own_catalog: serves(config, Surface::Operator).then(OwnCatalog::default),
        metrics: Metrics::new(config.place.number),
        place: config.place.clone(),
        durations: Arc::default(),
        replay_work: WorkAccounts::new((policy.limiter.work_share()).map(|share| Share {
            burst: REPLAY_BURST,
            ..share
        })),
        policy,
        known_signers: KnownSigners::new(config.signer_cache_mib, Instant::now()),
        newest_metrics: tokio::sync::Mutex::default(),
        bounds: AllBounds::new(&config.connections, &config.streams),
        waiting_cancels: WaitingCancels::default(),
        book_cache: BookCache::default(),
        stream_ring: stream_ring(&config.streams),
        stream_stats: Arc::new(StreamStats::new(links)),
        stream_replays: Arc::new(Semaphore::new(MAX_STREAM_REPLAYS)),
        replay_reach: ReplayReach::default(),
        view_sources: ViewSources {
            journal: config.journal.clone(),
            snapshots: config.snapshots.clone(),
            checked_at_start: config.checked_at_start,
            chunking: config.chunking,
        },
        checkpoints: config.checkpoints.clone(),
        last_backup: config.last_backup.clone(),
        reports: config.reports.clone(),
        compatibility: config.compatibility,
        descriptions: Descriptions::default(),
        event_markets: EventMarkets::default(),
        market_pages: MarketPages::default(),
        profiles: Profiles::default(),
        page: config.page.clone().map(Page::new),
        sandbox: OnceLock::new(),
        rejected_orders: RejectedOrders::default(),
        catalog_facts: CatalogFacts::default(),
        catalog: config.catalog.clone().map(CatalogPool::new).map(Arc::new),
    });
    catalog_exchange::connect(&app);
    Ok(app)
}

fn stream_ring(limits: &StreamLimits) -> StreamRing {
    let bounds = RingLimits {
        frames: STREAM_RING_FRAMES,
        bytes: limits.ring,
    };
    StreamRing::new(bounds, Arc::new(Demand::new(limits.resume_window)))
}

fn dispatchers(
    app: &Arc<App>,
    tables: &[(Surface, Arc<Router>)],
    (gate, hub): (&Arc<SignatureGate>, &Arc<Hub>),
    body_timeout: std::time::Duration,
) -> Vec<Dispatcher> {
    let dispatcher = |(surface, routes): &(Surface, Arc<Router>)| Dispatcher {
        app: Arc::clone(app),
        surface: *surface,
        routes: Arc::clone(routes),
        gate: Arc::clone(gate),
        hub: Arc::clone(hub),
        body_timeout,
    };
    tables.iter().map(dispatcher).collect()
}
