//! Answers held until what they rest on is durable.

use foretell_model::Sequence;

use crate::hand_off::{Done, HandOff};

/// The head of the reply ring. The ring itself holds the rest: answers come out in the order of
/// the sequences they wait for, so only the oldest need be looked at.
#[derive(Debug, Default)]
pub(crate) struct HeldReplies {
    oldest: Option<Done>,
}

impl HeldReplies {
    /// The oldest answer, if it may leave.
    pub(crate) fn release(&mut self, hand_off: &HandOff, durable: Sequence) -> Option<Done> {
        if !self.is_ready(hand_off, durable) {
            return None;
        }
        self.oldest.take()
    }

    /// Whether an answer may leave.
    pub(crate) fn is_ready(&mut self, hand_off: &HandOff, durable: Sequence) -> bool {
        if self.oldest.is_none() {
            self.oldest = hand_off.pop_reply();
        }
        self.oldest
            .is_some_and(|done| done.last_sequence <= durable)
    }
}

#[cfg(test)]
mod tests {
    use foretell_link::Timing;
    use foretell_model::{CommandOutcome, FramePlace, Verdict};

    use super::*;
    use crate::hand_off::Origin;

    #[test]
    fn nothing_leaves_before_the_journal_covers_it() {
        let hand_off = HandOff::new(16);
        for sequence in [3, 3, 5] {
            hand_off.push_reply(Done {
                origin: Origin::Own,
                verdict: Verdict::Applied(CommandOutcome::Done),
                sequence: Sequence(sequence),
                last_sequence: Sequence(sequence),
                place: FramePlace::default(),
                staged: 0,
                timing: Timing::default(),
            });
        }
        let mut held = HeldReplies::default();
        // durable, answers that leave
        for (durable, expected) in [(0, 0), (2, 0), (3, 2), (4, 0), (9, 1), (10, 0)] {
            let mut left = 0;
            while held.release(&hand_off, Sequence(durable)).is_some() {
                left += 1;
            }
            assert_eq!(left, expected, "durable up to {durable}");
        }
    }
}
