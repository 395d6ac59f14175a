//! Price history: `GET /prices-history`, `POST /batch-prices-history` (docs/api/market-data.md §4).
//! [`crate::markets::history_range`] turns a range into seconds and steps.

use serde::Serialize;

use crate::errors::api_error::{ApiError, FieldError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::limits::{LIST_BODY_BYTES, MAX_HISTORY_POINTS, MAX_HISTORY_TOKENS};
use crate::markets::history_range::{HistoryRange, Interval};
use crate::parameters;
use crate::read::body::object;
use crate::read::json::{Number, Object, Value};
use crate::read::text_form::{By, LAST_SECOND, Schema, TOKEN, digits};
use crate::text::decimal::{self, Decimal};
use crate::text::ids::TokenRef;

/// The error for a range with more than [`MAX_HISTORY_POINTS`].
#[must_use]
pub fn too_many_points(points: usize) -> ApiError {
    let values = [points, MAX_HISTORY_POINTS].map(|it| it.to_string());
    ApiError::new(ErrorCode::TooManyPoints, values.into())
}

parameters! {
    /// Parameters of `GET /prices-history`.
    #[derive(Copy)]
    pub struct HistoryQuery: Trading check check_range {
        /// Token id, decimal or `<condition id>:<outcome index>`.
        pub token: TokenRef = required(TOKEN) as "market",
        /// A window that ends now.
        pub interval: Option<Interval> = optional(INTERVAL),
        /// First second.
        pub start: Option<u64> = optional(START) as "start_ts" or "startTs",
        /// Last second; now without it.
        pub end: Option<u64> = optional(START) as "end_ts" or "endTs",
        /// Requested bucket size in minutes.
        pub fidelity: Option<u32> = optional(FIDELITY),
    }
}

const INTERVAL: By<Interval> = By::new(
    "1m, 5m, 15m, 1h, 6h, 1d, 1w, max, all",
    |text| Interval::parse(text).ok(),
    Schema::Pattern("^(1m|5m|15m|1h|6h|1d|1w|max|all)$"),
);
const START: By<u64> = By::new(
    "unix seconds, 0 to 253402300799",
    |text| parse_seconds("", text).ok(),
    Schema::UpTo(LAST_SECOND),
);
const FIDELITY: By<u32> = By::new(
    "minutes, 1 to 2147483647",
    |text| fidelity(digits(text)?).ok(),
    Schema::UpTo(2_147_483_647),
);

impl HistoryQuery {
    /// The time range.
    ///
    /// # Errors
    /// No range, two of them, or an end before the start.
    pub fn range(&self) -> Result<HistoryRange, ApiError> {
        HistoryRange::of(self.interval, self.start, self.end)
    }

    fn check_range(&self) -> Result<(), ApiError> {
        self.range().map(|_| ())
    }
}

/// Reads unix seconds; a fraction is floored.
fn parse_seconds(field: &'static str, text: &str) -> Result<u64, ApiError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let whole = decimal::digits_u64(whole).ok();
    whole
        .filter(|seconds| is_fraction && *seconds <= LAST_SECOND)
        .ok_or_else(|| wrong_seconds(field, quoted(text)))
}

fn wrong_seconds(field: &'static str, value: String) -> ApiError {
    ApiError::from(FieldError {
        field,
        value: Some(value),
        allowed: "unix seconds, 0 to 253402300799",
    })
}

/// Checks a bucket size in minutes.
fn fidelity(minutes: u64) -> Result<u32, ApiError> {
    u32::try_from(minutes)
        .ok()
        .filter(|minutes| *minutes >= 1 && i32::try_from(*minutes).is_ok())
        .ok_or_else(|| wrong_fidelity(minutes.to_string()))
}

fn wrong_fidelity(value: String) -> ApiError {
    ApiError::from(FieldError {
        field: "fidelity",
        value: Some(value),
        allowed: "minutes, 1 to 2147483647",
    })
}

/// A request for the price history of several tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryBatch {
    /// The tokens as written (keys of the answer) and as parsed. Unknown or malformed tokens get an
    /// empty history.
    pub markets: Vec<(String, Option<TokenRef>)>,
    /// The time range.
    pub range: HistoryRange,
    /// Requested bucket size in minutes.
    pub fidelity: Option<u32>,
}

/// Reads the body of `POST /batch-prices-history`.
///
/// # Errors
/// A body that is not such an object; not 1 to 20 tokens; a range outside the rules of
/// [`HistoryRange`].
pub fn read_history(body: &[u8]) -> Result<HistoryBatch, ApiError> {
    let mut copy = Vec::new();
    let object = object(body, LIST_BODY_BYTES, &mut copy)?;
    let markets = history_tokens(&object)?;
    let start = seconds(&object, "start_ts", "startTs")?;
    let end = seconds(&object, "end_ts", "endTs")?;
    let interval = match object.get("interval") {
        Value::Null => None,
        Value::Text(text) if text.is_empty() => None,
        Value::Text(text) => Some(Interval::parse(text)?),
        other => return Err(Interval::wrong(other.shown())),
    };
    let fidelity = match object.get("fidelity") {
        Value::Null => None,
        Value::Number(Number::Whole(number)) => Some(fidelity(*number)?),
        other => return Err(wrong_fidelity(other.shown())),
    };
    Ok(HistoryBatch {
        markets,
        range: HistoryRange::of(interval, start, end)?,
        fidelity,
    })
}

fn history_tokens(object: &Object<'_>) -> Result<Vec<(String, Option<TokenRef>)>, ApiError> {
    const ALLOWED: &str = "an array of 1 to 20 token ids";
    let problem = |value: Option<String>| {
        ApiError::from(FieldError {
            field: "markets",
            value,
            allowed: ALLOWED,
        })
    };
    let elements = match object.get("markets") {
        Value::Null => return Err(problem(None)),
        Value::Array(elements) => elements,
        other => return Err(problem(Some(other.shown()))),
    };
    if elements.is_empty() || elements.len() > MAX_HISTORY_TOKENS {
        return Err(ErrorCode::TooManyEntries.with([&"markets", &elements.len(), &"1 to 20"]));
    }
    let mut tokens: Vec<(String, Option<TokenRef>)> = Vec::with_capacity(elements.len());
    for element in elements {
        let Value::Text(text) = element else {
            return Err(problem(Some(element.shown())));
        };
        if text.len() > 256 {
            return Err(ErrorCode::InvalidTokenId.into());
        }
        if tokens.iter().all(|(known, _)| known != text) {
            tokens.push((text.clone().into_owned(), TokenRef::parse(text)));
        }
    }
    Ok(tokens)
}

/// Reads unix seconds under either name; a fraction is floored.
fn seconds(
    object: &Object<'_>,
    snake: &'static str,
    camel: &'static str,
) -> Result<Option<u64>, ApiError> {
    let field = if object.has(snake) { snake } else { camel };
    let text = match object.get(field) {
        Value::Null => return Ok(None),
        Value::Text(text) if text.is_empty() => return Ok(None),
        Value::Number(Number::Whole(number)) => number.to_string().into(),
        Value::Number(Number::Float(number)) => number.to_string().into(),
        Value::Number(Number::Other(text)) | Value::Text(text) => text.clone(),
        other => return Err(wrong_seconds(snake, other.shown())),
    };
    parse_seconds(snake, &text).map(Some)
}

/// One point: the midpoint at the end of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryPoint {
    /// Start of the bucket in unix seconds.
    pub t: u64,
    /// The midpoint.
    #[serde(serialize_with = "decimal::as_number")]
    pub p: Decimal,
}

/// Answer of `GET /prices-history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// Ascending.
    pub history: Vec<HistoryPoint>,
}

/// Answer of `POST /batch-prices-history`: an object keyed by the tokens as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Histories {
    /// One entry for each requested token.
    #[serde(serialize_with = "crate::read::pairs::as_object")]
    pub history: Vec<(String, Vec<HistoryPoint>)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::parameters::Parameters as _;
    use proptest::prelude::*;
    use rstest::rstest;

    #[test]
    fn a_history_names_its_tokens_as_written() {
        let body =
            br#"{"markets":["12","nonsense","12"],"start_ts":10,"endTs":"20.9","fidelity":5}"#;
        let batch = read_history(body).unwrap();
        assert_eq!(batch.markets.len(), 2);
        assert!(batch.markets[1].1.is_none());
        assert_eq!(
            batch.range,
            HistoryRange::Explicit {
                start: 10,
                end: Some(20)
            }
        );
        assert_eq!(batch.fidelity, Some(5));
    }

    #[rstest]
    #[case(
        r#"{"interval":"1d"}"#,
        "markets is missing, allowed: an array of 1 to 20 token ids"
    )]
    #[case(
        r#"{"markets":[],"interval":"1d"}"#,
        "markets has 0 entries, allowed: 1 to 20"
    )]
    #[case(
        r#"{"markets":["1"],"interval":"2d"}"#,
        "interval is '2d', allowed: 1m, 5m, 15m, 1h, 6h, 1d, 1w, max, all"
    )]
    #[case(
        r#"{"markets":["1"]}"#,
        "start_ts is missing, allowed: unix seconds, or interval in its place"
    )]
    #[case(
        r#"{"markets":["1"],"interval":"1d","start_ts":1}"#,
        "interval is given with start_ts or end_ts, allowed: one or the other"
    )]
    #[case(
        r#"{"markets":["1"],"interval":"1d","end_ts":1}"#,
        "interval is given with start_ts or end_ts, allowed: one or the other"
    )]
    #[case(
        r#"{"markets":["1"],"start_ts":20,"end_ts":10}"#,
        "end_ts is '10', allowed: not before start_ts (20)"
    )]
    #[case(
        r#"{"markets":["1"],"start_ts":1,"fidelity":0}"#,
        "fidelity is 0, allowed: minutes, 1 to 2147483647"
    )]
    #[case(
        r#"{"markets":["1"],"start_ts":1,"fidelity":2147483648}"#,
        "fidelity is 2147483648, allowed: minutes, 1 to 2147483647"
    )]
    #[case(
        r#"{"markets":["1"],"start_ts":-9223372036854775808}"#,
        "start_ts is '-9223372036854775808', allowed: unix seconds, 0 to 253402300799"
    )]
    fn a_history_outside_the_rules_is_refused(#[case] body: &str, #[case] text: &str) {
        assert_eq!(read_history(body.as_bytes()).unwrap_err().text(), text);
    }

    #[test]
    fn a_history_holds_twenty_tokens() {
        let body = |count: usize| {
            let tokens: Vec<_> = (0..count).map(|n| format!("\"{n}\"")).collect();
            format!(r#"{{"markets":[{}],"interval":"max"}}"#, tokens.join(","))
        };
        assert_eq!(read_history(body(20).as_bytes()).unwrap().markets.len(), 20);
        assert!(read_history(body(21).as_bytes()).is_err());
    }

    #[test]
    fn points_are_numbers() {
        let histories = Histories {
            history: vec![
                (
                    "12".into(),
                    vec![HistoryPoint {
                        t: 10,
                        p: Decimal::new(45_015, 5),
                    }],
                ),
                ("x".into(), Vec::new()),
            ],
        };
        assert_eq!(
            crate::json_text(&histories),
            r#"{"history":{"12":[{"t":10,"p":0.45015}],"x":[]}}"#
        );
    }

    #[rstest]
    #[case("market=12&interval=max", HistoryRange::Interval(Interval::Max), None)]
    #[case(
        "market=12&interval=all&fidelity=1440",
        HistoryRange::Interval(Interval::Max),
        Some(1440)
    )]
    #[case("market=12&startTs=5&endTs=9", HistoryRange::Explicit { start: 5, end: Some(9) }, None)]
    #[case("market=12&start_ts=5.75", HistoryRange::Explicit { start: 5, end: None }, None)]
    fn a_query_names_its_range(
        #[case] text: &str,
        #[case] range: HistoryRange,
        #[case] fidelity: Option<u32>,
    ) {
        let query = HistoryQuery::read_text(Some(text)).unwrap();
        assert_eq!((query.range().unwrap(), query.fidelity), (range, fidelity));
    }

    #[rstest]
    #[case("interval=1d", "market is missing")]
    #[case("market=zz&interval=1d", "Invalid token id")]
    #[case("market=1&interval=1d&startTs=1", "one or the other")]
    #[case("market=1&startTs=1&start_ts=1", "start_ts is repeated, allowed: once")]
    #[case("market=1&startTs=NaN", "start_ts is 'NaN'")]
    #[case("market=1&startTs=-0", "start_ts is '-0'")]
    #[case("market=1&startTs=1.", "start_ts is '1.'")]
    #[case("market=1&startTs=1&fidelity=-1", "fidelity is '-1'")]
    fn a_query_outside_the_rules_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = HistoryQuery::read_text(Some(text)).unwrap_err();
        assert!(error.text().contains(part), "{}", error.text());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = read_history(&body);
        }
    }
}
