//! The mailbox between publisher and ingress. It takes no lock.
//!
//! The two are threads, and this is all they share besides the journal: snapshots asked for, written and attested, how far
//! the view is, and the ends of both. Ingress looks into it in every round and may share its thread with the matcher; a lock
//! around plain fields would let it wait for a publisher that lost its core.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_queue::ArrayQueue;
use foretell_journal::JournalState;
use foretell_link::{SnapshotResult, SnapshotStatus};
use foretell_model::{Command, Sequence, TimeNs};

use crate::command_ring::ConnectionId;

/// Maximum number of waiting snapshot requests.
const MAX_REQUESTS: usize = 64;

/// The origin of a snapshot request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SnapshotRequest {
    pub(crate) connection: ConnectionId,
    pub(crate) request: u64,
}

#[derive(Debug)]
pub(crate) struct PublisherMailbox {
    enabled: bool,
    /// The last frame executed and folded.
    folded: AtomicU64,
    /// Sequence and engine time of the newest snapshot; 0 when there is none.
    newest: AtomicU64,
    newest_time: AtomicU64,
    /// As in [`SnapshotStatus`].
    unwritten: AtomicBool,
    view_stopped: AtomicU64,
    /// The publisher ended with an error, so the engine must end.
    failed: AtomicBool,
    stopping: AtomicBool,
    /// Whether attestations can be journalled: not on a host that follows a leader.
    leading: AtomicBool,
    requests: ArrayQueue<SnapshotRequest>,
    answers: ArrayQueue<(SnapshotRequest, SnapshotResult)>,
    /// The command that attests the newest snapshot; at most one waits.
    attestation: ArrayQueue<Command>,
}

impl PublisherMailbox {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            folded: AtomicU64::new(0),
            newest: AtomicU64::new(0),
            newest_time: AtomicU64::new(0),
            unwritten: AtomicBool::new(false),
            view_stopped: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            leading: AtomicBool::new(true),
            requests: ArrayQueue::new(MAX_REQUESTS),
            // While ingress takes the answers, at most the same number of requests is added.
            answers: ArrayQueue::new(2 * MAX_REQUESTS),
            attestation: ArrayQueue::new(1),
        }
    }

    pub(crate) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Requests a snapshot of everything that is durable now; `false` when too many requests wait.
    pub(crate) fn request(&self, request: SnapshotRequest, journal: &JournalState) -> bool {
        let pushed = self.requests.push(request).is_ok();
        // The publisher sleeps as a follower does.
        journal.wake_followers();
        pushed
    }

    pub(crate) fn has_request(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Takes all requests; for the publisher.
    pub(crate) fn take_requests(&self) -> impl Iterator<Item = SnapshotRequest> {
        std::iter::from_fn(|| self.requests.pop()).take(MAX_REQUESTS)
    }

    /// Queues an answer; for the publisher.
    pub(crate) fn answer(&self, request: SnapshotRequest, result: SnapshotResult) {
        if self.answers.push((request, result)).is_err() {
            tracing::warn!("snapshot answer dropped: queue full");
        }
    }

    pub(crate) fn next_answer(&self) -> Option<(SnapshotRequest, SnapshotResult)> {
        self.answers.pop()
    }

    /// Queues the attestation of a snapshot; for the publisher.
    pub(crate) fn attest(&self, attestation: Command) {
        if self.leading.load(Ordering::Acquire) {
            self.attestation.force_push(attestation);
        }
    }

    /// The command that attests the newest snapshot; for ingress.
    pub(crate) fn take_attestation(&self) -> Option<Command> {
        self.attestation.pop()
    }

    /// Whether ingress has answers, an attestation or a failure to handle.
    pub(crate) fn has_messages(&self) -> bool {
        !self.answers.is_empty() || !self.attestation.is_empty() || self.has_failed()
    }

    pub(crate) fn set_folded(&self, sequence: Sequence) {
        self.folded.store(sequence.0, Ordering::Relaxed);
    }

    pub(crate) fn set_newest(&self, sequence: Sequence, time: TimeNs) {
        self.newest_time.store(time.0, Ordering::Relaxed);
        self.newest.store(sequence.0, Ordering::Relaxed);
    }

    pub(crate) fn set_unwritten(&self, unwritten: bool) {
        self.unwritten.store(unwritten, Ordering::Relaxed);
    }

    pub(crate) fn set_view_stopped(&self, at: Sequence) {
        self.view_stopped.store(at.0, Ordering::Relaxed);
    }

    /// The fields are read one by one and may be of different moments.
    pub(crate) fn status(&self) -> SnapshotStatus {
        SnapshotStatus {
            enabled: self.enabled,
            folded: Sequence(self.folded.load(Ordering::Relaxed)),
            newest: Sequence(self.newest.load(Ordering::Relaxed)),
            newest_time: TimeNs(self.newest_time.load(Ordering::Relaxed)),
            unwritten: self.unwritten.load(Ordering::Relaxed),
            view_stopped: Sequence(self.view_stopped.load(Ordering::Relaxed)),
        }
    }

    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn set_leading(&self, leading: bool) {
        self.leading.store(leading, Ordering::Release);
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
