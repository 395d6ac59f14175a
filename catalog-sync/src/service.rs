//! One round, from the upstream through the catalog into the exchange; and rounds without end.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::{Catalog, CatalogError, Report, Sites, Writer};
use serde_json::{Value, json};
use thiserror::Error;

use crate::clock::Clock;
use crate::difference::{Kind, Note, Policy};
use crate::exchange::Exchange;
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
    every: Duration,
    clock: Arc<dyn Clock>,
    progress: Progress,
    /// Changes of the catalog up to this one are in the exchange.
    reached: u64,
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
                ))
            }
        };
        Ok(Self {
            sync,
            catalog,
            path: settings.catalog,
            exchange: settings.exchange,
            policy: settings.policy,
            every: settings.every,
            clock: settings.clock,
            progress: settings.progress,
            reached: 0,
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
        if let Some(Ok(reconciled)) = &round.exchange {
            self.reached = reconciled.change;
        }
        self.progress.end();
        round
    }

    async fn apply(&self) -> Option<Result<Reconciled, ReconcileFailure>> {
        let exchange = self.exchange.as_ref()?;
        Some(match Turn::take(&self.path, &*self.clock).await {
            Ok(_turn) => self.compare(exchange, self.reached, Mode::Apply).await,
            Err(error) => Err(ReconcileFailure::Turn(error)),
        })
    }

    /// Compares everything and changes nothing.
    ///
    /// # Errors
    /// See [`ReconcileFailure`]; `None` without an exchange.
    pub async fn look(&self) -> Option<Result<Reconciled, ReconcileFailure>> {
        let found = self.compare(self.exchange.as_ref()?, 0, Mode::Look).await;
        self.progress.end();
        Some(found)
    }

    async fn compare(
        &self,
        exchange: &Arc<Exchange>,
        after: u64,
        mode: Mode,
    ) -> Result<Reconciled, ReconcileFailure> {
        let (catalog, progress) = (&self.catalog, &self.progress);
        reconcile(catalog, exchange, after, self.policy, mode, progress).await
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

impl Round {
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

    /// What changed goes to the log; a finding only the first time.
    fn log(&self, told: &mut HashSet<(u64, String)>) {
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
    let kind = note.finding.kind();
    if !matches!(kind, Kind::Error | Kind::Resolution) {
        return;
    }
    if told.len() >= REMEMBERED {
        told.clear();
    }
    let text = note.finding.to_string();
    if told.insert((note.market, text.clone())) {
        tracing::warn!(
            market = note.market,
            slug = note.slug,
            "{}: {text}",
            kind.word()
        );
    }
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
        json!({ "full": self.full, "pages": self.pages, "retries": self.retries, "records": self.records })
    }
}
