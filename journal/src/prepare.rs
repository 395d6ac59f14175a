//! The helper thread that has the next segment ready: created, filled with zeros, synced, so that
//! writing a batch changes no metadata and cannot run out of space.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_utils::atomic::AtomicCell;
use crossbeam_utils::sync::{Parker, Unparker};

use crate::bytes::to_usize;
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::state::JournalState;

/// How often the free space is looked at, and a full disk tried again.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A file of zeros that will be a segment.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) path: PathBuf,
}

impl Prepared {
    /// Creates the file at `path`.
    pub(crate) fn create(disk: &dyn Disk, path: PathBuf, bytes: u32) -> Result<Self, JournalError> {
        const CHUNK: usize = 1 << 20;
        let mut file = disk.create(&path).context("create", &path)?;
        let zeros = vec![0; CHUNK];
        let bytes = to_usize(bytes);
        for offset in (0..bytes).step_by(CHUNK) {
            let length = CHUNK.min(bytes - offset);
            write_all(&mut *file, &zeros[..length], offset as u64).context("fill", &path)?;
        }
        file.sync_data().context("sync", &path)?;
        Ok(Self { file, path })
    }
}

/// Whether an error only says that the disk is full.
fn is_full(error: &JournalError) -> bool {
    matches!(
        error,
        JournalError::Io { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    )
}

struct Shared {
    slot: AtomicCell<Option<Box<Prepared>>>,
    failure: AtomicCell<Option<Box<JournalError>>>,
    stop: AtomicBool,
}

/// The sync thread's handle on the helper; dropping it ends the helper.
pub(crate) struct Preparer {
    shared: Arc<Shared>,
    helper: Unparker,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Preparer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preparer").finish_non_exhaustive()
    }
}

/// What the helper works with.
pub(crate) struct Work {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) segment_bytes: u32,
    pub(crate) reserve: u64,
    pub(crate) state: JournalState,
    /// Whom to wake when a segment is ready.
    pub(crate) sync_thread: Unparker,
}

/// The name of a file in preparation; it is no segment until it is renamed.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("prepared.tmp")
}

impl Preparer {
    pub(crate) fn start(work: Work) -> Result<Self, JournalError> {
        let shared = Arc::new(Shared {
            slot: AtomicCell::new(None),
            failure: AtomicCell::new(None),
            stop: AtomicBool::new(false),
        });
        look_at_disk(&work);
        let parker = Parker::new();
        let helper = parker.unparker().clone();
        let dir = work.dir.clone();
        let inside = Arc::clone(&shared);
        let thread = Builder::new()
            .name("journal-prepare".to_owned())
            .spawn(move || prepare_ahead(&work, &inside, &parker))
            .context("start a thread for", &dir)?;
        Ok(Self {
            shared,
            helper,
            thread: Some(thread),
        })
    }

    /// The I/O error that ended the helper, if one did. It counts as the journal's at once, not
    /// when the next segment is wanted: nobody looks at the free space any more.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        self.shared
            .failure
            .take()
            .map_or(Ok(()), |failure| Err(*failure))
    }

    /// The prepared file, if it is ready. The helper begins the next one once this one has its
    /// name: see [`Preparer::proceed`].
    pub(crate) fn take(&self) -> Option<Box<Prepared>> {
        self.shared.slot.take()
    }

    /// Lets the helper prepare the next: the last one was renamed.
    pub(crate) fn proceed(&self) {
        self.helper.unpark();
    }
}

impl Drop for Preparer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.helper.unpark();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by its own message.
            let _ = thread.join();
        }
    }
}

fn prepare_ahead(work: &Work, shared: &Shared, parker: &Parker) {
    let path = path(&work.dir);
    let mut is_ready = false;
    while !shared.stop.load(Ordering::Acquire) {
        // Renamed by the sync thread: the name is free for the next.
        is_ready = is_ready && path.exists();
        if !is_ready {
            match Prepared::create(&*work.disk, path.clone(), work.segment_bytes) {
                Ok(prepared) => {
                    shared.slot.store(Some(Box::new(prepared)));
                    is_ready = true;
                }
                Err(full) if is_full(&full) => {
                    tracing::warn!(error = %full, "no room for the next segment");
                }
                Err(error) => {
                    shared.failure.store(Some(Box::new(error)));
                    work.sync_thread.unpark();
                    return;
                }
            }
            work.sync_thread.unpark();
        }
        look_at_disk(work);
        parker.park_timeout(LOOK_EVERY);
    }
}

fn look_at_disk(work: &Work) {
    match work.disk.free_bytes(&work.dir) {
        Ok(free) => work.state.set_disk_low(free < work.reserve),
        Err(error) => tracing::warn!(%error, "the free space cannot be read"),
    }
}
