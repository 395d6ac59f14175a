//! Date formats of upstreams.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// Most bytes of a date.
const LONGEST: usize = 40;

/// Parses RFC 3339 with up to nine decimals, also with a space for the `T`, a short offset
/// (`2026-01-23 20:56:36+00`) or no offset (UTC), and a bare date (midnight UTC). The last days of the year 9999, which
/// stand for never, are the last instant that there is. Prose (`April 11, 2022`) and impossible dates are `None`.
#[must_use]
pub fn read_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let starts_with_a_year = text.len() >= 10
        && text.len() <= LONGEST
        && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    // Annotations such as `[Europe/Paris]` need a time zone database; no upstream sends them.
    if !starts_with_a_year || text.contains('[') {
        return None;
    }
    let pieces = Pieces::parse(text).ok()?;
    let time = pieces.time().unwrap_or(Time::midnight());
    let local = pieces.date().to_datetime(time);
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    match offset.to_timestamp(local) {
        Err(_) if local.year() == 9_999 => Some(Timestamp::MAX),
        instant => instant.ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("2024-09-09T19:19:31.985143Z", "2024-09-09T19:19:31.985143Z")]
    #[case("2024-09-09T19:19:31Z", "2024-09-09T19:19:31Z")]
    #[case("2024-09-09T19:19:31.5Z", "2024-09-09T19:19:31.5Z")]
    #[case("2024-09-09t19:19:31z", "2024-09-09T19:19:31Z")]
    #[case("2026-01-23 20:56:36+00", "2026-01-23T20:56:36Z")]
    #[case("2023-10-24 22:37:50.296+00", "2023-10-24T22:37:50.296Z")]
    #[case("2026-01-23T20:56:36+05:30", "2026-01-23T15:26:36Z")]
    #[case("2026-01-23T20:56:36-0800", "2026-01-24T04:56:36Z")]
    #[case("2026-01-23T20:56:36", "2026-01-23T20:56:36Z")]
    #[case("2026-01-23 20:56", "2026-01-23T20:56:00Z")]
    #[case("2026-01-23", "2026-01-23T00:00:00Z")]
    #[case("  2024-02-29 ", "2024-02-29T00:00:00Z")]
    #[case("9999-12-31", "9999-12-30T22:00:00.999999999Z")]
    #[case("9999-12-31T23:59:59Z", "9999-12-30T22:00:00.999999999Z")]
    #[case("9999-12-31 23:59:59.999+00", "9999-12-30T22:00:00.999999999Z")]
    fn dates_become_utc(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read_date(text).unwrap().to_string(), expected);
    }

    #[rstest]
    #[case("")]
    #[case("April 11, 2022")]
    #[case("1648703046270")]
    #[case("2023-02-29")]
    #[case("2026-13-01")]
    #[case("2026-01-23T25:00:00Z")]
    #[case("0000-00-00 00:00:00")]
    #[case("2026-01-23T20:56:36Z and more")]
    #[case("2026-01-23T20:56:36[Europe/Paris]")]
    #[case("soon")]
    fn what_is_no_date_is_none(#[case] text: &str) {
        assert_eq!(read_date(text), None);
    }

    proptest! {
        /// A time in any offset, with any number of decimals and either separator, parses to the
        /// same instant.
        #[test]
        fn any_form_of_an_instant_is_read(
            seconds in -60_000_000_000_i64..250_000_000_000,
            micros in 0_i32..1_000_000,
            offset_minutes in -14 * 60_i32..=14 * 60,
            places in 0_usize..=6,
            space in any::<bool>(),
        ) {
            let scale = 10_i32.pow(6 - u32::try_from(places).unwrap());
            let instant = Timestamp::new(seconds, micros / scale * scale * 1_000).unwrap();
            let offset = jiff::tz::Offset::from_seconds(offset_minutes * 60).unwrap();
            let local = offset.to_datetime(instant);
            prop_assume!((1000..=9999).contains(&local.year()));
            let mut text = format!("{local:.places$}{}", local_offset(offset_minutes));
            if space {
                text = text.replacen('T', " ", 1);
            }
            prop_assert_eq!(read_date(&text), Some(instant), "{}", text);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            let _ = read_date(&text);
        }
    }

    fn local_offset(minutes: i32) -> String {
        let sign = if minutes < 0 { '-' } else { '+' };
        let minutes = minutes.abs();
        format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}
