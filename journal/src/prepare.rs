//! The helper that has the next segment ready: created, filled with zeros, synced, so that
//! writing a batch changes no metadata and cannot run out of space.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::bytes::to_usize;
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::primitives::{AtomicBool, AtomicCell, Parker, Unparker};
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

/// What has the next segment ready: on a thread of its own ([`crate::Recovered::start`]), or turn by
/// turn.
pub struct Helper {
    work: Work,
    shared: Arc<Shared>,
    parker: Parker,
    /// A prepared file is there, or was when this was looked at last.
    is_ready: bool,
}

impl std::fmt::Debug for Preparer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preparer").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Helper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Helper").finish_non_exhaustive()
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
    /// The two ends. The free space is looked at before anything else happens.
    pub(crate) fn new(work: Work) -> (Self, Helper) {
        let shared = Arc::new(Shared {
            slot: AtomicCell::new(None),
            failure: AtomicCell::new(None),
            stop: AtomicBool::new(false),
        });
        let parker = Parker::new();
        let preparer = Self {
            shared: Arc::clone(&shared),
            helper: parker.unparker().clone(),
            thread: None,
        };
        let helper = Helper {
            work,
            shared,
            parker,
            is_ready: false,
        };
        helper.look_at_disk();
        (preparer, helper)
    }

    /// Gives the helper a thread of its own.
    pub(crate) fn employ(&mut self, helper: Helper, dir: &Path) -> Result<(), JournalError> {
        let thread = Builder::new()
            .name("journal-prepare".to_owned())
            .spawn(move || helper.run())
            .context("start a thread for", dir)?;
        self.thread = Some(thread);
        Ok(())
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

impl Helper {
    fn run(mut self) {
        while self.turn() {
            self.parker.park_timeout(LOOK_EVERY);
        }
    }

    /// Prepares a segment if none is ready, and looks at the free space; `false` when there is
    /// nothing more to do, now and later.
    #[must_use]
    pub fn turn(&mut self) -> bool {
        if self.shared.stop.load(Ordering::Acquire) {
            return false;
        }
        let path = path(&self.work.dir);
        // Renamed by the sync thread: the name is free for the next.
        self.is_ready = self.is_ready && path.exists();
        if !self.is_ready {
            match Prepared::create(&*self.work.disk, path, self.work.segment_bytes) {
                Ok(prepared) => {
                    self.shared.slot.store(Some(Box::new(prepared)));
                    self.is_ready = true;
                }
                Err(full) if is_full(&full) => {
                    tracing::warn!(error = %full, "no room for the next segment");
                }
                Err(error) => {
                    self.shared.failure.store(Some(Box::new(error)));
                    self.work.sync_thread.unpark();
                    return false;
                }
            }
            self.work.sync_thread.unpark();
        }
        self.look_at_disk();
        true
    }

    fn look_at_disk(&self) {
        let work = &self.work;
        match work.disk.free_bytes(&work.dir) {
            Ok(free) => work.state.set_disk_low(free < work.reserve),
            Err(error) => tracing::warn!(%error, "the free space cannot be read"),
        }
    }
}
