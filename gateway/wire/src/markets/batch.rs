//! Batch reads: the body of `POST /books`, `/prices`, `/midpoints`, `/spreads`,
//! `/last-trades-prices`, `/orders-scoring`, and the tokens of the same paths with GET
//! (docs/api/market-data.md §2, §3).

use std::collections::HashMap;

use foretell_model::Side;
use serde::Deserialize;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_BATCH;
use crate::read::body::{List, RequestBody, TRADING};
use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator};
use crate::text::ids::TokenRef;
use crate::values::{
    AnySide, AnyToken, Filled, IdText, Item, OrDefault, Readable as _, any_text, values,
};

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

/// The body of a batch read: `[{token_id, side?}]`, at most [`MAX_BATCH`] entries. An empty or null
/// side counts as absent; sides ignore case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchTokens(pub Vec<BatchToken>);

/// An entry of the body.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct Entry {
    #[serde(with = "TokenText")]
    token_id: String,
    /// Side to report; both when absent, null or empty.
    #[serde(with = "OrDefault::<Filled<AnySide>>")]
    side: Option<Side>,
}

values! {
    /// Any text; [`merge_tokens`] reads the token.
    TokenText { reads String: str as AnyToken, "a token id" => InvalidTokenId | InvalidTokenId, any_text; }
}

const TOKENS: List = List {
    array: "an array",
    entry: None,
    max_entries: MAX_BATCH,
    allowed: "up to 500 entries",
};

impl RequestBody for BatchTokens {
    const ERRORS: &'static [ErrorCode] = &[
        ErrorCode::InvalidBody,
        ErrorCode::RepeatedJsonKey,
        ErrorCode::TooManyEntries,
        ErrorCode::InvalidTokenId,
        ErrorCode::InvalidSide,
    ];

    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        TOKENS.schema::<Entry>(generator)
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let entries = TRADING.read_list::<Entry>(body, &TOKENS)?;
        let entries = entries.iter();
        merge_tokens(entries.map(|entry| (entry.token_id.as_str(), entry.side))).map(Self)
    }
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
    Filled::<AnySide>::read(text).ok_or_else(|| ErrorCode::InvalidSide.into())
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

/// The body of `POST /orders-scoring`: an array of at most [`MAX_BATCH`] order ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoringOrders(pub Vec<String>);

const ORDERS: List = List {
    array: "an array",
    entry: Some("order id"),
    max_entries: MAX_BATCH,
    allowed: "up to 500 order ids",
};

impl RequestBody for ScoringOrders {
    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        ORDERS.schema::<IdText>(generator)
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let ids = TRADING.read_list::<Item<IdText>>(body, &ORDERS)?;
        Ok(Self(ids.into_iter().map(|id| id.0).collect()))
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
        let asked = BatchTokens::read(body).unwrap().0;
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
        assert_eq!(BatchTokens::read(b"[]").unwrap().0, []);
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
        assert_eq!(BatchTokens::read(body.as_bytes()).unwrap_err().text(), text);
    }

    #[test]
    fn a_batch_holds_five_hundred_entries() {
        let body = |count| format!("[{}]", vec![r#"{"token_id":"1"}"#; count].join(","));
        assert_eq!(BatchTokens::read(body(500).as_bytes()).unwrap().0.len(), 1);
        assert_eq!(
            BatchTokens::read(body(501).as_bytes()).unwrap_err().text(),
            "the array has 501 entries, allowed: up to 500 entries"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = (BatchTokens::read(&body), ScoringOrders::read(&body));
        }
    }
}
