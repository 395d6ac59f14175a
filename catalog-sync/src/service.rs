//! One round, from the upstream through the catalog to the exchange; and endless rounds.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::{Catalog, CatalogError, Report, Sites, SyncStatus, VanishedMarket, Writer};
use foretell_model::ConditionId;
use jiff::Timestamp;
use serde_json::{Value, json};
use thiserror::Error;

use crate::catalog_lock::CatalogLock;
use crate::clock::Clock;
use crate::difference::{Allowance, Note, Policy, Stops};
use crate::disk::free_bytes;
use crate::exchange::Exchange;
use crate::limits::{CLOSING_WINDOW, LimitReached, Limits, texts};
use crate::progress::Progress;
use crate::reconcile::{Mode, ReconcileError, ReconcileReport, reconcile};
use crate::sync::{ListProblem, PullReport, Sync, SyncError};
use crate::upstream::{Bounds, Upstream};

/// Most remembered findings. Above it the memory is cleared and the log may repeat findings.
const MAX_REMEMBERED: usize = 100_000;

/// Settings of a service.
pub struct Settings {
    /// The catalog's file; created if missing.
    pub catalog: PathBuf,
    /// Base URL of the upstream; without it, only the exchange is synchronized.
    pub upstream: Option<String>,
    /// Timeouts, sizes and retries of upstream requests.
    pub bounds: Bounds,
    /// Limits of a round.
    pub limits: Limits,
    /// The exchange; without it, only the catalog is synchronized.
    pub exchange: Option<Arc<Exchange>>,
    /// Changes that are applied without an operator.
    pub policy: Policy,
    /// Pause between rounds.
    pub every: Duration,
    /// Interval between full passes through the upstream.
    pub full_every: Duration,
    /// Time and randomness.
    pub clock: Arc<dyn Clock>,
    /// Progress output.
    pub progress: Progress,
}

/// Why a service does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The upstream's URL is invalid.
    #[error("{0}")]
    Upstream(String),
    /// The catalog cannot be opened.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// Result of a round. Its halves fail independently: each runs even if the other side is
/// unavailable.
#[derive(Debug, Default)]
pub struct RoundReport {
    /// Upstream to catalog.
    pub pulled: Option<Result<PullReport, SyncError>>,
    /// Markets that are registered here, not over, and that the upstream no longer has.
    pub vanished: Vec<VanishedMarket>,
    /// Catalog to exchange.
    pub exchange: Option<Result<ReconcileReport, ReconcileError>>,
}

/// Synchronizes a catalog and an exchange.
pub struct Service {
    sync: Option<Sync>,
    catalog: Arc<Catalog>,
    path: PathBuf,
    exchange: Option<Arc<Exchange>>,
    policy: Policy,
    limits: Limits,
    every: Duration,
    clock: Arc<dyn Clock>,
    progress: Progress,
    /// The exchange has all catalog changes up to this one.
    synced_change: u64,
    early_closings: EarlyClosings,
    /// Markets that the upstream stopped, as of the last round.
    stops: Stops,
    /// Markets that vanished from the upstream, as of the last round.
    vanished: BTreeSet<ConditionId>,
    /// Whether rounds follow each other.
    follows: bool,
}

/// Closings before the end date, counted by this process.
#[derive(Clone, Copy, Default)]
struct EarlyClosings {
    /// Start of the current counting period.
    began: Option<Timestamp>,
    /// Closings in the period.
    count: u64,
    /// Live markets, the base of the percentage.
    live: u64,
}

impl Service {
    /// Opens the catalog.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        let writer = Writer::open(&settings.catalog)?;
        let catalog = Arc::new(Catalog::open(&settings.catalog, Sites::default())?);
        let sync = match &settings.upstream {
            None => None,
            Some(base) => {
                let clock = Arc::clone(&settings.clock);
                let upstream = Upstream::new(base, settings.bounds, Arc::clone(&clock))
                    .map_err(StartError::Upstream)?;
                let progress = settings.progress.clone();
                Some(Sync::new(
                    upstream,
                    (writer, Arc::clone(&catalog)),
                    clock,
                    progress,
                    settings.full_every,
                    settings.limits,
                ))
            }
        };
        Ok(Self {
            sync,
            catalog,
            path: settings.catalog,
            exchange: settings.exchange,
            policy: settings.policy,
            limits: settings.limits,
            every: settings.every,
            clock: settings.clock,
            progress: settings.progress,
            synced_change: 0,
            early_closings: EarlyClosings::default(),
            stops: Stops::default(),
            vanished: BTreeSet::new(),
            follows: false,
        })
    }

    /// Runs one round.
    pub async fn round(&mut self) -> RoundReport {
        let mut round = RoundReport::default();
        if let Some(exchange) = &self.exchange
            && exchange.is_outward_closed().await
        {
            round.exchange = Some(Err(ReconcileError::OutwardClosed));
            return round;
        }
        if self.sync.is_some() {
            let pulled = self.pull().await;
            if pulled.as_ref().is_ok_and(|pulled| pulled.ended) {
                // Compare everything again, including changes that an operator made meanwhile.
                self.synced_change = 0;
            }
            round.pulled = Some(pulled);
            round.vanished = self.status().vanished;
            let vanished = round.vanished.iter().map(|it| it.condition).collect();
            if vanished != self.vanished {
                // They have no newer change, so compare everything.
                self.synced_change = 0;
                self.vanished = vanished;
            }
        }
        round.exchange = self.apply().await;
        self.progress.end();
        round
    }

    /// Reads the upstream, looks for registered markets that it does not list, and keeps the status.
    async fn pull(&mut self) -> Result<PullReport, SyncError> {
        let Some(sync) = &mut self.sync else {
            return Ok(PullReport::default());
        };
        let mut pulled = sync.pull().await;
        if let (Ok(pulled), Some(exchange)) = (&mut pulled, &self.exchange) {
            look_for_missing(sync, exchange, pulled).await?;
        }
        sync.keep_status(&pulled, self.follows)?;
        pulled
    }

    /// How far the catalog has the upstream; the default if that is unknown.
    #[must_use]
    pub fn status(&self) -> SyncStatus {
        let status = self.catalog.sync_status();
        status.ok().flatten().unwrap_or_default()
    }

    async fn apply(&mut self) -> Option<Result<ReconcileReport, ReconcileError>> {
        let exchange = Arc::clone(self.exchange.as_ref()?);
        if self.sync.is_some() && free_bytes(&self.path) < self.limits.disk_reserve_bytes {
            return Some(Ok(ReconcileReport {
                change: self.synced_change,
                limits: vec![LimitReached::DiskReserve],
                ..ReconcileReport::default()
            }));
        }
        let _lock = match CatalogLock::take(&self.path, &*self.clock).await {
            Ok(catalog_lock) => catalog_lock,
            Err(error) => return Some(Err(ReconcileError::CatalogLock(error))),
        };
        let now = self.clock.now();
        if self
            .early_closings
            .began
            .is_none_or(|began| has_passed(began, now))
        {
            self.early_closings.began = Some(now);
            self.early_closings.count = 0;
            // Markets that were held back may have no newer change, so compare everything.
            self.synced_change = 0;
        }
        let mut allowance = self.allowance(now);
        let compared = self.compare(&exchange, self.synced_change, &mut allowance, Mode::Apply);
        let compared = compared.await;
        // Also count what was sent before an error ended the round.
        self.early_closings.count = allowance.early_closed;
        self.stops = allowance.stops;
        if let Ok(reconciled) = &compared {
            self.synced_change = reconciled.change;
            self.early_closings.live = allowance.live;
            if let Err(error) = self.keep_waiting() {
                tracing::warn!("catalog: {error}");
            }
        }
        Some(compared)
    }

    /// Keeps how many markets trade on although the upstream stopped them.
    fn keep_waiting(&self) -> Result<(), CatalogError> {
        let stops_waiting = u64::try_from(self.stops.waiting.len()).unwrap_or(u64::MAX);
        let before = self.status();
        if self.sync.is_none() || before.stops_waiting == stops_waiting {
            return Ok(());
        }
        let mut writer = Writer::open(&self.path)?;
        let mut batch = writer.begin()?;
        batch.set_sync_status(&SyncStatus {
            stops_waiting,
            ..before
        })?;
        batch.commit().map(|_| ())
    }

    fn allowance(&self, now: Timestamp) -> Allowance {
        Allowance {
            policy: self.policy,
            now,
            new_markets: self.limits.new_markets,
            live: self.early_closings.live,
            early_closed: self.early_closings.count,
            stops: self.stops.clone(),
            vanished: self.vanished.clone(),
        }
    }

    /// Compares everything and changes nothing.
    ///
    /// # Errors
    /// See [`ReconcileError`]; `None` without an exchange.
    pub async fn dry_run(&self) -> Option<Result<ReconcileReport, ReconcileError>> {
        let mut allowance = self.allowance(self.clock.now());
        let exchange = self.exchange.as_ref()?;
        let found = self
            .compare(exchange, 0, &mut allowance, Mode::DryRun)
            .await;
        self.progress.end();
        Some(found)
    }

    async fn compare(
        &self,
        exchange: &Arc<Exchange>,
        after: u64,
        allowance: &mut Allowance,
        mode: Mode,
    ) -> Result<ReconcileReport, ReconcileError> {
        let (catalog, progress) = (&self.catalog, &self.progress);
        reconcile(catalog, exchange, after, allowance, mode, progress).await
    }

    /// Runs rounds forever. Cancellation-safe at every await point: drop the future to stop.
    pub async fn run_forever(mut self) {
        self.follows = true;
        if self.sync.is_none()
            && let Err(error) = end_following(&self.path, self.status())
        {
            tracing::warn!("catalog: {error}");
        }
        let mut reported = HashSet::new();
        loop {
            let round = self.round().await;
            round.log(&mut reported);
            self.clock.pause(self.every).await;
        }
    }
}

/// Records that an upstream of an earlier process is no longer followed.
fn end_following(catalog: &Path, mut status: SyncStatus) -> Result<(), CatalogError> {
    if !std::mem::take(&mut status.follows) {
        return Ok(());
    }
    let mut writer = Writer::open(catalog)?;
    let mut batch = writer.begin()?;
    batch.set_sync_status(&status)?;
    batch.commit().map(|_| ())
}

/// Looks for registered markets that are in no list of the upstream. While the exchange does not
/// answer, the search waits; the comparison reports the exchange.
async fn look_for_missing(
    sync: &mut Sync,
    exchange: &Exchange,
    pulled: &mut PullReport,
) -> Result<(), SyncError> {
    let registered = match sync.is_search_due() {
        true => exchange.markets().await,
        false => {
            let vanished = sync.vanished()?;
            let conditions: Vec<_> = vanished.iter().map(|it| it.condition).collect();
            if conditions.is_empty() {
                return Ok(());
            }
            exchange.markets_named(&conditions, &[]).await
        }
    };
    let Ok(registered) = registered else {
        return Ok(());
    };
    let live = registered.into_iter();
    let live = live.filter(|market| !market.own && !market.is_over());
    sync.look_for(&live.collect::<Vec<_>>(), pulled).await
}

/// Whether the period that began at `began` is over. A clock that went back does not end it.
fn has_passed(began: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(began)).is_ok_and(|age| age >= CLOSING_WINDOW)
}

impl RoundReport {
    /// All reached limits.
    pub fn limits(&self) -> impl Iterator<Item = &LimitReached> {
        let pulled = self
            .pulled
            .iter()
            .flatten()
            .flat_map(|pulled| &pulled.limits);
        let compared = self
            .exchange
            .iter()
            .flatten()
            .flat_map(|compared| &compared.limits);
        pulled.chain(compared)
    }

    /// What keeps the catalog from having all of the upstream, and the markets that vanished from it.
    pub fn findings(&self) -> impl Iterator<Item = String> {
        let pulled = self.pulled.iter().flatten();
        let lists = pulled.flat_map(|pulled| &pulled.findings);
        // Limits are reported as such.
        let lists = lists.filter(|it| !matches!(it.problem, ListProblem::Limit(_)));
        let lists = lists.map(ToString::to_string);
        lists.chain(self.vanished.iter().map(ToString::to_string))
    }

    /// Whether both halves succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !matches!(self.pulled, Some(Err(_))) && !matches!(self.exchange, Some(Err(_)))
    }

    /// The JSON output.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut json = json!({ "ok": self.is_ok() });
        match &self.pulled {
            None => {}
            Some(Ok(pulled)) => json["catalog"] = pulled.json(),
            Some(Err(error)) => json["catalog"] = json!({ "error": error.to_string() }),
        }
        if self.pulled.is_some() {
            json["vanished"] = texts(&self.vanished).into();
        }
        match &self.exchange {
            None => {}
            Some(Ok(reconciled)) => json["exchange"] = reconciled.json(),
            Some(Err(error)) => json["exchange"] = json!({ "error": error.to_string() }),
        }
        json
    }

    /// Logs changes, and each finding or limit only once.
    fn log(&self, reported: &mut HashSet<(u64, String)>) {
        for limit in self.limits() {
            // Key without the part after `:`, whose number changes from round to round.
            let limit = limit.to_string();
            let kind = limit.split(':').next().unwrap_or_default();
            if is_new(reported, 0, kind) {
                tracing::warn!("limit: {limit}");
            }
        }
        for finding in self.findings() {
            if is_new(reported, 0, &finding) {
                tracing::warn!("catalog: {finding}");
            }
        }
        match &self.pulled {
            Some(Ok(pulled)) if pulled.ended || pulled.records.changed_anything() => {
                tracing::info!(
                    full = pulled.full,
                    pages = pulled.pages,
                    "catalog: {}",
                    line(&pulled.records)
                );
            }
            Some(Err(error)) => tracing::warn!("catalog: {error}"),
            _ => {}
        }
        match &self.exchange {
            Some(Ok(reconciled)) => {
                for (command, given) in &reconciled.commands {
                    tracing::info!("exchange: {command}: {}", given.done);
                }
                reconciled
                    .notes
                    .iter()
                    .for_each(|note| log_note(note, reported));
            }
            // It lasts until somebody opens it.
            Some(Err(error @ ReconcileError::OutwardClosed))
                if !is_new(reported, 0, &error.to_string()) => {}
            Some(Err(error)) => tracing::warn!("exchange: {error}"),
            None => {}
        }
    }
}

fn log_note(note: &Note, reported: &mut HashSet<(u64, String)>) {
    let (kind, text) = (note.finding.kind(), note.text());
    if kind.is_pressing() && is_new(reported, note.market, &text) {
        tracing::warn!(
            market = note.market,
            slug = note.slug,
            "{}: {text}",
            kind.word()
        );
    }
}

fn is_new(reported: &mut HashSet<(u64, String)>, market: u64, text: &str) -> bool {
    if reported.len() >= MAX_REMEMBERED {
        reported.clear();
    }
    reported.insert((market, text.to_owned()))
}

fn line(report: &Report) -> String {
    let one = |name: &str, tally: foretell_catalog::Tally| {
        format!("{name} +{} ~{}", tally.added, tally.changed)
    };
    let skipped = report.skipped;
    [
        one("events", report.events),
        one("markets", report.markets),
        one("series", report.series),
        one("tags", report.tags),
        format!("skipped {skipped}"),
    ]
    .join(", ")
}
