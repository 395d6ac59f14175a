//! The time window for the timestamps of requests (docs/api/authentication.md §3).

use foretell_model::TimeMs;

/// Bounds around the current time; both inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Seconds that a timestamp may lie in the past.
    pub past_seconds: u64,
    /// Seconds that a timestamp may lie in the future.
    pub future_seconds: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            past_seconds: 60,
            future_seconds: 10,
        }
    }
}

/// Why a timestamp is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimestampError {
    /// Not an unsigned decimal without leading zeros, or neither seconds nor milliseconds.
    #[error("invalid timestamp: unix seconds in decimal digits are expected")]
    Malformed,
    /// Too far in the past or in the future.
    #[error("invalid timestamp: {timestamp} is outside {from}..{to}")]
    OutsideWindow {
        /// Seconds, as sent.
        timestamp: u64,
        /// First second allowed.
        from: u64,
        /// Last second allowed.
        to: u64,
    },
}

/// Digits of a timestamp in milliseconds, from 2001 to 2286.
const MILLISECOND_DIGITS: usize = 13;

impl Window {
    /// Checks a timestamp in seconds, or in milliseconds when it has 13 digits. Milliseconds are
    /// truncated to seconds, because clients that send seconds truncate too.
    ///
    /// # Errors
    /// When the text is not such a timestamp or lies outside the window.
    pub fn check(&self, text: &str, now: TimeMs) -> Result<(), TimestampError> {
        let value = parse_digits(text)?;
        let seconds = match text.len() {
            MILLISECOND_DIGITS => value / 1_000,
            _ => value,
        };
        self.check_value(seconds, now)
    }

    /// Checks a timestamp in seconds only (L1 signs its text).
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_seconds(&self, text: &str, now: TimeMs) -> Result<(), TimestampError> {
        self.check_value(parse_digits(text)?, now)
    }

    fn check_value(&self, timestamp: u64, now: TimeMs) -> Result<(), TimestampError> {
        let now = now.0 / 1_000;
        let from = now.saturating_sub(self.past_seconds);
        let to = now.saturating_add(self.future_seconds);
        if (from..=to).contains(&timestamp) {
            Ok(())
        } else {
            Err(TimestampError::OutsideWindow {
                timestamp,
                from,
                to,
            })
        }
    }
}

fn parse_digits(text: &str) -> Result<u64, TimestampError> {
    let canonical = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if text.is_empty() || text.len() > MILLISECOND_DIGITS || !canonical {
        return Err(TimestampError::Malformed);
    }
    text.parse().map_err(|_| TimestampError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimeMs = TimeMs(1_710_000_000_999);

    #[rstest::rstest]
    #[case("1710000000", true)]
    #[case("1709999940", true)]
    #[case("1709999939", false)]
    #[case("1710000010", true)]
    #[case("1710000011", false)]
    #[case("1710000000000", true)]
    #[case("1709999940000", true)]
    #[case("1709999939999", false)]
    #[case("1710000010999", true)]
    #[case("1710000011000", false)]
    fn the_window_is_sixty_seconds_back_and_ten_ahead(#[case] text: &str, #[case] good: bool) {
        assert_eq!(Window::default().check(text, NOW).is_ok(), good);
    }

    #[rstest::rstest]
    #[case("")]
    #[case("-1710000000")]
    #[case("+1710000000")]
    #[case("1710000000.0")]
    #[case("1.71e9")]
    #[case("1e9")]
    #[case("01710000000")]
    #[case("0")]
    #[case(" 1710000000")]
    #[case("18446744073709551616")]
    #[case("17100000000000")]
    #[case("١٧١٠٠٠٠٠٠٠")]
    fn what_is_no_timestamp_is_refused(#[case] text: &str) {
        let window = Window::default();
        assert_eq!(window.check(text, NOW), Err(TimestampError::Malformed));
        assert_eq!(
            window.check_seconds(text, NOW),
            Err(TimestampError::Malformed)
        );
    }

    #[test]
    fn milliseconds_are_not_seconds_where_only_seconds_are_meant() {
        let refused = Window::default().check_seconds("1710000000000", NOW);
        assert!(matches!(refused, Err(TimestampError::OutsideWindow { .. })));
    }
}
