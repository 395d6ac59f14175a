//! A user's own orders: `GET /data/orders`, `/data/order/{id}` (docs/api/market-data.md §6).

use serde::Serialize;

use foretell_model::{
    ApiKey, ConditionId, Lots, OrderId, OrderType, Price, Side, TimeNs, TimeSeconds, TokenId,
    WalletAddress,
};

use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::values;

/// Status of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UserOrderStatus {
    /// The order rests.
    Live,
    /// The order waits out the delay of its market.
    Delayed,
    /// Fully filled, or a budget BUY that spent its budget.
    Matched,
    /// Cancelled by its user, expiry, heartbeat, self-trade, or as the remainder of a FAK.
    Canceled,
    /// Its market closed.
    CanceledMarketResolved,
    /// The book rejected it.
    Unmatched,
}

/// An order's data, which [`UserOrder`] writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderFacts {
    /// Its id.
    pub id: OrderId,
    /// Its status.
    pub status: UserOrderStatus,
    /// The key that placed it.
    pub owner: ApiKey,
    /// The wallet that trades.
    pub maker: WalletAddress,
    /// Its market.
    pub market: ConditionId,
    /// Its token.
    pub token: TokenId,
    /// The label of its outcome.
    pub outcome: String,
    /// Its side.
    pub side: Side,
    /// Its type.
    pub order_type: OrderType,
    /// Its limit price.
    pub price: Price,
    /// Ordered shares; for a budget BUY the larger of takerAmount, to the micro, and the matched shares.
    pub original: Decimal,
    /// Matched shares.
    pub matched: Lots,
    /// Expiration of a GTD; 0 otherwise.
    pub expiration: TimeSeconds,
    /// Time of placement.
    pub created: TimeNs,
    /// Time of the last change.
    pub updated: TimeNs,
    /// Ids of its trades.
    pub trades: Vec<String>,
}

/// An order: every field in camelCase, and in snake_case for stock clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UserOrder {
    /// Ids of its newest 500 trades.
    #[serde(rename = "associateTrades")]
    associate_trades_camel: Vec<String>,
    #[serde(with = "values::Hash")]
    id: OrderId,
    status: UserOrderStatus,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    /// Ordered shares.
    #[serde(rename = "originalSize", with = "values::Amount")]
    original_size_camel: Decimal,
    outcome: String,
    #[serde(rename = "makerAddress", with = "values::Address")]
    maker_address_camel: WalletAddress,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    #[serde(with = "values::Amount")]
    price: Price,
    #[serde(with = "values::Side")]
    side: Side,
    /// Matched shares.
    #[serde(rename = "sizeMatched", with = "values::Amount")]
    size_matched_camel: Lots,
    #[serde(rename = "assetId", with = "values::Token")]
    asset_id_camel: TokenId,
    #[serde(rename = "type", with = "values::OrderType")]
    order_type_interface: OrderType,
    #[serde(rename = "createdAt", with = "values::Iso")]
    created_at_camel: TimeNs,
    #[serde(rename = "updatedAt", with = "values::Iso")]
    updated_at: TimeNs,

    /// The same as `associateTrades`.
    associate_trades: Vec<String>,
    #[serde(with = "values::Amount")]
    original_size: Decimal,
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    #[serde(with = "values::Amount")]
    size_matched: Lots,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    #[serde(with = "values::OrderType")]
    order_type: OrderType,
    /// Unix seconds, 0 for none.
    #[serde(with = "values::Digits")]
    expiration: u64,
    #[serde(with = "values::Seconds")]
    created_at: TimeNs,
}

impl From<OrderFacts> for UserOrder {
    fn from(order: OrderFacts) -> Self {
        Self {
            associate_trades_camel: order.trades.clone(),
            id: order.id,
            status: order.status,
            market: order.market,
            original_size_camel: order.original,
            outcome: order.outcome,
            maker_address_camel: order.maker,
            owner: order.owner,
            price: order.price,
            side: order.side,
            size_matched_camel: order.matched,
            asset_id_camel: order.token,
            order_type_interface: order.order_type,
            created_at_camel: order.created,
            updated_at: order.updated,
            associate_trades: order.trades,
            original_size: order.original,
            maker_address: order.maker,
            size_matched: order.matched,
            asset_id: order.token,
            order_type: order.order_type,
            expiration: order.expiration.0,
            created_at: order.created,
        }
    }
}

/// The order in `order`, and the same fields at the top level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OneUserOrder {
    order: UserOrder,
    #[serde(flatten)]
    same: UserOrder,
    /// Shares that trade before it at its price: exact in the state that the answer names. `null` for an
    /// order that does not rest, and behind more than 4,096 orders.
    #[schemars(with = "Option<values::Amount>")]
    queue_ahead: Option<String>,
}

impl OneUserOrder {
    /// An order, and the shares in front of it.
    #[must_use]
    pub fn new(order: OrderFacts, queue_ahead: Option<Lots>) -> Self {
        let order = UserOrder::from(order);
        Self {
            same: order.clone(),
            order,
            queue_ahead: queue_ahead.map(|lots| Decimal::from(lots).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text;

    fn order() -> OrderFacts {
        OrderFacts {
            id: OrderId([0xab; 32]),
            status: UserOrderStatus::Live,
            owner: ApiKey([1; 16]),
            maker: WalletAddress([0x11; 20]),
            market: ConditionId([2; 32]),
            token: TokenId([0; 32]),
            outcome: "Yes".into(),
            side: Side::Buy,
            order_type: OrderType::Gtd,
            price: Price(6_200),
            original: Decimal::micros(100_123_456),
            matched: Lots(2_970),
            expiration: TimeSeconds(1_800_000_000),
            created: TimeNs(1_710_000_000_123_456_789),
            updated: TimeNs(1_710_000_001_000_000_000),
            trades: vec!["t1".into()],
        }
    }

    #[test]
    fn an_order_carries_both_spellings() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&UserOrder::from(order())).unwrap());
    }

    #[test]
    fn one_order_repeats_its_fields_beside_itself() {
        let text = json_text(&OneUserOrder::new(order(), Some(Lots(1_250))));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let inner = value["order"].as_object().unwrap();
        assert_eq!(inner.len(), 23);
        assert_eq!(value["queue_ahead"], "12.5");
        for (key, inside) in inner {
            assert_eq!(&value[key], inside, "{key}");
        }
    }

    #[test]
    fn statuses_are_the_words_of_the_protocol() {
        let words: Vec<_> = [
            UserOrderStatus::Live,
            UserOrderStatus::Delayed,
            UserOrderStatus::Matched,
            UserOrderStatus::Canceled,
            UserOrderStatus::CanceledMarketResolved,
            UserOrderStatus::Unmatched,
        ]
        .iter()
        .map(json_text)
        .collect();
        assert_eq!(
            words.join(" "),
            r#""LIVE" "DELAYED" "MATCHED" "CANCELED" "CANCELED_MARKET_RESOLVED" "UNMATCHED""#
        );
    }
}
