//! Body and answer of `POST /replace` (docs/api/orders.md §6).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use foretell_model::OrderId;
use foretell_model::limits::MAX_REPLACE;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::orders::order::{OrderSubmission, submission};
use crate::orders::result::{CancelAnswer, OrderAnswer};
use crate::read::body::{RequestBody, TRADING};
use crate::read::json::Value;
use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator, json_schema};
use crate::text::ids;
use crate::values::{Each, Flag, OrDefault, Order, values};

/// A replace as submitted: at least one cancel or order.
#[derive(Clone, Debug)]
pub struct ReplaceRequest {
    /// Orders to cancel: as written, and parsed. Repeated ids are dropped.
    pub cancel: Vec<(String, OrderId)>,
    /// Orders to place, or what is wrong with each.
    pub place: Vec<Result<OrderSubmission, ApiError>>,
    /// Whether orders are placed only when each cancel ended its order.
    pub if_all_canceled: bool,
}

impl ReplaceRequest {
    /// The orders to place.
    ///
    /// # Errors
    /// The first that is wrong refuses the whole.
    pub fn orders(&self) -> Result<Vec<&OrderSubmission>, ReplaceError> {
        let numbered = self.place.iter().enumerate();
        let orders = numbered.map(|(index, order)| {
            order.as_ref().map_err(|error| ReplaceError {
                place: Some(index),
                error: Box::new(error.clone()),
            })
        });
        orders.collect()
    }
}

/// A body that is no replace.
#[derive(Clone, Debug)]
pub struct ReplaceError {
    /// The index of the wrong order in `place`; `None` = another part.
    pub place: Option<usize>,
    /// What is wrong.
    pub error: Box<ApiError>,
}

impl From<ApiError> for ReplaceError {
    fn from(error: ApiError) -> Self {
        Self {
            place: None,
            error: Box::new(error),
        }
    }
}

impl ReplaceError {
    /// The answer's body.
    #[must_use]
    pub fn body(&self) -> String {
        crate::json_text(&ReplaceErrorJson {
            error: self.error.text(),
            code: self.error.code().name(),
            place: self.place,
        })
    }
}

/// The body of a refusal.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReplaceRefusal")]
pub struct ReplaceErrorJson {
    /// Text of the error (docs/api/errors.md).
    error: String,
    /// Code of the error (docs/api/error-codes.md).
    code: &'static str,
    /// Index of the refused order in `place`.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
}

values! {
    /// An order to cancel: as written, and parsed.
    CanceledOrder { reads (String, OrderId): str as Order, Order::ALLOWED, |text: &str| Some((text.to_owned(), ids::order_id(text)?)); }
}

impl RequestBody for ReplaceRequest {
    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let cancel = generator.subschema_for::<CanceledOrder>();
        let place = generator.subschema_for::<OrderSubmission>();
        let all = "Place nothing when a cancel ends no order.";
        json_schema!({ "type": "object", "properties": {
            "cancel": { "type": ["array", "null"], "items": cancel, "maxItems": MAX_REPLACE },
            "place": { "type": ["array", "null"], "items": place, "maxItems": MAX_REPLACE },
            "if_all_canceled": { "type": ["boolean", "null"], "description": all },
        } })
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        #[derive(Deserialize)]
        struct Cancels {
            #[serde(with = "OrDefault::<Each<CanceledOrder>>")]
            cancel: Vec<(String, OrderId)>,
        }
        #[derive(Deserialize)]
        struct Options {
            #[serde(with = "OrDefault::<Flag>")]
            if_all_canceled: bool,
        }
        let mut copy = Vec::new();
        let body = TRADING.parse(body, &mut copy)?;
        let Cancels { mut cancel } = body.read(Cancels::deserialize)?;
        ensure_few("cancel", cancel.len(), "up to 15 order ids")?;
        let place = orders_to_place(&body.value)?;
        if cancel.is_empty() && place.is_empty() {
            return Err(FieldError::missing("cancel", "order ids, or orders in place").into());
        }
        let Options { if_all_canceled } = body.read(Options::deserialize)?;
        let mut known = HashSet::with_capacity(cancel.len());
        cancel.retain(|(_, order)| known.insert(*order));
        Ok(Self {
            cancel,
            place: place.iter().map(submission).collect(),
            if_all_canceled,
        })
    }
}

/// The elements of `place`, whose errors are those of orders.
fn orders_to_place<'b, 'a>(body: &'b Value<'a>) -> Result<&'b [Value<'a>], ApiError> {
    let Value::Object(object) = body else {
        return Ok(&[]);
    };
    match object.get("place") {
        Value::Null => Ok(&[]),
        Value::Array(orders) => {
            ensure_few("place", orders.len(), "up to 15 orders")?;
            Ok(orders)
        }
        other => Err(ApiError::from(FieldError {
            field: "place",
            value: Some(other.shown()),
            allowed: "an array",
        })),
    }
}

fn ensure_few(field: &'static str, count: usize, allowed: &'static str) -> Result<(), ApiError> {
    match count <= MAX_REPLACE {
        true => Ok(()),
        false => Err(ErrorCode::TooManyEntries.with([&field, &count, &allowed])),
    }
}

/// The answer: that of a cancel, and the results of the orders in input order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplaceAnswer {
    /// What the cancels did.
    #[serde(flatten)]
    pub cancels: CancelAnswer,
    /// One result for each order of `place`.
    pub orders: Vec<OrderAnswer>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const ID: &str = "0xabababababababababababababababababababababababababababababababab";

    /// The whole request, as the exchange takes it.
    fn read_replace(body: &[u8]) -> Result<ReplaceRequest, ReplaceError> {
        let request = ReplaceRequest::read(body)?;
        request.orders()?;
        Ok(request)
    }

    #[test]
    fn a_replace_may_only_cancel_and_drops_repeats() {
        let body = format!(r#"{{"cancel":["{ID}","{ID}"],"if_all_canceled":true}}"#);
        let read = read_replace(body.as_bytes()).unwrap();
        assert_eq!(read.cancel, [(ID.to_owned(), OrderId([0xab; 32]))]);
        assert!(read.place.is_empty() && read.if_all_canceled);
    }

    #[rstest]
    #[case("[]", "invalid body: an array, allowed: an object")]
    #[case("{}", "cancel is missing, allowed: order ids, or orders in place")]
    #[case(
        r#"{"cancel":[],"place":[]}"#,
        "cancel is missing, allowed: order ids, or orders in place"
    )]
    #[case(r#"{"cancel":{}}"#, "cancel is an object, allowed: an array")]
    #[case(
        r#"{"cancel":["x"]}"#,
        "cancel is 'x', allowed: an order id, 0x and 64 hex digits"
    )]
    #[case(
        r#"{"cancel":[7]}"#,
        "cancel is 7, allowed: an order id, 0x and 64 hex digits"
    )]
    #[case(
        r#"{"cancel":[],"if_all_canceled":1}"#,
        "cancel is missing, allowed: order ids, or orders in place"
    )]
    fn a_body_that_is_no_replace_is_refused(#[case] body: &str, #[case] text: &str) {
        let refused = read_replace(body.as_bytes()).unwrap_err();
        assert_eq!((refused.error.text().as_str(), refused.place), (text, None));
    }

    #[test]
    fn a_flag_is_true_or_false() {
        let body = format!(r#"{{"cancel":["{ID}"],"if_all_canceled":1}}"#);
        let refused = read_replace(body.as_bytes()).unwrap_err();
        assert_eq!(
            refused.error.text(),
            "if_all_canceled is 1, allowed: true or false"
        );
    }

    #[test]
    fn a_wrong_order_is_named_by_its_index() {
        let body = br#"{"place":[{"order":{},"owner":""}]}"#;
        let refused = read_replace(body).unwrap_err();
        assert_eq!(refused.place, Some(0));
        assert!(
            refused.body().ends_with(r#""place":0}"#),
            "{}",
            refused.body()
        );
    }

    #[test]
    fn the_fields_of_an_order_are_read_at_their_depth() {
        let order = r#"{"salt":1,"maker":"0x1"}"#;
        let body = format!(r#"{{"place":[{{"order":{order},"owner":""}}]}}"#);
        let refused = read_replace(body.as_bytes()).unwrap_err().error.text();
        assert!(refused.contains("maker is '0x1'"), "{refused}");
    }

    #[test]
    fn a_replace_holds_fifteen_of_each() {
        let ids = |count: usize| {
            let ids: Vec<_> = (0..count).map(|n| format!("\"0x{n:064x}\"")).collect();
            format!(r#"{{"cancel":[{}]}}"#, ids.join(","))
        };
        assert_eq!(read_replace(ids(15).as_bytes()).unwrap().cancel.len(), 15);
        assert_eq!(
            read_replace(ids(16).as_bytes()).unwrap_err().error.text(),
            "cancel has 16 entries, allowed: up to 15 order ids"
        );
        let orders = format!(r#"{{"place":[{}]}}"#, ["{}"; 16].join(","));
        assert_eq!(
            read_replace(orders.as_bytes()).unwrap_err().error.text(),
            "place has 16 entries, allowed: up to 15 orders"
        );
    }

    #[test]
    fn the_answer_is_that_of_a_cancel_and_the_results() {
        let answer = ReplaceAnswer {
            cancels: CancelAnswer {
                canceled: vec![ID.into()],
                not_canceled: Vec::new(),
            },
            orders: Vec::new(),
        };
        assert_eq!(
            crate::json_text(&answer),
            format!(r#"{{"canceled":["{ID}"],"not_canceled":{{}},"orders":[]}}"#)
        );
    }
}
