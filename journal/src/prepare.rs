//! The helper that has the next segment ready: created, filled with zeros, synced, so that
//! writing a batch changes no metadata and cannot run out of space. It also gives back what the segment
//! before does not use.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::bytes::to_usize;
use crate::disk::{Disk, DiskFile, give_back, write_all};
use crate::error::{Context, JournalError};
use crate::options::Durability;
use crate::primitives::{AtomicBool, AtomicCell, AtomicU64, Parker, Unparker};
use crate::state::JournalState;

/// How often the free space is looked at, and a full disk tried again.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Bytes that are filled at once.
const PIECE: usize = 1 << 20;
/// While batches are synced, each piece is, too, and then the disk is theirs for so many times as long as that
/// took: a segment that is synced whole holds up every one of their syncs for as long (64 MiB: 20 ms).
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
        let prepared = Self::filled(disk, path, bytes, &mut |_, _| Ok(true))?;
        Ok(prepared.expect("it goes on after each piece"))
    }

    /// `between` is called between two pieces, with how much of the file is filled: `None` when it says
    /// not to go on.
    fn filled(
        disk: &dyn Disk,
        path: PathBuf,
        bytes: u32,
        between: &mut dyn FnMut(&mut dyn DiskFile, u32) -> io::Result<bool>,
    ) -> Result<Option<Self>, JournalError> {
        let mut file = disk.create(&path).context("create", &path)?;
        let zeros = vec![0; PIECE];
        for offset in (0..bytes).step_by(PIECE) {
            if offset > 0 && !between(&mut *file, offset).context("sync", &path)? {
                return Ok(None);
            }
            let length = PIECE.min(to_usize(bytes - offset));
            write_all(&mut *file, &zeros[..length], offset.into()).context("fill", &path)?;
        }
        file.sync_data().context("sync", &path)?;
        Ok(Some(Self { file, path }))
    }
}

/// A segment that is followed by another.
pub(crate) struct Sealed {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) path: PathBuf,
    /// Where it ends; zeros from there on.
    pub(crate) end: u32,
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
    /// The last one sealed, whose unused end is still taken.
    sealed: AtomicCell<Option<Box<Sealed>>>,
    failure: AtomicCell<Option<Box<JournalError>>>,
    /// How much of the current segment is written: all of it once the next is waited for.
    written: AtomicU64,
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
    /// The last try found the disk full.
    was_full: bool,
    /// It has a thread of its own beside one that syncs.
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
            sealed: AtomicCell::new(None),
            failure: AtomicCell::new(None),
            written: AtomicU64::new(0),
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
            was_full: false,
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
        let waits = prepared.is_none();
        self.note_written(if waits { u32::MAX } else { 0 });
        prepared
    }

    /// So much of the current segment is written: the helper hurries when it has done a smaller part of the
    /// next.
    pub(crate) fn note_written(&self, bytes: u32) {
        self.shared.written.store(bytes.into(), Ordering::Release);
    }

    /// Leaves a sealed segment to the helper, which gives its unused end back: the file system may
    /// take longer over that than a sync.
    pub(crate) fn hand_over(&self, sealed: Sealed) {
        self.shared.sealed.store(Some(Box::new(sealed)));
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
        self.rests = self.work.state.durability() == Durability::Disk;
        while self.turn() {
            self.parker.park_timeout(LOOK_EVERY);
        }
    }

    /// Gives back what the last sealed segment does not use, prepares a segment if none is ready, and
    /// looks at the free space; `false` when there is nothing more to do, now and later.
    #[must_use]
    pub fn turn(&mut self) -> bool {
        if let Some(mut sealed) = self.shared.sealed.take() {
            give_back(&mut *sealed.file, sealed.end, &sealed.path);
        }
        if self.shared.stop.load(Ordering::Acquire) {
            return false;
        }
        let path = path(&self.work.dir);
        // Renamed by the sync thread: the name is free for the next.
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
                    self.work.sync_thread.unpark();
                    return false;
                }
            }
            self.work.sync_thread.unpark();
        }
        self.look_at_disk();
        true
    }

    /// On a disk that was full: whether a segment may fit now. Pieces that are written and synced only to be
    /// given up would take the disk from what still can be written.
    fn may_fit(&self) -> bool {
        let work = &self.work;
        let free = || work.disk.free_bytes(&work.dir).unwrap_or(u64::MAX);
        !self.was_full || free() >= work.segment_bytes.into()
    }

    /// `None` when it is over.
    fn prepare(&self, path: PathBuf) -> Result<Option<Prepared>, JournalError> {
        let mut begun = Instant::now();
        let mut between = |file: &mut dyn DiskFile, filled| {
            if self.rests && self.is_in_time(filled) {
                file.sync_data()?;
                self.parker.park_timeout(begun.elapsed() * REST);
            }
            begun = Instant::now();
            Ok(!self.shared.stop.load(Ordering::Acquire))
        };
        let Work {
            disk,
            segment_bytes,
            ..
        } = &self.work;
        Prepared::filled(&**disk, path, *segment_bytes, &mut between)
    }

    /// Whether the next segment is filled further than the current one is written.
    fn is_in_time(&self, filled: u32) -> bool {
        self.shared.written.load(Ordering::Acquire) < filled.into()
    }

    fn look_at_disk(&self) {
        let work = &self.work;
        match work.disk.free_bytes(&work.dir) {
            Ok(free) => work.state.set_disk_low(free < work.reserve),
            Err(error) => tracing::warn!(%error, "the free space cannot be read"),
        }
    }
}
