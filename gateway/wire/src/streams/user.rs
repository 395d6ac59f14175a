//! Messages of the user channel.

use serde::Serialize;

use foretell_model::{
    ApiKey, ConditionId, Lots, OrderId, Price, Side, TimeMs, TokenId, WalletAddress,
};

use crate::accounts::withdrawals::WithdrawalRow;
use crate::orders::trade::{TradeFacts, TradeFill};
use crate::orders::user_order::{OrderFacts, UserOrderStatus};
use crate::streams::{Stamp, message};
use crate::text::decimal::Decimal;
use crate::text::words::order_type_text;
use crate::values;

/// What happened to an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderEvent {
    /// It came in.
    Placement,
    /// It traded, or rests after trades.
    Update,
    /// It ended with an unfilled rest.
    Cancellation,
}

/// Status of an order in the family's list for the channel; `state` has the exact one.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum OrderStatus {
    Live,
    Matched,
    Canceled,
}

impl From<UserOrderStatus> for OrderStatus {
    fn from(state: UserOrderStatus) -> Self {
        match state {
            UserOrderStatus::Live | UserOrderStatus::Delayed => Self::Live,
            UserOrderStatus::Matched => Self::Matched,
            UserOrderStatus::Canceled
            | UserOrderStatus::CanceledMarketResolved
            | UserOrderStatus::Unmatched => Self::Canceled,
        }
    }
}

#[derive(Serialize)]
struct OrderJson<'a> {
    #[serde(with = "values::Hash")]
    id: OrderId,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    #[serde(with = "values::Key")]
    order_owner: ApiKey,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    outcome: &'a str,
    #[serde(with = "values::Side")]
    side: Side,
    #[serde(with = "values::DecimalText")]
    price: Price,
    #[serde(with = "values::DecimalText")]
    original_size: Decimal,
    #[serde(with = "values::DecimalText")]
    size_matched: Lots,
    associate_trades: &'a [String],
    #[serde(rename = "type")]
    event: OrderEvent,
    status: OrderStatus,
    state: UserOrderStatus,
    order_type: &'static str,
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    created_at: String,
    expiration: String,
    timestamp: String,
}

/// `order`.
#[must_use]
pub fn order(facts: &OrderFacts, event: OrderEvent, time: TimeMs, stamp: &Stamp<'_>) -> String {
    let body = OrderJson {
        id: facts.id,
        owner: facts.owner,
        order_owner: facts.owner,
        market: facts.market,
        asset_id: facts.token,
        outcome: &facts.outcome,
        side: facts.side,
        price: facts.price,
        original_size: facts.original,
        size_matched: facts.matched,
        associate_trades: &facts.trades,
        event,
        status: facts.status.into(),
        state: facts.status,
        order_type: order_type_text(facts.order_type),
        maker_address: facts.maker,
        created_at: facts.created.seconds().0.to_string(),
        expiration: facts.expiration.0.to_string(),
        timestamp: time.0.to_string(),
    };
    message("order", &body, stamp)
}

/// Status of a trade. The built-in ledger settles in the frame of the match: both are of one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TradeStatus {
    /// Matched.
    Matched,
    /// Settled.
    Confirmed,
}

#[derive(Serialize)]
struct MakerJson<'a> {
    #[serde(with = "values::Hash")]
    order_id: OrderId,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    #[serde(with = "values::DecimalText")]
    matched_amount: Lots,
    #[serde(with = "values::DecimalText")]
    price: Price,
    fee_rate_bps: &'static str,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    outcome: &'a str,
    #[serde(with = "values::Side")]
    side: Side,
}

impl<'a> MakerJson<'a> {
    fn of(fill: &'a TradeFill) -> Self {
        Self {
            order_id: fill.maker.order,
            owner: fill.maker.owner,
            maker_address: fill.maker.wallet,
            matched_amount: fill.lots,
            price: fill.maker_price,
            fee_rate_bps: "0",
            asset_id: fill.maker.token,
            outcome: &fill.maker.outcome,
            side: fill.maker.side,
        }
    }
}

#[derive(Serialize)]
struct TradeJson<'a> {
    id: &'a str,
    #[serde(with = "values::Hash")]
    taker_order_id: OrderId,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    outcome: &'a str,
    #[serde(with = "values::Side")]
    side: Side,
    #[serde(with = "values::DecimalText")]
    price: Decimal,
    #[serde(with = "values::DecimalText")]
    size: Lots,
    #[serde(with = "values::DecimalText")]
    fee_rate_bps: Decimal,
    status: TradeStatus,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    #[serde(with = "values::Key")]
    trade_owner: ApiKey,
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    maker_orders: Vec<MakerJson<'a>>,
    trader_side: &'static str,
    bucket_index: u32,
    match_time: String,
    last_update: String,
    #[serde(with = "values::Bytes")]
    transaction_hash: [u8; 32],
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: String,
}

/// `trade`, as the holder of `reader` sees it: with the fills that it took part in. Times are unix seconds for every reader.
#[must_use]
pub fn trade(facts: &TradeFacts, reader: ApiKey, status: TradeStatus, stamp: &Stamp<'_>) -> String {
    let seconds = facts.time.seconds().0.to_string();
    let taker = &facts.taker;
    let body = TradeJson {
        id: &facts.id,
        taker_order_id: taker.order,
        market: facts.market,
        asset_id: taker.token,
        outcome: &taker.outcome,
        side: taker.side,
        price: facts.price(),
        size: facts.lots(),
        fee_rate_bps: facts.fee_rate_bps(),
        status,
        owner: reader,
        trade_owner: reader,
        maker_address: taker.wallet,
        maker_orders: facts.fills.iter().map(MakerJson::of).collect(),
        trader_side: if facts.as_maker { "MAKER" } else { "TAKER" },
        bucket_index: 0,
        match_time: seconds.clone(),
        last_update: seconds,
        transaction_hash: facts.receipt,
        kind: "TRADE",
        timestamp: facts.time.millis().0.to_string(),
    };
    message("trade", &body, stamp)
}

/// `withdrawal`: its row after the change.
#[must_use]
pub fn withdrawal(row: &WithdrawalRow, stamp: &Stamp<'_>) -> String {
    message("withdrawal", row, stamp)
}
