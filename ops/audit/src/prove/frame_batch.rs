//! Decoded frames, as the reader hands them to the executor.

use std::ops::Range;

use foretell_journal::frame::{Frame, FrameError};
use foretell_model::limits::MAX_TAIL_BYTES;
use foretell_model::{Command, CommandStamp, Event, FramePosition, FrameRef, Sequence};

use crate::finding::Finding;
use crate::prove::signatures::SignedCommand;

/// Frames of the journal in their order. Used again, a batch allocates nothing once it has grown.
#[derive(Debug, Default)]
pub(crate) struct FrameBatch {
    frames: Vec<DecodedFrame>,
    /// The command of each frame.
    commands: Vec<Command>,
    /// The events of all frames, in order.
    events: Vec<Event>,
    /// The tails of all commands that have one, in order.
    tails: Vec<u8>,
    /// Commands of these frames whose signatures are to be checked.
    pub(crate) signed: Vec<SignedCommand>,
    /// What the reader found wrong; no frame comes after it.
    pub(crate) finding: Option<Finding>,
}

/// A frame without its command; its events begin where those of the frame before it end, and so does
/// its tail.
#[derive(Debug)]
struct DecodedFrame {
    sequence: Sequence,
    stamp: CommandStamp,
    place: FramePosition,
    has_evidence: bool,
    events_end: usize,
    tail_end: usize,
}

impl FrameBatch {
    /// Frames of a full batch: few enough that decoded frames are still in the cache when they are executed.
    const FULL: usize = 1_024;

    /// Decodes one more frame and returns it.
    ///
    /// # Errors
    /// A record cannot be read, or is written otherwise. The frame is not added.
    pub(crate) fn push<'f>(&'f mut self, frame: &Frame<'f>) -> Result<FrameRef<'f>, FrameError> {
        let before = self.events.len();
        let read = frame.decode_append(&mut self.commands, &mut self.events);
        let read = read.and_then(|()| {
            let command = self.commands.last().ok_or(FrameError::Length)?;
            match frame.is_canonical(command, &self.events[before..]) {
                true => Ok(()),
                false => Err(FrameError::Padding),
            }
        });
        if let Err(error) = read {
            self.commands.truncate(self.frames.len());
            self.events.truncate(before);
            return Err(error);
        }
        let evidence = frame.evidence();
        if self.commands.last().is_some_and(Command::has_tail) {
            let tail = evidence.len().min(MAX_TAIL_BYTES);
            self.tails.extend_from_slice(&evidence[..tail]);
        }
        self.frames.push(DecodedFrame {
            sequence: frame.sequence(),
            stamp: frame.stamp(),
            place: frame.place(),
            has_evidence: !evidence.is_empty(),
            events_end: self.events.len(),
            tail_end: self.tails.len(),
        });
        Ok(FrameRef {
            evidence,
            ..self.frame(self.frames.len() - 1)
        })
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.commands.clear();
        self.events.clear();
        self.tails.clear();
        self.signed.clear();
        self.finding = None;
    }

    /// Events of a full batch: frames may have thousands each.
    const FULL_EVENTS: usize = 1 << 16;

    pub(crate) const fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.frames.len() >= Self::FULL || self.events.len() >= Self::FULL_EVENTS
    }

    pub(crate) fn sequence(&self, index: usize) -> Sequence {
        self.frames[index].sequence
    }

    pub(crate) fn has_evidence(&self, index: usize) -> bool {
        self.frames[index].has_evidence
    }

    /// Some of the frames, each with the tail of its command. The reader has checked its evidence.
    pub(crate) fn range(
        &self,
        indices: Range<usize>,
    ) -> impl Iterator<Item = FrameRef<'_>> + Clone {
        indices.map(|index| self.frame(index))
    }

    /// A frame with the tail of its command, without its evidence.
    #[inline]
    pub(crate) fn frame(&self, index: usize) -> FrameRef<'_> {
        let frame = &self.frames[index];
        let before = index.checked_sub(1).map(|before| &self.frames[before]);
        let (events, tail) = before.map_or((0, 0), |before| (before.events_end, before.tail_end));
        FrameRef {
            operator: frame.stamp.operator,
            touched: frame.stamp.touched,
            sequence: frame.sequence,
            time: frame.stamp.time,
            command: &self.commands[index],
            events: &self.events[events..frame.events_end],
            evidence: &self.tails[tail..frame.tail_end],
            place: frame.place,
        }
    }
}
