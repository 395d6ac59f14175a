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
use crate::disk::free_bytes;
use crate::limits::{LimitReached, Limits, PAGE_ROWS};
use crate::pass::{FullPass, Next, UpdatedPass};
use crate::progress::Progress;
use crate::resource::Resource;
use crate::upstream::{Failure, Order, Page, PageRequest, Upstream};
use point::{Amount, Full, Point};

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
    /// Whether a reading of all lists has ended.
    pub full: bool,
    /// Pages that arrived.
    pub pages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Pages that had to be asked for again.
    pub retries: u64,
    /// What became of the records.
    pub records: Report,
    /// Bounds that were reached.
    pub limits: Vec<LimitReached>,
}

impl Pulled {
    /// Notes a bound, if one was reached, once.
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

/// Keeps one catalog in step with one upstream.
pub struct Sync {
    upstream: Upstream,
    writer: Writer,
    clock: Arc<dyn Clock>,
    progress: Progress,
    full_every: Duration,
    limits: Limits,
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
        limits: Limits,
    ) -> Self {
        Self {
            upstream,
            writer,
            clock,
            progress,
            full_every,
            limits,
            told: HashSet::new(),
        }
    }

    /// Reads what is due: all lists, or what changed since the last time. Ends early, and well, at a
    /// bound of the round; the next one goes on from there.
    ///
    /// # Errors
    /// See [`SyncFailure`].
    pub async fn pull(&mut self) -> Result<Pulled, SyncFailure> {
        self.told.clear();
        let mut pulled = Pulled::default();
        if self.must_end(&mut pulled)? {
            return Ok(pulled);
        }
        let mut point = Point::load(&self.writer, self.upstream.name())?;
        let now = self.clock.now();
        if point.full.is_none() && point.is_due(now, self.full_every) {
            point.full = Some(Full::begin(now));
        }
        if point.full.is_some() {
            self.full(&mut point, &mut pulled).await?;
        }
        if point.full.is_some() {
            return Ok(pulled);
        }
        // After a full pass, too: a second look at what changed while it ran.
        let is_complete = self.updated(&mut point, &mut pulled).await?;
        if !is_complete && !pulled.full {
            point.full = Some(Full::begin(now));
            self.full(&mut point, &mut pulled).await?;
        }
        Ok(pulled)
    }

    async fn full(&mut self, point: &mut Point, pulled: &mut Pulled) -> Result<(), SyncFailure> {
        while let Some(full) = point.full.clone() {
            self.progress.begin(full.resource.name());
            if !self.list(full, point, pulled).await? {
                return Ok(());
            }
        }
        pulled.full = true;
        Ok(())
    }

    /// Reads a list, or the rest of it, up to its bound; `false` when the round's bound came first.
    async fn list(
        &mut self,
        mut full: Full,
        point: &mut Point,
        pulled: &mut Pulled,
    ) -> Result<bool, SyncFailure> {
        let mut pass = FullPass::from(full.offset);
        loop {
            if self.must_end(pulled)? {
                self.put(full.resource, Page::default(), Some(point), pulled)?;
                return Ok(false);
            }
            let page = self
                .page(full.resource, Order::Oldest, pass.offset(), pulled)
                .await?;
            point.saw(full.resource, newest(&page));
            let is_over = pass.take(&page) == Next::Done;
            full = full.at(pass.offset(), full.read.and(&page));
            let is_over = is_over || self.is_long(full.resource, full.read, pulled);
            point.full = if is_over {
                full.after()
            } else {
                Some(full.clone())
            };
            if point.full.is_none() {
                point.finish(full.started);
            }
            self.put(full.resource, page, Some(point), pulled)?;
            if is_over {
                return Ok(true);
            }
        }
    }

    /// Whether this round asks for no more pages.
    fn must_end(&self, pulled: &mut Pulled) -> Result<bool, CatalogError> {
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

    /// Whether the rest of a list is left.
    fn is_long(&self, list: Resource, read: Amount, pulled: &mut Pulled) -> bool {
        pulled.reach(self.limits.of_list(list, read.rows, read.bytes))
    }

    /// Whether all changes were read: the upstream kept the order that was asked for, and there were
    /// not too many. Otherwise all lists are to be read: that goes on in later rounds where it was.
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
            let mut read = Amount::default();
            loop {
                if self.must_end(pulled)? {
                    return Ok(false);
                }
                let page = self
                    .page(resource, Order::LastUpdated, pass.offset(), pulled)
                    .await?;
                let next = pass.take(&page);
                read = read.and(&page);
                self.put(resource, page, None, pulled)?;
                match next {
                    Next::Done => break,
                    Next::Unordered => return Ok(false),
                    Next::More | Next::Again if self.is_long(resource, read, pulled) => {
                        return Ok(false);
                    }
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
        pulled.bytes += page.bytes;
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
