//! The sync thread: closes the staged frames into a batch, writes it, syncs it and publishes the
//! durable sequence. Each batch holds all frames staged during the last sync.
//!
//! The first I/O error ends the thread for good: no more acknowledgements, a marker file, and no
//! retry of a write or sync. The caller ends the process.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretell_model::{Durability, Sequence};

use crate::append::{Handoff, StagedBatch};
use crate::batch::BatchHeader;
use crate::bytes::{to_u32, whole_pages};
use crate::clock_and_random::ClockAndRandom;
use crate::control::JournalPosition;
use crate::directory::{self, DirectoryLock, marker_path};
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::log_queue::{Boundary, LogQueue};
use crate::preallocate::{Preallocator, PreallocatorHandle, PreparedSegment, SealedSegment};
use crate::primitives::Parker;
use crate::segment::{self, SegmentHeader};
use crate::state::JournalState;
use crate::watermark::{Watermark, WatermarkFile};

/// Interval at which a writer without a prepared segment checks for one.
const SEGMENT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Result of one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncStep {
    /// A batch was written; this is the new durable sequence.
    Durable(Sequence),
    /// A batch was written, and the replicated log has not confirmed it yet.
    Written,
    /// Nothing was staged.
    Idle,
    /// A batch waits for a segment that cannot be prepared, because the disk is full, or for the
    /// replicated log.
    Waiting,
    /// The appender is gone and all frames are written.
    Ended,
}

/// The journal's end: the position of the next batch, the last sequence, and the chain hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tip {
    pub(crate) position: JournalPosition,
    pub(crate) last: Sequence,
    pub(crate) hash: [u8; 32],
}

impl Tip {
    pub(crate) const fn boundary(&self) -> Boundary {
        Boundary {
            last: self.last,
            position: self.position,
            hash: self.hash,
        }
    }

    /// The end after a segment began with this header.
    const fn after_header(&self, header: &SegmentHeader) -> Self {
        Self {
            position: JournalPosition {
                segment: header.number,
                offset: segment::FIRST_BATCH,
            },
            ..*self
        }
    }
}

/// The writer of the journal, to be moved into the sync thread.
#[derive(Debug)]
pub struct Syncer {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) host: Arc<dyn ClockAndRandom>,
    pub(crate) durability: Durability,
    pub(crate) watermark_after: Duration,
    pub(crate) segment_bytes: u32,
    pub(crate) state: JournalState,
    pub(crate) handoff: Arc<Handoff>,
    pub(crate) parker: Parker,
    pub(crate) preallocator: PreallocatorHandle,
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) tip: Tip,
    /// Last sequence known to be on the disk.
    pub(crate) proven: Sequence,
    pub(crate) watermark: WatermarkFile,
    pub(crate) mark: Watermark,
    /// The host's uptime at the write of the oldest batch that the watermark does not cover.
    pub(crate) unmarked_since: Option<Duration>,
    /// A batch taken from the matcher that waits for its segment.
    pub(crate) waiting: Option<Box<StagedBatch>>,
    /// In cluster mode, once this host leads.
    pub(crate) log: Option<LogQueue>,
    /// Held while anything may be written.
    pub(crate) _lock: DirectoryLock,
}

impl Syncer {
    /// Runs the preallocator on a thread of its own, which ends with this syncer.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start_preallocator(&mut self, preallocator: Preallocator) -> Result<(), JournalError> {
        self.preallocator.start_thread(preallocator, &self.dir)
    }

    /// Runs until the appender is dropped and all frames are written. Calls `notify` with the
    /// durable sequence after each rise.
    ///
    /// # Errors
    /// The first I/O error. Nothing is acknowledged after it; the caller ends the process.
    pub fn run(mut self, mut notify: impl FnMut(Sequence)) -> Result<(), JournalError> {
        loop {
            match self.step()? {
                SyncStep::Durable(sequence) => notify(sequence),
                SyncStep::Written => {}
                SyncStep::Ended => return Ok(()),
                SyncStep::Waiting => self.parker.park_timeout(SEGMENT_POLL_INTERVAL),
                SyncStep::Idle => match self.unmarked_for() {
                    Some(age) => self
                        .parker
                        .park_timeout(self.watermark_after.saturating_sub(age)),
                    None => self.parker.park(),
                },
            }
        }
    }

    /// Writes the staged frames, if any; never waits for more.
    ///
    /// # Errors
    /// As [`Syncer::run`]; every later step fails too.
    pub fn step(&mut self) -> Result<SyncStep, JournalError> {
        if let Some(text) = self.state.failure() {
            return Err(JournalError::Poisoned(text.to_owned()));
        }
        self.try_step().inspect_err(|error| self.poison(error))
    }

    fn try_step(&mut self) -> Result<SyncStep, JournalError> {
        self.preallocator.check()?;
        let is_over = self.handoff.is_over();
        if self.log.as_ref().is_some_and(|log| !log.has_room()) {
            self.mark_if_due()?;
            return Ok(SyncStep::Waiting);
        }
        let Some(batch) = self.waiting.take().or_else(|| self.handoff.take()) else {
            if is_over {
                self.finish()?;
                return Ok(SyncStep::Ended);
            }
            self.mark_if_due()?;
            return Ok(SyncStep::Idle);
        };
        if batch.segment != self.tip.position.segment && !self.rotate()? {
            self.waiting = Some(batch);
            return Ok(SyncStep::Waiting);
        }
        let durable = self.commit(batch)?;
        self.mark_if_due()?;
        Ok(durable.map_or(SyncStep::Written, SyncStep::Durable))
    }

    /// Closes the batch, writes it, syncs it, and publishes the durable sequence if it rises.
    fn commit(&mut self, mut batch: Box<StagedBatch>) -> Result<Option<Sequence>, JournalError> {
        let header = BatchHeader {
            frames: batch.frames,
            payload: 0,
            segment: batch.segment,
            offset: batch.offset,
            epoch: self.state.epoch(),
            first: batch.first,
            last: batch.last,
            proven: self.proven(),
            payload_crc: 0,
            hash: [0; 32],
        };
        let (used, total) = (batch.used, whole_pages(batch.used));
        let header = BatchHeader::close(header, &self.tip.hash, &mut batch.buffer[..used]);
        batch.buffer[used..total].fill(0);
        let tip = Tip {
            position: JournalPosition {
                segment: batch.segment,
                offset: batch.offset + to_u32(total),
            },
            last: header.last,
            hash: header.hash,
        };
        if let Some(log) = &self.log {
            log.submit(batch.buffer[..used].to_vec(), tip.boundary());
        }
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
        self.tip = tip;
        let durable = match &self.log {
            Some(log) => log.on_disk(),
            None => {
                self.state.raise(tip.last, tip.position);
                Some(tip.last)
            }
        };
        self.preallocator.set_written(self.tip.position.offset);
        self.unmarked_since
            .get_or_insert_with(|| self.host.uptime());
        self.handoff.return_buffer(batch);
        Ok(durable)
    }

    /// Seals the segment and begins the next. Returns false when none is prepared.
    fn rotate(&mut self) -> Result<bool, JournalError> {
        let Some(prepared) = self.preallocator.take() else {
            self.preallocator.wake();
            return Ok(false);
        };
        if self.durability == Durability::Process {
            // The existence of a successor proves that the whole segment is on the disk.
            let full = segment::path(&self.dir, self.tip.position.segment);
            self.file.sync_data().context("sync", &full)?;
            self.proven = self.tip.last;
        }
        let header = SegmentHeader {
            number: self.tip.position.segment + 1,
            epoch: self.state.epoch(),
            first: self.tip.last.next(),
            bytes: self.segment_bytes,
            previous_end: self.tip.position.offset,
            previous_hash: self.tip.hash,
            genesis: self.state.genesis(),
        };
        if let Some(log) = &self.log {
            log.submit(
                header.page().to_vec(),
                self.tip.after_header(&header).boundary(),
            );
        }
        self.begin_next(*prepared, &header)?;
        if let Some(log) = &self.log {
            log.on_disk();
        }
        Ok(true)
    }

    /// Seals the segment and begins the next with this header.
    fn begin_next(
        &mut self,
        prepared: PreparedSegment,
        header: &SegmentHeader,
    ) -> Result<(), JournalError> {
        let full = segment::path(&self.dir, self.tip.position.segment);
        self.file.make_read_only().context("seal", &full)?;
        let next = begin_segment(&*self.disk, &self.dir, prepared, header)?;
        self.preallocator.release_unused_end(SealedSegment {
            file: mem::replace(&mut self.file, next),
            path: full,
            end: header.previous_end,
        });
        self.tip = self.tip.after_header(header);
        self.preallocator.wake();
        Ok(())
    }

    /// Begins a segment with a header that was received. The last segment is synced.
    pub(crate) fn begin_received(&mut self, header: &SegmentHeader) -> Result<(), JournalError> {
        self.preallocator.check()?;
        let prepared = match header.bytes == self.segment_bytes {
            true => self.preallocator.take(),
            false => None,
        };
        let prepared = match prepared {
            Some(prepared) => *prepared,
            None => PreparedSegment::create(
                &*self.disk,
                directory::unfinished(&self.dir),
                header.bytes,
            )?,
        };
        self.begin_next(prepared, header)?;
        self.state.set_epoch(header.epoch);
        self.state.raise(self.tip.last, self.tip.position);
        Ok(())
    }

    /// Syncs and publishes what was written since the last sync, in a copy of the replicated log.
    pub(crate) fn sync_received(&mut self) -> Result<(), JournalError> {
        if self.proven == self.tip.last {
            return Ok(());
        }
        let path = segment::path(&self.dir, self.tip.position.segment);
        self.file.sync_data().context("sync", &path)?;
        self.proven = self.tip.last;
        self.state.raise(self.tip.last, self.tip.position);
        self.preallocator.set_written(self.tip.position.offset);
        self.unmarked_since
            .get_or_insert_with(|| self.host.uptime());
        self.mark_if_due()
    }

    /// The last sequence known to be on the disk and, in cluster mode, in the replicated log.
    fn proven(&self) -> Sequence {
        match &self.log {
            Some(log) => log.confirmed_sequence(),
            None => self.proven,
        }
    }

    pub(crate) fn mark_if_due(&mut self) -> Result<(), JournalError> {
        match self.is_mark_due() {
            true => self.record_watermark(),
            false => Ok(()),
        }
    }

    /// Age of the oldest batch that the watermark does not cover.
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

    /// Advances the watermark to the tip. The tip must be on the disk, so the file is synced if
    /// needed.
    fn record_watermark(&mut self) -> Result<(), JournalError> {
        if let Some(log) = &self.log {
            let confirmed = log.confirmed();
            return self.record_confirmed(confirmed);
        }
        if self.proven != self.tip.last {
            let path = segment::path(&self.dir, self.tip.position.segment);
            self.file.sync_data().context("sync", &path)?;
            self.proven = self.tip.last;
        }
        self.mark_at(self.tip.boundary())?;
        self.unmarked_since = None;
        Ok(())
    }

    /// Advances the watermark to the last item that disk and log have.
    fn record_confirmed(&mut self, confirmed: Boundary) -> Result<(), JournalError> {
        let marked = (self.mark.segment, self.mark.end);
        if (confirmed.position.segment, confirmed.position.offset) != marked {
            self.mark_at(confirmed)?;
        }
        let is_all = confirmed.last == self.tip.last;
        self.unmarked_since = (!is_all).then(|| self.host.uptime());
        Ok(())
    }

    fn mark_at(&mut self, end: Boundary) -> Result<(), JournalError> {
        self.mark = Watermark {
            count: self.mark.count + 1,
            epoch: self.state.epoch(),
            sequence: end.last,
            segment: end.position.segment,
            end: end.position.offset,
            hash: end.hash,
            genesis: self.state.genesis(),
        };
        self.watermark.record(&self.mark)
    }

    pub(crate) fn finish(&mut self) -> Result<(), JournalError> {
        if self.unmarked_since.is_some() && self.durability != Durability::None {
            self.record_watermark()?;
        }
        self.state.end();
        Ok(())
    }

    /// Stops all acknowledgements for good and writes the marker file.
    pub(crate) fn poison(&self, error: &JournalError) {
        let text = error.to_string();
        self.state.poison(&text);
        tracing::error!(error = text, "journal stopped: the process must exit");
        if let Err(error) = leave_marker(&*self.disk, &self.dir, &text) {
            tracing::error!(%error, "cannot write the I/O error marker");
        }
    }
}

impl Drop for Syncer {
    /// Ends all waits for the durable sequence when the sync thread ends without `finish`.
    fn drop(&mut self) {
        if !self.state.has_ended() {
            self.state.poison("the sync thread ended");
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

/// Writes the header of a prepared file and renames it; both are durable on return.
pub(crate) fn begin_segment(
    disk: &dyn Disk,
    dir: &Path,
    prepared: PreparedSegment,
    header: &SegmentHeader,
) -> Result<Box<dyn DiskFile>, JournalError> {
    let PreparedSegment { mut file, path } = prepared;
    write_all(&mut *file, header.page().as_slice(), 0).context("write", &path)?;
    file.sync_data().context("sync", &path)?;
    let name = segment::path(dir, header.number);
    disk.rename(&path, &name).context("rename", &path)?;
    disk.sync_dir(dir).context("sync", dir)?;
    Ok(file)
}
