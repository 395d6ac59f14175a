//! The matcher's side: frames go into a staging buffer it owns, and nothing here waits.
//!
//! Two buffers go round. The matcher fills one and puts it into a slot (`publish`); it takes it back
//! from there for the next command unless the sync thread took it first, and then the other buffer
//! is free, because the sync thread returns the one before it takes the next. So whatever is staged
//! while a sync runs becomes the next batch, and both sides only swap pointers.
//!
//! A batch's place is known when it is opened: right behind the one before, or at the start of the
//! next segment when the rest of this one could not hold the largest frame. So is every frame's.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_utils::CachePadded;
use foretell_model::{Command, Event, FramePlace, Sequence, TimeNs};

use crate::batch::HEADER_BYTES;
use crate::bytes::{to_u32, to_usize, whole_pages};
use crate::frame;
use crate::options::LARGEST_BATCH_OF_ONE;
use crate::primitives::{ArrayQueue, AtomicBool, AtomicCell, AtomicU64, Parker, Unparker};
use crate::segment::FIRST_BATCH;
use crate::state::JournalState;

/// A batch being filled: room for its header, then frames.
#[derive(Debug)]
pub(crate) struct Staged {
    /// Whole pages, touched once so that the matcher meets no page fault.
    pub(crate) buffer: Box<[u8]>,
    /// Bytes used, the header's included.
    pub(crate) used: usize,
    /// Bytes that may be used: the buffer, or what is left of the segment.
    room: usize,
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) frames: u32,
    pub(crate) first: Sequence,
    pub(crate) last: Sequence,
}

impl Staged {
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

    /// Where the batch ends in its segment.
    pub(crate) fn end(&self) -> u32 {
        self.offset + to_u32(whole_pages(self.used))
    }
}

/// What the two threads share.
pub(crate) struct Handoff {
    ready: CachePadded<AtomicCell<Option<Box<Staged>>>>,
    free: ArrayQueue<Box<Staged>>,
    /// Batches the sync thread took.
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
    /// Two buffers of `bytes` each, and the parker the sync thread waits on.
    pub(crate) fn new(bytes: usize) -> (Arc<Self>, Parker) {
        let parker = Parker::new();
        let free = ArrayQueue::new(2);
        for _ in 0..2 {
            free.push(Box::new(Staged::new(bytes)))
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

    /// The staged batch, for the sync thread.
    pub(crate) fn take(&self) -> Option<Box<Staged>> {
        let staged = self.ready.take()?;
        self.taken.fetch_add(1, Ordering::Release);
        Some(staged)
    }

    /// Returns a buffer whose batch is on its way out. Comes before the next `take`.
    pub(crate) fn give_back(&self, staged: Box<Staged>) {
        self.free.push(staged).expect("there are two buffers");
    }

    /// Whether nothing more is published. When this was true before an empty `take`, all is done.
    pub(crate) fn is_over(&self) -> bool {
        self.no_more.load(Ordering::Acquire)
    }

    pub(crate) fn wake_sync_thread(&self) {
        self.sync_thread.unpark();
    }
}

/// Where the next batch opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    /// Size of that segment.
    pub(crate) bytes: u32,
    /// Size of the segments after it.
    pub(crate) next_bytes: u32,
}

/// The matcher's end of the journal. Dropping it publishes what is staged and lets the sync thread
/// finish.
#[derive(Debug)]
pub struct Appender {
    handoff: Arc<Handoff>,
    state: JournalState,
    current: Option<Box<Staged>>,
    opening: Opening,
    last: Sequence,
    last_time: TimeNs,
    /// Set while a full batch is published: how many batches were taken before it. It is left
    /// alone then, so that asking for room again and again cannot keep it from the sync thread.
    full: Option<u64>,
}

impl Appender {
    pub(crate) fn new(
        handoff: Arc<Handoff>,
        state: JournalState,
        opening: Opening,
        (last, last_time): (Sequence, TimeNs),
    ) -> Self {
        Self {
            handoff,
            state,
            current: None,
            opening,
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

    /// Whether the largest frame fits now: ask before taking a command. When not, what is staged
    /// is published, and the sync thread makes room by its next step; `false` for ever once the
    /// journal stopped on an I/O error.
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
        if batch.room - batch.used >= frame::LARGEST {
            return true;
        }
        // Read before the batch is in the slot again, so the count can only rise by its taking.
        self.full = Some(self.handoff.taken.load(Ordering::Acquire));
        self.publish();
        false
    }

    /// Stages a frame and says where it will stand. It is acknowledged once
    /// [`JournalState::durable`] is at least its sequence. Allocates nothing.
    ///
    /// # Panics
    /// When there is no room for the frame ([`Appender::has_room_for_largest`] was not asked), when
    /// the sequence is not the next one, when the time is earlier than the last frame's, or when the
    /// frame passes `model::limits`.
    #[inline]
    pub fn append(
        &mut self,
        sequence: Sequence,
        time: TimeNs,
        command: &Command,
        events: &[Event],
        evidence: &[u8],
    ) -> FramePlace {
        assert!(sequence == self.last.next(), "sequences have no gaps");
        assert!(
            time >= self.last_time,
            "time never falls: recovery refuses such a frame"
        );
        self.last = sequence;
        self.last_time = time;
        let batch = self.batch();
        let at = batch.used;
        let room = batch.room;
        let length = frame::encode(
            &mut batch.buffer[at..room],
            sequence,
            time,
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
        FramePlace {
            segment: batch.segment,
            offset: batch.offset + to_u32(at),
            length: to_u32(length),
        }
    }

    /// Lets the sync thread take what is staged: at the end of a burst, or after every command.
    /// Costs a pointer swap, and a system call when the sync thread sleeps.
    pub fn publish(&mut self) {
        match self.current.take() {
            Some(batch) if batch.frames > 0 => {
                self.opening.segment = batch.segment;
                self.opening.offset = batch.end();
                self.handoff.ready.store(Some(batch));
                self.handoff.wake_sync_thread();
            }
            empty => self.current = empty,
        }
    }

    /// The batch to fill: the one in hand, the published one when nobody took it, or a new one.
    #[inline]
    fn batch(&mut self) -> &mut Staged {
        if self.current.is_none() {
            self.current = Some(match self.handoff.ready.take() {
                Some(staged) => staged,
                None => self.open(),
            });
        }
        self.current.as_mut().expect("just filled")
    }

    /// Opens a batch behind the last one.
    fn open(&mut self) -> Box<Staged> {
        let mut batch = self
            .handoff
            .free
            .pop()
            .expect("the sync thread returns a buffer before it takes the next");
        let opening = &mut self.opening;
        if to_usize(opening.bytes - opening.offset) < LARGEST_BATCH_OF_ONE {
            opening.segment += 1;
            opening.offset = FIRST_BATCH;
            opening.bytes = opening.next_bytes;
        }
        batch.segment = opening.segment;
        batch.offset = opening.offset;
        batch.room = batch
            .buffer
            .len()
            .min(to_usize(opening.bytes - opening.offset));
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
