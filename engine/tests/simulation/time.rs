//! The simulated machine beside its disk: clocks that move when the scheduler says so, and
//! randomness that follows from the seed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::host::Host;

use super::fate::Fate;
use crate::clock::Clocks;

/// One second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;
/// Where wall time begins: no round number of seconds.
const BEGIN: u64 = 1_700_000_000 * SECOND + 123_456_789;

/// Clocks and randomness; clones are the same machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    monotonic: Arc<AtomicU64>,
    wall: Arc<AtomicU64>,
    fate: Fate,
}

impl Machine {
    pub(super) fn new(fate: Fate) -> Self {
        Self {
            monotonic: Arc::new(AtomicU64::new(1)),
            wall: Arc::new(AtomicU64::new(BEGIN)),
            fate,
        }
    }

    /// Time passes on both clocks.
    pub(super) fn pass(&self, nanoseconds: u64) {
        self.monotonic.fetch_add(nanoseconds, Ordering::Relaxed);
        self.wall.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Somebody sets the wall clock: ahead, or back.
    pub(super) fn set_wall_ahead(&self, nanoseconds: u64) {
        self.wall.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// As [`Self::set_wall_ahead`].
    pub(super) fn set_wall_back(&self, nanoseconds: u64) {
        self.wall.fetch_sub(nanoseconds, Ordering::Relaxed);
    }
}

impl Clocks for Machine {
    fn monotonic(&self) -> u64 {
        self.monotonic.load(Ordering::Relaxed)
    }

    fn wall(&self) -> u64 {
        self.wall.load(Ordering::Relaxed)
    }
}

impl Host for Machine {
    fn uptime(&self) -> Duration {
        Duration::from_nanos(self.monotonic())
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        for byte in bytes {
            *byte = u8::try_from(self.fate.below(256)).expect("below 256");
        }
        Ok(())
    }
}
