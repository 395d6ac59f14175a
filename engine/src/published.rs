//! What the publisher shows to ingress, and what ingress asks of it. No lock is shared.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_queue::ArrayQueue;
use foretell_journal::JournalState;
use foretell_link::{SnapshotResult, SnapshotStatus};
use foretell_model::{Command, Sequence, TimeNs};

use crate::hand_off::ConnectionId;

/// Requests for a snapshot that may wait together.
const MAX_ASKERS: usize = 64;

/// Who asked for a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asker {
    pub(crate) connection: ConnectionId,
    pub(crate) request: u64,
}

/// The board between the two threads.
#[derive(Debug)]
pub(crate) struct Published {
    enabled: bool,
    /// The last frame executed and folded.
    folded: AtomicU64,
    /// The newest image, and when it was made; 0 when there is none.
    image: AtomicU64,
    image_time: AtomicU64,
    /// As in [`SnapshotStatus`].
    unwritten: AtomicBool,
    view_stopped: AtomicU64,
    /// The publisher ended by itself: the engine must, too.
    failed: AtomicBool,
    stopping: AtomicBool,
    askers: ArrayQueue<Asker>,
    answers: ArrayQueue<(Asker, SnapshotResult)>,
    /// The command that attests the newest image; at most one waits.
    attestation: ArrayQueue<Command>,
}

impl Published {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            folded: AtomicU64::new(0),
            image: AtomicU64::new(0),
            image_time: AtomicU64::new(0),
            unwritten: AtomicBool::new(false),
            view_stopped: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            askers: ArrayQueue::new(MAX_ASKERS),
            // At most as many again are asked for while ingress takes the answers.
            answers: ArrayQueue::new(2 * MAX_ASKERS),
            attestation: ArrayQueue::new(1),
        }
    }

    /// Whether there is a publisher.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Asks for a snapshot of everything that is durable now; `false` when too many are waiting.
    pub(crate) fn ask(&self, asker: Asker, journal: &JournalState) -> bool {
        let asked = self.askers.push(asker).is_ok();
        // It sleeps where followers sleep.
        journal.wake_followers();
        asked
    }

    /// Whether somebody asked.
    pub(crate) fn has_asker(&self) -> bool {
        !self.askers.is_empty()
    }

    /// Everybody who asked; for the publisher.
    pub(crate) fn take_askers(&self) -> impl Iterator<Item = Asker> {
        std::iter::from_fn(|| self.askers.pop()).take(MAX_ASKERS)
    }

    /// Answers; for the publisher.
    pub(crate) fn answer(&self, asker: Asker, result: SnapshotResult) {
        if self.answers.push((asker, result)).is_err() {
            tracing::warn!("nobody takes the answers about snapshots");
        }
    }

    /// The next answer; for ingress.
    pub(crate) fn next_answer(&self) -> Option<(Asker, SnapshotResult)> {
        self.answers.pop()
    }

    /// Has an image attested; for the publisher.
    pub(crate) fn attest(&self, attestation: Command) {
        self.attestation.force_push(attestation);
    }

    /// The command that attests the newest image; for ingress.
    pub(crate) fn next_attestation(&self) -> Option<Command> {
        self.attestation.pop()
    }

    /// Whether ingress has something to do about it.
    pub(crate) fn has_news(&self) -> bool {
        !self.answers.is_empty() || !self.attestation.is_empty() || self.has_failed()
    }

    pub(crate) fn show_folded(&self, sequence: Sequence) {
        self.folded.store(sequence.0, Ordering::Relaxed);
    }

    pub(crate) fn show_image(&self, sequence: Sequence, time: TimeNs) {
        self.image_time.store(time.0, Ordering::Relaxed);
        self.image.store(sequence.0, Ordering::Relaxed);
    }

    pub(crate) fn show_unwritten(&self, unwritten: bool) {
        self.unwritten.store(unwritten, Ordering::Relaxed);
    }

    pub(crate) fn show_view_stopped(&self, at: Sequence) {
        self.view_stopped.store(at.0, Ordering::Relaxed);
    }

    /// Each number is right by itself.
    pub(crate) fn status(&self) -> SnapshotStatus {
        SnapshotStatus {
            enabled: self.enabled,
            folded: Sequence(self.folded.load(Ordering::Relaxed)),
            image: Sequence(self.image.load(Ordering::Relaxed)),
            image_time: TimeNs(self.image_time.load(Ordering::Relaxed)),
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

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
