//! The generator's clock, and a timer with microsecond precision: a poll timeout has whole
//! milliseconds, longer than most latencies measured here.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// Nanoseconds in a second.
pub(super) const SECOND: u64 = 1_000_000_000;

/// Monotonic nanoseconds.
pub(super) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * SECOND + part(time.tv_nsec)
}

/// A timer that becomes readable at a time of [`now`]'s clock.
#[derive(Debug)]
pub(super) struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    /// A timer for a poll.
    pub(super) fn polled() -> io::Result<Self> {
        Self::with(TimerfdFlags::NONBLOCK)
    }

    /// A timer for [`Self::wait_until`].
    pub(super) fn blocking() -> io::Result<Self> {
        Self::with(TimerfdFlags::empty())
    }

    fn with(flags: TimerfdFlags) -> io::Result<Self> {
        let flags = flags | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { descriptor })
    }

    /// Sets the time; a past time makes the timer readable at once.
    pub(super) fn arm(&self, at: u64) -> io::Result<()> {
        let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let it_value = Timespec {
            tv_sec: part(at / SECOND),
            // All zeros would disarm it.
            tv_nsec: part(at % SECOND).max(1),
        };
        let it_interval = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let time = Itimerspec {
            it_interval,
            it_value,
        };
        timerfd_settime(self.descriptor.as_fd(), TimerfdTimerFlags::ABSTIME, &time)?;
        Ok(())
    }

    /// Consumes the expiration, if there is one.
    pub(super) fn clear(&self) -> io::Result<()> {
        let mut count = [0; 8];
        match rustix::io::read(&self.descriptor, &mut count) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sleeps until `at`; returns the time then.
    pub(super) fn wait_until(&self, at: u64) -> io::Result<u64> {
        self.arm(at)?;
        loop {
            self.clear()?;
            let time = now();
            if time >= at {
                return Ok(time);
            }
        }
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timer_fires_early() {
        let timer = Timer::blocking().unwrap();
        for wait in [0, 1, 50_000, 2_000_000] {
            let at = now() + wait;
            assert!(timer.wait_until(at).unwrap() >= at);
        }
    }
}
