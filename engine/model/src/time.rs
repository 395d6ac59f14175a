//! Instants, one type per unit. Time comes with each command; no code here reads a clock.

use rkyv::{Archive, Deserialize, Serialize};

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Archive, Serialize, Deserialize,
        )]
        pub struct $name(pub u64);
    };
}
instant!(
    /// Nanoseconds since the unix epoch: the time of a frame.
    TimeNs
);
instant!(
    /// Milliseconds since the unix epoch: the signed timestamp of an order.
    TimeMs
);
instant!(
    /// Seconds since the unix epoch: an order's expiration. 0 = none.
    TimeSeconds
);

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

impl TimeSeconds {
    /// The first nanosecond of this second, saturating.
    #[must_use]
    pub const fn start(self) -> TimeNs {
        TimeNs(self.0.saturating_mul(1_000_000_000))
    }
}
