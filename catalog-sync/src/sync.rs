//! From an upstream into the catalog: a full pass over all lists, then what changed.

mod point;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::record::{Skip, read};
use foretell_catalog::{CatalogError, Report, Writer};
use jiff::Timestamp;
use thiserror::Error;

use crate::clock::Clock;
use crate::limits::PAGE_ROWS;
use crate::pass::{FullPass, Next, UpdatedPass};
use crate::progress::Progress;
use crate::resource::Resource;
use crate::upstream::{Failure, Order, Page, PageRequest, Upstream};
use point::{Full, Point};

/// Reports of one round that are remembered.
const REMEMBERED: usize = 10_000;

/// Why a pass ended early. What was committed stays; the next one goes on from there.
#[derive(Debug, Error)]
pub enum SyncFailure {
    /// The upstream gave up on us, or we on it.
    #[error(transparent)]
    Upstream(#[from] Failure),
    /// The catalog cannot be written.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// What a pass did.
#[derive(Clone, Debug, Default)]
pub struct Pulled {
    /// Whether all lists were read whole.
    pub full: bool,
    /// Pages that arrived.
    pub pages: u64,
    /// Pages that had to be asked for again.
    pub retries: u64,
    /// What became of the records.
    pub records: Report,
}

/// Keeps one catalog in step with one upstream.
pub struct Sync {
    upstream: Upstream,
    writer: Writer,
    clock: Arc<dyn Clock>,
    progress: Progress,
    full_every: Duration,
    /// What the present round has reported as left out: pages overlap, and reports should not.
    told: HashSet<String>,
}

impl Sync {
    /// Lists are read whole when they never were, and again after `full_every`.
    #[must_use]
    pub fn new(
        upstream: Upstream,
        writer: Writer,
        clock: Arc<dyn Clock>,
        progress: Progress,
        full_every: Duration,
    ) -> Self {
        Self {
            upstream,
            writer,
            clock,
            progress,
            full_every,
            told: HashSet::new(),
        }
    }

    /// Reads what is due: all lists, or what changed since the last time.
    ///
    /// # Errors
    /// See [`SyncFailure`].
    pub async fn pull(&mut self) -> Result<Pulled, SyncFailure> {
        self.told.clear();
        let mut pulled = Pulled::default();
        let mut point = Point::load(&self.writer, self.upstream.name())?;
        let now = self.clock.now();
        if point.full.is_none() && point.is_due(now, self.full_every) {
            point.full = Some(Full::begin(now));
        }
        if point.full.is_some() {
            self.full(&mut point, &mut pulled).await?;
        }
        // After a full pass, too: a second look at what changed while it ran.
        let ordered = self.updated(&mut point, &mut pulled).await?;
        if !ordered && !pulled.full {
            point.full = Some(Full::begin(now));
            self.full(&mut point, &mut pulled).await?;
        }
        Ok(pulled)
    }

    async fn full(&mut self, point: &mut Point, pulled: &mut Pulled) -> Result<(), SyncFailure> {
        pulled.full = true;
        while let Some(full) = point.full.clone() {
            self.progress.begin(full.resource.name());
            let mut pass = FullPass::from(full.offset);
            loop {
                let page = self
                    .page(full.resource, Order::Oldest, pass.offset(), pulled)
                    .await?;
                point.saw(full.resource, newest(&page));
                let next = pass.take(&page);
                point.full = match next {
                    Next::Done => full.after(),
                    _ => Some(full.at(pass.offset())),
                };
                if point.full.is_none() {
                    point.finish(full.started);
                }
                self.put(full.resource, page, Some(point), pulled)?;
                if next == Next::Done {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the upstream kept the order that was asked for.
    async fn updated(
        &mut self,
        point: &mut Point,
        pulled: &mut Pulled,
    ) -> Result<bool, SyncFailure> {
        for resource in [Resource::Events, Resource::Markets] {
            let Some(seen) = point.seen(resource) else {
                continue;
            };
            self.progress.begin(format!("changed {}", resource.name()));
            let began = self.clock.now();
            let mut pass = UpdatedPass::since(seen);
            loop {
                let page = self
                    .page(resource, Order::LastUpdated, pass.offset(), pulled)
                    .await?;
                let next = pass.take(&page);
                self.put(resource, page, None, pulled)?;
                match next {
                    Next::Done => break,
                    Next::Unordered => return Ok(false),
                    Next::More | Next::Again => {}
                }
            }
            // A record from the future would hide all later changes.
            point.advance(resource, pass.newest().map(|newest| newest.min(began)));
            self.put(resource, Page::default(), Some(point), pulled)?;
        }
        Ok(true)
    }

    async fn page(
        &self,
        resource: Resource,
        order: Order,
        offset: u64,
        pulled: &mut Pulled,
    ) -> Result<Page, Failure> {
        let request = PageRequest {
            resource,
            order,
            limit: PAGE_ROWS,
            offset,
        };
        let failed = |failure: &Failure, pause: Duration| {
            pulled.retries += 1;
            self.progress
                .say(&format!("{failure}; again in {:.1} s", pause.as_secs_f64()));
        };
        let page = self.upstream.page(request, failed).await?;
        pulled.pages += 1;
        self.progress.advance(page.rows.len());
        Ok(page)
    }

    /// Puts the rows of a page, and the place the pass has reached with them, in one transaction.
    fn put(
        &mut self,
        resource: Resource,
        page: Page,
        point: Option<&Point>,
        pulled: &mut Pulled,
    ) -> Result<(), CatalogError> {
        let mut batch = self.writer.begin()?;
        for row in page.rows {
            let json = row.content;
            match json.and_then(|json| read(Some(resource.kind()), &json)) {
                Ok(mut read) => {
                    read.skipped.retain(|skip| is_new(&mut self.told, skip));
                    read.warnings
                        .retain(|warning| is_new(&mut self.told, warning));
                    batch.put(&read)?;
                }
                Err(skip) => {
                    let skip = named(skip, resource, row.id);
                    if is_new(&mut self.told, &skip) {
                        batch.skip(skip);
                    }
                }
            }
        }
        if let Some(point) = point {
            batch.set_state(&Point::key(self.upstream.name()), Some(&point.text()))?;
        }
        pulled.records.merge(batch.commit()?);
        Ok(())
    }
}

/// Whether it has not been reported yet; of more than so many some are reported again.
fn is_new(told: &mut HashSet<String>, what: &impl fmt::Debug) -> bool {
    if told.len() >= REMEMBERED {
        told.clear();
    }
    told.insert(format!("{what:?}"))
}

/// A skip with what the page said about its row.
fn named(skip: Skip, resource: Resource, id: String) -> Skip {
    Skip {
        kind: skip.kind.or(Some(resource.kind())),
        id: if skip.id.is_empty() { id } else { skip.id },
        reason: skip.reason,
    }
}

fn newest(page: &Page) -> Option<Timestamp> {
    page.rows.iter().filter_map(|row| row.updated).max()
}
