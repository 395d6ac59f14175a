//! Retry policy and back-off.

use std::time::Duration;

use jiff::Timestamp;

use crate::limits::{MAX_ATTEMPTS, MAX_RETRY_AFTER};

/// Pauses between attempts. They double from `first` to `longest`, with random jitter, so that
/// clients that failed together do not retry together.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Maximum after the first failure.
    pub first: Duration,
    /// Maximum after any failure.
    pub longest: Duration,
    /// Total attempts, at least 1.
    pub attempts: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(60),
            attempts: MAX_ATTEMPTS,
        }
    }
}

impl Backoff {
    /// The pause after attempt number `failed` (from 1), or `None` when it was the last. `asked` is
    /// the upstream's requested pause, honoured up to [`MAX_RETRY_AFTER`]. `random_up_to` draws a
    /// duration from zero to its argument.
    pub fn pause(
        &self,
        failed: u32,
        asked: Option<Duration>,
        random_up_to: impl FnOnce(Duration) -> Duration,
    ) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let doubled = self
            .first
            .saturating_mul(1_u32.checked_shl(failed - 1).unwrap_or(u32::MAX));
        let ceiling = doubled.min(self.longest);
        // Half of the pause is fixed, so that it is never zero.
        let own = ceiling / 2 + random_up_to(ceiling / 2);
        Some(match asked {
            Some(asked) => asked.min(MAX_RETRY_AFTER).max(own),
            None => own,
        })
    }
}

/// The pause of a `Retry-After` header: seconds, or an HTTP date. `None` for other texts.
#[must_use]
pub fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that overflows exceeds every accepted pause.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text)
        .ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_end() {
        let backoff = Backoff {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(10),
            attempts: 7,
        };
        let pause = |failed, chance: fn(Duration) -> Duration| backoff.pause(failed, None, chance);
        let most: Vec<_> = (1..=7).map(|n| pause(n, |all| all)).collect();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(
            most,
            [1, 2, 4, 8, 10, 10]
                .map(seconds)
                .into_iter()
                .chain([None])
                .collect::<Vec<_>>()
        );
        let least = pause(3, |_| Duration::ZERO);
        assert_eq!(least, seconds(2), "half of a pause is certain");
    }

    #[test]
    fn an_absurd_number_of_attempts_does_not_overflow() {
        let backoff = Backoff {
            attempts: u32::MAX,
            ..Backoff::default()
        };
        for failed in [31, 32, 33, 1_000_000] {
            assert_eq!(
                backoff.pause(failed, None, |all| all),
                Some(backoff.longest)
            );
        }
    }

    #[test]
    fn what_the_upstream_asks_for_is_honoured_within_bounds() {
        let backoff = Backoff::default();
        let asked = |seconds| backoff.pause(1, Some(Duration::from_secs(seconds)), |all| all);
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
        assert_eq!(asked(0), Some(backoff.first));
        assert_eq!(asked(u64::MAX), Some(MAX_RETRY_AFTER));
        assert_eq!(
            backoff.pause(8, Some(Duration::from_secs(1)), |all| all),
            None
        );
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now: Timestamp = "2026-02-08T10:00:00Z".parse().unwrap();
        let seconds = |s| Some(Duration::from_secs(s));
        for (text, expected) in [
            ("5", seconds(5)),
            (" 12 ", seconds(12)),
            ("Sun, 08 Feb 2026 10:01:30 GMT", seconds(90)),
            ("Sun, 08 Feb 2026 09:00:00 GMT", seconds(0)),
            ("99999999999999999999", seconds(u64::MAX)),
            ("", None),
            ("-5", None),
            ("soon", None),
            ("1.5", None),
        ] {
            assert_eq!(retry_after(text, now), expected, "{text}");
        }
    }
}
