//! The two bounded rings between ingress and matcher, and the reused evidence buffers.

use std::sync::atomic::Ordering;

use foretell_link::{HeartbeatId, Timing};
use foretell_matching::PrefetchState;
use foretell_model::limits::MAX_GROUP;
use foretell_model::{AccountNumber, Command, FramePosition, OperatorNumber, Sequence, Verdict};

use crate::primitives::{ArrayQueue, AtomicBool, AtomicUsize};

/// Length of the queue that prefetches commands between ring and core.
pub(crate) const PREFETCH_LENGTH: usize = PrefetchState::STEPS * PrefetchState::DISTANCE;
/// Maximum total evidence of all waiting commands, in bytes.
const MAX_WAITING_EVIDENCE: usize = 16 << 20;
/// Buffers larger than this are not reused.
const MAX_REUSED_BUFFER_BYTES: usize = 4_096;

/// Identifies a connection uniquely: slots are reused, generations are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConnectionId {
    pub(crate) slot: usize,
    pub(crate) generation: u64,
}

/// The submitter of a command.
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

/// Whose command it is, and its place in a replace. The commands of a replace are pushed one after the
/// other.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct GroupPlace {
    pub(crate) operator: OperatorNumber,
    /// Commands of its replace that follow; 0 outside of one.
    pub(crate) left: u8,
    /// The order is placed only when each cancel before it ended its order.
    pub(crate) if_all_canceled: bool,
}

/// A command queued for the matcher.
#[derive(Debug)]
pub(crate) struct QueuedCommand {
    pub(crate) origin: Origin,
    pub(crate) command: Command,
    pub(crate) group: GroupPlace,
    /// From [`CommandRing::buffer`]; returned by [`CommandRing::recycle`].
    pub(crate) evidence: Vec<u8>,
    /// Monotonic reading at the push.
    pub(crate) pushed: u64,
}

/// An answer queued for ingress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingReply {
    pub(crate) origin: Origin,
    pub(crate) verdict: Verdict,
    /// As in [`foretell_link::Reply`].
    pub(crate) sequence: Sequence,
    /// As in [`foretell_link::Reply`]; the answer waits until the journal is durable up to here. It
    /// never decreases from one answer to the next.
    pub(crate) last_sequence: Sequence,
    pub(crate) place: FramePosition,
    /// Monotonic reading when its frame was staged.
    pub(crate) staged: u64,
    /// Stage durations so far.
    pub(crate) timing: Timing,
}

impl PendingReply {
    /// The connection that gets the answer; `None` for the engine's own commands.
    pub(crate) const fn addressee(&self) -> Option<ConnectionId> {
        match self.origin {
            Origin::Gateway { connection, .. } | Origin::Heartbeat { connection, .. } => {
                Some(connection)
            }
            Origin::Own => None,
        }
    }
}

/// The rings. One thread pushes requests and takes replies, the other takes requests and pushes
/// replies.
#[derive(Debug)]
pub(crate) struct CommandRing {
    requests: ArrayQueue<QueuedCommand>,
    replies: ArrayQueue<PendingReply>,
    /// Empty buffers to reuse, so that the matcher neither allocates nor frees.
    spare: ArrayQueue<Vec<u8>>,
    evidence_bytes: AtomicUsize,
    /// The matcher has taken commands out of the ring that it has not applied yet.
    is_prefetching: AtomicBool,
    stopped: AtomicBool,
}

impl CommandRing {
    /// Rings for `capacity` waiting commands (clamped to 16 to 2^20) and twice as many answers.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(16, 1 << 20);
        Self {
            requests: ArrayQueue::new(capacity),
            replies: ArrayQueue::new(capacity * 2 + MAX_GROUP),
            spare: ArrayQueue::new(capacity + PREFETCH_LENGTH + MAX_GROUP),
            evidence_bytes: AtomicUsize::new(0),
            is_prefetching: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.requests.capacity()
    }

    /// Commands in the request ring.
    pub(crate) fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// Whether commands wait, in the ring or in the matcher's prefetch queue.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting() > 0 || self.is_prefetching.load(Ordering::SeqCst)
    }

    /// Records whether the matcher's prefetch queue holds commands.
    pub(crate) fn set_prefetching(&self, is_prefetching: bool) {
        if self.is_prefetching.load(Ordering::Relaxed) != is_prefetching {
            self.is_prefetching.store(is_prefetching, Ordering::SeqCst);
        }
    }

    /// Whether `count` commands of a gateway are admitted together. An eighth of the ring is reserved for cancels. One
    /// connection may fill half of the ring (five eighths with cancels), so one flooding connection
    /// leaves room for the others.
    pub(crate) fn admits(
        &self,
        is_cancel: bool,
        count: usize,
        in_flight: usize,
        evidence: usize,
    ) -> bool {
        let eighth = self.capacity() / 8;
        let (waiting, in_flight) = (self.waiting() + count, in_flight + count);
        if is_cancel {
            return waiting <= self.capacity() && in_flight <= 5 * eighth;
        }
        waiting <= self.capacity() - eighth
            && in_flight <= 4 * eighth
            && self.evidence_bytes.load(Ordering::Relaxed) + evidence <= MAX_WAITING_EVIDENCE
    }

    /// A buffer with a copy of `evidence`.
    pub(crate) fn buffer(&self, evidence: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        if buffer.capacity() > MAX_REUSED_BUFFER_BYTES {
            buffer = Vec::new();
        }
        buffer.extend_from_slice(evidence);
        buffer
    }

    /// Queues a command for the matcher; `false` when the ring is full.
    pub(crate) fn push(&self, command: QueuedCommand) -> bool {
        let bytes = command.evidence.len();
        // Add before the push: the matcher may subtract right after it, and the counter must not go
        // below zero.
        self.evidence_bytes.fetch_add(bytes, Ordering::Relaxed);
        let pushed = self.requests.push(command).is_ok();
        if !pushed {
            self.evidence_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        pushed
    }

    pub(crate) fn pop(&self) -> Option<QueuedCommand> {
        self.requests.pop()
    }

    /// Returns the buffer of an applied command for reuse.
    pub(crate) fn recycle(&self, mut evidence: Vec<u8>) {
        self.evidence_bytes
            .fetch_sub(evidence.len(), Ordering::Relaxed);
        evidence.clear();
        // Always fits: buffers belong to commands in the ring, in the prefetch queue, or to the one
        // being applied.
        drop(self.spare.push(evidence));
    }

    /// Whether the answers of the largest replace fit.
    pub(crate) fn has_reply_room(&self) -> bool {
        self.replies.len() + MAX_GROUP <= self.replies.capacity()
    }

    /// Queues an answer for ingress. The matcher checks for room before it takes a command.
    pub(crate) fn push_reply(&self, reply: PendingReply) {
        self.replies
            .push(reply)
            .expect("the matcher saw room, and nobody else pushes");
    }

    pub(crate) fn pop_reply(&self) -> Option<PendingReply> {
        self.replies.pop()
    }

    /// Makes the matcher end once no command waits, or at once when it is blocked.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(ring: &CommandRing, evidence: &[u8]) -> QueuedCommand {
        QueuedCommand {
            origin: Origin::Own,
            command: Command::AdvanceTime,
            group: GroupPlace::default(),
            evidence: ring.buffer(evidence),
            pushed: 0,
        }
    }

    #[test]
    fn an_eighth_is_kept_for_cancels_and_half_for_others() {
        let ring = CommandRing::new(64);
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
            while ring.waiting() < waiting {
                assert!(ring.push(command(&ring, &[])));
            }
            assert_eq!(
                ring.admits(is_cancel, 1, in_flight, 0),
                expected,
                "{waiting} waiting, cancel {is_cancel}, {in_flight} in flight"
            );
        }
        assert!(!ring.push(command(&ring, &[])));
    }

    #[test]
    fn evidence_is_bounded_in_sum_and_buffers_go_round() {
        let ring = CommandRing::new(1_024);
        let large = vec![0; 64 * 1_024];
        let mut pushed = 0;
        while ring.admits(false, 1, 0, large.len()) {
            assert!(ring.push(command(&ring, &large)));
            pushed += 1;
        }
        assert_eq!(pushed, MAX_WAITING_EVIDENCE / large.len());
        assert!(ring.admits(true, 1, 0, large.len()), "cancels are let in");

        while let Some(command) = ring.pop() {
            ring.recycle(command.evidence);
        }
        assert!(ring.admits(false, 1, 0, MAX_WAITING_EVIDENCE));
        assert_eq!(ring.buffer(b"new"), b"new");
        assert!(ring.buffer(b"new").capacity() < large.len());
    }
}
