//! Fields of trading: those of the source, and those of the exchange for what trades there.

use foretell_wire::schema::JsonSchema;
#[cfg(feature = "documents")]
use foretell_wire::schema::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Trading fields of a market, each absent when unknown.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", transform = optional)]
pub struct MarketTrading {
    /// When it closed.
    pub closed_time: String,
    /// Whether it takes orders.
    pub accepting_orders: bool,
    /// Since when it takes orders.
    pub accepting_orders_timestamp: String,
    /// Whether it has a book.
    pub enable_order_book: bool,
    /// Text of a JSON array of prices; the payout once resolved.
    pub outcome_prices: String,
    /// Of the first outcome.
    pub best_bid: f64,
    /// Of the first outcome.
    pub best_ask: f64,
    /// Between them.
    pub spread: f64,
    /// Of the first outcome.
    pub last_trade_price: f64,
    /// Traded since the beginning.
    #[schemars(schema_with = "number_or_text")]
    pub volume: f64,
    /// As `volume`.
    pub volume_num: f64,
    /// As `volume`.
    pub volume_clob: f64,
    /// Traded in the last 24 hours.
    pub volume24hr: f64,
    /// As `volume24hr`.
    pub volume24hr_clob: f64,
    /// Value of the resting orders.
    #[schemars(schema_with = "number_or_text")]
    pub liquidity: f64,
    /// As `liquidity`.
    pub liquidity_num: f64,
    /// As `liquidity`.
    pub liquidity_clob: f64,
    /// Smallest step of a price.
    #[schemars(schema_with = "number_or_text")]
    pub order_price_min_tick_size: f64,
    /// Shares.
    #[schemars(schema_with = "number_or_text")]
    pub order_min_size: f64,
    /// Whether it has fees.
    pub fees_enabled: bool,
    /// `rate`, `exponent`, `takerOnly`, `rebateRate`.
    pub fee_schedule: Map<String, Value>,
    /// Basis points.
    pub maker_base_fee: i64,
    /// Basis points.
    pub taker_base_fee: i64,
    /// Share of the fees that makers receive.
    pub maker_rebates_fee_share_bps: i64,
    /// Delay of orders that take.
    pub seconds_delay: i64,
    /// Whether the book is cleared when the game starts.
    pub clear_book_on_start: bool,
    /// Start of the game.
    pub game_start_time: String,
    /// Whether it is a question of an event with one answer.
    pub neg_risk: bool,
    /// Bit of the question in conversions on this exchange; 128 is the outside question.
    #[schemars(range(max = 128))]
    pub question_index: u8,
    /// Id of that event.
    #[schemars(rename = "negRiskMarketID")]
    pub neg_risk_market_id: String,
    /// The question in its event.
    pub group_item_title: String,
    /// Place of a question in its event.
    pub group_item_threshold: String,
    /// Category of the source.
    pub category: String,
    /// State of the resolution.
    pub uma_resolution_status: String,
}

/// Trading fields of an event, each absent when unknown.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", transform = optional)]
pub struct EventTrading {
    /// When it closed.
    pub closed_time: String,
    /// Of its markets.
    pub volume: f64,
    /// Of its markets.
    pub volume24hr: f64,
    /// Of its markets.
    pub liquidity: f64,
    /// Of its markets.
    pub liquidity_clob: f64,
    /// Whether its questions have one answer.
    pub neg_risk: bool,
    /// Its id, then.
    #[schemars(rename = "negRiskMarketID")]
    pub neg_risk_market_id: String,
}

/// Requires no field.
#[cfg(feature = "documents")]
fn optional(schema: &mut Schema) {
    schema.remove("required");
}

#[cfg(feature = "documents")]
fn number_or_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number"] })
}
