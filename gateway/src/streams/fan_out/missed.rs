//! Messages that a client missed: from the journal, then from the ring.

use bytes::Bytes;
use foretell_model::Sequence;

use crate::policy::limits::STREAM_PASS_FRAMES;
use crate::streams::connection::session::{Session, Waited};
use crate::streams::fan_out::HubState;
use crate::streams::fan_out::ring::{EncodedFrame, StreamRing};

/// Missed messages in their order, each with its frame of the journal: as many as the outbox has
/// room for. A client that misses more gets the rest when it has read these.
pub(crate) struct Missed {
    pub(crate) frames: Vec<(Sequence, Bytes)>,
    /// Everything up to this frame is among them.
    pub(crate) reached: Sequence,
    /// Whether nothing more is missed.
    pub(crate) is_whole: bool,
}

impl Missed {
    /// The messages that `choose` takes of each frame after `from`, up to `to`, until they are more
    /// than `max_bytes`; `None` when they are no longer held.
    pub(crate) fn collect(
        ring: &StreamRing,
        waited: &Waited,
        (from, to): (Sequence, Sequence),
        max_bytes: usize,
        choose: impl Fn(&EncodedFrame, &mut dyn FnMut(&Bytes)),
    ) -> Option<Self> {
        let mut missed = Self {
            frames: Vec::new(),
            reached: from,
            is_whole: false,
        };
        let mut bytes = 0;
        let mut add = |missed: &mut Self, frame: &EncodedFrame| {
            choose(frame, &mut |message| {
                bytes += message.len();
                missed.frames.push((frame.sequence, message.clone()));
            });
            missed.reached = frame.sequence;
            bytes <= max_bytes
        };
        if let Some(read) = waited.replayed()
            && let Some(frames) = &read.frames
        {
            if !frames.iter().all(|frame| add(&mut missed, frame)) {
                return Some(missed);
            }
            missed.reached = read.last.max(from);
            if !read.is_whole {
                return Some(missed);
            }
        }
        while missed.reached < to {
            let frames = ring.after(missed.reached, STREAM_PASS_FRAMES)?;
            let is_last = frames.len() < STREAM_PASS_FRAMES;
            let mut due = frames.iter().take_while(|frame| frame.sequence <= to);
            if !due.all(|frame| add(&mut missed, frame)) {
                return Some(missed);
            }
            if is_last || frames.last().is_some_and(|frame| frame.sequence > to) {
                break;
            }
        }
        (missed.reached, missed.is_whole) = (to, true);
        Some(missed)
    }
}

impl Session<'_> {
    /// Adds the answer to a resume, unless it was given, and then the missed messages, before
    /// everything else.
    pub(crate) fn send_missed(&self, hub: &mut HubState, answer: Vec<Bytes>, missed: Missed) {
        let (cursor, now) = (hub.cursor, hub.now());
        let answer = answer.into_iter().filter(|_| !self.is_continued);
        let answer = answer.map(|frame| (cursor, frame));
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
