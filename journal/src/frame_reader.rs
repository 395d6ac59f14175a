//! Reading single frames by place, for receipts and evidence.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use foretell_model::{FramePosition, Sequence, TimeNs};
use rustix::fs::OFlags;

use crate::batch::BatchHeader;
use crate::batch_cursor::BatchCursor;
use crate::bytes::{to_u32, to_usize};
use crate::error::{Context, JournalError};
use crate::follow::{Follower, Next, open_segment};
use crate::frame::{self, Frame};
use crate::map::open_for_reading;
use crate::segments::Segments;

/// Reads frames by place. The file of the last one stays open, because the next frame is usually in
/// the same segment.
#[derive(Debug)]
pub struct Frames {
    segments: Segments,
    open: Option<(u32, File)>,
    /// Bytes of the last frame.
    bytes: Vec<u8>,
}

impl Frames {
    /// The bytes of a frame, as [`FrameReader::frame`] returns them.
    pub fn frame(
        &mut self,
        place: FramePosition,
        sequence: Sequence,
    ) -> Result<&[u8], JournalError> {
        let missing = || JournalError::NoFrame { place, sequence };
        if to_usize(place.length) > frame::MAX_BYTES {
            return Err(missing());
        }
        let (number, file) = match self.open.take() {
            Some((number, file)) if number == place.segment => (number, file),
            _ => {
                let path = self.segments.path(place.segment);
                let file = open_for_reading(&path, OFlags::empty()).context("open", &path);
                let cannot = |error| self.segments.cannot_open(place.segment, error);
                (place.segment, file.map_err(cannot)?)
            }
        };
        let (_, file) = self.open.insert((number, file));
        self.bytes.resize(to_usize(place.length), 0);
        file.read_exact_at(&mut self.bytes, u64::from(place.offset))
            .map_err(|_| missing())?;
        let is_it = Frame::parse(&self.bytes, place.segment, place.offset)
            .is_ok_and(|frame| frame.sequence() == sequence && frame.place() == place);
        if is_it {
            Ok(&self.bytes)
        } else {
            Err(missing())
        }
    }
}

/// The batch that holds a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameInclusion {
    /// Header of the batch.
    pub batch: BatchHeader,
    /// Index of the batch in its segment, from 0.
    pub index: u32,
    /// Chain hash before the batch.
    pub previous_hash: [u8; 32],
}

/// Reads single frames by place, for receipts and evidence.
#[derive(Clone, Debug)]
pub struct FrameReader {
    segments: Segments,
}

impl FrameReader {
    /// Reads from the journal in `dir`, with or without a running engine.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self::of(Segments::of(dir))
    }

    /// As [`Self::new`], of a journal whose segments are anywhere.
    #[must_use]
    pub const fn of(segments: Segments) -> Self {
        Self { segments }
    }

    /// The bytes of the frame with this sequence at this place, as named by a reply or a follower;
    /// its receipt is [`crate::chain::receipt`] of them.
    pub fn frame(&self, place: FramePosition, sequence: Sequence) -> Result<Vec<u8>, JournalError> {
        let mut frames = self.one_by_one();
        frames.frame(place, sequence)?;
        Ok(frames.bytes)
    }

    /// A reader for many frames.
    #[must_use]
    pub fn one_by_one(&self) -> Frames {
        Frames {
            segments: self.segments.clone(),
            open: None,
            bytes: Vec::new(),
        }
    }

    /// Finds the frame with this sequence, for callers that do not know its place. It opens the
    /// segments from the newest back to the right one and reads that one's batch headers: too slow
    /// for every request.
    pub fn find(&self, sequence: Sequence) -> Result<(FramePosition, Vec<u8>), JournalError> {
        let missing = || JournalError::NoFrame {
            place: FramePosition::default(),
            sequence,
        };
        let before = sequence.0.checked_sub(1).ok_or_else(missing)?;
        let mut follower = self.follow(Sequence(before))?;
        loop {
            match follower.next_frame()? {
                Next::Frame(frame) => return Ok((frame.place(), frame.bytes().to_vec())),
                Next::NewEpoch { .. } => {}
                Next::UpToDate | Next::Rebuild { .. } => return Err(missing()),
            }
        }
    }

    /// Reads the frames after this sequence in their order.
    pub fn follow(&self, after: Sequence) -> Result<Follower, JournalError> {
        Follower::open(self.segments.directory(), after)
    }

    /// The batch of the frame at this place. It reads the headers of the segment's batches up to
    /// there.
    pub fn inclusion(&self, place: FramePosition) -> Result<FrameInclusion, JournalError> {
        let (mut map, header) = open_segment(&self.segments, place.segment)?;
        map.raise(place.offset);
        let mut cursor = BatchCursor::start(&header, TimeNs(0));
        let mut index = 0;
        loop {
            let batch = cursor.peek(map.bytes()).map_err(|fault| {
                let first = cursor.last.next();
                cursor.damage(fault, place.offset, first)
            })?;
            if place.offset < batch.offset + to_u32(batch.total()) {
                return Ok(FrameInclusion {
                    batch,
                    index,
                    previous_hash: cursor.hash,
                });
            }
            cursor.pass(&batch);
            index += 1;
        }
    }
}
