//! The matcher's side: it stages frames in a buffer that it owns, and never waits.
//!
//! Two buffers circulate. The matcher fills one and puts it into a slot (`publish`). For the next
//! command it takes that buffer back, unless the sync thread took it first. Then the other buffer
//! is free, because the sync thread returns one buffer before it takes the next. So all frames
//! staged during a sync form the next batch, and both sides only swap pointers.
//!
//! A batch's position is known when it is opened, and so is the position of every frame. It follows
//! the previous batch, or starts the next segment when this one has no room for the largest frame.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_utils::CachePadded;
use foretell_model::{Command, CommandStamp, Event, FramePosition, Sequence, TimeNs};

use crate::batch::HEADER_BYTES;
use crate::bytes::{to_u32, to_usize, whole_pages};
use crate::frame;
use crate::options::MAX_SINGLE_FRAME_BATCH;
use crate::primitives::{ArrayQueue, AtomicBool, AtomicCell, AtomicU64, Parker, Unparker};
use crate::segment::FIRST_BATCH;
use crate::state::JournalState;

/// A batch being filled: room for its header, then frames.
#[derive(Debug)]
pub(crate) struct StagedBatch {
    /// Whole pages, touched once so that the matcher takes no page fault.
    pub(crate) buffer: Box<[u8]>,
    /// Bytes used, header included.
    pub(crate) used: usize,
    /// Bytes that may be used: the buffer, or the rest of the segment.
    room: usize,
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) frames: u32,
    pub(crate) first: Sequence,
    pub(crate) last: Sequence,
}

impl StagedBatch {
    fn new(bytes: usize) -> Self {
        Self {
            buffer: vec![u8::MAX; bytes].into_boxed_slice(),
            used: 0,
            room: 0,
            segment: 0,
            offset: 0,
            frames: 0,
            first: Sequence(0),
            last: Sequence(0),
        }
    }

    /// The end offset of the batch in its segment.
    pub(crate) fn end(&self) -> u32 {
        self.offset + to_u32(whole_pages(self.used))
    }
}

/// State shared by matcher and sync thread.
pub(crate) struct Handoff {
    ready: CachePadded<AtomicCell<Option<Box<StagedBatch>>>>,
    free: ArrayQueue<Box<StagedBatch>>,
    /// Number of batches that the sync thread took.
    taken: CachePadded<AtomicU64>,
    no_more: AtomicBool,
    sync_thread: Unparker,
}

impl fmt::Debug for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff").finish_non_exhaustive()
    }
}

impl Handoff {
    /// Two buffers of `bytes` each, and the sync thread's parker.
    pub(crate) fn new(bytes: usize) -> (Arc<Self>, Parker) {
        let parker = Parker::new();
        let free = ArrayQueue::new(2);
        for _ in 0..2 {
            free.push(Box::new(StagedBatch::new(bytes)))
                .expect("the queue holds both buffers");
        }
        let handoff = Self {
            ready: CachePadded::new(AtomicCell::new(None)),
            free,
            taken: CachePadded::new(AtomicU64::new(0)),
            no_more: AtomicBool::new(false),
            sync_thread: parker.unparker().clone(),
        };
        (Arc::new(handoff), parker)
    }

    /// Takes the staged batch, for the sync thread.
    pub(crate) fn take(&self) -> Option<Box<StagedBatch>> {
        let staged = self.ready.take()?;
        self.taken.fetch_add(1, Ordering::Release);
        Some(staged)
    }

    /// Returns the buffer of a written batch. Must precede the next `take`.
    pub(crate) fn return_buffer(&self, staged: Box<StagedBatch>) {
        self.free.push(staged).expect("there are two buffers");
    }

    /// Whether the appender is gone. If true before an empty `take`, all batches are taken.
    pub(crate) fn is_over(&self) -> bool {
        self.no_more.load(Ordering::Acquire)
    }

    pub(crate) fn wake_sync_thread(&self) {
        self.sync_thread.unpark();
    }
}

/// The position of the next batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextBatch {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    /// Size of that segment.
    pub(crate) bytes: u32,
    /// Size of the segments after it.
    pub(crate) next_bytes: u32,
}

/// The writing side of the journal, used by the matcher. Dropping it hands the staged frames to
/// the sync thread and lets that thread finish.
#[derive(Debug)]
pub struct Appender {
    handoff: Arc<Handoff>,
    state: JournalState,
    current: Option<Box<StagedBatch>>,
    next_batch: NextBatch,
    last: Sequence,
    last_time: TimeNs,
    /// Set while a full batch is published: the number of batches taken before it. The batch stays
    /// published then, so repeated calls for room cannot keep it from the sync thread.
    full: Option<u64>,
}

impl Appender {
    pub(crate) fn new(
        handoff: Arc<Handoff>,
        state: JournalState,
        next_batch: NextBatch,
        (last, last_time): (Sequence, TimeNs),
    ) -> Self {
        Self {
            handoff,
            state,
            current: None,
            next_batch,
            last,
            last_time,
            full: None,
        }
    }

    /// The sequence of the last appended frame.
    #[must_use]
    pub fn last_sequence(&self) -> Sequence {
        self.last
    }

    /// Time of the last frame, staged or found at the start; 0 before the first.
    #[must_use]
    pub const fn last_time(&self) -> TimeNs {
        self.last_time
    }

    /// Whether the largest frame fits now; must be called before a command is taken. If not, the
    /// staged frames are published and the sync thread makes room in its next step. Always `false`
    /// after an I/O error.
    #[must_use]
    pub fn has_room_for_largest(&mut self) -> bool {
        if self.state.is_poisoned() {
            return false;
        }
        let taken = self.handoff.taken.load(Ordering::Acquire);
        if self.full == Some(taken) {
            return false;
        }
        self.full = None;
        let batch = self.batch();
        if batch.room - batch.used >= frame::MAX_BYTES {
            return true;
        }
        // Read before the batch is back in the slot: the count then rises only when that batch is
        // taken.
        self.full = Some(self.handoff.taken.load(Ordering::Acquire));
        self.publish();
        false
    }

    /// Stages a frame and returns its place. It is acknowledged once [`JournalState::durable`] is
    /// at least its sequence. Allocates nothing.
    ///
    /// # Panics
    /// When the frame does not fit ([`Appender::has_room_for_largest`] was not called), the
    /// sequence is not the next one, the time is earlier than the last frame's, or the frame
    /// exceeds `model::limits`.
    #[inline]
    pub fn append(
        &mut self,
        sequence: Sequence,
        stamp: impl Into<CommandStamp>,
        command: &Command,
        events: &[Event],
        evidence: &[u8],
    ) -> FramePosition {
        assert!(sequence == self.last.next(), "sequences have no gaps");
        let stamp = stamp.into();
        assert!(
            stamp.time >= self.last_time,
            "time never falls: recovery refuses such a frame"
        );
        self.last = sequence;
        self.last_time = stamp.time;
        let batch = self.batch();
        let at = batch.used;
        let room = batch.room;
        let length = frame::encode(
            &mut batch.buffer[at..room],
            sequence,
            stamp,
            command,
            events,
            evidence,
        );
        if batch.frames == 0 {
            batch.first = sequence;
        }
        batch.frames += 1;
        batch.last = sequence;
        batch.used = at + length;
        FramePosition {
            segment: batch.segment,
            offset: batch.offset + to_u32(at),
            length: to_u32(length),
        }
    }

    /// Lets the sync thread take the staged frames: at the end of a burst, or after every command.
    /// Costs a pointer swap, and a system call when the sync thread sleeps.
    pub fn publish(&mut self) {
        match self.current.take() {
            Some(batch) if batch.frames > 0 => {
                self.next_batch.segment = batch.segment;
                self.next_batch.offset = batch.end();
                self.handoff.ready.store(Some(batch));
                self.handoff.wake_sync_thread();
            }
            empty => self.current = empty,
        }
    }

    /// The batch to fill: the current one, the published one if the sync thread has not taken it,
    /// or a new one.
    #[inline]
    fn batch(&mut self) -> &mut StagedBatch {
        if self.current.is_none() {
            self.current = Some(match self.handoff.ready.take() {
                Some(staged) => staged,
                None => self.open(),
            });
        }
        self.current.as_mut().expect("just filled")
    }

    /// Opens a batch after the last one.
    fn open(&mut self) -> Box<StagedBatch> {
        let mut batch = self
            .handoff
            .free
            .pop()
            .expect("the sync thread returns a buffer before it takes the next");
        let next_batch = &mut self.next_batch;
        if to_usize(next_batch.bytes - next_batch.offset) < MAX_SINGLE_FRAME_BATCH {
            next_batch.segment += 1;
            next_batch.offset = FIRST_BATCH;
            next_batch.bytes = next_batch.next_bytes;
        }
        batch.segment = next_batch.segment;
        batch.offset = next_batch.offset;
        batch.room = batch
            .buffer
            .len()
            .min(to_usize(next_batch.bytes - next_batch.offset));
        batch.used = HEADER_BYTES;
        batch.frames = 0;
        batch
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        self.publish();
        self.handoff.no_more.store(true, Ordering::Release);
        self.handoff.wake_sync_thread();
    }
}
