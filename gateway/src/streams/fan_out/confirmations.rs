//! Confirmations of trades, in the order of their frames: each is sent a while after its trade.
//!
//! A resume repeats what a connection may lack: [`crate::streams::subscription::repeated`].

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_model::{Sequence, TimeMs};

use crate::policy::limits::{STREAM_CONFIRM_AFTER, STREAM_CONFIRM_WITHIN};
use crate::streams::connection::outbox::{Millis, millis};
use crate::streams::fan_out::ring::EncodedFrame;

/// The distributed frames whose confirmations are not sent yet, each with the time when they are due.
#[derive(Default)]
pub(crate) struct Confirmations(VecDeque<(Millis, Arc<EncodedFrame>)>);

impl Confirmations {
    /// Adds a frame that is distributed `now`.
    pub(crate) fn add(&mut self, frame: &Arc<EncodedFrame>, now: Millis) {
        if !frame.confirmations.is_empty() {
            let due = now + millis(STREAM_CONFIRM_AFTER);
            self.0.push_back((due, Arc::clone(frame)));
        }
    }

    /// Takes the oldest frame.
    pub(crate) fn next(&mut self) -> Option<Arc<EncodedFrame>> {
        self.0.pop_front().map(|(_, frame)| frame)
    }

    /// Takes the oldest frame if it is due.
    pub(crate) fn due(&mut self, now: Millis) -> Option<Arc<EncodedFrame>> {
        self.0
            .pop_front_if(|(due, _)| *due <= now)
            .map(|(_, frame)| frame)
    }

    /// Takes the oldest frame if it is too old beside a frame of this time.
    pub(crate) fn due_before(&mut self, time: TimeMs) -> Option<Arc<EncodedFrame>> {
        let is_old = |frame: &EncodedFrame| frame.time.0 + millis(STREAM_CONFIRM_WITHIN) <= time.0;
        let taken = self.0.pop_front_if(|(_, frame)| is_old(frame));
        taken.map(|(_, frame)| frame)
    }

    /// The oldest frame with confirmations to be sent.
    pub(crate) fn oldest(&self) -> Option<Sequence> {
        self.0.front().map(|(_, frame)| frame.sequence)
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::KeyNumber;

    use super::*;
    use crate::streams::fan_out::ring::UserMessage;

    fn frame(sequence: u64, time: u64) -> Arc<EncodedFrame> {
        let message = UserMessage {
            key: KeyNumber(1),
            market: None,
            frame: bytes::Bytes::new(),
        };
        Arc::new(EncodedFrame {
            confirmations: [message].into(),
            ..EncodedFrame::empty(Sequence(sequence), TimeMs(time))
        })
    }

    fn sequence(frame: Option<Arc<EncodedFrame>>) -> Option<u64> {
        frame.map(|frame| frame.sequence.0)
    }

    #[test]
    fn a_frame_is_confirmed_a_tenth_of_a_second_after_it_was_sent() {
        let mut waiting = Confirmations::default();
        waiting.add(&frame(1, 5_000), 10);
        waiting.add(&frame(2, 5_001), 30);
        let silent = EncodedFrame::empty(Sequence(3), TimeMs(5_002));
        waiting.add(&Arc::new(silent), 31);
        assert_eq!(waiting.oldest(), Some(Sequence(1)));
        assert_eq!(sequence(waiting.due(109)), None);
        assert_eq!(sequence(waiting.due(110)), Some(1));
        assert_eq!(sequence(waiting.due(110)), None);
        assert_eq!(sequence(waiting.next()), Some(2));
        assert_eq!(waiting.oldest(), None, "a frame without trades needs none");
    }

    /// So a resume knows which trades may lack it.
    #[test]
    fn a_frame_is_confirmed_before_one_of_much_later() {
        let mut waiting = Confirmations::default();
        waiting.add(&frame(1, 5_000), 10);
        assert_eq!(sequence(waiting.due_before(TimeMs(5_299))), None);
        assert_eq!(sequence(waiting.due_before(TimeMs(5_300))), Some(1));
    }
}
