//! Body and answer of `POST /replace` (docs/api/orders.md §6).

use serde::Serialize;

use foretell_model::OrderId;
use foretell_model::limits::MAX_REPLACE;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_ORDER_ID_TEXT, REPLACE_BODY_BYTES};
use crate::orders::order::{OrderSubmission, submission};
use crate::orders::result::{CancelAnswer, OrderAnswer};
use crate::read::body::object;
use crate::read::json::{Object, Value};
use crate::text::ids;

const ID_ALLOWED: &str = "an order id, 0x and 64 hex digits";

/// A replace as submitted: at least one cancel or order.
#[derive(Clone, Debug)]
pub struct ReplaceRequest {
    /// Orders to cancel: as written, and parsed. Repeated ids are dropped.
    pub cancel: Vec<(String, OrderId)>,
    /// Orders to place.
    pub place: Vec<OrderSubmission>,
    /// Whether orders are placed only when each cancel ended its order.
    pub if_all_canceled: bool,
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

impl From<FieldError> for ReplaceError {
    fn from(error: FieldError) -> Self {
        ApiError::from(error).into()
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

#[derive(Serialize)]
struct ReplaceErrorJson {
    error: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
}

/// Reads the body. One wrong element refuses the whole.
///
/// # Errors
/// Too large a body, broken JSON, a wrong or missing field, too many elements, or none.
pub fn read_replace(body: &[u8]) -> Result<ReplaceRequest, ReplaceError> {
    let mut copy = Vec::new();
    let object = object(body, REPLACE_BODY_BYTES, &mut copy)?;
    let cancel = elements(&object, "cancel", "up to 15 order ids")?;
    let place = elements(&object, "place", "up to 15 orders")?;
    if cancel.is_empty() && place.is_empty() {
        return Err(FieldError::missing("cancel", "order ids, or orders in place").into());
    }
    let if_all_canceled = match object.get("if_all_canceled") {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        other => {
            return Err(FieldError {
                field: "if_all_canceled",
                value: Some(other.shown()),
                allowed: "true or false",
            }
            .into());
        }
    };
    let mut named: Vec<(String, OrderId)> = Vec::with_capacity(cancel.len());
    for element in cancel {
        let (text, order) = order_id(element)?;
        if named.iter().all(|(_, other)| *other != order) {
            named.push((text, order));
        }
    }
    let numbered = place.iter().enumerate();
    let place = numbered.map(|(index, element)| {
        submission(element).map_err(|error| ReplaceError {
            place: Some(index),
            error: Box::new(error),
        })
    });
    Ok(ReplaceRequest {
        cancel: named,
        place: place.collect::<Result<_, _>>()?,
        if_all_canceled,
    })
}

fn elements<'o, 'a>(
    object: &'o Object<'a>,
    field: &'static str,
    allowed: &'static str,
) -> Result<&'o [Value<'a>], ApiError> {
    match object.get(field) {
        Value::Null => Ok(&[]),
        Value::Array(elements) if elements.len() > MAX_REPLACE => {
            Err(ErrorCode::TooManyEntries.with([&field, &elements.len(), &allowed]))
        }
        Value::Array(elements) => Ok(elements),
        other => Err(ApiError::from(FieldError {
            field,
            value: Some(other.shown()),
            allowed: "an array",
        })),
    }
}

fn order_id(value: &Value<'_>) -> Result<(String, OrderId), ApiError> {
    let text = match value {
        Value::Text(text) if text.len() <= MAX_ORDER_ID_TEXT => Some(text.clone().into_owned()),
        _ => None,
    };
    let order = text.as_deref().and_then(ids::order_id);
    text.zip(order).ok_or_else(|| {
        ApiError::from(FieldError {
            field: "cancel",
            value: Some(value.shown()),
            allowed: ID_ALLOWED,
        })
    })
}

/// The answer: that of a cancel, and the results of the orders in input order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
