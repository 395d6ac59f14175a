//! A market's book at one frame, copied under the view's lock, readable from either token.

use foretell_model::{ConditionId, Lots, MarketNumber, Outcome, Price, Tick, TimeMs, TokenId};
use foretell_view::{Level, View};
use foretell_wire::markets::batch::Sides;
use foretell_wire::markets::book::{Book, BookLevel, BookText};

/// The inputs of both tokens' book texts.
#[derive(Debug)]
pub(crate) struct BookCopy {
    pub(crate) condition: ConditionId,
    pub(crate) tokens: [TokenId; 2],
    time: TimeMs,
    /// Of Yes, best first.
    bids: Vec<BookLevel>,
    /// Of Yes, best first.
    asks: Vec<BookLevel>,
    minimum_size: Lots,
    tick: Tick,
    neg_risk: bool,
    /// Of Yes.
    last_trade_price: Option<Price>,
}

impl BookCopy {
    /// The book now; `None` for an unknown market.
    pub(crate) fn of(view: &View, market: MarketNumber) -> Option<Self> {
        let book = view.books().get(market)?;
        let listed = view.markets().get(market)?;
        let yes = book.of(Outcome::Yes);
        let level = |level: Level| BookLevel {
            price: level.price,
            lots: level.lots,
        };
        Some(Self {
            condition: listed.condition,
            tokens: listed.tokens,
            time: book.time().millis(),
            bids: yes.bids().map(level).collect(),
            asks: yes.asks().map(level).collect(),
            minimum_size: listed.minimum_size,
            tick: listed.tick,
            neg_risk: listed.is_neg_risk(),
            last_trade_price: yes.last_trade().map(|last| last.price),
        })
    }

    pub(crate) fn token(&self, outcome: Outcome) -> TokenId {
        self.tokens[outcome.index()]
    }

    /// Levels of both sides.
    pub(crate) fn levels(&self) -> usize {
        self.bids.len() + self.asks.len()
    }

    /// The best bid and the best ask of Yes.
    pub(crate) fn best(&self) -> [Option<Price>; 2] {
        [&self.bids, &self.asks].map(|levels| levels.first().map(|level| level.price))
    }

    /// The text of `GET /book` for an outcome's token.
    pub(crate) fn text(&self, outcome: Outcome) -> BookText {
        let (bids, asks) = match outcome {
            Outcome::Yes => (None, None),
            Outcome::No => (Some(mirrored(&self.asks)), Some(mirrored(&self.bids))),
        };
        let last = self.last_trade_price;
        let book = Book {
            market: self.condition,
            token: self.token(outcome),
            timestamp: self.time,
            bids: bids.as_deref().unwrap_or(&self.bids),
            asks: asks.as_deref().unwrap_or(&self.asks),
            minimum_size: self.minimum_size,
            tick: self.tick,
            neg_risk: self.neg_risk,
            last_trade_price: last.map(|price| seen_from(outcome, price)),
        };
        book.text(Sides::BOTH)
    }
}

/// The other token's levels, best first as well.
fn mirrored(levels: &[BookLevel]) -> Vec<BookLevel> {
    let mirror = |level: &BookLevel| BookLevel {
        price: level.price.complement(),
        lots: level.lots,
    };
    levels.iter().map(mirror).collect()
}

/// A Yes price in the price of an outcome's token, and back.
pub(crate) fn seen_from(outcome: Outcome, price: Price) -> Price {
    match outcome {
        Outcome::Yes => price,
        Outcome::No => price.complement(),
    }
}
