//! Messages of the market channel.

use serde::Serialize;

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{ConditionId, Lots, Outcome, Payout, Price, Side, Tick, TimeMs, TokenId};

use crate::operator::{EventSummary, MarketDescription};
use crate::streams::{Stamp, message, stamped};
use crate::text::decimal::Decimal;
use crate::text::ids;
use crate::values;

/// `book`: the text of [`crate::markets::book::Book::json`] with `event_type` and stamp.
#[must_use]
pub fn book(book_json: &str, stamp: &Stamp<'_>) -> String {
    stamped("book", book_json, stamp)
}

/// A price as streams show it on an empty side: 0 for a bid, 1 for an ask.
#[must_use]
pub fn best_or_end(bid: Option<Price>, ask: Option<Price>) -> [Price; 2] {
    [bid.unwrap_or(Price(0)), ask.unwrap_or(Price(PRICE_ONE))]
}

/// One entry of `price_change`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PriceChangeEntry<'a> {
    /// The token.
    #[serde(with = "values::Token")]
    pub asset_id: TokenId,
    /// The level's price in this token.
    #[serde(with = "values::DecimalText")]
    pub price: Price,
    /// The level's new total; 0 when it is gone.
    #[serde(with = "values::DecimalText")]
    pub size: Lots,
    /// The level's side: BUY = a bid.
    #[serde(with = "values::Side")]
    pub side: Side,
    /// Hash of this token's book after the frame; empty above the bound on levels.
    pub hash: &'a str,
    /// After the frame.
    #[serde(with = "values::DecimalText")]
    pub best_bid: Price,
    /// After the frame.
    #[serde(with = "values::DecimalText")]
    pub best_ask: Price,
}

/// `price_change`: all levels that a frame changed, of both tokens.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PriceChange<'a> {
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// The levels.
    pub price_changes: &'a [PriceChangeEntry<'a>],
    /// When.
    #[serde(with = "values::Millis")]
    pub timestamp: TimeMs,
}

impl PriceChange<'_> {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        message("price_change", self, stamp)
    }
}

/// `last_trade_price`: the fills of a trade at one price, seen from one of the market's tokens.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LastTradePrice {
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// The token.
    #[serde(with = "values::Token")]
    pub asset_id: TokenId,
    /// In this token.
    #[serde(with = "values::DecimalText")]
    pub price: Price,
    /// The taker's side, seen from this token.
    #[serde(with = "values::Side")]
    pub side: Side,
    /// Shares.
    #[serde(with = "values::DecimalText")]
    pub size: Lots,
    /// [`fee_rate_bps`](crate::orders::trade::fee_rate_bps) of the taker's fee and notional.
    #[serde(with = "values::DecimalText")]
    pub fee_rate_bps: Decimal,
    /// Receipt of the frame.
    #[serde(with = "values::Bytes")]
    pub transaction_hash: [u8; 32],
    /// When.
    #[serde(with = "values::Millis")]
    pub timestamp: TimeMs,
}

impl LastTradePrice {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        message("last_trade_price", self, stamp)
    }
}

/// `best_bid_ask`: the best prices of a token after a frame that moved one of them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BestBidAsk {
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// The token.
    #[serde(with = "values::Token")]
    pub asset_id: TokenId,
    /// As of [`best_or_end`].
    #[serde(with = "values::DecimalText")]
    pub best_bid: Price,
    /// As of [`best_or_end`].
    #[serde(with = "values::DecimalText")]
    pub best_ask: Price,
    /// Their difference.
    #[serde(with = "values::DecimalText")]
    pub spread: Price,
    /// When.
    #[serde(with = "values::Millis")]
    pub timestamp: TimeMs,
}

impl BestBidAsk {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        message("best_bid_ask", self, stamp)
    }
}

/// `tick_size_change` of a token.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TickSizeChange {
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// The token.
    #[serde(with = "values::Token")]
    pub asset_id: TokenId,
    /// The tick before.
    #[serde(with = "values::TickSize")]
    pub old_tick_size: Tick,
    /// The tick now.
    #[serde(with = "values::TickSize")]
    pub new_tick_size: Tick,
    /// When.
    #[serde(with = "values::Millis")]
    pub timestamp: TimeMs,
}

impl TickSizeChange {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        message("tick_size_change", self, stamp)
    }
}

/// A market as in `new_market` and `market_resolved`: everything is in the journal.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The market.
    pub market: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// The description of its registration.
    pub description: &'a MarketDescription,
    /// Its tick.
    pub tick: Tick,
    /// Whether it is a question of a neg-risk event.
    pub neg_risk: bool,
    /// When.
    pub time: TimeMs,
}

#[derive(Serialize)]
struct EventJson<'a> {
    id: String,
    ticker: &'a str,
    slug: &'a str,
    title: &'a str,
    description: &'a str,
}

impl<'a> From<&'a EventSummary> for EventJson<'a> {
    fn from(event: &'a EventSummary) -> Self {
        Self {
            id: event.id.unwrap_or_default().to_string(),
            ticker: &event.ticker,
            slug: &event.slug,
            title: &event.title,
            description: &event.description,
        }
    }
}

#[derive(Serialize)]
struct NewMarketJson<'a> {
    id: String,
    question: &'a str,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    slug: &'a str,
    description: &'a str,
    assets_ids: [String; 2],
    outcomes: &'a [String; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    event_message: Option<EventJson<'a>>,
    timestamp: String,
    tags: &'a [String],
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    active: bool,
    clob_token_ids: [String; 2],
    order_price_min_tick_size: &'static str,
    group_item_title: &'a str,
    neg_risk: bool,
}

#[derive(Serialize)]
struct MarketResolvedJson<'a> {
    id: String,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    assets_ids: [String; 2],
    winning_asset_id: String,
    winning_outcome: &'a str,
    question: &'a str,
    slug: &'a str,
    description: &'a str,
    outcomes: &'a [String; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    event_message: Option<EventJson<'a>>,
    tags: &'a [String],
    payouts: [&'static str; 2],
    timestamp: String,
}

impl Listing<'_> {
    fn token_texts(&self) -> [String; 2] {
        self.tokens.map(|token| ids::token_text(&token))
    }

    /// `new_market`.
    #[must_use]
    pub fn new_market(&self, stamp: &Stamp<'_>) -> String {
        let described = self.description;
        let group_item_title = described.raw_metadata.get("groupItemTitle");
        let body = NewMarketJson {
            id: described.market_id.to_string(),
            question: &described.question,
            market: self.market,
            slug: &described.slug,
            description: &described.description,
            assets_ids: self.token_texts(),
            outcomes: &described.outcomes,
            event_message: described.event.as_ref().map(EventJson::from),
            timestamp: self.time.0.to_string(),
            tags: &described.tags,
            condition_id: self.market,
            active: false,
            clob_token_ids: self.token_texts(),
            order_price_min_tick_size: self.tick.text(),
            group_item_title: group_item_title.and_then(|it| it.as_str()).unwrap_or(""),
            neg_risk: self.neg_risk,
        };
        message("new_market", &body, stamp)
    }

    /// `market_resolved`. A payout of half each has no winner: token 0, an empty outcome.
    #[must_use]
    pub fn market_resolved(&self, payout: Payout, stamp: &Stamp<'_>) -> String {
        let described = self.description;
        let (winner, payouts) = match payout {
            Payout::Yes => (Some(Outcome::Yes), ["1", "0"]),
            Payout::No | Payout::Outside => (Some(Outcome::No), ["0", "1"]),
            Payout::Half => (None, ["0.5", "0.5"]),
        };
        let assets_ids = self.token_texts();
        let body = MarketResolvedJson {
            id: described.market_id.to_string(),
            market: self.market,
            winning_asset_id: winner.map_or_else(
                || "0".to_owned(),
                |winner| assets_ids[winner.index()].clone(),
            ),
            assets_ids,
            winning_outcome: winner.map_or("", |winner| &described.outcomes[winner.index()]),
            question: &described.question,
            slug: &described.slug,
            description: &described.description,
            outcomes: &described.outcomes,
            event_message: described.event.as_ref().map(EventJson::from),
            tags: &described.tags,
            payouts,
            timestamp: self.time.0.to_string(),
        };
        message("market_resolved", &body, stamp)
    }
}
