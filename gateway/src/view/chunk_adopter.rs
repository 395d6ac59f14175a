//! Moves the history of a view from memory into the mapped files that all gateways share.
//!
//! Work that waits for a disk runs here, apart from the thread that follows the journal. It
//! verifies the hashes of the files a view started with. When the publisher has written a chunk
//! that this process also built, the mapped file replaces the copy in memory. So a gateway's memory
//! contains live state and the history since the newest snapshot, however long it runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use foretell_journal::snapshot::{Chunk, ChunkEntry, images, newest_image};
use foretell_model::Sequence;
use foretell_view::{ChunkBytes, ChunkCopy, ChunkRef, LogName, VIEW_VERSION};

use crate::view::shared_view::SharedView;
use crate::view::view_bootstrap::{HistoryFiles, ViewSources};

/// Interval of the checks for a new snapshot.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The niceness of its thread (of at most 19).
const NICENESS: i32 = 10;

/// The history work of one view, from its start until it is discarded.
pub(crate) struct ChunkAdopter<'a> {
    sources: &'a ViewSources,
    shared_view: &'a SharedView,
    genesis: [u8; 32],
    /// The shared view contains this view.
    is_published: AtomicBool,
    is_over: AtomicBool,
    /// A file in use by the view whose content fails verification.
    damaged: OnceLock<PathBuf>,
}

impl<'a> ChunkAdopter<'a> {
    pub(crate) fn new(
        sources: &'a ViewSources,
        shared_view: &'a SharedView,
        genesis: [u8; 32],
    ) -> Self {
        Self {
            sources,
            shared_view,
            genesis,
            is_published: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            damaged: OnceLock::new(),
        }
    }

    /// Works until the view is discarded.
    pub(crate) fn run(&self, history: &HistoryFiles) {
        lower_priority();
        if !history.is_checked && !self.verify(history) {
            return;
        }
        let mut progress = AdoptionProgress {
            newest: history.newest,
            settled: history.files.iter().map(|file| file.chunk).collect(),
            wanted: Vec::new(),
        };
        while !self.is_over() {
            // Until then the shared view contains the view of an earlier start.
            if self.is_published.load(Ordering::Acquire) {
                progress.check_snapshots(self);
            }
            std::thread::park_timeout(CHECK_INTERVAL);
        }
    }

    /// Records that the shared view now contains the view; `thread` runs [`Self::run`].
    pub(crate) fn view_published(&self, thread: &Thread) {
        self.is_published.store(true, Ordering::Release);
        thread.unpark();
    }

    /// Returns a guard whose drop ends the work.
    pub(crate) fn stop_guard(&self, thread: Thread) -> StopGuard<'_> {
        StopGuard {
            is_over: &self.is_over,
            thread,
        }
    }

    /// A file in use that failed verification: the view must be discarded.
    pub(crate) fn damaged(&self) -> Option<&PathBuf> {
        self.damaged.get()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Verifies the files; `false` when the work is over.
    fn verify(&self, history: &HistoryFiles) -> bool {
        for file in &history.files {
            if self.is_over() {
                return false;
            }
            if let Err(reason) = file.verify() {
                let chunk = file.chunk;
                tracing::error!(%chunk, %reason, "history file damaged: rebuilding view");
                // No other thread sets it, and this ends the work.
                let _ = self.damaged.set(file.path.clone());
                return false;
            }
        }
        tracing::info!(chunks = history.files.len(), "history verified");
        true
    }
}

/// On Linux, priority is per thread.
fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "cannot lower the priority of the history thread");
    }
}

/// A guard: its drop ends the adopter's work.
pub(crate) struct StopGuard<'a> {
    is_over: &'a AtomicBool,
    thread: Thread,
}

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Progress of replacing copies in memory by files.
struct AdoptionProgress {
    /// The newest snapshot examined.
    newest: Sequence,
    /// Chunks already mapped from a file, or never to be replaced.
    settled: BTreeSet<ChunkRef>,
    /// Chunks of that snapshot still to be replaced.
    wanted: Vec<ChunkEntry>,
}

impl AdoptionProgress {
    fn check_snapshots(&mut self, adopter: &ChunkAdopter<'_>) {
        let snapshots = &adopter.sources.snapshots;
        let newest = images(snapshots).ok().and_then(|all| all.first().copied());
        if let Some(newest) = newest.filter(|newest| *newest > self.newest) {
            self.newest = newest;
            self.wanted = newest_image(snapshots, &adopter.genesis, newest)
                .filter(|image| image.layout() == VIEW_VERSION)
                .map(|image| image.chunks().to_vec())
                .unwrap_or_default();
        }
        let wanted = std::mem::take(&mut self.wanted);
        self.wanted = wanted
            .into_iter()
            .filter(|entry| !adopter.is_over() && !self.adopt(adopter, entry))
            .collect();
    }

    /// Replaces one chunk; true when nothing remains to do until another snapshot lists it.
    fn adopt(&mut self, adopter: &ChunkAdopter<'_>, entry: &ChunkEntry) -> bool {
        let Some(log) = LogName::from_text(entry.log.as_str()) else {
            return true;
        };
        let (number, rows) = (entry.number, entry.rows);
        let chunk = ChunkRef { log, number, rows };
        if self.settled.contains(&chunk) {
            return true;
        }
        // The view lags the publisher and has no such chunk yet.
        let Some(own) = (adopter.shared_view.read().view).chunk_bytes(log, number) else {
            return false;
        };
        let file = match Chunk::open(&adopter.sources.snapshots, entry, &adopter.genesis) {
            Ok(file) => file,
            Err(reason) => {
                tracing::warn!(%chunk, %reason, "history chunk kept in memory");
                return true;
            }
        };
        let copy: ChunkBytes = Arc::new(file.rows());
        match ChunkCopy::new(chunk, own, copy) {
            Ok(copy) => adopter.shared_view.adopt_chunk(copy),
            Err(other) => tracing::error!(%other, "history chunk kept in memory"),
        }
        self.settled.insert(chunk);
        true
    }
}
