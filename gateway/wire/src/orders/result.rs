//! Answers to order submissions and cancels (docs/api/orders.md §2).

use std::collections::BTreeMap;

use serde::Serialize;

use foretell_model::{Lots, Micros, OrderId, Side};

use crate::errors::api_error::ApiError;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::ids;
use crate::values::{self, hex32};

/// Result of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultStatus {
    /// It traded, possibly with a resting remainder.
    Matched,
    /// It rests without a trade.
    Live,
    /// It waits out the delay of its market.
    Delayed,
    /// It was sent before, and ended without a trade.
    Unmatched,
    /// It was rejected: the family's word for it is empty.
    #[serde(rename = "")]
    Error,
    /// The book rejected it: the same word.
    #[serde(rename = "")]
    #[schemars(skip)]
    Killed,
}

/// The immediate trades of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImmediateTrades {
    /// Shares.
    pub lots: Lots,
    /// Their notional without the fee.
    pub value: Micros,
    /// Ids of its trades.
    pub trades: Vec<String>,
    /// Receipts of the frames that settled them, without duplicates.
    pub receipts: Vec<[u8; 32]>,
}

/// The result of one submission: the six fields of the interface, then this exchange's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderAnswer {
    /// Whether the order was accepted.
    pub success: bool,
    /// The error; empty on success.
    pub error_msg: String,
    /// The order's id; empty when it was rejected.
    #[serde(rename = "orderID")]
    #[schemars(extend("pattern" = concat!("^(", hex32!(written), ")?$")))]
    pub order_id: String,
    /// The amount the signer received, in whole units; empty without trades.
    #[schemars(with = "values::AmountOrEmpty")]
    pub taking_amount: String,
    /// The amount the signer gave, in whole units; empty without trades.
    #[schemars(with = "values::AmountOrEmpty")]
    pub making_amount: String,
    /// The status.
    pub status: ResultStatus,
    /// The order's id, also when it was rejected; empty when the submission had none.
    #[schemars(extend("pattern" = concat!("^(", hex32!(written), ")?$")))]
    pub order_hash: String,
    /// Receipts of the trades.
    #[schemars(with = "Vec<values::Hash>")]
    pub transactions_hashes: Vec<String>,
    /// Ids of the trades.
    #[serde(rename = "tradeIDs")]
    pub trade_ids: Vec<String>,
    /// The submission repeats an earlier one, whose status this is; absent otherwise.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub duplicate: bool,
    /// The same as `errorMsg`; absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The code of the error (docs/api/error-codes.md); absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

impl OrderAnswer {
    /// The answer for an accepted order; `status` is `Live`, `Matched` or `Delayed`.
    #[must_use]
    pub fn accepted(
        order: &OrderId,
        side: Side,
        status: ResultStatus,
        traded: ImmediateTrades,
    ) -> Self {
        let (taking, making) = amounts(side, &traded);
        Self {
            success: true,
            error_msg: String::new(),
            order_id: order.to_string(),
            taking_amount: taking,
            making_amount: making,
            status,
            order_hash: order.to_string(),
            transactions_hashes: traded.receipts.iter().map(ids::hex_text).collect(),
            trade_ids: traded.trades,
            duplicate: false,
            error: None,
            code: None,
        }
    }

    /// The answer for a rejected order: `Killed` when the book rejected it, `Error` otherwise.
    /// `order` is its id, if known.
    #[must_use]
    pub fn rejected(order: Option<&OrderId>, status: ResultStatus, error: &ApiError) -> Self {
        Self {
            success: false,
            error_msg: error.text(),
            order_id: String::new(),
            taking_amount: String::new(),
            making_amount: String::new(),
            status,
            order_hash: order.map_or_else(String::new, ToString::to_string),
            transactions_hashes: Vec::new(),
            trade_ids: Vec::new(),
            duplicate: false,
            error: Some(error.text()),
            code: Some(error.code().name()),
        }
    }

    /// Marks the answer as that of a repeated submission.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.duplicate = true;
        self
    }
}

/// `(takingAmount, makingAmount)`.
fn amounts(side: Side, traded: &ImmediateTrades) -> (String, String) {
    if traded.lots.is_zero() {
        return (String::new(), String::new());
    }
    let shares = Decimal::from(traded.lots).to_string();
    let collateral = Decimal::from(traded.value).to_string();
    match side {
        Side::Buy => (shares, collateral),
        Side::Sell => (collateral, shares),
    }
}

/// The answer to all cancel requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CancelAnswer {
    /// Ids of the cancelled orders; as the client wrote them if the client named them.
    pub canceled: Vec<String>,
    /// The other orders, with the reason; ids as the client wrote them.
    #[serde(serialize_with = "crate::read::pairs::as_object")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub not_canceled: Vec<(String, &'static str)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::error_code::ErrorCode;
    use crate::json_text;

    const ID: &str = "0xabababababababababababababababababababababababababababababababab";

    #[test]
    fn a_matched_buy_names_what_it_took_and_gave() {
        // The first worked example of the protocol (section 17).
        let traded = ImmediateTrades {
            lots: Lots(2_970),
            value: Micros(9_998_000),
            trades: vec!["t1".into(), "t2".into()],
            receipts: vec![[1; 32]],
        };
        let answer = OrderAnswer::accepted(
            &OrderId([0xab; 32]),
            Side::Buy,
            ResultStatus::Matched,
            traded.clone(),
        );
        let receipt = format!("0x{}", "01".repeat(32));
        assert_eq!(
            json_text(&answer),
            format!(
                r#"{{"success":true,"errorMsg":"","orderID":"{ID}","takingAmount":"29.7","makingAmount":"9.998","status":"matched","orderHash":"{ID}","transactionsHashes":["{receipt}"],"tradeIDs":["t1","t2"]}}"#
            )
        );
        let sell = OrderAnswer::accepted(
            &OrderId([0xab; 32]),
            Side::Sell,
            ResultStatus::Matched,
            traded,
        );
        assert_eq!(
            (sell.taking_amount.as_str(), sell.making_amount.as_str()),
            ("9.998", "29.7")
        );
    }

    #[test]
    fn amounts_are_empty_when_nothing_traded() {
        let answer = OrderAnswer::accepted(
            &OrderId([0xab; 32]),
            Side::Buy,
            ResultStatus::Live,
            ImmediateTrades::default(),
        )
        .repeated();
        assert_eq!(
            json_text(&answer),
            format!(
                r#"{{"success":true,"errorMsg":"","orderID":"{ID}","takingAmount":"","makingAmount":"","status":"live","orderHash":"{ID}","transactionsHashes":[],"tradeIDs":[],"duplicate":true}}"#
            )
        );
    }

    #[test]
    fn a_refusal_says_why_under_both_names() {
        let answer = OrderAnswer::rejected(
            None,
            ResultStatus::Error,
            &ErrorCode::OrderVersionMismatch.into(),
        );
        assert_eq!(
            json_text(&answer),
            r#"{"success":false,"errorMsg":"order_version_mismatch","orderID":"","takingAmount":"","makingAmount":"","status":"","orderHash":"","transactionsHashes":[],"tradeIDs":[],"error":"order_version_mismatch","code":"order_version_mismatch"}"#
        );
        let killed = OrderAnswer::rejected(
            Some(&OrderId([0xab; 32])),
            ResultStatus::Killed,
            &ErrorCode::FakNoMatch.into(),
        );
        assert!(json_text(&killed).contains(r#""orderID":"","#));
        assert!(json_text(&killed).contains(&format!(r#""status":"","orderHash":"{ID}""#)));
    }

    #[test]
    fn a_cancel_lists_both_kinds() {
        let answer = CancelAnswer {
            canceled: vec![ID.into()],
            not_canceled: vec![("0x01".into(), "order belongs to another account")],
        };
        assert_eq!(
            json_text(&answer),
            format!(
                r#"{{"canceled":["{ID}"],"not_canceled":{{"0x01":"order belongs to another account"}}}}"#
            )
        );
        assert_eq!(
            json_text(&CancelAnswer::default()),
            r#"{"canceled":[],"not_canceled":{}}"#
        );
    }
}
