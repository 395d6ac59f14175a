//! Engine time starts at wall time, follows the monotonic clock, and is slewed toward wall time by
//! at most 1%. It never goes back and never jumps (docs/internals/decisions/0009).

use std::fmt::Debug;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use foretell_model::TimeNs;

/// The slew is at most one part in this many.
const SLEW: u64 = 100;
/// A gap to wall time above this raises an alarm.
const ALARM_NS: u64 = 2_000_000_000;

/// The clocks of a machine, in nanoseconds. A type parameter, so that a reading costs no dynamic
/// call.
pub(crate) trait Clocks: Clone + Debug + Send + 'static {
    /// The monotonic clock, since an arbitrary moment.
    fn monotonic(&self) -> u64;
    /// Wall time since 1970.
    fn wall(&self) -> u64;
}

/// The clocks of this machine; the monotonic one counts from this instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClocks(Instant);

impl SystemClocks {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clocks for SystemClocks {
    fn monotonic(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wall(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
            })
    }
}

/// The clock of the matcher.
#[derive(Debug)]
pub(crate) struct Clock<C> {
    clocks: C,
    slew: Slew,
}

impl<C: Clocks> Clock<C> {
    /// A clock that starts at wall time, or at `floor` (the last journalled time) if that is later.
    pub(crate) fn start(clocks: C, floor: TimeNs) -> Self {
        Self {
            slew: Slew::start(clocks.monotonic(), clocks.wall(), floor.0),
            clocks,
        }
    }

    /// Reads the clocks: engine time and the monotonic reading it was computed from.
    pub(crate) fn read(&mut self) -> (TimeNs, u64) {
        let (monotonic, wall) = (self.clocks.monotonic(), self.clocks.wall());
        let was_alarmed = self.slew.alarmed;
        let time = self.slew.advance(monotonic, wall);
        if self.slew.alarmed && !was_alarmed {
            tracing::error!(
                engine_time_ns = time.0,
                wall_time_ns = wall,
                "engine time is more than 2 s from wall time; slewing"
            );
        }
        (time, monotonic)
    }

    /// Engine time minus the monotonic clock at the last reading, wrapping. Added to a later
    /// reading it gives engine time then, within the slew.
    pub(crate) const fn offset(&self) -> u64 {
        self.slew.time.wrapping_sub(self.slew.monotonic)
    }

    /// How many times the gap to wall time has exceeded 2 s.
    pub(crate) const fn alarms(&self) -> u64 {
        self.slew.alarms
    }
}

/// The slew rule, separate from the clocks.
#[derive(Debug)]
struct Slew {
    /// Monotonic reading at `time`.
    monotonic: u64,
    time: u64,
    alarmed: bool,
    alarms: u64,
}

impl Slew {
    fn start(monotonic: u64, wall: u64, floor: u64) -> Self {
        Self {
            monotonic,
            time: wall.max(floor),
            alarmed: false,
            alarms: 0,
        }
    }

    fn advance(&mut self, monotonic: u64, wall: u64) -> TimeNs {
        let elapsed = monotonic.saturating_sub(self.monotonic);
        let unslewed = self.time.saturating_add(elapsed);
        let most = elapsed / SLEW;
        self.time = wall.clamp(unslewed - most, unslewed.saturating_add(most));
        self.monotonic = self.monotonic.max(monotonic);
        let alarmed = wall.abs_diff(unslewed) > ALARM_NS;
        self.alarms += u64::from(alarmed && !self.alarmed);
        self.alarmed = alarmed;
        TimeNs(self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Start at wall 1,000 s; each row: seconds on the monotonic clock, wall seconds, engine ms
    /// expected, alarms so far.
    #[test]
    fn engine_time_follows_wall_time_within_a_hundredth() {
        let rows = [
            (10, 1_010, 1_010_000, 0),
            // A second ahead: slewed by 1% of the 10 s that passed.
            (20, 1_021, 1_020_100, 0),
            // An hour ahead: an alarm, and no jump.
            (30, 4_630, 1_030_200, 1),
            (40, 4_640, 1_040_300, 1),
            // Wall time far behind: engine time advances 1% slower.
            (50, 0, 1_050_200, 1),
            // The same reading again is the same time.
            (50, 0, 1_050_200, 1),
            // Back within the gap, then out of it again: a second alarm.
            (60, 1_060, 1_060_100, 1),
            (70, 9_999, 1_070_200, 2),
            // A monotonic clock that went back is ignored.
            (65, 9_999, 1_070_200, 2),
        ];
        let mut slew = Slew::start(0, 1_000 * SECOND, 0);
        for (monotonic, wall, expected, alarms) in rows {
            let time = slew.advance(monotonic * SECOND, wall * SECOND);
            assert_eq!(time.millis().0, expected, "at {monotonic} s");
            assert_eq!(slew.alarms, alarms, "at {monotonic} s");
        }
    }

    #[test]
    fn a_restart_never_goes_back_behind_the_journal() {
        let mut slew = Slew::start(0, 1_000 * SECOND, 1_001 * SECOND);
        assert_eq!(slew.advance(0, 1_000 * SECOND), TimeNs(1_001 * SECOND));
        // Engine time runs slower until wall time has caught up.
        assert_eq!(
            slew.advance(100 * SECOND, 1_100 * SECOND),
            TimeNs(1_100 * SECOND)
        );
    }
}
