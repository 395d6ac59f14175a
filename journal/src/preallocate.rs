//! Preallocation of the next segment: created, filled with zeros, synced. So writing a batch
//! changes no metadata and cannot run out of space. It also releases the unused end of the last
//! sealed segment.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use foretell_model::Durability;

use crate::bytes::to_usize;
use crate::disk::{Disk, DiskFile, release_unused, write_all};
use crate::error::{Context, JournalError};
use crate::primitives::{AtomicBool, AtomicCell, AtomicU64, Parker, Unparker};
use crate::state::JournalState;

/// Interval of free-space checks, and of new attempts on a full disk.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes per write while a segment is filled.
const FILL_BYTES: usize = 1 << 20;
/// While batches are being synced, sync the new segment piece by piece and idle for 3× each sync:
/// one sync of 64 MiB would delay every batch by 20 ms.
const YIELD_FACTOR: u32 = 3;

/// A file of zeros that becomes a segment.
#[derive(Debug)]
pub(crate) struct PreparedSegment {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) path: PathBuf,
}

impl PreparedSegment {
    /// Creates the file at `path` without pauses.
    pub(crate) fn create(disk: &dyn Disk, path: PathBuf, bytes: u32) -> Result<Self, JournalError> {
        let prepared = Self::filled(disk, path, bytes, &mut |_, _| Ok(true))?;
        Ok(prepared.expect("it goes on after each piece"))
    }

    /// Calls `after_piece` between two pieces with the number of bytes filled. Returns `None` when it
    /// returns false.
    fn filled(
        disk: &dyn Disk,
        path: PathBuf,
        bytes: u32,
        after_piece: &mut dyn FnMut(&mut dyn DiskFile, u32) -> io::Result<bool>,
    ) -> Result<Option<Self>, JournalError> {
        let mut file = disk.create(&path).context("create", &path)?;
        let zeros = vec![0; FILL_BYTES];
        for offset in (0..bytes).step_by(FILL_BYTES) {
            if offset > 0 && !after_piece(&mut *file, offset).context("sync", &path)? {
                return Ok(None);
            }
            let length = FILL_BYTES.min(to_usize(bytes - offset));
            write_all(&mut *file, &zeros[..length], offset.into()).context("fill", &path)?;
        }
        file.sync_data().context("sync", &path)?;
        Ok(Some(Self { file, path }))
    }
}

/// A segment that has a successor.
pub(crate) struct SealedSegment {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) path: PathBuf,
    /// Its end offset; only zeros follow.
    pub(crate) end: u32,
}

/// Whether the cause of an error is a full disk.
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
    slot: AtomicCell<Option<Box<PreparedSegment>>>,
    /// The last sealed segment, whose unused end is still allocated.
    sealed: AtomicCell<Option<Box<SealedSegment>>>,
    failure: AtomicCell<Option<Box<JournalError>>>,
    /// Bytes of the current segment that are written; `u32::MAX` while the sync thread waits for
    /// the next segment.
    written: AtomicU64,
    stop: AtomicBool,
}

/// The sync thread's handle on the preallocator. Dropping it ends the preallocator.
pub(crate) struct PreallocatorHandle {
    shared: Arc<Shared>,
    wakes: Unparker,
    thread: Option<JoinHandle<()>>,
}

/// Preallocates the next segment: on a thread of its own ([`crate::Recovered::start`]), or one turn
/// at a time.
pub struct Preallocator {
    parts: PreallocatorParts,
    shared: Arc<Shared>,
    parker: Parker,
    /// A prepared file was there at the last check.
    is_ready: bool,
    /// The last attempt found the disk full.
    was_full: bool,
    /// It pauses between pieces: it has a thread of its own, and the sync thread syncs every batch.
    is_throttled: bool,
}

impl std::fmt::Debug for PreallocatorHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreallocatorHandle").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Preallocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preallocator").finish_non_exhaustive()
    }
}

/// Parameters of the preallocator.
pub(crate) struct PreallocatorParts {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) segment_bytes: u32,
    pub(crate) reserve: u64,
    pub(crate) state: JournalState,
    /// Wakes the sync thread when a segment is ready.
    pub(crate) sync_thread: Unparker,
}

/// The path of a file in preparation. It becomes a segment by renaming.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("prepared.tmp")
}

impl PreallocatorHandle {
    /// Creates both ends and checks the free space.
    pub(crate) fn new(parts: PreallocatorParts) -> (Self, Preallocator) {
        let shared = Arc::new(Shared {
            slot: AtomicCell::new(None),
            sealed: AtomicCell::new(None),
            failure: AtomicCell::new(None),
            written: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        });
        let parker = Parker::new();
        let handle = Self {
            shared: Arc::clone(&shared),
            wakes: parker.unparker().clone(),
            thread: None,
        };
        let preallocator = Preallocator {
            parts,
            shared,
            parker,
            is_ready: false,
            was_full: false,
            is_throttled: false,
        };
        preallocator.check_free_space();
        (handle, preallocator)
    }

    /// Runs the preallocator on a thread of its own.
    pub(crate) fn start_thread(
        &mut self,
        preallocator: Preallocator,
        dir: &Path,
    ) -> Result<(), JournalError> {
        let thread = Builder::new()
            .name("journal-prepare".to_owned())
            .spawn(move || preallocator.run())
            .context("start a thread for", dir)?;
        self.thread = Some(thread);
        Ok(())
    }

    /// The I/O error that ended the preallocator, if any. It ends the journal at once, not when the next
    /// segment is needed: without the preallocator the free space is not checked.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        self.shared
            .failure
            .take()
            .map_or(Ok(()), |failure| Err(*failure))
    }

    /// The prepared file, if it is ready. The preallocator begins the next one after this one is renamed:
    /// see [`PreallocatorHandle::wake`].
    pub(crate) fn take(&self) -> Option<Box<PreparedSegment>> {
        let prepared = self.shared.slot.take();
        let waits = prepared.is_none();
        self.set_written(if waits { u32::MAX } else { 0 });
        prepared
    }

    /// Reports how many bytes of the current segment are written. The preallocator skips its pauses while
    /// it has filled less of the next segment than this.
    pub(crate) fn set_written(&self, bytes: u32) {
        self.shared.written.store(bytes.into(), Ordering::Release);
    }

    /// Hands a sealed segment to the preallocator, which releases its unused end. The file system may
    /// need longer for that than for a sync.
    pub(crate) fn release_unused_end(&self, sealed: SealedSegment) {
        self.shared.sealed.store(Some(Box::new(sealed)));
    }

    /// Lets the preallocator prepare the next segment, after the last one was renamed.
    pub(crate) fn wake(&self) {
        self.wakes.unpark();
    }
}

impl Drop for PreallocatorHandle {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.wakes.unpark();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was already reported by its message.
            let _ = thread.join();
        }
    }
}

impl Preallocator {
    fn run(mut self) {
        self.is_throttled = self.parts.state.durability() == Durability::Disk;
        while self.run_once() {
            self.parker.park_timeout(CHECK_INTERVAL);
        }
    }

    /// Releases the unused end of the last sealed segment, prepares a segment if none is ready, and
    /// checks the free space. Returns `false` once the journal is closed.
    #[must_use]
    pub fn run_once(&mut self) -> bool {
        if let Some(mut sealed) = self.shared.sealed.take() {
            release_unused(&mut *sealed.file, sealed.end, &sealed.path);
        }
        if self.shared.stop.load(Ordering::Acquire) {
            return false;
        }
        let path = path(&self.parts.dir);
        // The sync thread has renamed it: the path is free for the next.
        self.is_ready = self.is_ready && path.exists();
        if !self.is_ready && self.may_fit() {
            match self.prepare(path) {
                Ok(Some(prepared)) => {
                    self.shared.slot.store(Some(Box::new(prepared)));
                    (self.is_ready, self.was_full) = (true, false);
                }
                Ok(None) => return false,
                Err(full) if is_full(&full) => {
                    self.was_full = true;
                    tracing::warn!(error = %full, "no room for the next segment");
                }
                Err(error) => {
                    self.shared.failure.store(Some(Box::new(error)));
                    self.parts.sync_thread.unpark();
                    return false;
                }
            }
            self.parts.sync_thread.unpark();
        }
        self.check_free_space();
        true
    }

    /// Whether a segment may fit, after the disk was full. A segment that is filled in part and
    /// then given up would waste disk bandwidth.
    fn may_fit(&self) -> bool {
        let parts = &self.parts;
        let free = || parts.disk.free_bytes(&parts.dir).unwrap_or(u64::MAX);
        !self.was_full || free() >= parts.segment_bytes.into()
    }

    /// Returns `None` when the preallocator is stopped.
    fn prepare(&self, path: PathBuf) -> Result<Option<PreparedSegment>, JournalError> {
        let mut begun = Instant::now();
        let mut after_piece = |file: &mut dyn DiskFile, filled| {
            if self.is_throttled && self.is_ahead_of_writer(filled) {
                file.sync_data()?;
                self.parker.park_timeout(begun.elapsed() * YIELD_FACTOR);
            }
            begun = Instant::now();
            Ok(!self.shared.stop.load(Ordering::Acquire))
        };
        let PreallocatorParts {
            disk,
            segment_bytes,
            ..
        } = &self.parts;
        PreparedSegment::filled(&**disk, path, *segment_bytes, &mut after_piece)
    }

    /// Whether more of the next segment is filled than of the current one is written.
    fn is_ahead_of_writer(&self, filled: u32) -> bool {
        self.shared.written.load(Ordering::Acquire) < filled.into()
    }

    fn check_free_space(&self) {
        let parts = &self.parts;
        match parts.disk.free_bytes(&parts.dir) {
            Ok(free) => parts.state.set_disk_low(free < parts.reserve),
            Err(error) => tracing::warn!(%error, "cannot read the free disk space"),
        }
    }
}
