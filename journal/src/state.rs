//! What the rest of the engine may know of the journal, from any thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use foretell_model::Sequence;

use crate::control::{ControlPage, Position, Start, Status};
use crate::options::Durability;
use crate::primitives::{AtomicBool, AtomicU64};

#[derive(Debug)]
struct Shared {
    durable: CachePadded<AtomicU64>,
    failure: OnceLock<String>,
    ended: AtomicBool,
    disk_low: AtomicBool,
    durability: Durability,
    start: Start,
    control: ControlPage,
}

/// A handle on the journal's state; clones share it.
#[derive(Clone, Debug)]
pub struct JournalState(Arc<Shared>);

impl JournalState {
    pub(crate) fn new(
        durable: Sequence,
        durability: Durability,
        start: Start,
        control: ControlPage,
    ) -> Self {
        Self(Arc::new(Shared {
            durable: CachePadded::new(AtomicU64::new(durable.0)),
            failure: OnceLock::new(),
            ended: AtomicBool::new(false),
            disk_low: AtomicBool::new(false),
            durability,
            start,
            control,
        }))
    }

    /// The last sequence that may be acknowledged. Never falls, and stands still for ever after
    /// the first I/O error.
    #[must_use]
    pub fn durable(&self) -> Sequence {
        Sequence(self.0.durable.load(Ordering::Acquire))
    }

    /// Whether an I/O error ended it: end the process.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0.failure.get().is_some()
    }

    /// The I/O error that ended it.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.0.failure.get().map(String::as_str)
    }

    /// Whether the disk has less room than the reserve: refuse new orders, keep cancels.
    #[must_use]
    pub fn disk_low(&self) -> bool {
        self.0.disk_low.load(Ordering::Relaxed)
    }

    /// The epoch of this engine start.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.0.start.epoch
    }

    /// The random bytes that name the journal.
    #[must_use]
    pub fn genesis(&self) -> [u8; 32] {
        self.0.start.genesis
    }

    /// What an acknowledgement means here.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.0.durability
    }

    /// Waits until `sequence` is durable; false when the time was up first, or the journal ended.
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

    /// Wakes every follower that waits, although nothing is new: one in this process may have
    /// something else to look at.
    pub fn wake_followers(&self) {
        self.0.control.wake();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.is_poisoned() || self.0.ended.load(Ordering::Acquire)
    }

    pub(crate) fn raise(&self, sequence: Sequence, position: Position) {
        self.0.durable.store(sequence.0, Ordering::Release);
        self.0.control.raise(sequence, position);
    }

    pub(crate) fn poison(&self, text: &str) {
        // Only the first error is kept: what follows is its consequence.
        let _ = self.0.failure.set(text.to_owned());
        self.0.control.set_status(Status::Failed);
    }

    pub(crate) fn end(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.control.set_status(Status::Closed);
    }

    pub(crate) fn set_disk_low(&self, low: bool) {
        self.0.disk_low.store(low, Ordering::Relaxed);
    }
}
