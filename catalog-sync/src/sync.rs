//! Upstream to catalog: a full pass through all lists, then only changes.

mod resume_point;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::record::{Skip, read};
use foretell_catalog::{CatalogError, Report, Writer};
use jiff::Timestamp;
use thiserror::Error;

use crate::clock::Clock;
use crate::disk::free_bytes;
use crate::limits::{LimitReached, Limits, PAGE_ROWS};
use crate::pass::{FullPass, PassStep, UpdatedPass};
use crate::progress::Progress;
use crate::resource::Resource;
use crate::upstream::{ListOrder, PageRequest, Upstream, UpstreamError, UpstreamPage};
use resume_point::{AmountRead, FullProgress, ResumePoint};

/// Most skips and warnings remembered in a round.
const MAX_REMEMBERED: usize = 10_000;

/// Why a pass ended early. Committed pages stay; the next pass continues after them.
#[derive(Debug, Error)]
pub enum SyncError {
    /// The upstream failed.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The catalog cannot be written.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// Result of a pass.
#[derive(Clone, Debug, Default)]
pub struct PullReport {
    /// Whether a pass through all lists has ended.
    pub full: bool,
    /// Pages received.
    pub pages: u64,
    /// Bytes of these pages.
    pub bytes: u64,
    /// Retried requests.
    pub retries: u64,
    /// Result of storing the records.
    pub records: Report,
    /// Reached limits.
    pub limits: Vec<LimitReached>,
}

impl PullReport {
    /// Adds a reached limit, without duplicates; returns whether there was one.
    fn reach(&mut self, reached: Option<LimitReached>) -> bool {
        let Some(limit) = reached else {
            return false;
        };
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
        true
    }
}

/// Synchronizes one catalog with one upstream.
pub struct Sync {
    upstream: Upstream,
    writer: Writer,
    clock: Arc<dyn Clock>,
    progress: Progress,
    full_every: Duration,
    limits: Limits,
    /// Skips and warnings already reported in this round, because overlapping pages repeat rows.
    reported: HashSet<String>,
}

impl Sync {
    /// Full passes run first and then every `full_every`.
    #[must_use]
    pub fn new(
        upstream: Upstream,
        writer: Writer,
        clock: Arc<dyn Clock>,
        progress: Progress,
        full_every: Duration,
        limits: Limits,
    ) -> Self {
        Self {
            upstream,
            writer,
            clock,
            progress,
            full_every,
            limits,
            reported: HashSet::new(),
        }
    }

    /// Runs the due pass: all lists, or changes since the last pass. A limit of the round ends it
    /// early without an error; the next round continues.
    ///
    /// # Errors
    /// See [`SyncError`].
    pub async fn pull(&mut self) -> Result<PullReport, SyncError> {
        self.reported.clear();
        let mut pulled = PullReport::default();
        if self.is_at_limit(&mut pulled)? {
            return Ok(pulled);
        }
        let mut resume_point = ResumePoint::load(&self.writer, self.upstream.name())?;
        let now = self.clock.now();
        if resume_point.full.is_none() && resume_point.is_due(now, self.full_every) {
            resume_point.full = Some(FullProgress::begin(now));
        }
        if resume_point.full.is_some() {
            self.full(&mut resume_point, &mut pulled).await?;
        }
        if resume_point.full.is_some() {
            return Ok(pulled);
        }
        // Also after a full pass, to catch changes during it.
        let is_complete = self.updated(&mut resume_point, &mut pulled).await?;
        if !is_complete && !pulled.full {
            resume_point.full = Some(FullProgress::begin(now));
            self.full(&mut resume_point, &mut pulled).await?;
        }
        Ok(pulled)
    }

    async fn full(
        &mut self,
        resume_point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<(), SyncError> {
        while let Some(full) = resume_point.full.clone() {
            self.progress.begin(full.resource.name());
            if !self.list(full, resume_point, pulled).await? {
                return Ok(());
            }
        }
        pulled.full = true;
        Ok(())
    }

    /// Reads a list, or the rest of it, up to its limit; `false` when the round's limit came first.
    async fn list(
        &mut self,
        mut full: FullProgress,
        resume_point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<bool, SyncError> {
        let mut pass = FullPass::from(full.offset);
        loop {
            if self.is_at_limit(pulled)? {
                self.put(
                    full.resource,
                    UpstreamPage::default(),
                    Some(resume_point),
                    pulled,
                )?;
                return Ok(false);
            }
            let page = self
                .page(full.resource, ListOrder::Oldest, pass.offset(), pulled)
                .await?;
            resume_point.saw(full.resource, newest(&page));
            let is_over = pass.take(&page) == PassStep::Done;
            full = full.at(pass.offset(), full.read.and(&page));
            let is_over = is_over || self.exceeds_limit(full.resource, full.read, pulled);
            resume_point.full = if is_over {
                full.after()
            } else {
                Some(full.clone())
            };
            if resume_point.full.is_none() {
                resume_point.finish(full.started);
            }
            self.put(full.resource, page, Some(resume_point), pulled)?;
            if is_over {
                return Ok(true);
            }
        }
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

    /// Whether a list exceeds its limit and the rest is dropped.
    fn exceeds_limit(&self, list: Resource, read: AmountRead, pulled: &mut PullReport) -> bool {
        pulled.reach(self.limits.of_list(list, read.rows, read.bytes))
    }

    /// Reads the changes; returns whether it read all of them. `false` if the upstream ignored the
    /// requested order or there were too many: a full pass follows, over several rounds if needed.
    async fn updated(
        &mut self,
        resume_point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<bool, SyncError> {
        for resource in [Resource::Events, Resource::Markets] {
            let Some(seen) = resume_point.seen(resource) else {
                continue;
            };
            self.progress.begin(format!("changed {}", resource.name()));
            let began = self.clock.now();
            let mut pass = UpdatedPass::since(seen);
            let mut read = AmountRead::default();
            loop {
                if self.is_at_limit(pulled)? {
                    return Ok(false);
                }
                let page = self
                    .page(resource, ListOrder::LastUpdated, pass.offset(), pulled)
                    .await?;
                let next = pass.take(&page);
                read = read.and(&page);
                self.put(resource, page, None, pulled)?;
                match next {
                    PassStep::Done => break,
                    PassStep::Unordered => return Ok(false),
                    PassStep::More | PassStep::Again
                        if self.exceeds_limit(resource, read, pulled) =>
                    {
                        return Ok(false);
                    }
                    PassStep::More | PassStep::Again => {}
                }
            }
            // Clamp: an `updatedAt` in the future would hide all later changes.
            resume_point.advance(resource, pass.newest().map(|newest| newest.min(began)));
            self.put(
                resource,
                UpstreamPage::default(),
                Some(resume_point),
                pulled,
            )?;
        }
        Ok(true)
    }

    async fn page(
        &self,
        resource: Resource,
        order: ListOrder,
        offset: u64,
        pulled: &mut PullReport,
    ) -> Result<UpstreamPage, UpstreamError> {
        let request = PageRequest {
            resource,
            order,
            limit: PAGE_ROWS,
            offset,
        };
        let failed = |error: &UpstreamError, pause: Duration| {
            pulled.retries += 1;
            self.progress.warn(&format!(
                "{error}; retrying in {:.1} s",
                pause.as_secs_f64()
            ));
        };
        let page = self.upstream.page(request, failed).await?;
        pulled.pages += 1;
        pulled.bytes += page.bytes;
        self.progress.advance(page.rows.len());
        Ok(page)
    }

    /// Stores the rows of a page and the resume point after it in one transaction.
    fn put(
        &mut self,
        resource: Resource,
        page: UpstreamPage,
        resume_point: Option<&ResumePoint>,
        pulled: &mut PullReport,
    ) -> Result<(), CatalogError> {
        let mut batch = self.writer.begin()?;
        for row in page.rows {
            let json = row.content;
            match json.and_then(|json| read(Some(resource.kind()), &json)) {
                Ok(mut read) => {
                    read.skipped.retain(|skip| is_new(&mut self.reported, skip));
                    read.warnings
                        .retain(|warning| is_new(&mut self.reported, warning));
                    batch.put(&read)?;
                }
                Err(skip) => {
                    let skip = named(skip, resource, row.id);
                    if is_new(&mut self.reported, &skip) {
                        batch.skip(skip);
                    }
                }
            }
        }
        if let Some(resume_point) = resume_point {
            batch.set_state(
                &ResumePoint::key(self.upstream.name()),
                Some(&resume_point.text()),
            )?;
        }
        pulled.records.merge(batch.commit()?);
        Ok(())
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

fn newest(page: &UpstreamPage) -> Option<Timestamp> {
    page.rows.iter().filter_map(|row| row.updated).max()
}
