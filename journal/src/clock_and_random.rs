//! Interface between the journal and its machine, apart from files ([`crate::disk`]): elapsed time
//! and random bytes. A simulation supplies both.

use std::fmt::Debug;
use std::io;
use std::time::{Duration, Instant};

/// A machine to run on.
pub trait ClockAndRandom: Debug + Send + Sync {
    /// Time since an arbitrary start. Never falls.
    fn uptime(&self) -> Duration;
    /// Fills `bytes` with unpredictable bytes.
    ///
    /// # Errors
    /// The error of the system.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The real machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClockAndRandom(Instant);

impl Default for SystemClockAndRandom {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl ClockAndRandom for SystemClockAndRandom {
    fn uptime(&self) -> Duration {
        self.0.elapsed()
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
    }
}
