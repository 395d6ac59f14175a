//! The helper that has the next segment ready: created, filled with zeros, synced, so that
//! writing a batch changes no metadata and cannot run out of space.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::bytes::to_usize;
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::primitives::{AtomicBool, AtomicCell, Parker, Unparker};
use crate::state::JournalState;

/// How often the free space is looked at, and a full disk tried again.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Bytes that are filled at once.
const PIECE: usize = 1 << 20;
/// While batches are written, the disk is theirs after each piece for so many times as long as that took:
/// a segment that is synced whole holds up every one of their syncs for as long (64 MiB: 20 ms).
const REST: u32 = 3;

/// A file of zeros that will be a segment.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) path: PathBuf,
}

impl Prepared {
    /// Creates the file at `path`, as fast as the disk can.
    pub(crate) fn create(disk: &dyn Disk, path: PathBuf, bytes: u32) -> Result<Self, JournalError> {
        Self::filled(disk, path, bytes, &mut |_| Ok(()))
    }

    /// The same, each piece on the disk before the next; `rest` is told how long it took.
    fn create_beside(
        disk: &dyn Disk,
        path: PathBuf,
        bytes: u32,
        rest: impl Fn(Duration),
    ) -> Result<Self, JournalError> {
        let mut begun = Instant::now();
        Self::filled(disk, path, bytes, &mut |file| {
            file.sync_data()?;
            rest(begun.elapsed());
            begun = Instant::now();
            Ok(())
        })
    }

    /// `between` is called between two pieces.
    fn filled(
        disk: &dyn Disk,
        path: PathBuf,
        bytes: u32,
        between: &mut dyn FnMut(&mut dyn DiskFile) -> io::Result<()>,
    ) -> Result<Self, JournalError> {
        let mut file = disk.create(&path).context("create", &path)?;
        let zeros = vec![0; PIECE];
        let bytes = to_usize(bytes);
        for offset in (0..bytes).step_by(PIECE) {
            if offset > 0 {
                between(&mut *file).context("sync", &path)?;
            }
            let length = PIECE.min(bytes - offset);
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
    /// The sync thread waits for the next segment.
    is_wanted: AtomicBool,
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
    /// It has a thread of its own, so it can rest.
    rests: bool,
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
            is_wanted: AtomicBool::new(false),
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
            rests: false,
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
        let prepared = self.shared.slot.take();
        self.shared
            .is_wanted
            .store(prepared.is_none(), Ordering::Release);
        prepared
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
        self.rests = true;
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
            match self.prepare(path) {
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

    fn prepare(&self, path: PathBuf) -> Result<Prepared, JournalError> {
        let Work {
            disk,
            segment_bytes,
            ..
        } = &self.work;
        if !self.rests {
            return Prepared::create(&**disk, path, *segment_bytes);
        }
        Prepared::create_beside(&**disk, path, *segment_bytes, |took| self.rest(took))
    }

    /// Leaves the disk to batches after a piece, unless they wait for the segment.
    fn rest(&self, took: Duration) {
        let Shared {
            is_wanted, stop, ..
        } = &*self.shared;
        if !is_wanted.load(Ordering::Acquire) && !stop.load(Ordering::Acquire) {
            self.parker.park_timeout(took * REST);
        }
    }

    fn look_at_disk(&self) {
        let work = &self.work;
        match work.disk.free_bytes(&work.dir) {
            Ok(free) => work.state.set_disk_low(free < work.reserve),
            Err(error) => tracing::warn!(%error, "the free space cannot be read"),
        }
    }
}
