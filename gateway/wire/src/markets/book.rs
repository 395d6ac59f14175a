//! Order books (docs/api/market-data.md §2).

use serde::Serialize;
use sha1::{Digest, Sha1};

use foretell_model::{ConditionId, Lots, Price, Tick, TimeMs, TokenId};

use crate::markets::batch::Sides;
use crate::schema::JsonSchema;
use crate::values;

/// A price level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BookLevel {
    /// Price in the book's own token.
    #[serde(with = "values::Amount")]
    pub price: Price,
    /// Shares.
    #[serde(with = "values::Amount", rename = "size")]
    pub lots: Lots,
}

/// The book of one token, implied orders of the other outcome included.
#[derive(Clone, Debug)]
pub struct Book {
    /// Its market.
    pub market: ConditionId,
    /// Its token.
    pub token: TokenId,
    /// When it last changed.
    pub timestamp: TimeMs,
    /// Best first; [`Self::json`] writes them best last.
    pub bids: Vec<BookLevel>,
    /// Best first; [`Self::json`] writes them best last.
    pub asks: Vec<BookLevel>,
    /// The market's minimum order size.
    pub minimum_size: Lots,
    /// The market's tick.
    pub tick: Tick,
    /// Whether the market is a question of a neg-risk event.
    pub neg_risk: bool,
    /// Last price in this token; `None` before the first trade.
    pub last_trade_price: Option<Price>,
}

/// A book, with the ten keys in the interface's order. The hash covers exactly this text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Book")]
pub struct BookAnswer<'a> {
    /// The market's condition.
    #[serde(with = "values::Hash")]
    market: ConditionId,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    /// Time of the last change, unix milliseconds.
    #[serde(with = "values::Digits")]
    timestamp: u64,
    /// SHA-1 of this object with an empty hash, in this order of keys.
    #[schemars(extend("pattern" = "^[0-9a-f]{40}$"))]
    hash: &'a str,
    /// Levels, best price last.
    bids: Vec<&'a BookLevel>,
    /// Levels, best price last.
    asks: Vec<&'a BookLevel>,
    /// Least size of an order, in shares.
    #[serde(with = "values::Amount")]
    min_order_size: Lots,
    #[serde(with = "values::TickSize")]
    tick_size: Tick,
    /// Whether the market is a question of a neg-risk event.
    neg_risk: bool,
    /// Price of the last trade in this token; empty before the first.
    #[serde(with = "values::AmountOrEmpty")]
    last_trade_price: Option<Price>,
}

/// Where the text has the hash: the fields before it contain no quote but their own.
const HASH_FIELD: &str = r#""hash":""#;

/// The text of a book and the hash in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookText {
    /// The JSON.
    pub json: String,
    /// SHA-1 in hex.
    pub hash: String,
}

impl Book {
    /// The JSON of the book. Sides outside `sides` are empty (BUY = bids, SELL = asks), and the
    /// hash covers the JSON with those empty sides.
    #[must_use]
    pub fn json(&self, sides: Sides) -> String {
        self.text(sides).json
    }

    /// As [`Self::json`], with the hash.
    #[must_use]
    pub fn text(&self, sides: Sides) -> BookText {
        let answer = BookAnswer {
            market: self.market,
            asset_id: self.token,
            timestamp: self.timestamp.0,
            hash: "",
            bids: best_last(&self.bids, sides.buy),
            asks: best_last(&self.asks, sides.sell),
            min_order_size: self.minimum_size,
            tick_size: self.tick,
            neg_risk: self.neg_risk,
            last_trade_price: self.last_trade_price,
        };
        let mut json = crate::json_text(&answer);
        let hash = hex::encode(Sha1::digest(&json));
        let at = json.find(HASH_FIELD).expect("the text has a hash") + HASH_FIELD.len();
        json.insert_str(at, &hash);
        BookText { json, hash }
    }
}

fn best_last(levels: &[BookLevel], wanted: bool) -> Vec<&BookLevel> {
    if wanted {
        levels.iter().rev().collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
