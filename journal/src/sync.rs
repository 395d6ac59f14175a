//! The sync thread: closes what is staged into a batch, writes it, syncs it, says so; batch after
//! batch, each holding everything staged while the last sync ran.
//!
//! The first I/O error ends it for good: nothing is acknowledged any more, a marker file is left,
//! and no write or sync is tried again. The caller ends the process.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretell_model::Sequence;

use crate::append::{Handoff, Staged};
use crate::batch::BatchHeader;
use crate::bytes::{to_u32, whole_pages};
use crate::control::Position;
use crate::directory::{DirectoryLock, marker_path};
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::host::Host;
use crate::options::Durability;
use crate::prepare::{Helper, Prepared, Preparer, Sealed};
use crate::primitives::Parker;
use crate::segment::{self, SegmentHeader};
use crate::state::JournalState;
use crate::watermark::{Watermark, WatermarkFile};

/// How long a writer without a prepared segment waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What one step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A batch was written; this is the durable sequence now.
    Durable(Sequence),
    /// Nothing was staged.
    Idle,
    /// A batch waits for a segment that cannot be prepared yet: the disk is full.
    Waiting,
    /// The appender is gone and everything is written.
    Ended,
}

/// The journal's end: everything behind it is for the next batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tip {
    pub(crate) position: Position,
    pub(crate) last: Sequence,
    pub(crate) hash: [u8; 32],
}

/// The writer of the journal; move it into the sync thread.
#[derive(Debug)]
pub struct Syncer {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) durability: Durability,
    pub(crate) watermark_after: Duration,
    pub(crate) segment_bytes: u32,
    pub(crate) state: JournalState,
    pub(crate) handoff: Arc<Handoff>,
    pub(crate) parker: Parker,
    pub(crate) preparer: Preparer,
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) tip: Tip,
    /// Last sequence known to be on the disk.
    pub(crate) proven: Sequence,
    pub(crate) watermark: WatermarkFile,
    pub(crate) mark: Watermark,
    /// The host's uptime when the first batch was written that the watermark does not name.
    pub(crate) unmarked_since: Option<Duration>,
    /// A batch taken that waits for its segment.
    pub(crate) waiting: Option<Box<Staged>>,
    /// Held as long as anything may be written.
    pub(crate) _lock: DirectoryLock,
}

impl Syncer {
    /// Gives the helper that prepares segments a thread of its own, which ends with this.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn employ(&mut self, helper: Helper) -> Result<(), JournalError> {
        self.preparer.employ(helper, &self.dir)
    }

    /// Runs until the appender is dropped and all is written. `notify` is called after every rise
    /// of the durable sequence, with it.
    ///
    /// # Errors
    /// The first I/O error, after which nothing is acknowledged: end the process.
    pub fn run(mut self, mut notify: impl FnMut(Sequence)) -> Result<(), JournalError> {
        loop {
            match self.step()? {
                Step::Durable(sequence) => notify(sequence),
                Step::Ended => return Ok(()),
                Step::Waiting => self.parker.park_timeout(LOOK_AGAIN),
                Step::Idle => match self.unmarked_for() {
                    Some(age) => self
                        .parker
                        .park_timeout(self.watermark_after.saturating_sub(age)),
                    None => self.parker.park(),
                },
            }
        }
    }

    /// Writes what is staged, if anything; never waits for more.
    ///
    /// # Errors
    /// As [`Syncer::run`]; every later step fails too.
    pub fn step(&mut self) -> Result<Step, JournalError> {
        if let Some(text) = self.state.failure() {
            return Err(JournalError::Poisoned(text.to_owned()));
        }
        self.try_step().inspect_err(|error| self.poison(error))
    }

    fn try_step(&mut self) -> Result<Step, JournalError> {
        self.preparer.check()?;
        let is_over = self.handoff.is_over();
        let Some(batch) = self.waiting.take().or_else(|| self.handoff.take()) else {
            if is_over {
                self.finish()?;
                return Ok(Step::Ended);
            }
            if self.is_mark_due() {
                self.record_watermark()?;
            }
            return Ok(Step::Idle);
        };
        if batch.segment != self.tip.position.segment && !self.rotate()? {
            self.waiting = Some(batch);
            return Ok(Step::Waiting);
        }
        let durable = self.commit(batch)?;
        if self.is_mark_due() {
            self.record_watermark()?;
        }
        Ok(Step::Durable(durable))
    }

    /// Closes the batch, writes it, syncs it, publishes it.
    fn commit(&mut self, mut batch: Box<Staged>) -> Result<Sequence, JournalError> {
        let header = BatchHeader {
            frames: batch.frames,
            payload: 0,
            segment: batch.segment,
            offset: batch.offset,
            epoch: self.state.epoch(),
            first: batch.first,
            last: batch.last,
            proven: self.proven,
            payload_crc: 0,
            hash: [0; 32],
        };
        let (used, total) = (batch.used, whole_pages(batch.used));
        let header = BatchHeader::close(header, &self.tip.hash, &mut batch.buffer[..used]);
        batch.buffer[used..total].fill(0);
        let path = segment::path(&self.dir, batch.segment);
        write_all(
            &mut *self.file,
            &batch.buffer[..total],
            u64::from(batch.offset),
        )
        .context("write", &path)?;
        if self.durability == Durability::Disk {
            self.file.sync_data().context("sync", &path)?;
            self.proven = header.last;
        }
        self.tip = Tip {
            position: Position {
                segment: batch.segment,
                offset: batch.offset + to_u32(total),
            },
            last: header.last,
            hash: header.hash,
        };
        self.state.raise(header.last, self.tip.position);
        self.preparer.note_written(self.tip.position.offset);
        self.unmarked_since
            .get_or_insert_with(|| self.host.uptime());
        self.handoff.give_back(batch);
        Ok(header.last)
    }

    /// Seals the segment and begins the next; false when none is prepared.
    fn rotate(&mut self) -> Result<bool, JournalError> {
        let Some(prepared) = self.preparer.take() else {
            self.preparer.proceed();
            return Ok(false);
        };
        let full = segment::path(&self.dir, self.tip.position.segment);
        if self.durability == Durability::Process {
            // That a segment follows says that all before it is on the disk.
            self.file.sync_data().context("sync", &full)?;
            self.proven = self.tip.last;
        }
        self.file.make_read_only().context("seal", &full)?;
        let header = SegmentHeader {
            number: self.tip.position.segment + 1,
            epoch: self.state.epoch(),
            first: self.tip.last.next(),
            bytes: self.segment_bytes,
            previous_end: self.tip.position.offset,
            previous_hash: self.tip.hash,
            genesis: self.state.genesis(),
        };
        let next = begin_segment(&*self.disk, &self.dir, *prepared, &header)?;
        self.preparer.hand_over(Sealed {
            file: mem::replace(&mut self.file, next),
            path: full,
            end: header.previous_end,
        });
        self.tip.position = Position {
            segment: header.number,
            offset: segment::FIRST_BATCH,
        };
        self.preparer.proceed();
        Ok(true)
    }

    /// How long a batch has been written that the watermark does not name.
    fn unmarked_for(&self) -> Option<Duration> {
        self.unmarked_since
            .map(|since| self.host.uptime().saturating_sub(since))
    }

    fn is_mark_due(&self) -> bool {
        self.durability != Durability::None
            && self
                .unmarked_for()
                .is_some_and(|age| age >= self.watermark_after)
    }

    /// Names the tip in the watermark. It must be on the disk, so it is synced here if it was not.
    fn record_watermark(&mut self) -> Result<(), JournalError> {
        if self.proven != self.tip.last {
            let path = segment::path(&self.dir, self.tip.position.segment);
            self.file.sync_data().context("sync", &path)?;
            self.proven = self.tip.last;
        }
        self.mark = Watermark {
            count: self.mark.count + 1,
            epoch: self.state.epoch(),
            sequence: self.tip.last,
            segment: self.tip.position.segment,
            end: self.tip.position.offset,
            hash: self.tip.hash,
            genesis: self.state.genesis(),
        };
        self.watermark.record(&self.mark)?;
        self.unmarked_since = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), JournalError> {
        if self.unmarked_since.is_some() && self.durability != Durability::None {
            self.record_watermark()?;
        }
        self.state.end();
        Ok(())
    }

    /// Stops all acknowledgements for ever and leaves the marker.
    fn poison(&self, error: &JournalError) {
        let text = error.to_string();
        self.state.poison(&text);
        tracing::error!(error = text, "the journal stops; the process must end");
        if let Err(error) = leave_marker(&*self.disk, &self.dir, &text) {
            tracing::error!(%error, "the marker of the I/O error cannot be written");
        }
    }
}

impl Drop for Syncer {
    /// A sync thread that went away without finishing must not leave others waiting for it.
    fn drop(&mut self) {
        if !self.state.has_ended() {
            self.state.poison("the sync thread is gone");
        }
    }
}

fn leave_marker(disk: &dyn Disk, dir: &Path, text: &str) -> Result<(), JournalError> {
    let path = marker_path(dir);
    let mut file = disk.create(&path).context("create", &path)?;
    write_all(&mut *file, text.as_bytes(), 0).context("write", &path)?;
    file.sync_data().context("sync", &path)?;
    disk.sync_dir(dir).context("sync", dir)
}

/// Gives a prepared file its header and its name; both are on the disk afterwards.
pub(crate) fn begin_segment(
    disk: &dyn Disk,
    dir: &Path,
    prepared: Prepared,
    header: &SegmentHeader,
) -> Result<Box<dyn DiskFile>, JournalError> {
    let Prepared { mut file, path } = prepared;
    write_all(&mut *file, header.page().as_slice(), 0).context("write", &path)?;
    file.sync_data().context("sync", &path)?;
    let name = segment::path(dir, header.number);
    disk.rename(&path, &name).context("rename", &path)?;
    disk.sync_dir(dir).context("sync", dir)?;
    Ok(file)
}
