//! Messages that a client missed: from the journal, then from the ring.

use bytes::Bytes;
use foretell_model::Sequence;

use crate::policy::limits::STREAM_RESUME_FRAMES;
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
    /// than `max_bytes` or [`STREAM_RESUME_FRAMES`] frames of the ring were visited; `None` when they
    /// are no longer held.
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
        if missed.reached >= to {
            (missed.reached, missed.is_whole) = (to, true);
            return Some(missed);
        }
        let frames = ring.after(missed.reached, STREAM_RESUME_FRAMES)?;
        let is_last = frames.len() < STREAM_RESUME_FRAMES;
        let mut due = frames.iter().take_while(|frame| frame.sequence <= to);
        let has_room = due.all(|frame| add(&mut missed, frame));
        let is_beyond = || frames.last().is_some_and(|frame| frame.sequence >= to);
        if has_room && (is_last || is_beyond()) {
            (missed.reached, missed.is_whole) = (to, true);
        }
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

#[cfg(test)]
mod tests {
    use foretell_model::MarketNumber;

    use super::*;
    use crate::policy::limits::{STREAM_RESUME_WINDOW, STREAM_RING_BYTES};
    use crate::streams::fan_out::ring::{MarketMessage, RingLimits, Scope};
    use crate::streams::subscription::demand::Demand;

    #[test]
    fn a_resume_visits_some_frames_and_goes_on() {
        let limits = RingLimits {
            frames: 10_000,
            bytes: STREAM_RING_BYTES,
        };
        let ring = StreamRing::new(
            limits,
            std::sync::Arc::new(Demand::new(STREAM_RESUME_WINDOW)),
        );
        let frame = |sequence| EncodedFrame {
            sequence: Sequence(sequence),
            time: Default::default(),
            market: [MarketMessage {
                scope: Scope::Market(MarketNumber(0)),
                frame: Bytes::from_static(b"x"),
            }]
            .into(),
            user: Box::default(),
            confirmations: Box::default(),
            revoked: Box::default(),
        };
        let all = 2 * STREAM_RESUME_FRAMES as u64 + 10;
        ring.push((1..=all).map(frame).collect(), Sequence(all));
        let (mut from, mut steps, mut messages) = (Sequence(0), 0, 0);
        loop {
            let missed = Missed::collect(
                &ring,
                &Waited::Not,
                (from, Sequence(all)),
                usize::MAX,
                |frame, add| frame.market.iter().for_each(|message| add(&message.frame)),
            );
            let missed = missed.expect("the ring has all");
            assert!(missed.frames.len() <= STREAM_RESUME_FRAMES);
            (from, steps, messages) = (
                missed.reached,
                steps + 1,
                messages + missed.frames.len() as u64,
            );
            if missed.is_whole {
                break;
            }
        }
        assert_eq!((from, steps, messages), (Sequence(all), 3, all));
    }
}
