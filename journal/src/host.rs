//! The seam between the journal and the machine it runs on, beside its files ([`crate::disk`]): how
//! much time has passed, and random bytes. A simulation decides both.

use std::fmt::Debug;
use std::io;
use std::time::{Duration, Instant};

/// A machine to run on.
pub trait Host: Debug + Send + Sync {
    /// Time since a moment of the host's own choice. Never falls.
    fn uptime(&self) -> Duration;
    /// Fills `bytes` with bytes nobody can guess.
    ///
    /// # Errors
    /// What the system says.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The machine itself.
#[derive(Clone, Copy, Debug)]
pub struct RealHost(Instant);

impl Default for RealHost {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Host for RealHost {
    fn uptime(&self) -> Duration {
        self.0.elapsed()
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
    }
}
