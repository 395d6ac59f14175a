//! The clocks and randomness of the simulated machine: the scheduler moves the clocks, the seed
//! determines the randomness.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::clock_and_random::ClockAndRandom;

use super::context::SimContext;
use crate::clock::{Clocks, STEADY_NS, STEP_NS};

/// One second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;
/// Initial wall time: not a whole number of seconds.
const BEGIN: u64 = 1_700_000_000 * SECOND + 123_456_789;

/// Clocks and randomness; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    monotonic: Arc<AtomicU64>,
    wall: Arc<AtomicU64>,
    /// Monotonic reading when the wall clock was last stepped.
    stepped_at: Arc<AtomicU64>,
    context: SimContext,
}

impl Machine {
    pub(super) fn new(context: SimContext) -> Self {
        Self {
            monotonic: Arc::new(AtomicU64::new(1)),
            wall: Arc::new(AtomicU64::new(BEGIN)),
            stepped_at: Arc::default(),
            context,
        }
    }

    /// Advances both clocks.
    pub(super) fn pass(&self, nanoseconds: u64) {
        self.monotonic.fetch_add(nanoseconds, Ordering::Relaxed);
        self.wall.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Sets the wall clock ahead.
    pub(super) fn set_wall_ahead(&self, nanoseconds: u64) {
        self.note_step(nanoseconds);
        self.wall.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Sets the wall clock back.
    pub(super) fn set_wall_back(&self, nanoseconds: u64) {
        self.note_step(nanoseconds);
        self.wall.fetch_sub(nanoseconds, Ordering::Relaxed);
    }

    fn note_step(&self, nanoseconds: u64) {
        if nanoseconds > STEP_NS {
            self.stepped_at.store(self.monotonic(), Ordering::Relaxed);
        }
    }

    /// Whether the wall clock was not stepped for so long that engine time may follow it.
    pub(super) fn wall_stands(&self) -> bool {
        self.monotonic() - self.stepped_at.load(Ordering::Relaxed) >= STEADY_NS
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

impl ClockAndRandom for Machine {
    fn uptime(&self) -> Duration {
        Duration::from_nanos(self.monotonic())
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        for byte in bytes {
            *byte = u8::try_from(self.context.below(256)).expect("below 256");
        }
        Ok(())
    }
}
