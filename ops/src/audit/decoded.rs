//! Frames of a journal, decoded for one reader.

use std::ops::Range;

use foretell_journal::Batch;
use foretell_journal::frame::{Frame, FrameError};
use foretell_memory::near;
use foretell_model::{Command, Event, FramePlace, FrameRef, Sequence, TimeNs};

/// Bytes ahead of the frame that is decoded whose memory is asked for: frames are of all lengths, so the
/// processor does not see by itself which lines come next.
const AHEAD: usize = 4096;

/// Decoded frames. Used again and again, it allocates nothing once it has grown.
#[derive(Debug, Default)]
pub(super) struct Decoded<'b> {
    frames: Vec<DecodedFrame<'b>>,
    /// One of each frame.
    commands: Vec<Command>,
    /// Of all frames, in their order.
    events: Vec<Event>,
}

/// A frame, and where its events end; they begin where those of the one before it end.
#[derive(Debug)]
struct DecodedFrame<'b> {
    sequence: Sequence,
    time: TimeNs,
    place: FramePlace,
    evidence: &'b [u8],
    events_end: usize,
}

impl<'b> Decoded<'b> {
    /// Decodes all frames of some batches, behind those that are there.
    ///
    /// # Errors
    /// A record cannot be read.
    pub(super) fn push_all(&mut self, batches: &'b [Batch]) -> Result<(), FrameError> {
        for batch in batches {
            let payload = batch.payload();
            let mut asked = 0;
            let mut at = 0;
            for frame in batch.frames() {
                let ahead = payload.len().min(at + AHEAD);
                near::bring_all(&payload[asked..ahead]);
                (asked, at) = (ahead, at + frame.bytes().len());
                self.push(&frame)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, frame: &Frame<'b>) -> Result<(), FrameError> {
        frame.decode_behind(&mut self.commands, &mut self.events)?;
        self.frames.push(DecodedFrame {
            sequence: frame.sequence(),
            time: frame.time(),
            place: frame.place(),
            evidence: frame.evidence(),
            events_end: self.events.len(),
        });
        Ok(())
    }

    /// Its room, for frames of other batches.
    pub(super) fn emptied<'o>(mut self) -> Decoded<'o> {
        self.frames.clear();
        self.commands.clear();
        self.events.clear();
        Decoded {
            // None is there to be mapped: the list keeps its memory, and loses what it borrowed.
            frames: self.frames.into_iter().map(|_| unreachable!()).collect(),
            commands: self.commands,
            events: self.events,
        }
    }

    /// How many frames it holds.
    pub(super) const fn len(&self) -> usize {
        self.frames.len()
    }

    /// Some of its frames, in their order.
    pub(super) fn range(&self, places: Range<usize>) -> impl Iterator<Item = FrameRef<'_>> + Clone {
        places.map(|place| self.frame(place))
    }

    #[inline]
    fn frame(&self, place: usize) -> FrameRef<'_> {
        let frame = &self.frames[place];
        let before = place.checked_sub(1).map(|before| &self.frames[before]);
        let events = before.map_or(0, |before| before.events_end);
        FrameRef {
            sequence: frame.sequence,
            time: frame.time,
            command: &self.commands[place],
            events: &self.events[events..frame.events_end],
            evidence: frame.evidence,
            place: frame.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use foretell_bench::audited_journal::{Contents, with_journal};
    use foretell_journal::Scratch;

    use super::*;
    use crate::audit::source::Source;

    fn frames(source: &Source) -> Vec<String> {
        let (mut frames, mut scratch) = (Vec::new(), Scratch::default());
        let read = source.each(&mut |frame| {
            frames.push(format!("{:?}", frame.decode(&mut scratch).unwrap()));
            ControlFlow::Continue(())
        });
        assert!(read.unwrap().is_some());
        frames
    }

    fn batches(source: &Source) -> Vec<Batch> {
        let mut reader = source.batches().unwrap();
        std::iter::from_fn(|| reader.next_batch().unwrap()).collect()
    }

    #[test]
    fn frames_are_those_of_their_batches_however_often_the_room_was_used() {
        let run = |journal: &Path| {
            let source = Source::open(journal, false).unwrap();
            let (frames, batches) = (frames(&source), batches(&source));
            assert!(batches.len() > 20);
            let mut room = Decoded::default();
            for together in [batches.len(), 1, 7] {
                let mut found = Vec::new();
                for some in batches.chunks(together) {
                    let mut decoded = room;
                    decoded.push_all(some).unwrap();
                    let all = decoded.range(0..decoded.len());
                    found.extend(all.map(|frame| format!("{frame:?}")));
                    room = decoded.emptied();
                    assert_eq!(room.len(), 0);
                }
                assert!(found == frames, "{together} batches together");
            }
        };
        with_journal(&std::env::temp_dir(), 4_000, Contents::Stream, run).unwrap();
    }

    #[test]
    fn room_that_was_emptied_is_used_again() {
        let run = |journal: &Path| {
            let batches = batches(&Source::open(journal, false).unwrap());
            let mut decoded = Decoded::default();
            decoded.push_all(&batches).unwrap();
            let before = (decoded.frames.as_ptr().addr(), decoded.frames.capacity());
            let room = decoded.emptied();
            assert_eq!(
                (room.frames.as_ptr().addr(), room.frames.capacity()),
                before
            );
        };
        with_journal(&std::env::temp_dir(), 500, Contents::Stream, run).unwrap();
    }
}
