//! Measures how late this machine wakes a thread unrelated to the load: every latency of a run
//! includes this.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hdrhistogram::Histogram;

use super::clock::{self, Timer};
use super::latency_record::histogram;
use crate::error::MeasureError;
use crate::harness::threads::joined;

/// Interval between wake-ups: frequent enough to see disturbances, too rare to cause any.
const PERIOD: u64 = 1_000_000;

/// A thread that measures how much longer it slept than requested.
pub(super) struct Jitter {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Histogram<u64>>>,
}

impl Jitter {
    pub(super) fn start() -> io::Result<Self> {
        let timer = Timer::blocking()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("jitter".to_owned())
            .spawn(move || {
                let mut late = histogram();
                while !stopping.load(Ordering::Relaxed) {
                    let at = clock::now() + PERIOD;
                    late.saturating_record(timer.wait_until(at)? - at);
                }
                Ok(late)
            })?;
        Ok(Self { stop, thread })
    }

    /// Stops the thread; returns its wake-up lateness.
    pub(super) fn stop(self) -> Result<Histogram<u64>, MeasureError> {
        self.stop.store(true, Ordering::Relaxed);
        let measured = joined("the jitter meter", self.thread.join())?;
        measured.map_err(MeasureError::io("the jitter meter"))
    }
}
