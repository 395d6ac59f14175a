//! Times as text: ISO 8601 with milliseconds, or unix seconds.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use foretell_model::{TimeMs, TimeNs};

use crate::text::decimal;

/// Last second of the year 9999. A client that sends a larger number means milliseconds.
pub const LAST_SECOND: u64 = 253_402_300_799;

/// What is allowed of a time in seconds, for errors.
pub const SECONDS_ALLOWED: &str = "unix seconds, 0 to 253402300799, not milliseconds";

/// Reads unix seconds up to [`LAST_SECOND`].
#[must_use]
pub fn seconds(text: &str) -> Option<u64> {
    let seconds = decimal::digits_u64(text).ok();
    seconds.filter(|seconds| *seconds <= LAST_SECOND)
}

/// The format of `match_time` and `last_update`; the prefix of the request's auth headers selects
/// it (docs/api/market-data.md §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeForm {
    /// ISO 8601.
    #[default]
    Iso,
    /// Unix seconds as text.
    Unix,
}

impl TimeForm {
    /// The time in this format.
    #[must_use]
    pub fn text(self, time: TimeNs) -> String {
        match self {
            Self::Iso => iso(time),
            Self::Unix => time.seconds().0.to_string(),
        }
    }
}

/// `2026-05-17T06:03:45.875Z`: UTC, always three decimals. Times after the year 9999 are clamped to
/// its end.
#[must_use]
pub fn iso(time: TimeNs) -> String {
    let timestamp = Timestamp::from_nanosecond(i128::from(time.0)).unwrap_or(Timestamp::MAX);
    format!("{timestamp:.3}")
}

/// The same of a time in milliseconds.
#[must_use]
pub fn iso_millis(time: TimeMs) -> String {
    iso(TimeNs(time.0.saturating_mul(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, "1970-01-01T00:00:00.000Z", "0")]
    #[case(1_778_997_825_875_999_999, "2026-05-17T06:03:45.875Z", "1778997825")]
    #[case(1_710_000_000_000_000_000, "2024-03-09T16:00:00.000Z", "1710000000")]
    fn instants_are_cut_not_rounded(#[case] ns: u64, #[case] iso: &str, #[case] unix: &str) {
        assert_eq!(TimeForm::Iso.text(TimeNs(ns)), iso);
        assert_eq!(TimeForm::Unix.text(TimeNs(ns)), unix);
    }

    #[test]
    fn the_last_instant_has_a_text() {
        assert!(iso(TimeNs(u64::MAX)).starts_with("2554-"));
    }
}
