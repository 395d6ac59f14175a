//! Messages that a client missed: from the journal, then from the ring.

use bytes::Bytes;
use foretell_model::Sequence;

use crate::limits::STREAM_PASS_FRAMES;
use crate::streams::fan_out::HubState;
use crate::streams::ring::{EncodedFrame, StreamRing};
use crate::streams::session::{Session, Waited};

/// Missed messages in their order, each with its frame of the journal.
pub(crate) struct Missed {
    pub(crate) frames: Vec<(Sequence, Bytes)>,
    bytes: usize,
    max_bytes: usize,
}

impl Missed {
    /// None yet, of at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            frames: Vec::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// Adds the messages that `choose` takes of each frame after `from`, up to `to`; `None` when
    /// they are too many, or no longer held.
    pub(crate) fn collect(
        &mut self,
        ring: &StreamRing,
        waited: &Waited,
        (from, to): (Sequence, Sequence),
        choose: impl Fn(&EncodedFrame, &mut dyn FnMut(&Bytes)),
    ) -> Option<()> {
        let read = waited.replayed().and_then(|read| read.frames.as_ref());
        for frame in read.into_iter().flatten() {
            self.add(frame, &choose)?;
        }
        let mut cursor = Session::ring_after(from, waited);
        while cursor < to {
            let frames = ring.after(cursor, STREAM_PASS_FRAMES)?;
            for frame in frames.iter().take_while(|frame| frame.sequence <= to) {
                self.add(frame, &choose)?;
                cursor = frame.sequence;
            }
            if frames.len() < STREAM_PASS_FRAMES || frames.iter().any(|it| it.sequence > to) {
                break;
            }
        }
        Some(())
    }

    fn add(
        &mut self,
        frame: &EncodedFrame,
        choose: impl Fn(&EncodedFrame, &mut dyn FnMut(&Bytes)),
    ) -> Option<()> {
        choose(frame, &mut |message| {
            self.bytes += message.len();
            self.frames.push((frame.sequence, message.clone()));
        });
        (self.bytes <= self.max_bytes).then_some(())
    }
}

impl Session<'_> {
    /// Adds the answer to a resume, and then the missed messages, before everything else.
    pub(crate) fn send_missed(&self, hub: &mut HubState, answer: Vec<Bytes>, missed: Missed) {
        let (cursor, now) = (hub.cursor, hub.now());
        let answer = answer.into_iter().map(|frame| (cursor, frame));
        for (sequence, frame) in answer.chain(missed.frames) {
            let fits = (hub.member(self.id)).is_none_or(|it| it.push(frame, Some(sequence), now));
            hub.after_push(self.id, fits);
        }
        if let Some(member) = hub.member(self.id) {
            member.times.event = now;
            member.wake();
        }
    }
}
