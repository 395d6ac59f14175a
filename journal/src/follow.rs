//! Following a journal: from any process and thread, read-only, only durable frames.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use foretell_model::{FramePosition, Sequence, TimeNs};

use crate::archive;
use crate::batch::HEADER_BYTES;
use crate::batch_cursor::{BatchCursor, BatchFault};
use crate::bytes::{to_u32, to_usize};
use crate::control::{ControlView, JournalPosition, WriterStatus};
use crate::error::{Context, JournalError};
use crate::frame::Frame;
use crate::map::SegmentMap;
use crate::segment::{FIRST_BATCH, SegmentHeader};
use crate::segments::Segments;

/// Interval at which a follower checks for the new control page while an engine recovers.
const ENGINE_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Result of [`Follower::next_frame`].
#[derive(Debug)]
pub enum Next<'a> {
    /// The frame after the last one returned.
    Frame(Frame<'a>),
    /// No more durable frames: call [`Follower::wait`].
    UpToDate,
    /// The engine was restarted, or another host took over. All frames read stay valid, and so do
    /// their places; go on.
    NewEpoch {
        /// The new epoch.
        epoch: u64,
    },
    /// Frames that were read are not in the journal any more, or it is another journal. Drop this
    /// follower and all state built from it, and start over.
    Rebuild {
        /// The new epoch.
        epoch: u64,
    },
}

/// Reads the journal frame by frame as it grows.
#[derive(Debug)]
pub struct Follower {
    segments: Segments,
    view: ControlView,
    segment: OpenSegment,
    /// The last sequence that was read.
    last: Sequence,
    /// Offset and length of that frame in `segment`, if it was read from there.
    last_frame: Option<(u32, u32)>,
    /// The reader must start over.
    is_lost: bool,
    /// At the last check the control page belonged to no running engine.
    is_over: bool,
    /// A segment of a new term began, in a copy of a replicated log.
    has_new_term: bool,
}

/// A segment being read.
#[derive(Debug)]
struct OpenSegment {
    map: SegmentMap,
    /// Keeps the segment in the journal (`archive.rs`).
    _held: Option<File>,
    header: SegmentHeader,
    /// Offset of the next frame, and the end of the frames of the open batch; equal between
    /// batches.
    frame: u32,
    frames_end: u32,
    /// Position after the batch that is open or was read last. Times are not read.
    cursor: BatchCursor,
    /// End offset of the segment; known once it has a successor.
    end: Option<u32>,
}

/// Result of [`Follower::advance`].
enum Advance {
    Frame { offset: u32, length: u32 },
    UpToDate,
    NewEpoch,
    Rebuild,
}

impl Follower {
    /// Follows the journal in `dir` after sequence `after`, the last one that the reader already
    /// has.
    ///
    /// # Errors
    /// No engine has run since the machine started, the journal ends before `after`
    /// ([`JournalError::Ahead`]: the reader must start over), or files cannot be read.
    pub fn open(dir: &Path, after: Sequence) -> Result<Self, JournalError> {
        let segments = Segments::of(dir);
        let mut view = ControlView::open(dir)?;
        let last = view.durable();
        if last < after {
            return Err(JournalError::Ahead { after, last });
        }
        let segment = seek(&segments, &view, after)?;
        view.note_term(segment.header.epoch);
        Ok(Self {
            segments,
            view,
            segment,
            last: after,
            last_frame: None,
            is_lost: false,
            is_over: false,
            has_new_term: false,
        })
    }

    /// As [`Self::open`], but only if the frame `after` has this receipt; also returns its place.
    ///
    /// # Errors
    /// As [`Self::open`] for the sequence before.
    pub fn open_after_frame(
        dir: &Path,
        after: Sequence,
        receipt: &[u8; 32],
    ) -> Result<Option<(Self, FramePosition)>, JournalError> {
        let mut follower = Self::open(dir, Sequence(after.0.saturating_sub(1)))?;
        let place = match follower.next_frame()? {
            Next::Frame(frame) => (frame.receipt() == *receipt).then(|| frame.place()),
            Next::UpToDate | Next::NewEpoch { .. } | Next::Rebuild { .. } => None,
        };
        Ok(place.map(|place| (follower, place)))
    }

    /// The next frame, or the reason why there is none.
    ///
    /// # Errors
    /// Damaged bytes below the durable position: end the process.
    pub fn next_frame(&mut self) -> Result<Next<'_>, JournalError> {
        let epoch = |view: &ControlView| view.start.epoch;
        Ok(match self.advance()? {
            Advance::UpToDate => Next::UpToDate,
            Advance::NewEpoch => Next::NewEpoch {
                epoch: epoch(&self.view),
            },
            Advance::Rebuild => Next::Rebuild {
                epoch: epoch(&self.view),
            },
            Advance::Frame { offset, length } => {
                let bytes = &self.segment.map.bytes()[to_usize(offset)..to_usize(offset + length)];
                let number = self.segment.header.number;
                Next::Frame(
                    Frame::parse(bytes, number, offset)
                        .map_err(|error| self.segment.damaged(offset, self.last, &error))?,
                )
            }
        })
    }

    /// Waits until a new frame may be durable, or until `timeout`. To be called after
    /// [`Next::UpToDate`].
    pub fn wait(&mut self, timeout: Duration) {
        self.wait_unless(timeout, || false);
    }

    /// As [`Follower::wait`], but returns at once if `has_other_work` returns true. No work is
    /// missed if its producer calls [`crate::JournalState::wake_followers`] after adding it.
    pub fn wait_unless(&mut self, timeout: Duration, has_other_work: impl FnOnce() -> bool) {
        let seen = self.view.wake_count();
        if has_other_work() {
            return;
        }
        if self.is_over {
            // No engine wakes the readers of an abandoned page.
            self.view.wait(seen, timeout.min(ENGINE_POLL_INTERVAL));
        } else if !self.has_more() {
            self.view.wait(seen, timeout);
        }
    }

    /// The last sequence that is durable.
    #[must_use]
    pub fn durable(&self) -> Sequence {
        self.view.durable()
    }

    /// The last sequence that was read.
    #[must_use]
    pub const fn last_sequence(&self) -> Sequence {
        self.last
    }

    /// Last sequence and chain hash, if the last frame read ends its batch. A recovery may regroup
    /// frames after the watermark into other batches.
    #[must_use]
    pub fn batch_end(&self) -> Option<(Sequence, [u8; 32])> {
        let cursor = &self.segment.cursor;
        (self.last_frame.is_some() && cursor.last == self.last)
            .then_some((cursor.last, cursor.hash))
    }

    /// The current epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.view.start.epoch
    }

    /// The random bytes that name the journal.
    #[must_use]
    pub const fn genesis(&self) -> [u8; 32] {
        self.view.start.genesis
    }

    /// Status of the engine.
    #[must_use]
    pub fn status(&self) -> WriterStatus {
        self.view.status()
    }

    fn has_more(&self) -> bool {
        let segment = &self.segment;
        let read = JournalPosition {
            segment: segment.header.number,
            offset: segment.cursor.offset,
        };
        segment.frame < segment.frames_end || self.view.position() > read
    }

    fn advance(&mut self) -> Result<Advance, JournalError> {
        loop {
            if self.is_lost {
                return Ok(Advance::Rebuild);
            }
            if let Some((offset, length)) = self.frame_in_batch()? {
                return Ok(Advance::Frame { offset, length });
            }
            // A durable position stays valid. So the file system is asked for a newer page, which
            // costs a system call, only at the end of a page that is not marked as superseded.
            let goes_on = self.view.status() != WriterStatus::Superseded && self.has_more();
            if !goes_on && self.has_new_engine()? {
                return self.follow_new_engine();
            }
            if !self.open_batch()? {
                return Ok(Advance::UpToDate);
            }
            if std::mem::take(&mut self.has_new_term) {
                return Ok(Advance::NewEpoch);
            }
        }
    }

    /// Moves past the next frame of the open batch and returns its offset and length.
    fn frame_in_batch(&mut self) -> Result<Option<(u32, u32)>, JournalError> {
        let segment = &mut self.segment;
        while segment.frame < segment.frames_end {
            let offset = segment.frame;
            let bytes = &segment.map.bytes()[to_usize(offset)..to_usize(segment.frames_end)];
            let frame = Frame::parse(bytes, segment.header.number, offset)
                .map_err(|error| segment.damaged(offset, self.last, &error))?;
            let (sequence, length) = (frame.sequence(), frame.place().length);
            segment.frame += length;
            if sequence <= self.last {
                continue;
            }
            if sequence != self.last.next() {
                return Err(segment.damaged(offset, self.last, &"sequences are not in order"));
            }
            self.last = sequence;
            self.last_frame = Some((offset, length));
            return Ok(Some((offset, length)));
        }
        Ok(None)
    }

    /// Opens the next durable batch, in this segment or the next. Returns false if there is none.
    fn open_batch(&mut self) -> Result<bool, JournalError> {
        let position = self.view.position();
        let segment = &mut self.segment;
        let number = segment.header.number;
        let limit = match segment.end {
            Some(end) => end,
            None if position.segment == number => position.offset,
            None if position.segment > number => {
                let (_, next) = open_segment(&self.segments, number + 1)?;
                segment.end = Some(next.previous_end);
                next.previous_end
            }
            None => return Ok(false),
        };
        segment.map.raise(limit);
        if segment.cursor.offset < limit {
            return segment.open_batch().map(|()| true);
        }
        if segment.end.is_none() {
            return Ok(false);
        }
        let (map, header) = open_segment(&self.segments, number + 1)?;
        self.segment = OpenSegment::new(map, header, &self.segments);
        self.last_frame = None;
        self.has_new_term |= self.view.note_term(header.epoch);
        Ok(true)
    }

    /// Whether another engine start has published its page.
    fn has_new_engine(&mut self) -> Result<bool, JournalError> {
        self.is_over = self.view.status() == WriterStatus::Superseded
            || !self.view.is_current(self.segments.directory());
        if !self.is_over {
            return Ok(false);
        }
        match ControlView::open(self.segments.directory()) {
            Ok(view) => Ok(view.start.generation != self.view.start.generation),
            Err(JournalError::NoEngine(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Switches to the page of a new engine start.
    fn follow_new_engine(&mut self) -> Result<Advance, JournalError> {
        let old = self.view.start;
        self.view = ControlView::open(self.segments.directory())?;
        self.is_over = false;
        let new = self.view.start;
        // A copy of a replicated log keeps its term when its engine starts again.
        let is_older = new.epoch < old.epoch || (new.epoch == old.epoch && !new.is_replica);
        let is_other = new.genesis != old.genesis || is_older;
        if is_other || self.last > new.found {
            self.is_lost = true;
            return Ok(Advance::Rebuild);
        }
        let own = self.last_frame.map(|(offset, length)| {
            self.segment.map.bytes()[to_usize(offset)..to_usize(offset + length)].to_vec()
        });
        if let Some(own) = own {
            // The last frame read was rewritten, by this start or an earlier one that was not seen.
            // Its bytes must be the same.
            self.segment = seek(&self.segments, &self.view, Sequence(self.last.0 - 1))?;
            let last = self.last;
            self.last = Sequence(last.0 - 1);
            self.open_batch()?;
            let again = self.frame_in_batch()?;
            let is_same = again.is_some_and(|(offset, length)| {
                self.segment.map.bytes()[to_usize(offset)..to_usize(offset + length)] == *own
            });
            self.last = last;
            if !is_same {
                self.is_lost = true;
                return Ok(Advance::Rebuild);
            }
        } else {
            self.segment = seek(&self.segments, &self.view, self.last)?;
            self.last_frame = None;
        }
        self.view.note_term(self.segment.header.epoch);
        Ok(Advance::NewEpoch)
    }
}

impl OpenSegment {
    fn new(map: SegmentMap, header: SegmentHeader, segments: &Segments) -> Self {
        Self {
            map,
            _held: archive::hold(&segments.path(header.number)),
            header,
            frame: FIRST_BATCH,
            frames_end: FIRST_BATCH,
            cursor: BatchCursor::start(&header, TimeNs(0)),
            end: None,
        }
    }

    /// Opens the next batch, which is durable.
    fn open_batch(&mut self) -> Result<(), JournalError> {
        let opened = self.cursor.next_durable(self.map.bytes());
        let header = opened.map_err(|fault| self.fault(fault))?;
        self.frame = header.offset + to_u32(HEADER_BYTES);
        self.frames_end = self.frame + header.payload;
        Ok(())
    }

    /// Skips batches whose last sequence is at most `after`; stops at offset `limit`.
    fn skip_to(&mut self, after: Sequence, limit: u32) -> Result<(), JournalError> {
        while self.cursor.offset < limit {
            let header = self.cursor.peek(self.map.bytes());
            let header = header.map_err(|fault| self.fault(fault))?;
            if header.last > after {
                break;
            }
            self.cursor.pass(&header);
        }
        Ok(())
    }

    fn fault(&self, fault: BatchFault) -> JournalError {
        let first = self.cursor.last.next();
        self.cursor.damage(fault, self.header.bytes, first)
    }

    fn damaged(&self, at: u32, last: Sequence, why: &dyn std::fmt::Display) -> JournalError {
        JournalError::Damaged {
            segment: self.header.number,
            from: at,
            to: self.header.bytes,
            first: last.next(),
            last: last.next(),
            why: why.to_string(),
        }
    }
}

/// Maps a segment; only its header may be read at first.
pub(crate) fn open_segment(
    segments: &Segments,
    number: u32,
) -> Result<(SegmentMap, SegmentHeader), JournalError> {
    let path = segments.path(number);
    let map = SegmentMap::open(&path, FIRST_BATCH).context("map", &path);
    let map = map.map_err(|error| segments.cannot_open(number, error))?;
    let header = SegmentHeader::read(map.bytes()).map_err(|error| JournalError::Damaged {
        segment: number,
        from: 0,
        to: FIRST_BATCH,
        first: Sequence(0),
        last: Sequence(0),
        why: error.to_string(),
    })?;
    Ok((map, header))
}

/// Opens the segment of the frame after `after`, also before that frame is written, at its batch.
fn seek(
    segments: &Segments,
    view: &ControlView,
    after: Sequence,
) -> Result<OpenSegment, JournalError> {
    let position = view.position();
    let mut number = position.segment;
    let mut end = None;
    let (map, header) = loop {
        let (map, header) = open_segment(segments, number)?;
        if header.first <= after.next() || number == 1 {
            break (map, header);
        }
        end = Some(header.previous_end);
        number -= 1;
    };
    let mut open = OpenSegment::new(map, header, segments);
    open.end = end;
    let limit = end.unwrap_or(position.offset);
    open.map.raise(limit);
    open.skip_to(after, limit)?;
    Ok(open)
}
