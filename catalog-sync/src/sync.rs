//! Upstream to catalog: a full pass through all lists, then only changes.

mod changes;
mod finding;
mod lists;
mod missing;
mod report;
mod resume_point;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::record::{ParsedRecord, Record, Skip, read};
use foretell_catalog::{Catalog, CatalogError, Writer};
use jiff::Timestamp;
use thiserror::Error;

use crate::clock::Clock;
use crate::disk::free_bytes;
use crate::limits::{LimitReached, Limits};
use crate::progress::Progress;
use crate::resource::Resource;
use crate::upstream::{Attempts, Upstream, UpstreamError, UpstreamPage};
use resume_point::ResumePoint;

pub use finding::{ListFinding, ListProblem};
pub use report::PullReport;

/// Most skips and warnings remembered in a round.
const MAX_REMEMBERED: usize = 10_000;

/// Why a round ended early. Committed pages stay; the next round continues after them.
#[derive(Debug, Error)]
pub enum SyncError {
    /// No list of the upstream can be read.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The catalog cannot be written.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// Synchronizes one catalog with one upstream.
pub struct Sync {
    upstream: Upstream,
    writer: Writer,
    catalog: Arc<Catalog>,
    clock: Arc<dyn Clock>,
    progress: Progress,
    full_every: Duration,
    limits: Limits,
    /// Skips and warnings already reported in this round, because overlapping pages repeat rows.
    reported: HashSet<String>,
    /// The first failure of this round.
    failure: Option<UpstreamError>,
    /// Whether the last request of this round failed, as others likely will.
    is_down: bool,
    /// Ids of the markets that this process has read since the start of the last full pass.
    read_markets: HashSet<u64>,
    /// Whether a full pass has ended, and no markets were looked for since.
    is_search_due: bool,
}

/// What a page is, which decides what its records replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageKind {
    /// Records that the upstream has now, whatever their dates.
    Current,
    /// Records by their dates.
    Changes,
}

impl Sync {
    /// Full passes run first and then every `full_every`. `catalog` reads what `writer` writes.
    #[must_use]
    pub fn new(
        upstream: Upstream,
        (writer, catalog): (Writer, Arc<Catalog>),
        clock: Arc<dyn Clock>,
        progress: Progress,
        full_every: Duration,
        limits: Limits,
    ) -> Self {
        Self {
            upstream,
            writer,
            catalog,
            clock,
            progress,
            full_every,
            limits,
            reported: HashSet::new(),
            failure: None,
            is_down: false,
            read_markets: HashSet::new(),
            is_search_due: false,
        }
    }

    /// Runs the due pass: all lists, or changes since the last pass. A list that cannot be read is a
    /// finding and stops no other. A limit of the round ends it early without an error; the next
    /// round continues.
    ///
    /// # Errors
    /// See [`SyncError`].
    pub async fn pull(&mut self) -> Result<PullReport, SyncError> {
        self.reported.clear();
        self.failure = None;
        self.is_down = false;
        let mut pulled = PullReport::default();
        if self.is_at_limit(&mut pulled)? {
            return Ok(pulled);
        }
        let mut point = ResumePoint::load(&self.writer, self.upstream.name())?;
        self.passes(&mut point, &mut pulled).await?;
        if let Some(failure) = self.failure.take().filter(|_| pulled.pages == 0) {
            return Err(failure.into());
        }
        self.put(
            Resource::Tags,
            UpstreamPage::default(),
            PageKind::Current,
            Some(&point),
            &mut pulled,
        )?;
        pulled.findings = point.findings().to_vec();
        pulled.full = pulled.ended && pulled.findings.is_empty();
        Ok(pulled)
    }

    async fn passes(
        &mut self,
        point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<(), SyncError> {
        let now = self.clock.now();
        if point.full.is_none() {
            if point.is_due(now, self.full_every) {
                self.begin(point, now);
            } else {
                point.begin_again(now);
            }
        }
        if !self.full(point, pulled).await? {
            return Ok(());
        }
        // Also after a full pass, to catch changes during it.
        let is_complete = self.updated(point, pulled).await?;
        if !is_complete && !pulled.ended {
            self.begin(point, now);
            self.full(point, pulled).await?;
        }
        Ok(())
    }

    fn begin(&mut self, point: &mut ResumePoint, now: Timestamp) {
        self.read_markets.clear();
        point.begin(now);
    }

    /// Whether this round may request no more pages.
    fn is_at_limit(&self, pulled: &mut PullReport) -> Result<bool, CatalogError> {
        let limits = &self.limits;
        let mut reached = limits.of_round(pulled.pages, pulled.bytes);
        if self.writer.bytes()? >= limits.catalog_bytes {
            reached = Some(LimitReached::CatalogBytes);
        }
        if self
            .writer
            .path()
            .is_some_and(|path| free_bytes(path) < limits.disk_reserve_bytes)
        {
            reached = Some(LimitReached::DiskReserve);
        }
        Ok(pulled.reach(reached))
    }

    /// Requests a page. After a transient failure one attempt is enough until a page comes: the
    /// upstream is likely down.
    async fn page(
        &mut self,
        request: &str,
        attempts: Attempts,
        pulled: &mut PullReport,
    ) -> Result<UpstreamPage, UpstreamError> {
        let attempts = if self.is_down {
            Attempts::One
        } else {
            attempts
        };
        let failed = |error: &UpstreamError, pause: Duration| {
            pulled.retries += 1;
            self.progress.warn(&format!(
                "{error}; retrying in {:.1} s",
                pause.as_secs_f64()
            ));
        };
        let page = self.upstream.page(request, attempts, failed).await;
        self.is_down = page.as_ref().is_err_and(UpstreamError::is_transient);
        match &page {
            Ok(page) => {
                pulled.pages += 1;
                pulled.bytes += page.bytes;
                self.progress.advance(page.rows.len());
            }
            Err(error) => drop(self.failure.get_or_insert_with(|| error.clone())),
        }
        page
    }

    /// Stores the rows of a page and the resume point after it in one transaction.
    fn put(
        &mut self,
        resource: Resource,
        page: UpstreamPage,
        kind: PageKind,
        point: Option<&ResumePoint>,
        pulled: &mut PullReport,
    ) -> Result<(), CatalogError> {
        let mut batch = self.writer.begin()?;
        for row in page.rows {
            let json = row.content;
            match json.and_then(|json| read(Some(resource.kind()), &json)) {
                Ok(mut read) => {
                    self.read_markets.extend(markets_in(&read));
                    read.skipped.retain(|skip| is_new(&mut self.reported, skip));
                    read.warnings
                        .retain(|warning| is_new(&mut self.reported, warning));
                    match kind {
                        PageKind::Current => batch.put_current(&read)?,
                        PageKind::Changes => batch.put(&read)?,
                    }
                }
                Err(skip) => {
                    let skip = named(skip, resource, row.id);
                    if is_new(&mut self.reported, &skip) {
                        batch.skip(skip);
                    }
                }
            }
        }
        if let Some(point) = point {
            let key = ResumePoint::key(self.upstream.name());
            batch.set_state(&key, Some(&point.text()))?;
        }
        pulled.records.merge(batch.commit()?);
        Ok(())
    }
}

/// Ids of the markets in a record.
fn markets_in(read: &ParsedRecord) -> Vec<u64> {
    match &read.record {
        Record::Market(market) => vec![market.id],
        Record::Event(event) => event.markets.iter().map(|market| market.id).collect(),
        Record::Series(_) | Record::Tag(_) => Vec::new(),
    }
}

/// Whether it is unreported. Above [`MAX_REMEMBERED`] entries some are reported again.
fn is_new(reported: &mut HashSet<String>, what: &impl fmt::Debug) -> bool {
    if reported.len() >= MAX_REMEMBERED {
        reported.clear();
    }
    reported.insert(format!("{what:?}"))
}

/// Completes a skip with the kind and id from the page.
fn named(skip: Skip, resource: Resource, id: String) -> Skip {
    Skip {
        kind: skip.kind.or(Some(resource.kind())),
        id: if skip.id.is_empty() { id } else { skip.id },
        reason: skip.reason,
    }
}
