//! Prices, midpoints, spreads, last trades (docs/api/market-data.md §3). Without a side of the book, a
//! single read gets 404 ([`ErrorCode::NoPrice`](crate::ErrorCode::NoPrice)) and a batch omits the token.

use std::collections::BTreeMap;

use serde::Serialize;

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Price, Side};

use crate::read::pairs::as_object;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::values::{self, AnyToken};

/// Answer of `GET /price`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PriceAnswer {
    /// The price of the requested side.
    #[serde(with = "values::Amount")]
    pub price: Price,
    /// Best bid; empty without bids.
    #[serde(with = "values::AmountOrEmpty")]
    pub best_bid: Option<Price>,
    /// Best ask; empty without asks.
    #[serde(with = "values::AmountOrEmpty")]
    pub best_ask: Option<Price>,
}

/// One token of `POST /prices`; a side without a price, or not requested, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub struct SidePrices {
    /// The price to buy at.
    #[serde(
        with = "values::AmountOrEmpty",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "values::Amount")]
    pub buy: Option<Price>,
    /// The price to sell at.
    #[serde(
        with = "values::AmountOrEmpty",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "values::Amount")]
    pub sell: Option<Price>,
}

/// Keyed by the token as requested, in that order; values that do not exist are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ByToken<T: Serialize>(
    #[serde(serialize_with = "as_object")]
    #[schemars(with = "BTreeMap<String, T>")]
    pub Vec<(String, T)>,
);

/// A decimal written as text (values of `POST /midpoints`, `/spreads`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Text(#[serde(with = "values::Amount")] pub Decimal);

/// Answer of `GET /midpoint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MidpointAnswer {
    /// Mean of the best bid and the best ask, exact.
    #[serde(with = "values::Amount")]
    pub mid: Decimal,
}

/// Answer of `GET /spread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpreadAnswer {
    /// Best ask minus best bid.
    #[serde(with = "values::Amount")]
    pub spread: Price,
}

/// Answer of `GET /last-trade-price`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LastTrade {
    /// Price in the requested token.
    #[serde(with = "values::Amount")]
    pub price: Price,
    /// Side of the aggressor in the requested token; empty without a trade.
    #[serde(with = "values::SideOrEmpty")]
    pub side: Option<Side>,
}

impl LastTrade {
    /// Of a token that has not traded.
    pub const NONE: Self = Self {
        price: Price(PRICE_ONE / 2),
        side: None,
    };
}

/// One entry of `POST /last-trades-prices`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenLastTrade {
    /// The token as requested.
    #[schemars(with = "AnyToken")]
    pub token_id: String,
    /// Its last trade.
    #[serde(flatten)]
    pub last: LastTrade,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text;

    #[test]
    fn prices_are_text_and_missing_ones_empty_or_absent() {
        let price = PriceAnswer {
            price: Price(4_500),
            best_bid: None,
            best_ask: Some(Price(4_500)),
        };
        assert_eq!(
            json_text(&price),
            r#"{"price":"0.45","best_bid":"","best_ask":"0.45"}"#
        );
        let both = SidePrices {
            buy: Some(Price(4_500)),
            sell: Some(Price(4_400)),
        };
        let one = SidePrices {
            buy: None,
            sell: Some(Price(10)),
        };
        let prices = ByToken(vec![("2".into(), both), ("1".into(), one)]);
        assert_eq!(
            json_text(&prices),
            r#"{"2":{"BUY":"0.45","SELL":"0.44"},"1":{"SELL":"0.001"}}"#
        );
    }

    #[test]
    fn midpoints_spreads_and_last_trades() {
        let mid = Decimal::midpoint(Price(4_400), Price(4_501));
        assert_eq!(json_text(&MidpointAnswer { mid }), r#"{"mid":"0.44505"}"#);
        assert_eq!(
            json_text(&ByToken(vec![("1".into(), Text(mid))])),
            r#"{"1":"0.44505"}"#
        );
        assert_eq!(
            json_text(&SpreadAnswer { spread: Price(100) }),
            r#"{"spread":"0.01"}"#
        );
        let last = LastTrade {
            price: Price(4_500),
            side: Some(Side::Sell),
        };
        assert_eq!(json_text(&LastTrade::NONE), r#"{"price":"0.5","side":""}"#);
        assert_eq!(json_text(&last), r#"{"price":"0.45","side":"SELL"}"#);
        let entry = TokenLastTrade {
            token_id: "7".into(),
            last,
        };
        assert_eq!(
            json_text(&entry),
            r#"{"token_id":"7","price":"0.45","side":"SELL"}"#
        );
    }
}
