//! What passes between ingress and matcher: two bounded rings, and buffers that go round.

use std::sync::atomic::Ordering;

use foretell_link::{HeartbeatId, Timing};
use foretell_model::{AccountNumber, Command, FramePlace, Sequence, Verdict};

use crate::ahead::AHEAD;
use crate::primitives::{ArrayQueue, AtomicBool, AtomicUsize};

/// Evidence of all waiting commands together, at most.
const MAX_WAITING_EVIDENCE: usize = 16 << 20;
/// A buffer that grew beyond this is not used again.
const KEPT_BUFFER_BYTES: usize = 4_096;

/// Names a connection for ever: a slot is used again, a generation is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConnectionId {
    pub(crate) slot: usize,
    pub(crate) generation: u64,
}

/// Who waits for the answer to a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// A gateway's submit.
    Gateway {
        connection: ConnectionId,
        request: u64,
    },
    /// A heartbeat that starts a chain.
    Heartbeat {
        connection: ConnectionId,
        request: u64,
        owner: AccountNumber,
        id: HeartbeatId,
    },
    /// The engine itself.
    Own,
}

/// A command on its way to the matcher.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) origin: Origin,
    pub(crate) command: Command,
    /// From [`HandOff::buffer`]; goes back by [`HandOff::give_back`].
    pub(crate) evidence: Vec<u8>,
    /// Monotonic reading at the push.
    pub(crate) pushed: u64,
}

/// An answer on its way to ingress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) origin: Origin,
    pub(crate) verdict: Verdict,
    /// As in [`foretell_link::Reply`].
    pub(crate) sequence: Sequence,
    /// As in [`foretell_link::Reply`]; the answer waits until the journal is durable up to here.
    /// It never falls from one answer to the next.
    pub(crate) last_sequence: Sequence,
    pub(crate) place: FramePlace,
    /// Monotonic reading when its frame was staged.
    pub(crate) staged: u64,
    /// How long it took so far.
    pub(crate) timing: Timing,
}

impl Done {
    /// Who it is for; `None` when for nobody outside.
    pub(crate) const fn addressee(&self) -> Option<ConnectionId> {
        match self.origin {
            Origin::Gateway { connection, .. } | Origin::Heartbeat { connection, .. } => {
                Some(connection)
            }
            Origin::Own => None,
        }
    }
}

/// The rings. One thread pushes requests and takes replies, one does the reverse.
#[derive(Debug)]
pub(crate) struct HandOff {
    requests: ArrayQueue<Work>,
    replies: ArrayQueue<Done>,
    /// Empty buffers on their way back, so that the matcher neither allocates nor frees.
    spare: ArrayQueue<Vec<u8>>,
    evidence_bytes: AtomicUsize,
    /// The matcher took commands out of the ring whose turn has not come.
    ahead: AtomicBool,
    stopped: AtomicBool,
}

impl HandOff {
    /// Rings for `capacity` waiting commands (16 to 2^20) and twice as many answers.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(16, 1 << 20);
        Self {
            requests: ArrayQueue::new(capacity),
            replies: ArrayQueue::new(capacity * 2),
            spare: ArrayQueue::new(capacity + AHEAD + 1),
            evidence_bytes: AtomicUsize::new(0),
            ahead: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    /// Commands that fit.
    pub(crate) fn capacity(&self) -> usize {
        self.requests.capacity()
    }

    /// Commands that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// Whether commands wait, in the ring or in the matcher's hand.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting() > 0 || self.ahead.load(Ordering::SeqCst)
    }

    /// The matcher holds commands whose turn has not come, or does not any more.
    pub(crate) fn set_ahead(&self, ahead: bool) {
        if self.ahead.load(Ordering::Relaxed) != ahead {
            self.ahead.store(ahead, Ordering::SeqCst);
        }
    }

    /// Whether a gateway's command is taken: an eighth of the ring is kept for cancels, and one
    /// connection fills at most half of it (five eighths with cancels), so that a flood from one
    /// leaves room to the others.
    pub(crate) fn admits(&self, is_cancel: bool, in_flight: usize, evidence: usize) -> bool {
        let eighth = self.capacity() / 8;
        if is_cancel {
            return self.waiting() < self.capacity() && in_flight < 5 * eighth;
        }
        self.waiting() < self.capacity() - eighth
            && in_flight < 4 * eighth
            && self.evidence_bytes.load(Ordering::Relaxed) + evidence <= MAX_WAITING_EVIDENCE
    }

    /// A buffer with a copy of `evidence`.
    pub(crate) fn buffer(&self, evidence: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        if buffer.capacity() > KEPT_BUFFER_BYTES {
            buffer = Vec::new();
        }
        buffer.extend_from_slice(evidence);
        buffer
    }

    /// Hands a command to the matcher; `false` when the ring is full.
    pub(crate) fn push(&self, work: Work) -> bool {
        let bytes = work.evidence.len();
        // Counted before the matcher can take it, so that the count never falls below zero.
        self.evidence_bytes.fetch_add(bytes, Ordering::Relaxed);
        let pushed = self.requests.push(work).is_ok();
        if !pushed {
            self.evidence_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        pushed
    }

    /// Takes the oldest command.
    pub(crate) fn pop(&self) -> Option<Work> {
        self.requests.pop()
    }

    /// Returns the buffer of a command that is done.
    pub(crate) fn give_back(&self, mut evidence: Vec<u8>) {
        self.evidence_bytes
            .fetch_sub(evidence.len(), Ordering::Relaxed);
        evidence.clear();
        // There are at most as many buffers as commands wait, ahead of their turn or in the ring,
        // and one more in the matcher's hand.
        drop(self.spare.push(evidence));
    }

    /// Whether an answer fits.
    pub(crate) fn has_reply_room(&self) -> bool {
        !self.replies.is_full()
    }

    /// Hands an answer to ingress. The matcher asks for room before it takes a command.
    pub(crate) fn push_reply(&self, done: Done) {
        self.replies
            .push(done)
            .expect("the matcher saw room, and nobody else pushes");
    }

    /// Takes the oldest answer.
    pub(crate) fn pop_reply(&self) -> Option<Done> {
        self.replies.pop()
    }

    /// Tells the matcher to end once nothing waits, or at once when it cannot go on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Whether [`Self::stop`] was called.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(hand_off: &HandOff, evidence: &[u8]) -> Work {
        Work {
            origin: Origin::Own,
            command: Command::AdvanceTime,
            evidence: hand_off.buffer(evidence),
            pushed: 0,
        }
    }

    #[test]
    fn an_eighth_is_kept_for_cancels_and_half_for_others() {
        let hand_off = HandOff::new(64);
        // waiting, cancel, in flight of this connection, admitted
        let table = [
            (0, false, 0, true),
            (0, false, 31, true),
            (0, false, 32, false),
            (0, true, 39, true),
            (0, true, 40, false),
            (55, false, 0, true),
            (56, false, 0, false),
            (56, true, 0, true),
            (63, true, 0, true),
            (64, true, 0, false),
        ];
        for (waiting, is_cancel, in_flight, expected) in table {
            while hand_off.waiting() < waiting {
                assert!(hand_off.push(work(&hand_off, &[])));
            }
            assert_eq!(
                hand_off.admits(is_cancel, in_flight, 0),
                expected,
                "{waiting} waiting, cancel {is_cancel}, {in_flight} in flight"
            );
        }
        assert!(!hand_off.push(work(&hand_off, &[])));
    }

    #[test]
    fn evidence_is_bounded_in_sum_and_buffers_go_round() {
        let hand_off = HandOff::new(1_024);
        let large = vec![0; 64 * 1_024];
        let mut pushed = 0;
        while hand_off.admits(false, 0, large.len()) {
            assert!(hand_off.push(work(&hand_off, &large)));
            pushed += 1;
        }
        assert_eq!(pushed, MAX_WAITING_EVIDENCE / large.len());
        assert!(hand_off.admits(true, 0, large.len()), "cancels are let in");

        while let Some(done) = hand_off.pop() {
            hand_off.give_back(done.evidence);
        }
        assert!(hand_off.admits(false, 0, MAX_WAITING_EVIDENCE));
        assert_eq!(hand_off.buffer(b"new"), b"new");
        assert!(hand_off.buffer(b"new").capacity() < large.len());
    }
}
