//! Bodies of `DELETE /order`, `/orders` and `/cancel-market-orders` (docs/api/orders.md §4).

use foretell_model::{ConditionId, OrderId};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{LIST_BODY_BYTES, MAX_CANCELS, MAX_ORDER_ID_TEXT, SMALL_BODY_BYTES};
use crate::read::body::{bounded, object, optional_text};
use crate::read::json::Value;
use crate::text::ids::{self, TokenRef};

/// An order as the client named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOrder {
    /// The id as written; the key in the answer.
    pub text: String,
    /// The parsed id; `None` when the text is not an order id, which is reported as not found.
    pub order: Option<OrderId>,
}

/// Selects the orders of a market to cancel; at least one field is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketCancel {
    /// The market's condition.
    pub market: Option<ConditionId>,
    /// One of the market's tokens.
    pub token: Option<TokenRef>,
}

/// Reads the body of `DELETE /order`: `orderId`, or `orderID` as stock clients write.
///
/// # Errors
/// A body that is not such an object, or both names with different values.
pub fn read_cancel(body: &[u8]) -> Result<NamedOrder, ApiError> {
    let mut copy = Vec::new();
    let object = object(body, SMALL_BODY_BYTES, &mut copy)?;
    let both = ["orderId", "orderID"].map(|key| object.get(key));
    match both {
        [Value::Null, Value::Null] => Err(FieldError::missing("orderId", ID_ALLOWED).into()),
        [named, Value::Null] | [Value::Null, named] => named_order("orderId", named),
        [first, second] if first == second => named_order("orderId", first),
        _ => {
            Err(ErrorCode::InvalidBody
                .with([&("orderId and orderID differ, allowed: one of them")]))
        }
    }
}

/// Reads the body of `DELETE /orders`: an array of ids. Repeated ids are dropped.
///
/// # Errors
/// A body that is not an array of texts, or has more than [`MAX_CANCELS`] entries.
pub fn read_cancels(body: &[u8]) -> Result<Vec<NamedOrder>, ApiError> {
    let mut copy = Vec::new();
    let elements = match bounded(body, LIST_BODY_BYTES, &mut copy)? {
        Value::Array(elements) => elements,
        other => {
            return Err(ErrorCode::InvalidBody
                .with([&(format!("{}, allowed: an array of order ids", other.shown()))]));
        }
    };
    if elements.len() > MAX_CANCELS {
        return Err(ErrorCode::TooManyEntries.with([
            &"the array",
            &elements.len(),
            &"up to 1000 order ids",
        ]));
    }
    let mut seen = std::collections::HashSet::with_capacity(elements.len());
    let mut named = Vec::with_capacity(elements.len());
    for element in &elements {
        let order = named_order("order id", element)?;
        if seen.insert(order.text.clone()) {
            named.push(order);
        }
    }
    Ok(named)
}

/// Reads the body of `DELETE /cancel-market-orders`; an empty text counts as absent.
///
/// # Errors
/// A body that is not such an object, has neither market nor token, or has a malformed one.
pub fn read_market_cancel(body: &[u8]) -> Result<MarketCancel, ApiError> {
    let mut copy = Vec::new();
    let object = object(body, SMALL_BODY_BYTES, &mut copy)?;
    let market = match optional_text(&object, "market")? {
        Some(text) => Some(ids::condition_id(text).ok_or_else(|| {
            ApiError::from(FieldError::wrong(
                "market",
                text,
                "a condition id, 0x and 64 hex digits",
            ))
        })?),
        None => None,
    };
    let asset = match optional_text(&object, "asset_id")? {
        Some(text) => Some(text),
        None => optional_text(&object, "assetId")?,
    };
    let token = match asset {
        Some(text) => Some(TokenRef::parse(text).ok_or(ErrorCode::InvalidTokenId)?),
        None => None,
    };
    if market.is_none() && token.is_none() {
        return Err(
            FieldError::missing("market", "a condition id, or asset_id in its place").into(),
        );
    }
    Ok(MarketCancel { market, token })
}

const ID_ALLOWED: &str = "an order id, 0x and 64 hex digits";

fn named_order(field: &'static str, value: &Value<'_>) -> Result<NamedOrder, ApiError> {
    match value {
        Value::Text(text) if !text.is_empty() && text.len() <= MAX_ORDER_ID_TEXT => {
            Ok(NamedOrder {
                order: ids::order_id(text),
                text: text.clone().into_owned(),
            })
        }
        other => Err(ApiError::from(FieldError {
            field,
            value: Some(other.shown()),
            allowed: ID_ALLOWED,
        })),
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
        let named = read_cancel(body.as_bytes()).unwrap();
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
        assert_eq!(read_cancel(body.as_bytes()).unwrap_err().text(), text);
    }

    #[test]
    fn a_text_that_is_no_id_names_an_order_nobody_has() {
        let named = read_cancel(br#"{"orderId":"nonsense"}"#).unwrap();
        assert_eq!((named.text.as_str(), named.order), ("nonsense", None));
    }

    #[test]
    fn a_list_keeps_order_and_drops_repeats() {
        let body = format!(r#"["{ID}","0x01","{ID}"]"#);
        let named = read_cancels(body.as_bytes()).unwrap();
        let texts: Vec<_> = named.iter().map(|named| named.text.as_str()).collect();
        assert_eq!(texts, [ID, "0x01"]);
        assert_eq!(read_cancels(b"[]").unwrap(), []);
    }

    #[test]
    fn a_list_holds_a_thousand_ids_and_no_more() {
        let list = |count: usize| {
            let ids: Vec<_> = (0..count).map(|n| format!("\"0x{n:064x}\"")).collect();
            format!("[{}]", ids.join(","))
        };
        assert_eq!(read_cancels(list(1_000).as_bytes()).unwrap().len(), 1_000);
        assert_eq!(
            read_cancels(list(1_001).as_bytes()).unwrap_err().text(),
            "the array has 1001 entries, allowed: up to 1000 order ids"
        );
        let error = read_cancels(&vec![b' '; LIST_BODY_BYTES + 1]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::BodyTooLarge);
        assert!(read_cancels(b"{}").is_err());
        assert!(read_cancels(b"[1]").is_err());
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
        let cancel = read_market_cancel(body.as_bytes()).unwrap();
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
            read_market_cancel(body.as_bytes()).unwrap_err().text(),
            text
        );
    }
}
