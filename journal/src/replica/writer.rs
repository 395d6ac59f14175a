//! Writes the items that a host receives from the log, byte for byte.

use foretell_model::{Sequence, TimeNs};

use super::item::Item;
use crate::append::{Appender, NextBatch};
use crate::batch::BatchHeader;
use crate::batch_cursor::{BatchCursor, BatchFault};
use crate::bytes::{to_u32, to_usize, whole_pages};
use crate::disk::write_all;
use crate::error::{Context, JournalError};
use crate::log_queue::LogQueue;
use crate::options::{MAX_SINGLE_FRAME_BATCH, Options};
use crate::preallocate::Preallocator;
use crate::recover::Recovered;
use crate::segment::{self, SegmentHeader};
use crate::state::JournalState;
use crate::sync::Syncer;

/// Why an item was not written.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    /// The message is damaged or does not follow the item before. Nothing was written.
    #[error("the replicated log's next message is not the journal's next item: {0}")]
    Mismatch(String),
    /// Writing failed: end the process.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Result of [`ReplicaWriter::write`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A segment began; its header has this term.
    Segment(u64),
    /// A batch was written, and is not synced yet.
    Batch(BatchHeader),
}

/// The writing side of a host that does not lead.
#[derive(Debug)]
pub struct ReplicaWriter {
    syncer: Syncer,
    /// Size and term of the current segment.
    segment: (u32, u64),
    last_time: TimeNs,
    /// The next batch with its padding.
    padded: Vec<u8>,
    /// The end of what is synced and published.
    published: Sequence,
}

impl ReplicaWriter {
    /// Publishes the control page of a recovered copy ([`super::recover_replica`]). Returns the
    /// writer, the state for other threads, and the preallocator.
    ///
    /// # Errors
    /// An I/O error, or no random bytes.
    pub fn open(recovered: Recovered) -> Result<(Self, JournalState, Preallocator), JournalError> {
        let (header, last_time) = (recovered.header, recovered.report.last_time);
        let (syncer, preallocator) = recovered.syncer(true)?;
        let state = syncer.state.clone();
        let writer = Self {
            published: syncer.tip.last,
            segment: (header.bytes, header.epoch),
            syncer,
            last_time,
            padded: Vec::new(),
        };
        Ok((writer, state, preallocator))
    }

    /// As [`Syncer::start_preallocator`].
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start_preallocator(&mut self, preallocator: Preallocator) -> Result<(), JournalError> {
        self.syncer.start_preallocator(preallocator)
    }

    /// The last sequence that was written.
    #[must_use]
    pub fn last_sequence(&self) -> Sequence {
        self.syncer.tip.last
    }

    /// Its time.
    #[must_use]
    pub const fn last_time(&self) -> TimeNs {
        self.last_time
    }

    /// The term of the last item.
    #[must_use]
    pub const fn term(&self) -> u64 {
        self.segment.1
    }

    /// Verifies that a message is the journal's next item, and writes it. Everything up to a
    /// batch's *proven* sequence is synced before that batch is written: recovery takes that field
    /// as proof of the own disk.
    ///
    /// # Errors
    /// [`ReplicaError::Mismatch`] leaves the journal as it is; the other ends it.
    pub fn write(&mut self, item: &Item<'_>, message: &[u8]) -> Result<Written, ReplicaError> {
        match item {
            Item::Segment(header) => {
                self.check_follows(header)?;
                self.begin(header)?;
                Ok(Written::Segment(header.epoch))
            }
            Item::Batch(header, _) => {
                self.check_batch(message)?;
                if header.proven > self.syncer.proven {
                    self.sync()?;
                }
                let written = self.put(header);
                written.inspect_err(|error| self.syncer.poison(error))?;
                Ok(Written::Batch(*header))
            }
        }
    }

    /// Syncs what was written and publishes the durable sequence. Returns it if it rose.
    ///
    /// # Errors
    /// The first I/O error; the caller ends the process.
    pub fn sync(&mut self) -> Result<Option<Sequence>, JournalError> {
        let tip = self.syncer.tip;
        let synced = self.syncer.sync_received();
        synced.inspect_err(|error| self.syncer.poison(error))?;
        let raised = (tip.last > self.published).then_some(tip.last);
        self.published = tip.last;
        Ok(raised)
    }

    /// Records the watermark if it is due; to be called when idle.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn idle(&mut self) -> Result<(), JournalError> {
        self.sync()?;
        let marked = self.syncer.mark_if_due();
        marked.inspect_err(|error| self.syncer.poison(error))
    }

    /// The header with which this host would take over as the leader of `term`.
    #[must_use]
    pub fn takeover_header(&self, term: u64) -> SegmentHeader {
        let tip = &self.syncer.tip;
        SegmentHeader {
            number: tip.position.segment + 1,
            epoch: term,
            first: tip.last.next(),
            bytes: self.syncer.segment_bytes,
            previous_end: tip.position.offset,
            previous_hash: tip.hash,
            genesis: self.syncer.state.genesis(),
        }
    }

    /// Ends receiving: from here on this host writes. The last item must be the header of its own
    /// segment.
    ///
    /// # Panics
    /// When the current segment has batches.
    #[must_use]
    pub fn lead(mut self) -> (Appender, Syncer, LogQueue) {
        let tip = self.syncer.tip;
        assert_eq!(
            tip.position.offset,
            segment::FIRST_BATCH,
            "a leader begins with a segment of its term"
        );
        let syncer = &mut self.syncer;
        let wakes = syncer.parker.unparker().clone();
        let queue = LogQueue::new(tip.boundary(), syncer.state.clone(), wakes);
        syncer.log = Some(queue.clone());
        let next = NextBatch {
            segment: tip.position.segment,
            offset: tip.position.offset,
            bytes: self.segment.0,
            next_bytes: syncer.segment_bytes,
        };
        let appender = Appender::new(
            syncer.handoff.clone(),
            syncer.state.clone(),
            next,
            (tip.last, self.last_time),
        );
        (appender, self.syncer, queue)
    }

    /// Ends in order, with a watermark.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn finish(mut self) -> Result<(), JournalError> {
        self.sync()?;
        self.syncer.finish()
    }

    fn check_follows(&self, header: &SegmentHeader) -> Result<(), ReplicaError> {
        let wrong = |what: String| Err(ReplicaError::Mismatch(what));
        let expected = self.takeover_header(header.epoch);
        if header.epoch < self.segment.1 {
            return wrong(format!(
                "a segment of term {} after term {}",
                header.epoch, self.segment.1
            ));
        }
        if !(Options::MIN_SEGMENT_BYTES..=1 << 30).contains(&header.bytes)
            || !to_usize(header.bytes).is_multiple_of(crate::PAGE)
        {
            return wrong(format!("a segment of {} bytes", header.bytes));
        }
        let bytes = header.bytes;
        if *header != (SegmentHeader { bytes, ..expected }) {
            return wrong(format!(
                "segment {} does not follow segment {} at byte {}, sequence {}",
                header.number,
                self.syncer.tip.position.segment,
                self.syncer.tip.position.offset,
                self.syncer.tip.last
            ));
        }
        Ok(())
    }

    /// Pads the batch and verifies it as recovery does.
    fn check_batch(&mut self, message: &[u8]) -> Result<(), ReplicaError> {
        let tip = &self.syncer.tip;
        self.padded.clear();
        self.padded.extend_from_slice(message);
        self.padded.resize(whole_pages(message.len()), 0);
        let end = to_usize(tip.position.offset) + self.padded.len();
        if end > to_usize(self.segment.0) {
            return Err(ReplicaError::Mismatch(
                "the batch does not fit into its segment".to_owned(),
            ));
        }
        let mut cursor = BatchCursor {
            segment: tip.position.segment,
            epoch: self.segment.1,
            offset: tip.position.offset,
            hash: tip.hash,
            last: tip.last,
            time: self.last_time,
        };
        cursor
            .next_here(&self.padded)
            .map_err(|fault| ReplicaError::Mismatch(text_of(fault)))?;
        self.last_time = cursor.time;
        Ok(())
    }

    fn put(&mut self, header: &BatchHeader) -> Result<(), JournalError> {
        let syncer = &mut self.syncer;
        let path = segment::path(&syncer.dir, header.segment);
        write_all(&mut *syncer.file, &self.padded, header.offset.into()).context("write", &path)?;
        syncer.tip.position.offset += to_u32(self.padded.len());
        syncer.tip.last = header.last;
        syncer.tip.hash = header.hash;
        Ok(())
    }

    fn begin(&mut self, header: &SegmentHeader) -> Result<(), JournalError> {
        // The existence of a successor proves that the whole segment is on the disk.
        self.sync()?;
        let begun = self.syncer.begin_received(header);
        begun.inspect_err(|error| self.syncer.poison(error))?;
        self.segment = (header.bytes, header.epoch);
        Ok(())
    }

    /// The state for other threads.
    #[must_use]
    pub fn state(&self) -> &JournalState {
        &self.syncer.state
    }
}

fn text_of(fault: BatchFault) -> String {
    match fault {
        BatchFault::Torn(why) => why.to_owned(),
        BatchFault::Wrong(why) | BatchFault::Newer(why) => why,
    }
}

const _: () = assert!(super::item::MAX_ITEM_BYTES >= MAX_SINGLE_FRAME_BATCH);
