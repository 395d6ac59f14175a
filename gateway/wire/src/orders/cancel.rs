//! Bodies of `DELETE /order`, `/orders` and `/cancel-market-orders` (docs/api/orders.md §4).

use std::collections::HashSet;

use foretell_model::{ConditionId, OrderId};
use serde::Deserialize;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_CANCELS;
use crate::read::body::{List, RequestBody, TRADING, bodies};
use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator};
use crate::text::ids::{self, TokenRef};
use crate::values::{
    AnyToken, Condition, Filled, Item, Optional, OrDefault, OrderName, Readable as _,
};

/// An order as the client named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOrder {
    /// The id as written; the key in the answer.
    pub text: String,
    /// The parsed id; `None` when the text is not an order id, which is reported as not found.
    pub order: Option<OrderId>,
}

impl From<String> for NamedOrder {
    fn from(text: String) -> Self {
        let order = ids::order_id(&text);
        Self { text, order }
    }
}

/// The body of `DELETE /order`: the order id under either name; stock clients write `orderID`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NamedOrder")]
#[schemars(extend("minProperties" = 1))]
struct OrderNames {
    #[serde(rename = "orderId", with = "Optional::<OrderName>")]
    order_id: Option<String>,
    #[serde(rename = "orderID", with = "Optional::<OrderName>")]
    stock_id: Option<String>,
}

bodies!(TRADING: OrderNames => NamedOrder);

impl TryFrom<OrderNames> for NamedOrder {
    type Error = ApiError;

    fn try_from(names: OrderNames) -> Result<Self, ApiError> {
        match (names.order_id, names.stock_id) {
            (Some(first), Some(second)) if first != second => {
                let problem = "orderId and orderID differ, allowed: one of them";
                Err(ErrorCode::InvalidBody.with([&problem]))
            }
            (Some(text), _) | (None, Some(text)) => Ok(text.into()),
            (None, None) => Err(FieldError::missing("orderId", OrderName::ALLOWED).into()),
        }
    }
}

/// The body of `DELETE /orders`: an array of at most [`MAX_CANCELS`] ids. Repeated ids are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOrders(pub Vec<NamedOrder>);

const CANCELS: List = List {
    array: "an array of order ids",
    entry: Some("order id"),
    max_entries: MAX_CANCELS,
    allowed: "up to 1000 order ids",
};

impl RequestBody for NamedOrders {
    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        CANCELS.schema::<OrderName>(generator)
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let mut ids = TRADING.read_list::<Item<OrderName>>(body, &CANCELS)?;
        let mut known = HashSet::with_capacity(ids.len());
        ids.retain(|id| known.insert(id.0.clone()));
        Ok(Self(ids.into_iter().map(|id| id.0.into()).collect()))
    }
}

/// The body of `DELETE /cancel-market-orders`: the orders of a market to cancel. At least one field
/// is given; an empty text counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketCancel {
    /// The market's condition.
    pub market: Option<ConditionId>,
    /// One of the market's tokens.
    pub token: Option<TokenRef>,
}

/// A market, one of its tokens, or both. Empty values are absent.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "MarketCancel")]
#[schemars(extend("minProperties" = 1))]
struct MarketNames {
    #[serde(with = "OrDefault::<Filled<Condition>>")]
    market: Option<ConditionId>,
    #[serde(with = "OrDefault::<Filled<AnyToken>>")]
    asset_id: Option<TokenRef>,
    #[serde(rename = "assetId", with = "OrDefault::<Filled<AnyToken>>")]
    stock_id: Option<TokenRef>,
}

bodies!(TRADING: MarketNames => MarketCancel);

impl TryFrom<MarketNames> for MarketCancel {
    type Error = ApiError;

    fn try_from(names: MarketNames) -> Result<Self, ApiError> {
        let token = names.asset_id.or(names.stock_id);
        if names.market.is_none() && token.is_none() {
            let allowed = "a condition id, or asset_id in its place";
            return Err(FieldError::missing("market", allowed).into());
        }
        Ok(Self {
            market: names.market,
            token,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const ID: &str = "0xabababababababababababababababababababababababababababababababab";
    const CONDITION: &str = "0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d";

    #[rstest]
    #[case(format!(r#"{{"orderId":"{ID}"}}"#))]
    #[case(format!(r#"{{"orderID":"{ID}"}}"#))]
    #[case(format!(r#"{{"orderID":"{ID}","orderId":null,"more":1}}"#))]
    #[case(format!(r#"{{"orderID":"{ID}","orderId":"{ID}"}}"#))]
    fn one_order_is_named_in_two_ways(#[case] body: String) {
        let named = NamedOrder::read(body.as_bytes()).unwrap();
        assert_eq!(named.order, Some(OrderId([0xab; 32])));
        assert_eq!(named.text, ID);
    }

    #[rstest]
    #[case("{}", "orderId is missing, allowed: an order id, 0x and 64 hex digits")]
    #[case(
        r#"{"orderId":7}"#,
        "orderId is 7, allowed: an order id, 0x and 64 hex digits"
    )]
    #[case(
        r#"{"orderId":""}"#,
        "orderId is '', allowed: an order id, 0x and 64 hex digits"
    )]
    #[case(
        r#"{"orderId":"0x1","orderID":"0x2"}"#,
        "invalid body: orderId and orderID differ, allowed: one of them"
    )]
    #[case(
        r#"{"orderId":"0x1","orderId":"0x2"}"#,
        "invalid body: the key 'orderId' is repeated, allowed: once"
    )]
    #[case("[]", "invalid body: an array, allowed: an object")]
    #[case("", "invalid body: not JSON")]
    fn a_body_that_names_no_order_is_refused(#[case] body: &str, #[case] text: &str) {
        assert_eq!(NamedOrder::read(body.as_bytes()).unwrap_err().text(), text);
    }

    #[test]
    fn a_text_that_is_no_id_names_an_order_nobody_has() {
        let named = NamedOrder::read(br#"{"orderId":"nonsense"}"#).unwrap();
        assert_eq!((named.text.as_str(), named.order), ("nonsense", None));
    }

    #[test]
    fn a_list_keeps_order_and_drops_repeats() {
        let body = format!(r#"["{ID}","0x01","{ID}"]"#);
        let named = NamedOrders::read(body.as_bytes()).unwrap().0;
        let texts: Vec<_> = named.iter().map(|named| named.text.as_str()).collect();
        assert_eq!(texts, [ID, "0x01"]);
        assert_eq!(NamedOrders::read(b"[]").unwrap().0, []);
    }

    #[test]
    fn a_list_holds_a_thousand_ids_and_no_more() {
        let list = |count: usize| {
            let ids: Vec<_> = (0..count).map(|n| format!("\"0x{n:064x}\"")).collect();
            format!("[{}]", ids.join(","))
        };
        assert_eq!(
            NamedOrders::read(list(1_000).as_bytes()).unwrap().0.len(),
            1_000
        );
        assert_eq!(
            NamedOrders::read(list(1_001).as_bytes())
                .unwrap_err()
                .text(),
            "the array has 1001 entries, allowed: up to 1000 order ids"
        );
        assert!(NamedOrders::read(b"{}").is_err());
        assert!(NamedOrders::read(b"[1]").is_err());
    }

    #[rstest]
    #[case(format!(r#"{{"market":"{CONDITION}"}}"#), true, false)]
    #[case(format!(r#"{{"market":"{CONDITION}","asset_id":""}}"#), true, false)]
    #[case(r#"{"asset_id":"12"}"#.to_owned(), false, true)]
    #[case(r#"{"assetId":"12","market":null}"#.to_owned(), false, true)]
    #[case(format!(r#"{{"market":"{CONDITION}","asset_id":"{CONDITION}:1"}}"#), true, true)]
    fn a_market_is_named_by_condition_or_token(
        #[case] body: String,
        #[case] market: bool,
        #[case] token: bool,
    ) {
        let cancel = MarketCancel::read(body.as_bytes()).unwrap();
        assert_eq!(
            (cancel.market.is_some(), cancel.token.is_some()),
            (market, token)
        );
    }

    #[rstest]
    #[case(
        "{}",
        "market is missing, allowed: a condition id, or asset_id in its place"
    )]
    #[case(
        r#"{"market":"","asset_id":""}"#,
        "market is missing, allowed: a condition id, or asset_id in its place"
    )]
    #[case(
        r#"{"market":"0x1"}"#,
        "market is '0x1', allowed: a condition id, 0x and 64 hex digits"
    )]
    #[case(r#"{"asset_id":"0x1"}"#, "Invalid token id")]
    #[case(r#"{"asset_id":12}"#, "asset_id is 12, allowed: a text")]
    fn a_market_cancel_names_something(#[case] body: &str, #[case] text: &str) {
        assert_eq!(
            MarketCancel::read(body.as_bytes()).unwrap_err().text(),
            text
        );
    }
}
