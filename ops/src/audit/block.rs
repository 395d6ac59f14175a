//! Decoded frames, one behind the other, as an audit's reader hands them to everybody else.

use std::ops::Range;

use foretell_journal::frame::{Frame, FrameError};
use foretell_memory::near;
use foretell_model::{Command, Event, FramePlace, FrameRef, Sequence, TimeNs};

/// Frames of a block, about: enough that handing one over costs nothing, and few enough that a block is
/// small beside a processor's cache.
const FRAMES: usize = 512;
/// Events, and bytes of evidence, after which a block is full, too: more than so many frames have on any
/// market, and far less than they may have.
const EVENTS: usize = 8 * FRAMES;
const EVIDENCE_BYTES: usize = 1024 * FRAMES;

/// Decoded frames. Filled again and again, it allocates nothing once it has grown.
#[derive(Debug, Default)]
pub(super) struct Block {
    frames: Vec<Decoded>,
    /// Of all frames, in their order.
    events: Vec<Event>,
    evidence: Vec<u8>,
}

/// A frame, and where its events and its evidence end; they begin where those of the one before it end.
#[derive(Debug)]
struct Decoded {
    sequence: Sequence,
    time: TimeNs,
    command: Command,
    place: FramePlace,
    events_end: usize,
    evidence_end: usize,
}

impl Block {
    /// Decodes a frame behind the others.
    ///
    /// # Errors
    /// A record of it cannot be read.
    pub(super) fn push(&mut self, frame: &Frame<'_>) -> Result<(), FrameError> {
        let command = frame.decode_behind(&mut self.events)?;
        self.evidence.extend_from_slice(frame.evidence());
        self.frames.push(Decoded {
            sequence: frame.sequence(),
            time: frame.time(),
            command,
            place: frame.place(),
            events_end: self.events.len(),
            evidence_end: self.evidence.len(),
        });
        Ok(())
    }

    pub(super) const fn is_full(&self) -> bool {
        self.frames.len() >= FRAMES
            || self.events.len() >= EVENTS
            || self.evidence.len() >= EVIDENCE_BYTES
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.events.clear();
        self.evidence.clear();
    }

    /// How many frames it holds.
    pub(super) const fn len(&self) -> usize {
        self.frames.len()
    }

    /// Some of its frames, in their order.
    pub(super) fn range(&self, places: Range<usize>) -> impl Iterator<Item = FrameRef<'_>> + Clone {
        places.map(|place| self.frame(place))
    }

    /// Brings some of its frames near: another processor wrote them.
    pub(super) fn bring_frames(&self, places: Range<usize>) {
        near::bring_all(&self.frames[places]);
    }

    /// Once they are near: their events and evidence.
    pub(super) fn bring_contents(&self, places: Range<usize>) {
        let (events, evidence) = self.begin(places.start);
        let (events_end, evidence_end) = self.begin(places.end);
        near::bring_all(&self.events[events..events_end]);
        near::bring_all(&self.evidence[evidence..evidence_end]);
    }

    /// Where the events and the evidence of a frame begin, or end: those of the frame before it.
    fn begin(&self, place: usize) -> (usize, usize) {
        let before = place.checked_sub(1).map(|before| &self.frames[before]);
        before.map_or((0, 0), |before| (before.events_end, before.evidence_end))
    }

    #[inline]
    fn frame(&self, place: usize) -> FrameRef<'_> {
        let frame = &self.frames[place];
        let (events, evidence) = self.begin(place);
        FrameRef {
            sequence: frame.sequence,
            time: frame.time,
            command: &frame.command,
            events: &self.events[events..frame.events_end],
            evidence: &self.evidence[evidence..frame.evidence_end],
            place: frame.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_journal::frame::encode;
    use foretell_model::{AccountNumber, KeyNumber};

    fn bytes(sequence: u64, events: &[Event], evidence: &[u8]) -> Vec<u8> {
        let command = Command::RevokeKey {
            key: KeyNumber(u32::try_from(sequence).unwrap()),
            cancel_orders: false,
        };
        let mut bytes = vec![0; foretell_journal::frame::length(events.len(), evidence.len())];
        let (sequence, time) = (Sequence(sequence), TimeNs(sequence * 7));
        encode(&mut bytes, sequence, time, &command, events, evidence);
        bytes
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_often_the_block_is_filled() {
        let event = |number| Event::HeartbeatSet {
            owner: AccountNumber(number),
            on: true,
        };
        let rows: [(&[Event], &[u8]); 5] = [
            (&[], &[]),
            (&[event(1), event(2)], &[]),
            (&[], b"evidence"),
            (&[event(3)], b"more"),
            (&[], &[]),
        ];
        let mut block = Block::default();
        for first in [1, 100] {
            block.clear();
            for (sequence, (events, evidence)) in (first..).zip(rows) {
                let bytes = bytes(sequence, events, evidence);
                let frame = Frame::parse(&bytes, 3, u32::try_from(sequence).unwrap());
                block.push(&frame.unwrap()).unwrap();
            }
            assert_eq!(block.len(), rows.len());
            for ((sequence, (events, evidence)), frame) in
                (first..).zip(rows).zip(block.range(0..rows.len()))
            {
                let key = KeyNumber(u32::try_from(sequence).unwrap());
                assert!(
                    matches!(*frame.command, Command::RevokeKey { key: found, .. } if found == key)
                );
                assert_eq!((frame.events, frame.evidence), (events, evidence));
                assert_eq!(frame.sequence, Sequence(sequence));
                assert_eq!(frame.time, TimeNs(sequence * 7));
                assert_eq!(u64::from(frame.place.offset), sequence);
            }
        }
    }

    #[test]
    fn a_block_is_full_of_frames_events_or_evidence() {
        let event = Event::DivergenceAccepted;
        for (events, evidence, frames) in [(0, 0, FRAMES), (500, 0, 9), (0, 60_000, 9)] {
            let bytes = bytes(1, &vec![event; events], &vec![1; evidence]);
            let frame = Frame::parse(&bytes, 1, 0).unwrap();
            let mut block = Block::default();
            while !block.is_full() {
                block.push(&frame).unwrap();
            }
            assert_eq!(block.len(), frames);
        }
    }
}
