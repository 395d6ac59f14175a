//! Time and randomness of the sync, injected so that tests control them.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;

/// A wait in progress.
pub type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The time and randomness that the sync uses.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
    /// Completes after `pause`.
    fn pause(&self, pause: Duration) -> Wait;
    /// A random duration from zero to `longest`.
    fn random_up_to(&self, longest: Duration) -> Duration;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn pause(&self, pause: Duration) -> Wait {
        Box::pin(tokio::time::sleep(pause))
    }

    fn random_up_to(&self, longest: Duration) -> Duration {
        // Without randomness every client waits equally long: worse, but not wrong.
        let draw = getrandom::u32().unwrap_or(u32::MAX);
        longest.mul_f64(f64::from(draw) / f64::from(u32::MAX))
    }
}
