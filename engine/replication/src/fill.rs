//! Fills the log with the messages of a journal, several in flight.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::signed::SignedLog;
use crate::window::{Flights, Superseded};

/// Maximum number of unconfirmed messages: single ones need not be fast.
const IN_FLIGHT: usize = 8;

/// Why the log was not filled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FillError {
    /// The log has a message that this journal does not have there.
    #[error("another host wrote message {0} of the log")]
    Refused(u64),
    /// No progress for the time that the caller waits.
    #[error("the log does not answer")]
    Unknown,
}

impl From<Superseded> for FillError {
    fn from(superseded: Superseded) -> Self {
        Self::Refused(superseded.number)
    }
}

/// Messages of a journal on their way into a log that has the messages before.
#[derive(Debug)]
pub struct Fill {
    flights: Flights,
    patience: Duration,
    begun: Instant,
    /// The last time at which the log confirmed something.
    confirmed_at: Duration,
}

impl Fill {
    /// Fills after message `last`. Without a confirmation for `patience` it gives up.
    #[must_use]
    pub fn new(last: u64, patience: Duration) -> Self {
        Self {
            flights: Flights::new(last, IN_FLIGHT, 0),
            patience,
            begun: Instant::now(),
            confirmed_at: Duration::ZERO,
        }
    }

    /// Sends the next message, when there is room. `wait` returns when an outcome may have arrived.
    ///
    /// # Errors
    /// [`FillError`]: the log may have some of the messages.
    pub fn push(
        &mut self,
        log: &mut SignedLog,
        message: &[u8],
        wait: &mut dyn FnMut(),
    ) -> Result<(), FillError> {
        self.wait_until(log, wait, Flights::has_room)?;
        self.flights
            .send(log, message.to_vec(), self.begun.elapsed());
        Ok(())
    }

    /// Waits until the log has all messages.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self, log: &mut SignedLog, wait: &mut dyn FnMut()) -> Result<(), FillError> {
        self.wait_until(log, wait, Flights::is_empty)
    }

    fn wait_until(
        &mut self,
        log: &mut SignedLog,
        wait: &mut dyn FnMut(),
        is_done: fn(&Flights) -> bool,
    ) -> Result<(), FillError> {
        loop {
            let now = self.begun.elapsed();
            if self.flights.step(log, now)? > 0 || self.flights.is_empty() {
                self.confirmed_at = now;
            }
            if is_done(&self.flights) {
                return Ok(());
            }
            if now.saturating_sub(self.confirmed_at) >= self.patience {
                return Err(FillError::Unknown);
            }
            wait();
        }
    }
}
