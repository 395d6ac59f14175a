//! One round, from the upstream through the catalog into the exchange; and rounds without end.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::{Catalog, CatalogError, Report, Sites, Writer};
use jiff::Timestamp;
use serde_json::{Value, json};
use thiserror::Error;

use crate::clock::Clock;
use crate::difference::{Allowance, Note, Policy};
use crate::disk::free_bytes;
use crate::exchange::Exchange;
use crate::limits::{CLOSING_WINDOW, LimitReached, Limits, texts};
use crate::progress::Progress;
use crate::reconcile::{Mode, ReconcileFailure, Reconciled, reconcile};
use crate::sync::{Pulled, Sync, SyncFailure};
use crate::turn::Turn;
use crate::upstream::{Bounds, Upstream};

/// Findings that are remembered as told; a log that repeats one is better than one without end.
const REMEMBERED: usize = 100_000;

/// What a service works with.
pub struct Settings {
    /// The catalog's file; made when it is not there.
    pub catalog: PathBuf,
    /// Base URL of the upstream; without one only the exchange is kept in step.
    pub upstream: Option<String>,
    /// How the upstream is treated.
    pub bounds: Bounds,
    /// What a round may take from it.
    pub limits: Limits,
    /// The exchange; without one only the catalog is kept.
    pub exchange: Option<Arc<Exchange>>,
    /// What is done without an operator.
    pub policy: Policy,
    /// Between the end of a round and the next.
    pub every: Duration,
    /// Between two full passes over the upstream.
    pub full_every: Duration,
    /// Time and chance.
    pub clock: Arc<dyn Clock>,
    /// What a person sees.
    pub progress: Progress,
}

/// Why a service does not start.
#[derive(Debug, Error)]
pub enum StartFailure {
    /// The upstream's address.
    #[error("{0}")]
    Upstream(String),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// What a round did. Its halves fail apart: an exchange that is away does not keep the catalog from
/// being read, nor the other way round.
#[derive(Debug, Default)]
pub struct Round {
    /// From the upstream into the catalog.
    pub pulled: Option<Result<Pulled, SyncFailure>>,
    /// From the catalog into the exchange.
    pub exchange: Option<Result<Reconciled, ReconcileFailure>>,
}

/// Keeps a catalog and an exchange in step.
pub struct Service {
    sync: Option<Sync>,
    catalog: Catalog,
    path: PathBuf,
    exchange: Option<Arc<Exchange>>,
    policy: Policy,
    limits: Limits,
    every: Duration,
    clock: Arc<dyn Clock>,
    progress: Progress,
    /// Changes of the catalog up to this one are in the exchange.
    reached: u64,
    closings: Closings,
}

/// Closings before the end date, as far as this process knows.
#[derive(Clone, Copy, Default)]
struct Closings {
    /// When the day began that they are counted in.
    began: Option<Timestamp>,
    /// How many there were.
    count: u64,
    /// Live markets, of which they are a part.
    live: u64,
}

impl Service {
    /// Opens the catalog.
    ///
    /// # Errors
    /// See [`StartFailure`].
    pub fn new(settings: Settings) -> Result<Self, StartFailure> {
        let writer = Writer::open(&settings.catalog)?;
        let catalog = Catalog::open(&settings.catalog, Sites::default())?;
        let sync = match &settings.upstream {
            None => None,
            Some(base) => {
                let clock = Arc::clone(&settings.clock);
                let upstream = Upstream::new(base, settings.bounds, Arc::clone(&clock))
                    .map_err(StartFailure::Upstream)?;
                let progress = settings.progress.clone();
                Some(Sync::new(
                    upstream,
                    writer,
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
            reached: 0,
            closings: Closings::default(),
        })
    }

    /// One round.
    pub async fn round(&mut self) -> Round {
        let mut round = Round::default();
        if let Some(sync) = &mut self.sync {
            let pulled = sync.pull().await;
            if pulled.as_ref().is_ok_and(|pulled| pulled.full) {
                // Everything is compared again, what an operator changed meanwhile included.
                self.reached = 0;
            }
            round.pulled = Some(pulled);
        }
        round.exchange = self.apply().await;
        self.progress.end();
        round
    }

    async fn apply(&mut self) -> Option<Result<Reconciled, ReconcileFailure>> {
        let exchange = Arc::clone(self.exchange.as_ref()?);
        if self.sync.is_some() && free_bytes(&self.path) < self.limits.disk_reserve_bytes {
            return Some(Ok(Reconciled {
                change: self.reached,
                limits: vec![LimitReached::DiskReserve],
                ..Reconciled::default()
            }));
        }
        let _turn = match Turn::take(&self.path, &*self.clock).await {
            Ok(turn) => turn,
            Err(error) => return Some(Err(ReconcileFailure::Turn(error))),
        };
        let now = self.clock.now();
        if self
            .closings
            .began
            .is_none_or(|began| has_passed(began, now))
        {
            self.closings.began = Some(now);
            self.closings.count = 0;
            // What was held back is not among what changed since.
            self.reached = 0;
        }
        let mut allowance = self.allowance(now);
        let compared = self.compare(&exchange, self.reached, &mut allowance, Mode::Apply);
        let compared = compared.await;
        // What was closed before an error broke the round off counts, too.
        self.closings.count = allowance.early_closed;
        if let Ok(reconciled) = &compared {
            self.reached = reconciled.change;
            self.closings.live = allowance.live;
        }
        Some(compared)
    }

    fn allowance(&self, now: Timestamp) -> Allowance {
        Allowance {
            policy: self.policy,
            now,
            new_markets: self.limits.new_markets,
            live: self.closings.live,
            early_closed: self.closings.count,
        }
    }

    /// Compares everything and changes nothing.
    ///
    /// # Errors
    /// See [`ReconcileFailure`]; `None` without an exchange.
    pub async fn look(&self) -> Option<Result<Reconciled, ReconcileFailure>> {
        let mut allowance = self.allowance(self.clock.now());
        let exchange = self.exchange.as_ref()?;
        let found = self.compare(exchange, 0, &mut allowance, Mode::Look).await;
        self.progress.end();
        Some(found)
    }

    async fn compare(
        &self,
        exchange: &Arc<Exchange>,
        after: u64,
        allowance: &mut Allowance,
        mode: Mode,
    ) -> Result<Reconciled, ReconcileFailure> {
        let (catalog, progress) = (&self.catalog, &self.progress);
        reconcile(catalog, exchange, after, allowance, mode, progress).await
    }

    /// Rounds for ever; drop it to stop: every step of it may be interrupted anywhere.
    pub async fn keep(mut self) {
        let mut told = HashSet::new();
        loop {
            let round = self.round().await;
            round.log(&mut told);
            self.clock.pause(self.every).await;
        }
    }
}

/// Whether the day that began then is over. A clock that went back does not end it.
fn has_passed(began: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(began)).is_ok_and(|age| age >= CLOSING_WINDOW)
}

impl Round {
    /// Bounds that were reached.
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

    /// Whether both halves went well.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !matches!(self.pulled, Some(Err(_))) && !matches!(self.exchange, Some(Err(_)))
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut json = json!({ "ok": self.is_ok() });
        match &self.pulled {
            None => {}
            Some(Ok(pulled)) => json["catalog"] = pulled.json(),
            Some(Err(failure)) => json["catalog"] = json!({ "error": failure.to_string() }),
        }
        match &self.exchange {
            None => {}
            Some(Ok(reconciled)) => json["exchange"] = reconciled.json(),
            Some(Err(failure)) => json["exchange"] = json!({ "error": failure.to_string() }),
        }
        json
    }

    /// What changed goes to the log; a finding or a bound only the first time.
    fn log(&self, told: &mut HashSet<(u64, String)>) {
        for limit in self.limits() {
            // The number of those that wait changes from round to round.
            let limit = limit.to_string();
            let kind = limit.split(':').next().unwrap_or_default();
            if is_new(told, 0, kind) {
                tracing::warn!("limit: {limit}");
            }
        }
        match &self.pulled {
            Some(Ok(pulled)) if pulled.full || pulled.records.changed_anything() => {
                tracing::info!(
                    full = pulled.full,
                    pages = pulled.pages,
                    "catalog: {}",
                    line(&pulled.records)
                );
            }
            Some(Err(failure)) => tracing::warn!("catalog: {failure}"),
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
                    .for_each(|note| log_note(note, told));
            }
            Some(Err(failure)) => tracing::warn!("exchange: {failure}"),
            None => {}
        }
    }
}

fn log_note(note: &Note, told: &mut HashSet<(u64, String)>) {
    let (kind, text) = (note.finding.kind(), note.text());
    if kind.is_pressing() && is_new(told, note.market, &text) {
        tracing::warn!(
            market = note.market,
            slug = note.slug,
            "{}: {text}",
            kind.word()
        );
    }
}

fn is_new(told: &mut HashSet<(u64, String)>, market: u64, text: &str) -> bool {
    if told.len() >= REMEMBERED {
        told.clear();
    }
    told.insert((market, text.to_owned()))
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

impl Pulled {
    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "full": self.full,
            "pages": self.pages,
            "bytes": self.bytes,
            "retries": self.retries,
            "records": self.records,
            "limits": texts(&self.limits),
        })
    }
}
