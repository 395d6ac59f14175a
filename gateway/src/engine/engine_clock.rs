//! Engine time, as the engine last told it.

use std::time::{Duration, Instant};

use foretell_link::ClockState;
use foretell_model::TimeNs;
use parking_lot::Mutex;

/// Engine time is known for this long without a word of the engine.
const KEPT: Duration = Duration::from_secs(30);

/// Engine time, by which orders are judged.
#[derive(Default)]
pub(crate) struct EngineClock(Mutex<Option<Told>>);

#[derive(Clone, Copy)]
struct Told {
    time: TimeNs,
    state: ClockState,
    heard: Instant,
}

impl EngineClock {
    /// Engine time, and what it does about the wall clock; `None` when nothing was heard of an engine for longer than a
    /// restart takes. Until then it goes on from what was last heard.
    pub(crate) fn read(&self) -> Option<(TimeNs, ClockState)> {
        let told = (*self.0.lock()).filter(|told| told.heard.elapsed() < KEPT)?;
        let passed = match told.state {
            ClockState::Ahead => 0,
            _ => u64::try_from(told.heard.elapsed().as_nanos()).unwrap_or(u64::MAX),
        };
        Some((TimeNs(told.time.0.saturating_add(passed)), told.state))
    }

    pub(crate) fn note(&self, time: TimeNs, state: ClockState) {
        *self.0.lock() = Some(Told {
            time,
            state,
            heard: Instant::now(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_stands_still_and_one_that_is_silent_for_long_tells_nothing() {
        let clock = EngineClock::default();
        clock.note(TimeNs(7), ClockState::Ahead);
        std::thread::park_timeout(Duration::from_millis(2));
        assert_eq!(clock.read(), Some((TimeNs(7), ClockState::Ahead)));
        let heard = Instant::now().checked_sub(KEPT).expect("the machine ran");
        clock.0.lock().as_mut().expect("noted").heard = heard;
        assert_eq!(clock.read(), None);
    }
}
