//! Batch reads: the body of `POST /books`, `/prices`, `/midpoints`, `/spreads`,
//! `/last-trades-prices`, `/orders-scoring`, and the tokens of the same paths with GET
//! (docs/api/market-data.md §2, §3).

use std::collections::HashMap;

use foretell_model::Side;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{LIST_BODY_BYTES, MAX_BATCH, MAX_ORDER_ID_TEXT};
use crate::read::body::bounded;
use crate::read::json::Value;
use crate::text::ids::TokenRef;

/// The requested sides of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sides {
    /// BUY, or no side given.
    pub buy: bool,
    /// SELL, or no side given.
    pub sell: bool,
}

impl Sides {
    /// Both sides.
    pub const BOTH: Self = Self {
        buy: true,
        sell: true,
    };

    /// The given side, or both sides for `None`.
    #[must_use]
    pub const fn of(side: Option<Side>) -> Self {
        match side {
            None => Self::BOTH,
            Some(Side::Buy) => Self {
                buy: true,
                sell: false,
            },
            Some(Side::Sell) => Self {
                buy: false,
                sell: true,
            },
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            buy: self.buy || other.buy,
            sell: self.sell || other.sell,
        }
    }
}

/// A token of a batch read. Repeated tokens are merged into the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchToken {
    /// The token as written; the key in answers that are objects.
    pub text: String,
    /// The token.
    pub token: TokenRef,
    /// The requested sides.
    pub sides: Sides,
}

/// Reads `[{token_id, side?}]`, at most [`MAX_BATCH`] entries. An empty or null side counts as
/// absent; sides ignore case.
///
/// # Errors
/// A body that is not such an array; `Invalid token id`; `Invalid side`.
pub fn read_tokens(body: &[u8]) -> Result<Vec<BatchToken>, ApiError> {
    let mut copy = Vec::new();
    let elements = array(body, "the array", MAX_BATCH, "up to 500 entries", &mut copy)?;
    let mut merged = Merged::default();
    for element in &elements {
        let Value::Object(entry) = element else {
            let problem = format!("an entry is {}, allowed: an object", element.shown());
            return Err(ErrorCode::InvalidBody.with([&problem]));
        };
        if let Some(key) = entry.duplicate() {
            return Err(ErrorCode::RepeatedJsonKey.with([&key]));
        }
        let text = match entry.get("token_id") {
            Value::Text(text) => text,
            _ => return Err(ErrorCode::InvalidTokenId.into()),
        };
        let side = match entry.get("side") {
            Value::Null => None,
            Value::Text(text) => side_of(text)?,
            _ => return Err(ErrorCode::InvalidSide.into()),
        };
        merged.add(text, Sides::of(side))?;
    }
    Ok(merged.tokens)
}

/// Merges the tokens of a batch with the sides asked of each.
///
/// # Errors
/// `Invalid token id`.
pub(crate) fn merge_tokens<'t>(
    entries: impl Iterator<Item = (&'t str, Option<Side>)>,
) -> Result<Vec<BatchToken>, ApiError> {
    let mut merged = Merged::default();
    for (text, side) in entries {
        merged.add(text, Sides::of(side))?;
    }
    Ok(merged.tokens)
}

/// Reads a side, ignoring case; an empty text is `None`.
///
/// # Errors
/// `Invalid side`.
pub fn side_of(text: &str) -> Result<Option<Side>, ApiError> {
    match text {
        "" => Ok(None),
        text if text.eq_ignore_ascii_case("BUY") => Ok(Some(Side::Buy)),
        text if text.eq_ignore_ascii_case("SELL") => Ok(Some(Side::Sell)),
        _ => Err(ErrorCode::InvalidSide.into()),
    }
}

#[derive(Default)]
struct Merged {
    tokens: Vec<BatchToken>,
    places: HashMap<TokenRef, usize>,
}

impl Merged {
    fn add(&mut self, text: &str, sides: Sides) -> Result<(), ApiError> {
        let token = TokenRef::parse(text).ok_or(ErrorCode::InvalidTokenId)?;
        if let Some(place) = self.places.get(&token) {
            let asked = &mut self.tokens[*place];
            asked.sides = asked.sides.and(sides);
            return Ok(());
        }
        self.places.insert(token, self.tokens.len());
        self.tokens.push(BatchToken {
            text: text.to_owned(),
            token,
            sides,
        });
        Ok(())
    }
}

/// Reads the order ids of `POST /orders-scoring`, an array of texts.
///
/// # Errors
/// A body that is not such an array.
pub fn read_scoring(body: &[u8]) -> Result<Vec<String>, ApiError> {
    let mut copy = Vec::new();
    let elements = array(
        body,
        "the array",
        MAX_BATCH,
        "up to 500 order ids",
        &mut copy,
    )?;
    elements
        .iter()
        .map(|element| match element {
            Value::Text(text) if text.len() <= MAX_ORDER_ID_TEXT => Ok(text.clone().into_owned()),
            other => Err(ApiError::from(FieldError {
                field: "order id",
                value: Some(other.shown()),
                allowed: "a text of up to 128 bytes",
            })),
        })
        .collect()
}

fn array<'a>(
    body: &'a [u8],
    field: &'static str,
    limit: usize,
    allowed: &'static str,
    copy: &'a mut Vec<u8>,
) -> Result<Vec<Value<'a>>, ApiError> {
    match bounded(body, LIST_BODY_BYTES, copy)? {
        Value::Array(elements) if elements.len() > limit => {
            Err(ErrorCode::TooManyEntries.with([&field, &elements.len(), &allowed]))
        }
        Value::Array(elements) => Ok(elements),
        other => {
            let problem = format!("{}, allowed: an array", other.shown());
            Err(ErrorCode::InvalidBody.with([&problem]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[test]
    fn repeated_tokens_merge_at_their_first_place() {
        let body = br#"[{"token_id":"1","side":"BUY"},{"token_id":"2"},{"token_id":"1","side":"sell"},
            {"token_id":"3","side":""},{"token_id":"4","side":null},{"token_id":"5","side":"Buy","x":1}]"#;
        let asked = read_tokens(body).unwrap();
        let shown: Vec<_> = asked
            .iter()
            .map(|asked| (asked.text.as_str(), asked.sides.buy, asked.sides.sell))
            .collect();
        assert_eq!(
            shown,
            [
                ("1", true, true),
                ("2", true, true),
                ("3", true, true),
                ("4", true, true),
                ("5", true, false)
            ]
        );
        assert_eq!(read_tokens(b"[]").unwrap(), []);
    }

    #[rstest]
    #[case(r#"[{"token_id":"x"}]"#, "Invalid token id")]
    #[case(r#"[{"token_id":1}]"#, "Invalid token id")]
    #[case(r#"[{}]"#, "Invalid token id")]
    #[case(r#"[{"token_id":"1","side":"HOLD"}]"#, "Invalid side")]
    #[case(r#"[{"token_id":"1","side":0}]"#, "Invalid side")]
    #[case(
        r#"[{"token_id":"1","token_id":"2"}]"#,
        "invalid body: the key 'token_id' is repeated, allowed: once"
    )]
    #[case(r#"["1"]"#, "invalid body: an entry is '1', allowed: an object")]
    #[case(r#"{"token_id":"1"}"#, "invalid body: an object, allowed: an array")]
    #[case("[", "invalid body: not JSON")]
    fn a_batch_that_is_none_is_refused(#[case] body: &str, #[case] text: &str) {
        assert_eq!(read_tokens(body.as_bytes()).unwrap_err().text(), text);
    }

    #[test]
    fn a_batch_holds_five_hundred_entries() {
        let body = |count| format!("[{}]", vec![r#"{"token_id":"1"}"#; count].join(","));
        assert_eq!(read_tokens(body(500).as_bytes()).unwrap().len(), 1);
        assert_eq!(
            read_tokens(body(501).as_bytes()).unwrap_err().text(),
            "the array has 501 entries, allowed: up to 500 entries"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = (read_tokens(&body), read_scoring(&body));
        }
    }
}
