//! The wall clock, for all that is no engine: credentials, file names, signatures of webhooks. What the exchange does
//! follows engine time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foretell_model::TimeNs;

/// Time since 1970. A clock before it gives 0, which every server rejects as expired.
#[must_use]
pub fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// The same in nanoseconds, as the exchange counts.
#[must_use]
pub fn now() -> TimeNs {
    TimeNs(u64::try_from(since_epoch().as_nanos()).unwrap_or(u64::MAX))
}
