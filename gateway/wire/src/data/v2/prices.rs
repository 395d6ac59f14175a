//! `GET /v2/prices-history` (docs/api/data.md §7).

use core::marker::PhantomData;

use serde::Serialize;

use crate::compatibility::Compatibility;
use crate::data::read::cursor::{CursorText, PlaceKey, PointKey};
use crate::data::read::page::{LimitOffset, NoOffset};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_V2_POINTS;
use crate::markets::history_range::HistoryRange;
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::text_form::{Rows, Whole, Words, digits};
use crate::schema::JsonSchema;
use crate::text::decimal::Number;
use crate::text::ids::TokenRef;
use crate::values::{AnyToken, UnixSeconds, values};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Longest window of `start` and `end`.
const LONGEST_WINDOW: u64 = 15 * DAY;

const CURSOR_TEXT: CursorText<PlaceKey<PointKey>> = CursorText(PhantomData);

/// Which points a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum V2PricesRange {
    /// The latest price at or before a second.
    AsOf(u64),
    /// Buckets that start in a window.
    Window {
        /// First second.
        from: u64,
        /// Last second.
        to: u64,
        /// Seconds of a bucket, a multiple of 60; at least 600 with `max`, `all` and `1m`, 300 with `1w`.
        /// Not with `as_of`.
        bucket: u64,
    },
}

parameters! {
    /// Parameters of `GET /v2/prices-history`.
    #[derive(Copy)]
    pub struct V2PricesQuery: Data {
        /// Token id, decimal or `<condition id>:<outcome index>`.
        pub token_id: TokenRef = required(Token),
        /// A window that ends now; `1m` is 30 days. One of `interval`, `start` and `as_of` is required.
        pub interval: Option<Interval> = optional(Words(&INTERVALS)),
        /// First second of the window.
        pub start: Option<u64> = optional(UnixSeconds),
        /// End of the window, exclusive, at most 15 days after `start`.
        pub end: Option<u64> = optional(UnixSeconds),
        /// The latest price at or before this second.
        pub as_of: Option<u64> = optional(UnixSeconds),
        /// Seconds of a bucket, a multiple of 60; at least 600 with `max`, `all` and `1m`, 300 with `1w`.
        /// Not with `as_of`.
        pub bucket_seconds: Option<u64> = optional(Bucket),
        /// Most points of the page.
        pub limit: usize = or(Rows(Whole(1, MAX_V2_POINTS)), "10000"),
        /// The `next_cursor` of the page before.
        pub cursor: Option<PlaceKey<PointKey>> = optional(CURSOR_TEXT),
        /// Version 2 has none.
        pub no_offset: NoOffset = group(),
    }
}

values! {
    Token { reads TokenRef: str as AnyToken, "a decimal token id, or <condition id>:<0 or 1>", TokenRef::parse; }
    Bucket {
        reads u64: str { "type": "integer", "minimum": 0, "maximum": DAY }, "a multiple of 60 from 60 to 86400",
            |text| digits(text).filter(|bucket| (MINUTE..=DAY).contains(bucket) && bucket % MINUTE == 0);
    }
}

/// A named window: its length (`None` = all), default and smallest bucket, all in seconds.
type Interval = (Option<u64>, u64, u64);

const INTERVALS: [(&str, Interval); 7] = [
    ("max", (None, 12 * HOUR, 10 * MINUTE)),
    ("all", (None, 12 * HOUR, 10 * MINUTE)),
    ("1m", (Some(30 * DAY), 30 * MINUTE, 10 * MINUTE)),
    ("1w", (Some(7 * DAY), 30 * MINUTE, 5 * MINUTE)),
    ("1d", (Some(DAY), MINUTE, MINUTE)),
    ("6h", (Some(6 * HOUR), MINUTE, MINUTE)),
    ("1h", (Some(HOUR), MINUTE, MINUTE)),
];

impl V2PricesQuery {
    /// The page.
    #[must_use]
    pub fn page(&self) -> LimitOffset {
        LimitOffset {
            limit: self.limit,
            offset: self.cursor.map_or(0, |place| place.offset as usize),
        }
    }

    /// The points at `now`, unix seconds.
    ///
    /// # Errors
    /// More than one of the three ranges, or a parameter that contradicts the range.
    pub fn range(&self, now: u64) -> Result<V2PricesRange, ApiError> {
        let mut range = self.whole_range(now)?;
        if let Some(cursor) = self.cursor {
            match &mut range {
                // A cursor that is no page's own may lie behind the window, in which no bucket starts then.
                V2PricesRange::Window { from, to, .. } => {
                    *from = cursor.key.start.clamp(*from, (*from).max(*to + 1));
                }
                V2PricesRange::AsOf(_) => return Err(contradicts("cursor")),
            }
        }
        Ok(range)
    }

    fn whole_range(&self, now: u64) -> Result<V2PricesRange, ApiError> {
        match (self.interval, self.start, self.as_of) {
            (Some((length, bucket, least)), None, None) => {
                if self.end.is_some() {
                    return Err(needs_start());
                }
                let from = |length: u64| now.saturating_add(1).saturating_sub(length);
                Ok(V2PricesRange::Window {
                    from: length.map_or(0, from),
                    to: now,
                    bucket: self.bucket(least)?.unwrap_or(bucket),
                })
            }
            (None, Some(start), None) => self.window(start, now),
            // A limit is allowed: the stock client sends its page size in any case.
            (None, None, Some(second)) => match (self.bucket_seconds, self.end) {
                (Some(_), _) => Err(contradicts("bucket_seconds")),
                (None, Some(_)) => Err(needs_start()),
                (None, None) => Ok(V2PricesRange::AsOf(second.min(now))),
            },
            (None, None, None) => Err(ErrorCode::MissingParameter.with([&"interval"])),
            (Some(_), ..) => Err(ErrorCode::InvalidParameter.with([
                &"interval",
                &"start or as_of is given too, allowed: one of the three",
            ])),
            (None, Some(_), Some(_)) => Err(contradicts("start")),
        }
    }

    fn window(&self, start: u64, now: u64) -> Result<V2PricesRange, ApiError> {
        let end = self.end;
        let until = end.unwrap_or(now.max(start));
        if until < start || until - start > LONGEST_WINDOW {
            let allowed = format!("a time from start ({start}) to 15 days after it");
            return Err(Family::Data.wrong("end", &until.to_string(), &allowed));
        }
        // The end is exclusive; without one the window ends with the current second.
        let to = end.map_or(now, |end| end.saturating_sub(1).min(now));
        let range = HistoryRange::Explicit { start, end };
        let own = u64::from(range.window(None, now, Compatibility::Interface).minutes) * MINUTE;
        Ok(V2PricesRange::Window {
            from: start,
            to: if until == start {
                start.saturating_sub(1)
            } else {
                to
            },
            bucket: self.bucket(MINUTE)?.unwrap_or(own),
        })
    }

    fn bucket(&self, least: u64) -> Result<Option<u64>, ApiError> {
        match self.bucket_seconds {
            Some(bucket) if bucket < least => {
                let allowed = format!("a multiple of 60 from {least} to {DAY}");
                Err(Family::Data.wrong("bucket_seconds", &bucket.to_string(), &allowed))
            }
            bucket => Ok(bucket),
        }
    }
}

fn contradicts(field: &'static str) -> ApiError {
    let why = "as_of is given too, allowed: one of the two";
    ErrorCode::InvalidParameter.with([&field, &why])
}

fn needs_start() -> ApiError {
    ErrorCode::MissingParameter.with([&"start"])
}

/// A point: the midpoint at the end of a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct V2PricePoint {
    /// Start of its bucket, unix seconds.
    pub timestamp: u64,
    /// The midpoint.
    pub price: Number,
    /// Seconds of its bucket.
    pub resolution_seconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use crate::read::query::parameters::Parameters as _;
    use rstest::rstest;

    const NOW: u64 = 1_000_000_000;

    fn read(text: &str) -> Result<V2PricesRange, String> {
        let text = format!("token_id=12&{text}");
        let read = V2PricesQuery::read_text(Some(&text)).and_then(|query| query.range(NOW));
        read.map_err(|error| error.to_string())
    }

    #[rstest]
    #[case("interval=1h", NOW + 1 - 3_600, NOW, 60)]
    #[case("interval=1w&bucket_seconds=300", NOW + 1 - 604_800, NOW, 300)]
    #[case("interval=1m", NOW + 1 - 2_592_000, NOW, 1_800)]
    #[case("interval=max", 0, NOW, 43_200)]
    #[case("interval=max&cursor=18446744073709551615~0", NOW + 1, NOW, 43_200)]
    #[case("interval=max&cursor=77~500", 77, NOW, 43_200)]
    #[case("start=999999000", 999_999_000, NOW, 300)]
    #[case("start=999999000&end=999999060", 999_999_000, 999_999_059, 300)]
    #[case("start=10&end=20&bucket_seconds=86400", 10, 19, 86_400)]
    #[case("start=10&end=10", 10, 9, 300)]
    fn a_range_is_a_window(
        #[case] text: &str,
        #[case] from: u64,
        #[case] to: u64,
        #[case] bucket: u64,
    ) {
        let expected = V2PricesRange::Window { from, to, bucket };
        assert_eq!(read(text).unwrap(), expected);
    }

    #[test]
    fn an_instant_is_at_most_now() {
        assert_eq!(read("as_of=5&limit=10000").unwrap(), V2PricesRange::AsOf(5));
        assert_eq!(
            read("as_of=253402300799").unwrap(),
            V2PricesRange::AsOf(NOW)
        );
    }

    #[rstest]
    #[case("", "missing_field: interval")]
    #[case("end=5", "missing_field: interval")]
    #[case("interval=1d&end=5", "missing_field: start")]
    #[case("as_of=1&end=5", "missing_field: start")]
    #[case(
        "interval=1d&start=5",
        "invalid_field: interval: start or as_of is given too, allowed: one of the three"
    )]
    #[case(
        "start=5&as_of=5",
        "invalid_field: start: as_of is given too, allowed: one of the two"
    )]
    #[case(
        "as_of=5&bucket_seconds=60",
        "invalid_field: bucket_seconds: as_of is given too, allowed: one of the two"
    )]
    #[case(
        "as_of=5&cursor=60~1",
        "invalid_field: cursor: as_of is given too, allowed: one of the two"
    )]
    #[case(
        "interval=1w&bucket_seconds=60",
        "invalid_field: bucket_seconds: '60' is not a multiple of 60 from 300 to 86400"
    )]
    #[case(
        "interval=1d&bucket_seconds=90",
        "invalid_field: bucket_seconds: '90' is not a multiple of 60 from 60 to 86400"
    )]
    #[case(
        "start=0&end=1296001",
        "invalid_field: end: '1296001' is not a time from start (0) to 15 days after it"
    )]
    #[case(
        "interval=2d",
        "invalid_field: interval: '2d' is not one of max, all, 1m, 1w, 1d, 6h, 1h"
    )]
    fn ranges_exclude_each_other(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(text).unwrap_err(), expected);
    }

    #[test]
    fn a_point_is_a_row() {
        let point = V2PricePoint {
            timestamp: 60,
            price: Number(Decimal::new(45_015, 5)),
            resolution_seconds: 60,
        };
        let expected = r#"{"timestamp":60,"price":0.45015,"resolution_seconds":60}"#;
        assert_eq!(crate::json_text(&point), expected);
    }
}
