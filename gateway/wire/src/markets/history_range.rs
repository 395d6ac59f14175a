//! Converts the range parameters of a request to seconds and steps of price history
//! (docs/api/market-data.md §4).

use crate::compatibility::Compatibility;
use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::values::values;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const MONTH: u64 = 30 * DAY;

/// A named window of price history that ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// `1m`: one minute; a month in the API family.
    Minute,
    /// `5m`
    FiveMinutes,
    /// `15m`
    FifteenMinutes,
    /// `1h`
    Hour,
    /// `6h`
    SixHours,
    /// `1d`
    Day,
    /// `1w`
    Week,
    /// `max`, `all`: the whole history.
    Max,
}

impl Interval {
    /// Reads its text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "1m" => Self::Minute,
            "5m" => Self::FiveMinutes,
            "15m" => Self::FifteenMinutes,
            "1h" => Self::Hour,
            "6h" => Self::SixHours,
            "1d" => Self::Day,
            "1w" => Self::Week,
            "max" | "all" => Self::Max,
            _ => return None,
        })
    }
}

values! {
    pub(crate) IntervalWord { reads Interval: str { "enum": ["1m", "5m", "15m", "1h", "6h", "1d", "1w", "max", "all"] }, "1m, 5m, 15m, 1h, 6h, 1d, 1w, max, all", Interval::parse; }
}

/// The range of a price history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryRange {
    /// A window that ends now.
    Interval(Interval),
    /// Unix seconds; `end` is now when absent.
    Explicit {
        /// First second.
        start: u64,
        /// Last second.
        end: Option<u64>,
    },
}

impl HistoryRange {
    pub(crate) fn of(
        interval: Option<Interval>,
        start: Option<u64>,
        end: Option<u64>,
    ) -> Result<Self, ApiError> {
        match (interval, start, end) {
            (Some(interval), None, None) => Ok(Self::Interval(interval)),
            (Some(_), _, _) => Err(ErrorCode::InvalidTimeRange
                .with([&"interval is given with start_ts or end_ts, allowed: one or the other"])),
            (None, None, _) => {
                const ALLOWED: &str = "unix seconds, or interval in its place";
                Err(FieldError::missing("start_ts", ALLOWED).into())
            }
            (None, Some(start), Some(end)) if end < start => {
                let problem = format!("end_ts is '{end}', allowed: not before start_ts ({start})");
                Err(ErrorCode::InvalidTimeRange.with([&problem]))
            }
            (None, Some(start), end) => Ok(Self::Explicit { start, end }),
        }
    }
}

/// The seconds and steps of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryWindow {
    /// First second.
    pub from: u64,
    /// Last second, at most now; less than `from` when the range starts in the future.
    pub to: u64,
    /// Length of a bucket in minutes.
    pub minutes: u32,
}

impl HistoryRange {
    /// The window of the range at `now` (unix seconds). A requested fidelity overrides the range's
    /// own step.
    #[must_use]
    pub fn window(
        self,
        fidelity: Option<u32>,
        now: u64,
        compatibility: Compatibility,
    ) -> HistoryWindow {
        let (from, to, own) = match self {
            Self::Interval(interval) => {
                let (length, step) = interval.length_and_step(compatibility);
                // Inclusive bounds: exactly `length` seconds.
                let from = length.map_or(0, |length| now.saturating_add(1).saturating_sub(length));
                (from, now, step)
            }
            Self::Explicit { start, end } => {
                let end = end.unwrap_or(now);
                let length = end.saturating_sub(start);
                (start, end.min(now), step_of(length))
            }
        };
        HistoryWindow {
            from,
            to,
            minutes: fidelity.unwrap_or(own),
        }
    }
}

impl Interval {
    /// Length in seconds (`None` = the whole history) and default step in minutes.
    const fn length_and_step(self, compatibility: Compatibility) -> (Option<u64>, u32) {
        match self {
            Self::Minute => match compatibility {
                Compatibility::Interface => (Some(MINUTE), 1),
                Compatibility::Polymarket => (Some(MONTH), step_of(MONTH)),
            },
            Self::FiveMinutes => (Some(5 * MINUTE), 1),
            Self::FifteenMinutes => (Some(15 * MINUTE), 1),
            Self::Hour => (Some(HOUR), 1),
            Self::SixHours => (Some(6 * HOUR), 1),
            Self::Day => (Some(DAY), 1),
            Self::Week => (Some(7 * DAY), 30),
            Self::Max => (None, 720),
        }
    }
}

/// Default step in minutes of an explicit range.
const fn step_of(length: u64) -> u32 {
    if length <= 2 * DAY {
        5
    } else if length <= 7 * DAY {
        30
    } else if length <= 30 * DAY {
        180
    } else {
        720
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    /// 2026-01-01 00:00:30 UTC.
    const NOW: u64 = 1_767_225_630;

    #[rstest]
    #[case("1m", None, 60, 1)]
    #[case("1m", Some(1), 60, 1)]
    #[case("1m", Some(10), 60, 10)]
    #[case("1m", Some(1_440), 60, 1_440)]
    #[case("5m", None, 300, 1)]
    #[case("15m", None, 900, 1)]
    #[case("1h", None, HOUR, 1)]
    #[case("1h", Some(60), HOUR, 60)]
    #[case("6h", None, 6 * HOUR, 1)]
    #[case("1d", None, DAY, 1)]
    #[case("1w", None, 7 * DAY, 30)]
    #[case("1w", Some(1), 7 * DAY, 1)]
    fn an_interval_ends_now(
        #[case] text: &str,
        #[case] fidelity: Option<u32>,
        #[case] length: u64,
        #[case] minutes: u32,
    ) {
        let range = HistoryRange::Interval(Interval::parse(text).unwrap());
        let window = range.window(fidelity, NOW, Compatibility::Interface);
        assert_eq!((window.to, window.minutes), (NOW, minutes));
        assert_eq!(window.to - window.from + 1, length);
    }

    #[rstest]
    #[case("max", None, 720)]
    #[case("all", None, 720)]
    #[case("max", Some(1), 1)]
    fn all_begins_with_time(
        #[case] text: &str,
        #[case] fidelity: Option<u32>,
        #[case] minutes: u32,
    ) {
        let range = HistoryRange::Interval(Interval::parse(text).unwrap());
        let whole = HistoryWindow {
            from: 0,
            to: NOW,
            minutes,
        };
        assert_eq!(range.window(fidelity, NOW, Compatibility::Interface), whole);
    }

    #[rstest]
    #[case::two_days(NOW - 2 * DAY, Some(NOW), NOW, 5)]
    #[case::more_than_two(NOW - 2 * DAY - 1, Some(NOW), NOW, 30)]
    #[case::a_week(NOW - 7 * DAY, None, NOW, 30)]
    #[case::more_than_a_week(NOW - 7 * DAY - 1, None, NOW, 180)]
    #[case::a_month(NOW - 30 * DAY, None, NOW, 180)]
    #[case::more_than_a_month(NOW - 30 * DAY - 1, None, NOW, 720)]
    #[case::all_of_time(0, None, NOW, 720)]
    #[case::an_end_to_come(NOW, Some(NOW + 3 * DAY), NOW, 30)]
    #[case::not_begun(NOW + 5, Some(NOW + 9), NOW, 5)]
    #[case::not_begun_without_end(NOW + 5, None, NOW, 5)]
    fn a_range_has_the_step_of_its_length(
        #[case] start: u64,
        #[case] end: Option<u64>,
        #[case] to: u64,
        #[case] minutes: u32,
    ) {
        let range = HistoryRange::Explicit { start, end };
        let window = range.window(None, NOW, Compatibility::Interface);
        assert_eq!(
            (window.from, window.to, window.minutes),
            (start, to, minutes)
        );
        assert_eq!(
            range.window(Some(1), NOW, Compatibility::Interface).minutes,
            1
        );
    }

    proptest! {
        #[test]
        fn no_window_ends_after_now(
            start in any::<u64>(), end in any::<Option<u64>>(), now in any::<u64>(),
        ) {
            let range = HistoryRange::Explicit { start, end };
            prop_assert!(range.window(None, now, Compatibility::Interface).to <= now);
            for text in ["1m", "1w", "max"] {
                let range = HistoryRange::Interval(Interval::parse(text).unwrap());
                let window = range.window(None, now, Compatibility::Interface);
                prop_assert!(window.from <= window.to && window.to == now);
            }
        }
    }

    #[test]
    fn one_m_is_a_month_in_the_family() {
        let range = HistoryRange::Interval(Interval::Minute);
        let window = range.window(None, NOW, Compatibility::Polymarket);
        assert_eq!((window.to - window.from + 1, window.minutes), (MONTH, 180));
        let window = range.window(Some(10), NOW, Compatibility::Polymarket);
        assert_eq!((window.to - window.from + 1, window.minutes), (MONTH, 10));
    }
}
