//! State of the journal for the other threads of the engine.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use foretell_model::{Durability, Sequence};

use crate::control::{ControlPage, EngineStart, JournalPosition, WriterStatus};
use crate::primitives::{AtomicBool, AtomicU64};

#[derive(Debug)]
struct Shared {
    durable: CachePadded<AtomicU64>,
    /// Rises with a takeover in cluster mode; else constant.
    epoch: AtomicU64,
    failure: OnceLock<String>,
    ended: AtomicBool,
    disk_low: AtomicBool,
    durability: Durability,
    start: EngineStart,
    control: ControlPage,
}

/// A handle on the journal's state; clones share it.
#[derive(Clone, Debug)]
pub struct JournalState(Arc<Shared>);

impl JournalState {
    pub(crate) fn new(
        durable: Sequence,
        durability: Durability,
        start: EngineStart,
        control: ControlPage,
    ) -> Self {
        Self(Arc::new(Shared {
            durable: CachePadded::new(AtomicU64::new(durable.0)),
            epoch: AtomicU64::new(start.epoch),
            failure: OnceLock::new(),
            ended: AtomicBool::new(false),
            disk_low: AtomicBool::new(false),
            durability,
            start,
            control,
        }))
    }

    /// The last sequence that may be acknowledged. Never falls; does not rise after the first I/O
    /// error.
    #[must_use]
    pub fn durable(&self) -> Sequence {
        Sequence(self.0.durable.load(Ordering::Acquire))
    }

    /// Whether an I/O error ended the journal. The process must end then.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0.failure.get().is_some()
    }

    /// The I/O error that ended the journal.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.0.failure.get().map(String::as_str)
    }

    /// Whether the disk has less free space than the reserve. The engine then rejects new orders
    /// and accepts cancels.
    #[must_use]
    pub fn disk_low(&self) -> bool {
        self.0.disk_low.load(Ordering::Relaxed)
    }

    /// The epoch of this engine start; in cluster mode the term of the current segment.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// The random bytes that name the journal.
    #[must_use]
    pub fn genesis(&self) -> [u8; 32] {
        self.0.start.genesis
    }

    /// The durability that an acknowledgement guarantees.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.0.durability
    }

    /// Waits until `sequence` is durable. Returns false on timeout or when the journal has ended.
    #[must_use]
    pub fn wait_durable(&self, sequence: Sequence, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        loop {
            let seen = self.0.control.wake_count();
            if self.durable() >= sequence {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.has_ended() {
                return false;
            }
            self.0.control.wait(seen, left);
        }
    }

    /// Wakes every waiting follower without a new frame: one in this process may have other work.
    pub fn wake_followers(&self) {
        self.0.control.wake();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.is_poisoned() || self.0.ended.load(Ordering::Acquire)
    }

    pub(crate) fn raise(&self, sequence: Sequence, position: JournalPosition) {
        self.0.durable.store(sequence.0, Ordering::Release);
        self.0.control.raise(sequence, position);
    }

    pub(crate) fn set_epoch(&self, epoch: u64) {
        self.0.epoch.store(epoch, Ordering::Release);
    }

    /// Ends the journal in cluster mode: another host leads. Nothing more is acknowledged, and the
    /// process ends. The disk is not at fault, so no marker is left.
    pub fn supersede(&self, text: &str) {
        self.poison(text);
    }

    pub(crate) fn poison(&self, text: &str) {
        // Only the first error is kept: later ones are its consequence.
        let _ = self.0.failure.set(text.to_owned());
        self.0.control.set_status(WriterStatus::Failed);
    }

    pub(crate) fn end(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.control.set_status(WriterStatus::Closed);
    }

    pub(crate) fn set_disk_low(&self, low: bool) {
        self.0.disk_low.store(low, Ordering::Relaxed);
    }
}
