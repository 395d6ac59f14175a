//! Time and chance as the sync sees them: both are handed in, so that tests decide them.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;

/// A wait in progress.
pub type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the sync asks of the world around it besides the network.
pub trait Clock: Send + Sync {
    /// The present.
    fn now(&self) -> Timestamp;
    /// Passes after `pause`.
    fn pause(&self, pause: Duration) -> Wait;
    /// A duration by chance, from zero to `longest`.
    fn by_chance(&self, longest: Duration) -> Duration;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn pause(&self, pause: Duration) -> Wait {
        Box::pin(tokio::time::sleep(pause))
    }

    fn by_chance(&self, longest: Duration) -> Duration {
        // Without randomness every client waits the same, which is worse and not wrong.
        let draw = getrandom::u32().unwrap_or(u32::MAX);
        longest.mul_f64(f64::from(draw) / f64::from(u32::MAX))
    }
}
