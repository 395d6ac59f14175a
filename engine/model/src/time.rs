//! Instants, one type per unit. Time comes with each command; no code here reads a clock.

use rkyv::{Archive, Deserialize, Serialize};

use crate::record::records;

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident of $nanoseconds:literal ns) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Archive, Serialize, Deserialize,
        )]
        pub struct $name(pub u64);

        /// ISO 8601 in UTC; digits of a time after the year 9999.
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let time = jiff::Timestamp::from_nanosecond(i128::from(self.0) * $nanoseconds);
                match time {
                    Ok(time) => core::fmt::Display::fmt(&time, f),
                    Err(_) => core::fmt::Display::fmt(&self.0, f),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}
instant!(
    /// Nanoseconds since the unix epoch: the time of a frame.
    TimeNs of 1 ns
);
instant!(
    /// Milliseconds since the unix epoch: the signed timestamp of an order.
    TimeMs of 1_000_000 ns
);
instant!(
    /// Seconds since the unix epoch: an order's expiration. 0 = none.
    TimeSeconds of 1_000_000_000 ns
);

records! {
    /// Engine time of a sandbox as wall time gives it (docs/verify/rules.md §33). All zero: it is wall time.
    #[derive(Default)]
    pub struct SandboxClock {
        /// Wall time of the last move.
        pub wall: TimeNs,
        /// Engine time then.
        pub engine: TimeNs,
        /// Whether it stands there.
        pub frozen: bool,
    }
}

impl SandboxClock {
    /// Engine time at a wall time.
    #[must_use]
    pub const fn engine_time(self, wall: TimeNs) -> TimeNs {
        match self.frozen {
            true => self.engine,
            false => TimeNs(shifted(wall.0, self.wall.0, self.engine.0)),
        }
    }

    /// The wall time of an engine time after the last move, as far as the engine knows: while its clock stands, that of
    /// the last move.
    #[must_use]
    pub const fn known_wall_time(self, engine: TimeNs) -> TimeNs {
        match self.frozen {
            true => self.wall,
            false => self.wall_time(engine),
        }
    }

    /// The wall time of an engine time after the last move.
    #[must_use]
    pub const fn wall_time(self, engine: TimeNs) -> TimeNs {
        TimeNs(shifted(engine.0, self.engine.0, self.wall.0))
    }
}

/// `time`, on a clock that shows `there` when its own shows `here`.
const fn shifted(time: u64, here: u64, there: u64) -> u64 {
    match time.checked_sub(here) {
        Some(later) => there.saturating_add(later),
        None => there.saturating_sub(here - time),
    }
}

impl TimeNs {
    /// This instant in milliseconds, rounded down.
    #[must_use]
    pub const fn millis(self) -> TimeMs {
        TimeMs(self.0 / 1_000_000)
    }

    /// This instant in seconds, rounded down.
    #[must_use]
    pub const fn seconds(self) -> TimeSeconds {
        TimeSeconds(self.0 / 1_000_000_000)
    }
}

impl TimeMs {
    /// The first nanosecond of this millisecond, saturating.
    #[must_use]
    pub const fn start(self) -> TimeNs {
        TimeNs(self.0.saturating_mul(1_000_000))
    }
}

impl TimeSeconds {
    /// The first nanosecond of this second, saturating.
    #[must_use]
    pub const fn start(self) -> TimeNs {
        TimeNs(self.0.saturating_mul(1_000_000_000))
    }
}
