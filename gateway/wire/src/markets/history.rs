//! Price history: `GET /prices-history`, `POST /batch-prices-history` (docs/api/market-data.md §4).
//! [`crate::markets::history_range`] turns a range into seconds and steps.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Deserializer, Serialize};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_HISTORY_POINTS, MAX_HISTORY_TOKENS};
use crate::markets::history_range::{HistoryRange, Interval, IntervalWord};
use crate::parameters;
use crate::read::body::{TRADING, bodies};
use crate::read::query::text_form::digits;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::ids::TokenRef;
use crate::text::time::{LAST_SECOND, SECONDS_ALLOWED, seconds};
use crate::values::{
    self, Each, Filled, Optional, OrDefault, QueryToken, Scalar, ScalarVisitor, values,
};

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
        pub token: TokenRef = required(QueryToken) as "market",
        /// Window that ends now; excludes `start_ts` and `end_ts`.
        pub interval: Option<Interval> = optional(IntervalWord),
        /// Start, unix seconds; required without an interval.
        pub start: Option<u64> = optional(Instant) as "start_ts" or "startTs",
        /// End, unix seconds; now by default.
        pub end: Option<u64> = optional(Instant) as "end_ts" or "endTs",
        /// Minutes of a bucket; the bucket of the range by default.
        pub fidelity: Option<u32> = optional(FidelityText),
    }
}

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

/// What a batch names.
const MARKETS: &str = "an array of 1 to 20 token ids";
/// Bytes of a token as a client names it.
const MAX_TOKEN_TEXT: usize = 256;

values! {
    /// A time; a fraction of a second is floored.
    Instant { reads u64: str { "type": "number", "minimum": 0, "maximum": LAST_SECOND }, SECONDS_ALLOWED, floored_seconds; }
    /// As [`Instant`], also as number. An empty text is none.
    InstantNumber { reads Option<u64>: NumberText as Instant, Instant::ALLOWED, |number: &NumberText| Filled::<Instant>::read(&number.0); }
    /// A bucket size.
    Fidelity { reads u32: u64 { "minimum": 1, "maximum": i32::MAX }, "minutes, 1 to 2147483647", |minutes: &u64| i32::try_from(*minutes).ok()?.try_into().ok().filter(|minutes| *minutes > 0); }
    FidelityText { reads u32: str as Fidelity, Fidelity::ALLOWED, |text| Fidelity::read(&digits(text)?); }
    /// The key of its history in the answer.
    TokenText {
        reads String: str { "maxLength": MAX_TOKEN_TEXT }, MARKETS => InvalidTokenId, |text: &str| (text.len() <= MAX_TOKEN_TEXT).then(|| text.to_owned());
    }
}

fn floored_seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    seconds(whole).filter(|_| is_fraction)
}

/// A text or a number, as text.
#[derive(Clone, JsonSchema)]
#[schemars(transparent, inline)]
struct NumberText(#[schemars(with = "serde_json::Number")] String);

impl<'de> Deserialize<'de> for NumberText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |scalar: Scalar<'_>| {
            Some(Self(match scalar {
                Scalar::Text(text) => text.to_owned(),
                Scalar::Whole(number) => number.to_string(),
            }))
        };
        deserializer.deserialize_u128(ScalarVisitor(text))
    }
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

/// The body of `POST /batch-prices-history`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "HistoryBatch")]
struct BatchFields {
    /// Token ids.
    #[serde(with = "Optional::<Each<TokenText>>")]
    #[schemars(with = "Each<TokenText>", length(min = 1, max = MAX_HISTORY_TOKENS))]
    markets: Option<Vec<String>>,
    /// Start, unix seconds; required without an interval.
    #[serde(with = "OrDefault::<InstantNumber>")]
    start_ts: Option<u64>,
    /// The same as `start_ts`.
    #[serde(rename = "startTs", with = "OrDefault::<InstantNumber>")]
    start: Option<u64>,
    /// End, unix seconds; now by default.
    #[serde(with = "OrDefault::<InstantNumber>")]
    end_ts: Option<u64>,
    /// The same as `end_ts`.
    #[serde(rename = "endTs", with = "OrDefault::<InstantNumber>")]
    end: Option<u64>,
    /// Window that ends now; excludes `start_ts` and `end_ts`.
    #[serde(with = "OrDefault::<Filled<IntervalWord>>")]
    interval: Option<Interval>,
    /// Minutes of a bucket; the bucket of the range by default.
    #[serde(with = "Optional::<Fidelity>")]
    fidelity: Option<u32>,
}

bodies!(TRADING: BatchFields => HistoryBatch);

impl TryFrom<BatchFields> for HistoryBatch {
    type Error = ApiError;

    fn try_from(fields: BatchFields) -> Result<Self, ApiError> {
        let (start, end) = (
            fields.start_ts.or(fields.start),
            fields.end_ts.or(fields.end),
        );
        Ok(Self {
            markets: named_tokens(fields.markets)?,
            range: HistoryRange::of(fields.interval, start, end)?,
            fidelity: fields.fidelity,
        })
    }
}

/// The tokens of a batch, each once.
fn named_tokens(markets: Option<Vec<String>>) -> Result<Vec<(String, Option<TokenRef>)>, ApiError> {
    let missing = FieldError::missing("markets", MARKETS);
    let mut texts = markets.ok_or(missing)?;
    if texts.is_empty() || texts.len() > MAX_HISTORY_TOKENS {
        return Err(ErrorCode::TooManyEntries.with([&"markets", &texts.len(), &"1 to 20"]));
    }
    let mut known = HashSet::with_capacity(texts.len());
    texts.retain(|text| known.insert(text.clone()));
    let tokens: Vec<_> = texts.iter().map(|text| TokenRef::parse(text)).collect();
    Ok(texts.into_iter().zip(tokens).collect())
}

/// One point: the midpoint at the end of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Start of the bucket, unix seconds.
    pub t: u64,
    /// The midpoint.
    #[serde(with = "values::Fraction")]
    pub p: Decimal,
}

/// Answer of `GET /prices-history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct History {
    /// Points, oldest first.
    pub history: Vec<HistoryPoint>,
}

/// Answer of `POST /batch-prices-history`: an object keyed by the tokens as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Histories {
    /// Keyed by the token as requested; empty for an unknown token.
    #[serde(serialize_with = "crate::read::pairs::as_object")]
    #[schemars(with = "BTreeMap<String, Vec<HistoryPoint>>")]
    pub history: Vec<(String, Vec<HistoryPoint>)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::RequestBody as _;
    use crate::read::query::parameters::Parameters as _;
    use proptest::prelude::*;
    use rstest::rstest;

    #[test]
    fn a_history_names_its_tokens_as_written() {
        let body =
            br#"{"markets":["12","nonsense","12"],"start_ts":10,"endTs":"20.9","fidelity":5}"#;
        let batch = HistoryBatch::read(body).unwrap();
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
        "start_ts is -9223372036854775808, allowed: unix seconds, 0 to 253402300799, not milliseconds"
    )]
    fn a_history_outside_the_rules_is_refused(#[case] body: &str, #[case] text: &str) {
        assert_eq!(
            HistoryBatch::read(body.as_bytes()).unwrap_err().text(),
            text
        );
    }

    #[test]
    fn a_history_holds_twenty_tokens() {
        let body = |count: usize| {
            let tokens: Vec<_> = (0..count).map(|n| format!("\"{n}\"")).collect();
            format!(r#"{{"markets":[{}],"interval":"max"}}"#, tokens.join(","))
        };
        assert_eq!(
            HistoryBatch::read(body(20).as_bytes())
                .unwrap()
                .markets
                .len(),
            20
        );
        assert!(HistoryBatch::read(body(21).as_bytes()).is_err());
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
    #[case("market=1&startTs=1790000000000", "not milliseconds")]
    #[case("market=1&startTs=1&fidelity=-1", "fidelity is '-1'")]
    fn a_query_outside_the_rules_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = HistoryQuery::read_text(Some(text)).unwrap_err();
        assert!(error.text().contains(part), "{}", error.text());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = HistoryBatch::read(&body);
        }
    }
}
