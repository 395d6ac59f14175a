//! The trading fields of a market on the catalog surface (docs/api/catalog.md §1).

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Micros, Price, TimeNs};
use serde::Serialize;
use serde_json::json;

use crate::markets::market::MarketFacts;
use crate::operator::MarketDescription;
use crate::text::decimal::{Decimal, Number};
use crate::text::time;

/// What a market's book and trades add to its facts; prices of the first outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatalogTrading {
    /// Highest bid and lowest ask.
    pub best: [Option<Price>; 2],
    /// Price of the last trade.
    pub last: Option<Price>,
    /// Traded since the beginning, without fees.
    pub volume: Micros,
    /// Traded in the last 24 hours.
    pub volume_24hr: Micros,
    /// Value of the resting orders.
    pub liquidity: Micros,
    /// Collateral locked by its shares.
    pub open_interest: Micros,
    /// When it closed.
    pub closed: Option<TimeNs>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<String>,
    active: bool,
    closed: bool,
    archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_time: Option<String>,
    accepting_orders: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepting_orders_timestamp: Option<String>,
    enable_order_book: bool,
    outcome_prices: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_bid: Option<Number>,
    best_ask: Number,
    spread: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_trade_price: Option<Number>,
    volume: String,
    volume_num: Number,
    volume_clob: Number,
    #[serde(rename = "volume24hr")]
    volume_24hr: Number,
    #[serde(rename = "volume24hrClob")]
    volume_24hr_clob: Number,
    liquidity: String,
    liquidity_num: Number,
    liquidity_clob: Number,
    order_price_min_tick_size: Number,
    order_min_size: Number,
    fees_enabled: bool,
    fee_schedule: FeeSchedule,
    maker_base_fee: u32,
    taker_base_fee: u32,
    maker_rebates_fee_share_bps: u32,
    seconds_delay: u32,
    clear_book_on_start: bool,
    neg_risk: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    question_index: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uma_resolution_status: Option<&'static str>,
    uma_resolution_statuses: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FeeSchedule {
    rate: Number,
    exponent: u8,
    taker_only: bool,
    rebate_rate: Number,
}

impl MarketFacts {
    /// The market's trading fields as a JSON object, with what its shares mean.
    #[must_use]
    pub fn catalog_fields(
        &self,
        trading: &CatalogTrading,
        words: Option<&MarketDescription>,
    ) -> String {
        let [bid, best_ask] = trading.best;
        // As in the API family, where an empty side of a book is 0 or 1.
        let ask = best_ask.unwrap_or(Price(PRICE_ONE));
        let spread = Price(ask.0.saturating_sub(bid.map_or(0, |bid| bid.0)));
        let ratio = |ppm: u32| Decimal::micros(i128::from(ppm)).into();
        let prices = [0, 1].map(|index| self.price(index).to_string());
        crate::json_text(&Fields {
            question: words.map(|words| words.question.as_str()),
            outcomes: words.map(|words| json!(words.outcomes).to_string()),
            active: self.is_active(),
            closed: self.is_closed(),
            archived: self.archived,
            closed_time: trading.closed.map(time::iso),
            accepting_orders: self.accepts_orders(),
            accepting_orders_timestamp: self.accepting_text(),
            // A closed market without a book could not be told from one that never traded here.
            enable_order_book: true,
            outcome_prices: json!(prices).to_string(),
            best_bid: bid.map(Number::from),
            best_ask: ask.into(),
            spread: spread.into(),
            last_trade_price: trading.last.map(Number::from),
            volume: Decimal::from(trading.volume).to_string(),
            volume_num: trading.volume.into(),
            volume_clob: trading.volume.into(),
            volume_24hr: trading.volume_24hr.into(),
            volume_24hr_clob: trading.volume_24hr.into(),
            liquidity: Decimal::from(trading.liquidity).to_string(),
            liquidity_num: trading.liquidity.into(),
            liquidity_clob: trading.liquidity.into(),
            order_price_min_tick_size: self.tick.into(),
            order_min_size: self.minimum_size.into(),
            fees_enabled: self.fee.rate_ppm > 0,
            fee_schedule: FeeSchedule {
                rate: ratio(self.fee.rate_ppm),
                exponent: self.fee.exponent,
                taker_only: true,
                rebate_rate: ratio(self.terms.rebate_ppm),
            },
            maker_base_fee: 0,
            taker_base_fee: self.base_fee(),
            maker_rebates_fee_share_bps: self.terms.rebate_ppm / 100,
            seconds_delay: self.seconds_delay(),
            clear_book_on_start: self.terms.clear_book_on_start,
            neg_risk: self.neg_risk,
            question_index: self.question_index,
            uma_resolution_status: self.payout.map(|_| "resolved"),
            uma_resolution_statuses: match self.payout {
                Some(_) => r#"["resolved"]"#,
                None => "[]",
            },
        })
    }
}
