//! Time of idle connections, in ticks: the number of checks of all connections.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::policy::limits::{ConnectionLimits, MIN_ANSWER_PACE};

/// Number of a check of all connections, from 1.
pub(crate) type Tick = u32;

/// Counts ticks; at one a second it lasts a century.
#[derive(Debug)]
pub(crate) struct Clock(AtomicU32);

impl Default for Clock {
    fn default() -> Self {
        Self(AtomicU32::new(1))
    }
}

impl Clock {
    /// The current tick.
    pub(crate) fn now(&self) -> Tick {
        self.0.load(Relaxed)
    }

    /// Advances by `ticks`. Only one thread calls this.
    pub(crate) fn advance(&self, ticks: Tick) -> Tick {
        let now = self.now().saturating_add(ticks);
        self.0.store(now, Relaxed);
        now
    }
}

/// The limits of a connection in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdlePolicy {
    pub(crate) head: Tick,
    pub(crate) idle: Tick,
    pub(crate) write_stall: Tick,
    /// Bytes of an answer that a client must read in a tick, at least one.
    pub(crate) pace: usize,
}

impl IdlePolicy {
    pub(crate) fn new(limits: &ConnectionLimits, step: Duration) -> Self {
        let ticks = |limit: Duration| {
            let ticks = limit.as_nanos().div_ceil(step.as_nanos());
            Tick::try_from(ticks).unwrap_or(Tick::MAX)
        };
        Self {
            head: ticks(limits.head),
            idle: ticks(limits.idle),
            write_stall: ticks(limits.write_stall),
            pace: usize::try_from(step.as_millis() * MIN_ANSWER_PACE as u128 / 1_000)
                .unwrap_or(usize::MAX)
                .max(1),
        }
    }
}
