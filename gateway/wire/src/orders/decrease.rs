//! Body and answer of `POST /order/decrease` (docs/api/orders.md §4).

use foretell_model::{Lots, OrderId};
use serde::{Deserialize, Serialize};

use crate::orders::user_order::UserOrderStatus;
use crate::read::body::{TRADING, bodies};
use crate::schema::JsonSchema;
use crate::text::decimal;
use crate::values::{self, Order, Shares, values};

values! {
    RemainingShares {
        reads Lots: str as Shares, "a text, shares with up to two decimals, above 0", |text: &str| decimal::lots(text).filter(|lots| !lots.is_zero());
    }
}

/// A resting order, and what its owner leaves of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Decrease {
    /// The order.
    #[serde(rename = "orderID", with = "Order")]
    pub order: OrderId,
    /// The unfilled shares that it keeps.
    #[serde(with = "RemainingShares")]
    pub remaining: Lots,
}

bodies!(TRADING: Decrease);

/// The order afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecreaseAnswer {
    /// The order.
    #[serde(rename = "orderID", with = "values::Hash")]
    pub order: OrderId,
    /// `LIVE`, or `CANCELED` of an order that ended because it would be below the minimum size.
    pub status: UserOrderStatus,
    /// Its unfilled shares; 0 when it ended.
    #[serde(with = "values::Amount")]
    pub remaining: Lots,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::body::RequestBody as _;
    use rstest::rstest;

    const ID: &str = "0xabababababababababababababababababababababababababababababababab";

    #[test]
    fn an_order_and_its_shares_are_read() {
        let body = format!(r#"{{"orderID":"{ID}","remaining":"12.5"}}"#);
        let decrease = Decrease::read(body.as_bytes()).unwrap();
        assert_eq!(decrease.order, OrderId([0xab; 32]));
        assert_eq!(decrease.remaining, Lots(1_250));
    }

    #[rstest]
    #[case("{}", "orderID is missing, allowed: an order id, 0x and 64 hex digits")]
    #[case(
        r#"{"orderID":"0x1","remaining":"1"}"#,
        "orderID is '0x1', allowed: an order id, 0x and 64 hex digits"
    )]
    #[case(
        r#"{"orderID":"ID"}"#,
        "remaining is missing, allowed: a text, shares with up to two decimals, above 0"
    )]
    #[case(
        r#"{"orderID":"ID","remaining":"0"}"#,
        "remaining is '0', allowed: a text, shares with up to two decimals, above 0"
    )]
    #[case(
        r#"{"orderID":"ID","remaining":"1.005"}"#,
        "remaining is '1.005', allowed: a text, shares with up to two decimals, above 0"
    )]
    #[case(
        r#"{"orderID":"ID","remaining":-1}"#,
        "remaining is -1, allowed: a text, shares with up to two decimals, above 0"
    )]
    fn what_is_wrong_is_named(#[case] body: &str, #[case] text: &str) {
        let body = body
            .replace("ID", ID)
            .replace(&format!("order{ID}"), "orderID");
        assert_eq!(Decrease::read(body.as_bytes()).unwrap_err().text(), text);
    }
}
