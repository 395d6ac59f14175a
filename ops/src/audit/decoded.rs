//! Frames of a journal, decoded for one reader.

use std::ops::Range;

use foretell_journal::frame::{Frame, FrameError};
use foretell_model::{Command, Event, FramePlace, FrameRef, Sequence, TimeNs};

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
    /// Frames that are decoded before they are read: they should stay near until then.
    pub(super) const MOST: usize = 1_024;

    /// Decodes the next frames, behind those that are there, until there are [`Self::MOST`] or no more.
    ///
    /// # Errors
    /// A record cannot be read.
    pub(super) fn fill(
        &mut self,
        frames: &mut impl Iterator<Item = Frame<'b>>,
    ) -> Result<(), FrameError> {
        let room = Self::MOST.saturating_sub(self.len());
        frames.take(room).try_for_each(|frame| self.push(&frame))
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
    use foretell_journal::{Batch, Scratch};

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
            assert!(frames.len() > 3 * Decoded::MOST);
            let mut room = Decoded::default();
            for together in [batches.len(), 1, 7] {
                let mut found = Vec::new();
                for some in batches.chunks(together) {
                    let mut coming = some.iter().flat_map(Batch::frames).peekable();
                    while coming.peek().is_some() {
                        let mut decoded = room;
                        decoded.fill(&mut coming).unwrap();
                        assert!(decoded.len() == Decoded::MOST || coming.peek().is_none());
                        let all = decoded.range(0..decoded.len());
                        found.extend(all.map(|frame| format!("{frame:?}")));
                        room = decoded.emptied();
                        assert_eq!(room.len(), 0);
                    }
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
            let mut frames = batches.iter().flat_map(Batch::frames);
            decoded.fill(&mut frames).unwrap();
            assert_eq!(decoded.len(), Decoded::MOST);
            let before = (decoded.frames.as_ptr().addr(), decoded.frames.capacity());
            let room = decoded.emptied();
            let now = (room.frames.as_ptr().addr(), room.frames.capacity());
            assert_eq!(now, before);
        };
        with_journal(&std::env::temp_dir(), 500, Contents::Stream, run).unwrap();
    }
}
