//! `GET /v2/prices-history` (docs/api/data.md §7).

use serde_json::json;

use crate::data::read::errors::invalid_parameter;
use crate::data::read::parameters::Parameters;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_V2_POINTS;
use crate::markets::history_range::HistoryRange;
use crate::read::query::Query;
use crate::text::decimal::Decimal;
use crate::text::ids::TokenRef;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Longest window of `start` and `end`.
const LONGEST_WINDOW: u64 = 15 * DAY;
/// Last second of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

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
        /// Seconds of a bucket, a multiple of 60.
        bucket: u64,
    },
}

/// Parameters of `GET /v2/prices-history`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V2PricesQuery {
    /// The token.
    pub token: TokenRef,
    /// The points.
    pub range: V2PricesRange,
    /// Most points of the page.
    pub limit: usize,
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
    /// Reads the parameters at `now`, unix seconds.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong, or more than one of the three ranges.
    pub fn of(query: &Query<'_>, now: u64) -> Result<Self, ApiError> {
        let known = [
            "token_id",
            "interval",
            "start",
            "end",
            "as_of",
            "bucket_seconds",
            "limit",
            "cursor",
        ];
        let parameters = Parameters::of(query, &known)?;
        let allowed = "a decimal token id, or <condition id>:<0 or 1>";
        let token = parameters.read("token_id", allowed, TokenRef::parse)?;
        let limit = parameters.whole("limit", MAX_V2_POINTS, MAX_V2_POINTS)?;
        if limit == 0 {
            let allowed = format!("an integer from 1 to {MAX_V2_POINTS}");
            return Err(invalid_parameter("limit", "0", &allowed));
        }
        let mut range = Self::range(&parameters, now)?;
        if let Some(cursor) = parameters.seconds("cursor")? {
            match &mut range {
                V2PricesRange::Window { from, .. } => *from = cursor.max(*from),
                V2PricesRange::AsOf(_) => return Err(contradicts("cursor")),
            }
        }
        Ok(Self {
            token: token.ok_or(ErrorCode::MissingParameter.with([&"token_id"]))?,
            range,
            limit,
        })
    }

    fn range(parameters: &Parameters<'_>, now: u64) -> Result<V2PricesRange, ApiError> {
        let instant = |name| {
            parameters.read(name, "unix seconds, 0 to 253402300799", |text| {
                let seconds = crate::text::decimal::digits_u64(text).ok();
                seconds.filter(|seconds| *seconds <= LAST_SECOND)
            })
        };
        let interval = parameters.choice("interval", &INTERVALS)?;
        let (start, end, as_of) = (instant("start")?, instant("end")?, instant("as_of")?);
        match (interval, start, as_of) {
            (Some((length, bucket, least)), None, None) => {
                if end.is_some() {
                    return Err(needs_start());
                }
                let from = |length: u64| now.saturating_add(1).saturating_sub(length);
                Ok(V2PricesRange::Window {
                    from: length.map_or(0, from),
                    to: now,
                    bucket: bucket_of(parameters, least)?.unwrap_or(bucket),
                })
            }
            (None, Some(start), None) => window(parameters, start, end, now),
            (None, None, Some(second)) => {
                // A limit is allowed: the stock client sends its page size in any case.
                if bucket_of(parameters, MINUTE)?.is_some() {
                    return Err(contradicts("bucket_seconds"));
                }
                match end {
                    Some(_) => Err(needs_start()),
                    None => Ok(V2PricesRange::AsOf(second.min(now))),
                }
            }
            (None, None, None) => Err(ErrorCode::MissingParameter.with([&"interval"])),
            (Some(_), ..) => Err(ErrorCode::InvalidParameter.with([
                &"interval",
                &"start or as_of is given too, allowed: one of the three",
            ])),
            (None, Some(_), Some(_)) => Err(contradicts("start")),
        }
    }
}

fn window(
    parameters: &Parameters<'_>,
    start: u64,
    end: Option<u64>,
    now: u64,
) -> Result<V2PricesRange, ApiError> {
    let until = end.unwrap_or(now.max(start));
    if until < start || until - start > LONGEST_WINDOW {
        let allowed = format!("a time from start ({start}) to 15 days after it");
        return Err(invalid_parameter("end", &until.to_string(), &allowed));
    }
    // The end is exclusive; without one the window ends with the current second.
    let to = end.map_or(now, |end| end.saturating_sub(1).min(now));
    let range = HistoryRange::Explicit { start, end };
    let own = u64::from(range.window(None, now).minutes) * MINUTE;
    Ok(V2PricesRange::Window {
        from: start,
        to: if until == start {
            start.saturating_sub(1)
        } else {
            to
        },
        bucket: bucket_of(parameters, MINUTE)?.unwrap_or(own),
    })
}

/// `bucket_seconds`
fn bucket_of(parameters: &Parameters<'_>, least: u64) -> Result<Option<u64>, ApiError> {
    let allowed = format!("a multiple of 60 from {least} to {DAY}");
    parameters.read("bucket_seconds", &allowed, |text| {
        let seconds = crate::text::decimal::digits_u64(text).ok();
        seconds.filter(|bucket| (least..=DAY).contains(bucket) && bucket % MINUTE == 0)
    })
}

fn contradicts(field: &'static str) -> ApiError {
    let why = "as_of is given too, allowed: one of the two";
    ErrorCode::InvalidParameter.with([&field, &why])
}

fn needs_start() -> ApiError {
    ErrorCode::MissingParameter.with([&"start"])
}

/// A point: the midpoint at the end of a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct V2PricePoint {
    /// Start of its bucket, unix seconds.
    pub start: u64,
    /// The midpoint.
    pub price: Decimal,
    /// Seconds of its bucket.
    pub bucket: u64,
}

/// `{data, pagination}` of ascending points; `next` is the first second of the next page.
#[must_use]
pub fn v2_prices_text(points: &[V2PricePoint], next: Option<u64>) -> String {
    let rows: Vec<String> = points
        .iter()
        .map(|point| {
            let V2PricePoint {
                start,
                price,
                bucket,
            } = point;
            format!(r#"{{"timestamp":{start},"price":{price},"resolution_seconds":{bucket}}}"#)
        })
        .collect();
    let next = next.map(|next| next.to_string());
    let pagination = json!({ "has_more": next.is_some(), "next_cursor": next });
    format!(
        r#"{{"data":[{}],"pagination":{pagination}}}"#,
        rows.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NOW: u64 = 1_000_000_000;

    fn read(text: &str) -> Result<V2PricesRange, String> {
        let text = format!("token_id=12&{text}");
        let query = Query::parse(Some(&text)).unwrap();
        let read = V2PricesQuery::of(&query, NOW);
        read.map(|query| query.range)
            .map_err(|error| error.to_string())
    }

    #[rstest]
    #[case("interval=1h", NOW + 1 - 3_600, NOW, 60)]
    #[case("interval=1w&bucket_seconds=300", NOW + 1 - 604_800, NOW, 300)]
    #[case("interval=1m", NOW + 1 - 2_592_000, NOW, 1_800)]
    #[case("interval=max", 0, NOW, 43_200)]
    #[case("interval=max&cursor=77", 77, NOW, 43_200)]
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
        "as_of=5&cursor=60",
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
    fn points_are_rows() {
        let point = V2PricePoint {
            start: 60,
            price: Decimal::new(45_015, 5),
            bucket: 60,
        };
        assert_eq!(
            v2_prices_text(&[point], Some(120)),
            r#"{"data":[{"timestamp":60,"price":0.45015,"resolution_seconds":60}],"pagination":{"has_more":true,"next_cursor":"120"}}"#
        );
        assert_eq!(
            v2_prices_text(&[], None),
            r#"{"data":[],"pagination":{"has_more":false,"next_cursor":null}}"#
        );
    }
}
