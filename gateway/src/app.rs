//! State shared by all requests of the process.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foretell_catalog::SyncStatus;
use foretell_journal::wall_clock;
use foretell_link::CLOCK_TOLERANCE;
use foretell_model::{OperatorNumber, SandboxClock, Sequence, TimeMs, TimeNs};
use foretell_stages::Durations;
use foretell_view::View;
use foretell_wire::{ApiError, Compatibility};
use tokio::sync::Semaphore;

use crate::access::credentials::Auth;
use crate::access::known_signers::{CheckedSigner, KnownSigners};
use crate::access::operator_token::OperatorToken;
use crate::access::oracle::OracleConfig;
use crate::catalog::catalog_facts::CatalogFacts;
use crate::catalog::catalog_pool::CatalogPool;
use crate::catalog::descriptions::Descriptions;
use crate::catalog::event_markets::EventMarkets;
use crate::catalog::own_catalog::OwnCatalog;
use crate::catalog::profiles::Profiles;
use crate::config::GatewayPlace;
use crate::engine::cluster::ClusterView;
use crate::engine::engine_link::EngineLink;
use crate::engine::waiting_cancels::WaitingCancels;
use crate::http::connections::bounds::AllBounds;
use crate::http::timing::Stage;
use crate::metrics::money::Money;
use crate::metrics::{Metrics, Readings};
use crate::page::Page;
use crate::policy::request_policy::RequestPolicy;
use crate::policy::work::WorkAccounts;
use crate::rejected_orders::RejectedOrders;
use crate::render::book_cache::BookCache;
use crate::render::market_pages::MarketPages;
use crate::streams::fan_out::replay_reach::ReplayReach;
use crate::streams::fan_out::ring::StreamRing;
use crate::streams::fan_out::stats::StreamStats;
use crate::view::shared_view::SharedView;
use crate::view::unpaid::UnpaidCount;

use crate::view::view_bootstrap::ViewSources;

/// The shared state that handlers use.
pub(crate) struct App {
    pub(crate) shared_view: SharedView,
    pub(crate) engine: EngineLink,
    pub(crate) cluster: ClusterView,
    pub(crate) auth: Auth,
    /// Whose signatures need no recovery.
    pub(crate) known_signers: KnownSigners,
    /// The newest page of metrics, and when it was made.
    pub(crate) newest_metrics: tokio::sync::Mutex<Option<(Instant, Bytes)>>,
    /// The tokens of the configuration, and whose they are.
    pub(crate) first_tokens: Vec<(OperatorToken, OperatorNumber)>,
    /// The adapter of an oracle, when its webhook is on.
    pub(crate) oracle: Option<OracleConfig>,
    /// Present on the operator surface.
    pub(crate) own_catalog: Option<OwnCatalog>,
    pub(crate) unpaid: UnpaidCount,
    pub(crate) metrics: Metrics,
    pub(crate) place: GatewayPlace,
    pub(crate) durations: Arc<Durations<Stage>>,
    pub(crate) policy: RequestPolicy,
    pub(crate) bounds: AllBounds,
    pub(crate) waiting_cancels: WaitingCancels,
    pub(crate) book_cache: BookCache,
    /// The newest stream messages.
    pub(crate) stream_ring: StreamRing,
    pub(crate) stream_stats: Arc<StreamStats>,
    /// Work of replays from the journal.
    pub(crate) replay_work: WorkAccounts,
    /// Turns of replays from the journal.
    pub(crate) stream_replays: Arc<Semaphore>,
    pub(crate) replay_reach: ReplayReach,
    /// The files of the view, from which replays start.
    pub(crate) view_sources: ViewSources,
    /// The file of the engine's checkpoints.
    pub(crate) checkpoints: PathBuf,
    pub(crate) last_backup: PathBuf,
    /// The data directory with the reports of the other processes.
    pub(crate) reports: PathBuf,
    /// Whose forms public requests and answers have.
    pub(crate) compatibility: Compatibility,
    pub(crate) descriptions: Descriptions,
    pub(crate) event_markets: EventMarkets,
    pub(crate) market_pages: MarketPages,
    pub(crate) profiles: Profiles,
    /// Present when the trading surface has the page.
    pub(crate) page: Option<Page>,
    /// Whether it is a sandbox, once the first command is known.
    pub(crate) sandbox: OnceLock<bool>,
    /// In a sandbox: orders that met no book.
    pub(crate) rejected_orders: RejectedOrders,
    /// What lists of the catalog know of the exchange.
    pub(crate) catalog_facts: CatalogFacts,
    /// Present when a catalog is configured.
    pub(crate) catalog: Option<Arc<CatalogPool>>,
}

impl App {
    /// Looks up an item in the view. If it is missing, retries once after the view has caught up
    /// with the current durable sequence, so that a lagging view never causes a rejection.
    pub(crate) async fn find<T>(
        &self,
        lookup: impl Fn(&View) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        if let Some(found) = lookup(&self.shared_view.read().view) {
            return Ok(Some(found));
        }
        let moved = self.shared_view.catch_up().await?;
        Ok(if moved {
            lookup(&self.shared_view.read().view)
        } else {
            None
        })
    }

    /// Counts an order, or a set of quotes, that the exchange has accepted. The table of a signer without one is built when
    /// it is due.
    pub(crate) fn count_accepted(self: &Arc<Self>, signer: CheckedSigner) {
        let now = Instant::now();
        let key = match signer {
            CheckedSigner::Known(address) => return self.known_signers.note_use(&address, now),
            CheckedSigner::Recovered(key) => key,
        };
        if self.known_signers.is_due(&key, now) {
            let app = Arc::clone(self);
            tokio::task::spawn_blocking(move || {
                if app.known_signers.build(&key, Instant::now()) {
                    app.metrics.signer_table_built();
                }
            });
        }
    }

    /// The wall clock of this host.
    pub(crate) fn now(&self) -> TimeNs {
        wall_clock::now()
    }

    /// Whether the exchange is a sandbox.
    pub(crate) fn is_sandbox(&self) -> bool {
        if let Some(known) = self.sandbox.get() {
            return *known;
        }
        let view = &self.shared_view.read().view;
        let is_sandbox = view.system().beginning.sandbox;
        if view.sequence() > Sequence(0) {
            // Another thread may have set the same.
            let _ = self.sandbox.set(is_sandbox);
        }
        is_sandbox
    }

    /// Whether the exchange is a restored copy that nobody has opened.
    pub(crate) fn is_outward_closed(&self) -> bool {
        self.shared_view.read().view.system().is_outward_closed()
    }

    /// The exchange's clock: engine time, by which orders are judged, of the leader on a host that does not lead. The wall
    /// clock while no engine is known.
    pub(crate) fn exchange_time(&self) -> TimeNs {
        let now = self.now();
        if let Some(ahead_ms) = self.cluster.leader_ahead_ms() {
            return TimeNs(
                now.0
                    .saturating_add_signed(ahead_ms.saturating_mul(1_000_000)),
            );
        }
        match self.shared_view.sandbox_clock() {
            moved if moved != SandboxClock::default() => moved.engine_time(now),
            _ => self.engine.time().map_or(now, |(time, _)| time),
        }
    }

    /// How the exchange's clock differs from this host's, where that is why it refused a timestamp: it is among what is
    /// allowed by this host's.
    pub(crate) fn clock_that_refuses(
        &self,
        timestamp: TimeMs,
        [from, to]: [u64; 2],
    ) -> Option<String> {
        let (time, _) = self.engine.time()?;
        let ahead_ms = milliseconds_between(time, self.now());
        let apart = Duration::from_millis(ahead_ms.unsigned_abs());
        let is_right = (from..=to).contains(&timestamp.0.saturating_add_signed(ahead_ms));
        let side = if ahead_ms > 0 { "ahead of" } else { "behind" };
        (is_right && apart > CLOCK_TOLERANCE).then(|| format!("{} s {side}", apart.as_secs()))
    }

    /// The values read by a scrape.
    pub(crate) fn readings(&self) -> Readings {
        let state = self.shared_view.read();
        let position = state.position();
        let (unpaid, system) = (
            self.unpaid.get(&state.view, self.exchange_time()),
            state.view.system(),
        );
        Readings {
            money: Money {
                deposited: system.collateral,
                locked: unpaid.locked,
                fees: system.fees,
                rebates: system.accrued,
                held: state.view.withdrawals().waiting().sum(),
            },
            unpaid,
            outward_closed: system.is_outward_closed(),
            operator_added: state.view.people().last_added(),
            connections_open: self.bounds.connections(),
            unread_bytes: self.bounds.unread(),
            signer_table_bytes: self.known_signers.bytes(),
            engine_connected: self.engine.welcome().is_some(),
            engine_in_flight: self.engine.in_flight(),
            view_sequence: position.sequence.0,
            view_stopped: self.shared_view.stopped().unwrap_or_default().0,
            durable_sequence: self.shared_view.durable().unwrap_or_default().0,
            epoch: position.epoch,
            in_cluster: self.cluster.is_configured(),
            cluster: self.cluster.status(),
            streams: self.stream_stats.read(),
            catalog: SyncStatus::default(),
        }
    }

    /// How far the catalog has its upstream; `None` without a sync.
    pub(crate) async fn sync_status(&self) -> Option<SyncStatus> {
        let pool = self.catalog.as_ref()?;
        let status = pool.read(foretell_catalog::Catalog::sync_status).await;
        status.ok()?.ok()?
    }
}

/// One time minus another.
pub(crate) fn milliseconds_between(time: TimeNs, other: TimeNs) -> i64 {
    time.millis().0.cast_signed() - other.millis().0.cast_signed()
}
