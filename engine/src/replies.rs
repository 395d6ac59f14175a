//! Holds answers until their sequences are durable.

use foretell_model::Sequence;

use crate::command_ring::{CommandRing, PendingReply};

/// The head of the reply ring; the ring holds the rest. Answers are ordered by the sequence they
/// wait for, so only the oldest is checked.
#[derive(Debug, Default)]
pub(crate) struct HeldReplies {
    oldest: Option<PendingReply>,
}

impl HeldReplies {
    /// Removes the oldest answer if it is durable.
    pub(crate) fn release(
        &mut self,
        ring: &CommandRing,
        durable: Sequence,
    ) -> Option<PendingReply> {
        if !self.is_ready(ring, durable) {
            return None;
        }
        self.oldest.take()
    }

    /// Whether the oldest answer is durable.
    pub(crate) fn is_ready(&mut self, ring: &CommandRing, durable: Sequence) -> bool {
        if self.oldest.is_none() {
            self.oldest = ring.pop_reply();
        }
        self.oldest
            .is_some_and(|reply| reply.last_sequence <= durable)
    }
}

#[cfg(test)]
mod tests {
    use foretell_link::Timing;
    use foretell_model::{CommandOutcome, FramePosition, Verdict};

    use super::*;
    use crate::command_ring::Origin;

    #[test]
    fn nothing_leaves_before_the_journal_covers_it() {
        let ring = CommandRing::new(16);
        for sequence in [3, 3, 5] {
            ring.push_reply(PendingReply {
                origin: Origin::Own,
                verdict: Verdict::Applied(CommandOutcome::Done),
                sequence: Sequence(sequence),
                last_sequence: Sequence(sequence),
                place: FramePosition::default(),
                staged: 0,
                timing: Timing::default(),
            });
        }
        let mut held = HeldReplies::default();
        // durable, number of released answers
        for (durable, expected) in [(0, 0), (2, 0), (3, 2), (4, 0), (9, 1), (10, 0)] {
            let mut left = 0;
            while held.release(&ring, Sequence(durable)).is_some() {
                left += 1;
            }
            assert_eq!(left, expected, "durable up to {durable}");
        }
    }
}
