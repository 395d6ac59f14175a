//! Keeps the history of a view in the files that all gateways share.
//!
//! What has to wait for a disk is done here, beside the thread that follows the journal: the files
//! a view began on are read and compared with their hashes, and whenever the publisher has written
//! a chunk this process made too, its file takes the place of the copy in memory. So the memory of
//! a gateway holds what lives and the history since the newest image, however long it runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use foretell_journal::snapshot::{Chunk, ChunkEntry, images, newest_image};
use foretell_model::Sequence;
use foretell_view::{ChunkBytes, ChunkCopy, ChunkRef, LogName, VIEW_VERSION};

use crate::replica::Replica;
use crate::start::{History, Sources};

/// Between two looks for a new image.
const LOOK: Duration = Duration::from_secs(5);
/// How much nicer its thread is than the others (of 19).
const NICENESS: i32 = 10;

/// The keeper of one view, from its beginning until it is given up.
pub(crate) struct Keeper<'a> {
    sources: &'a Sources,
    replica: &'a Replica,
    genesis: [u8; 32],
    /// The replica holds the view this one keeps.
    is_shown: AtomicBool,
    is_over: AtomicBool,
    /// A file the view uses that is not what was written.
    damaged: OnceLock<PathBuf>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(sources: &'a Sources, replica: &'a Replica, genesis: [u8; 32]) -> Self {
        Self {
            sources,
            replica,
            genesis,
            is_shown: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            damaged: OnceLock::new(),
        }
    }

    /// Works until the view is given up.
    pub(crate) fn work(&self, history: &History) {
        yield_to_others();
        if !history.is_checked && !self.check(history) {
            return;
        }
        let mut adoption = Adoption {
            image: history.newest,
            settled: history.files.iter().map(|file| file.chunk).collect(),
            wanted: Vec::new(),
        };
        while !self.is_over() {
            // Before, the replica holds the view of an earlier beginning.
            if self.is_shown.load(Ordering::Acquire) {
                adoption.look(self);
            }
            std::thread::park_timeout(LOOK);
        }
    }

    /// The replica holds the view from now on; `thread` is where [`Self::work`] runs.
    pub(crate) fn shown(&self, thread: &Thread) {
        self.is_shown.store(true, Ordering::Release);
        thread.unpark();
    }

    /// Ends the work when what it gives is dropped, in whatever way.
    pub(crate) fn until_dropped(&self, thread: Thread) -> EndOfView<'_> {
        EndOfView {
            is_over: &self.is_over,
            thread,
        }
    }

    /// A file the view uses that is not what was written: the view must be given up.
    pub(crate) fn damaged(&self) -> Option<&PathBuf> {
        self.damaged.get()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Reads the files; `false` when the work is over.
    fn check(&self, history: &History) -> bool {
        for file in &history.files {
            if self.is_over() {
                return false;
            }
            if let Err(reason) = file.check() {
                let chunk = file.chunk;
                tracing::error!(%chunk, %reason, "the history is damaged: the view starts over");
                // Nobody else sets it, and this ends the work.
                let _ = self.damaged.set(file.path.clone());
                return false;
            }
        }
        tracing::info!(chunks = history.files.len(), "the history is sound");
        true
    }
}

/// On Linux a priority is a thread's own.
fn yield_to_others() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "the history's thread keeps the priority of the others");
    }
}

/// The end of a view and of its keeper's work.
pub(crate) struct EndOfView<'a> {
    is_over: &'a AtomicBool,
    thread: Thread,
}

impl Drop for EndOfView<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// How far the files have taken the places of copies in memory.
struct Adoption {
    /// The newest image looked at.
    image: Sequence,
    /// Chunks whose file the view uses, or that will never be exchanged.
    settled: BTreeSet<ChunkRef>,
    /// Chunks of that image that are still to be exchanged.
    wanted: Vec<ChunkEntry>,
}

impl Adoption {
    fn look(&mut self, keeper: &Keeper<'_>) {
        let snapshots = &keeper.sources.snapshots;
        let newest = images(snapshots).ok().and_then(|all| all.first().copied());
        if let Some(newest) = newest.filter(|newest| *newest > self.image) {
            self.image = newest;
            self.wanted = newest_image(snapshots, &keeper.genesis, newest)
                .filter(|image| image.layout() == VIEW_VERSION)
                .map(|image| image.chunks().to_vec())
                .unwrap_or_default();
        }
        let wanted = std::mem::take(&mut self.wanted);
        self.wanted = wanted
            .into_iter()
            .filter(|entry| !keeper.is_over() && !self.exchange(keeper, entry))
            .collect();
    }

    /// Whether nothing is left to do about a chunk until another image lists it.
    fn exchange(&mut self, keeper: &Keeper<'_>, entry: &ChunkEntry) -> bool {
        let Some(log) = LogName::from_text(entry.log.as_str()) else {
            return true;
        };
        let (number, rows) = (entry.number, entry.rows);
        let chunk = ChunkRef { log, number, rows };
        if self.settled.contains(&chunk) {
            return true;
        }
        // Behind the publisher: it has no such chunk yet.
        let Some(own) = (keeper.replica.read().view).chunk_bytes(log, number) else {
            return false;
        };
        let file = match Chunk::open(&keeper.sources.snapshots, entry, &keeper.genesis) {
            Ok(file) => file,
            Err(reason) => {
                tracing::warn!(%chunk, %reason, "a chunk of the history stays in memory");
                return true;
            }
        };
        let copy: ChunkBytes = Arc::new(file.rows());
        match ChunkCopy::new(chunk, own, copy) {
            Ok(copy) => keeper.replica.adopt(copy),
            Err(other) => tracing::error!(%other, "a chunk of the history stays in memory"),
        }
        self.settled.insert(chunk);
        true
    }
}
