//! The text of a token's book: from the cache, or from a copy taken under the view's lock and
//! rendered outside of it. A book may have thousands of levels.

use bytes::Bytes;
use foretell_model::{ConditionId, Lots, MarketNumber, Outcome, Price, Tick, TimeMs, TokenId};
use foretell_view::View;
use foretell_wire::markets::batch::Sides;
use foretell_wire::markets::book::{Book, BookLevel};

use crate::render::book_cache::{BookCache, BookKey, slot_of};
use crate::view::shared_view::ViewState;

/// A book as of one state.
pub(crate) enum BookSource {
    /// Cached text, rendered after its last change.
    Text(Bytes),
    /// The data to render it from.
    Copy(Box<CopiedBook>),
}

impl BookSource {
    /// Renders the JSON, or returns the cached text.
    pub(crate) fn text(self, texts: &BookCache) -> Bytes {
        match self {
            Self::Text(text) => text,
            Self::Copy(copy) => copy.text(texts),
        }
    }
}

/// The book of a token for the sides asked for; under the lock it costs a copy at most.
pub(crate) fn book_source(
    texts: &BookCache,
    state: &ViewState,
    token: (MarketNumber, Outcome),
    sides: Sides,
) -> Option<BookSource> {
    let book = state.view.books().get(token.0)?;
    let key = BookKey::of(state, token.0, book);
    let slot = slot_of(token, sides);
    if let Some(text) = texts.get(slot, &key) {
        return Some(BookSource::Text(text));
    }
    let copy = CopiedBook::of(&state.view, book, token, (sides, slot, key))?;
    Some(BookSource::Copy(Box::new(copy)))
}

/// The inputs of a book's text.
pub(crate) struct CopiedBook {
    market: ConditionId,
    token: TokenId,
    timestamp: TimeMs,
    bids: Vec<BookLevel>,
    asks: Vec<BookLevel>,
    minimum_size: Lots,
    tick: Tick,
    neg_risk: bool,
    last_trade_price: Option<Price>,
    sides: Sides,
    slot: usize,
    key: BookKey,
}

impl CopiedBook {
    fn of(
        view: &View,
        book: &foretell_view::Book,
        (market, outcome): (MarketNumber, Outcome),
        (sides, slot, key): (Sides, usize, BookKey),
    ) -> Option<Self> {
        let listed = view.markets().get(market)?;
        let seen = book.of(outcome);
        let level = |level: foretell_view::Level| BookLevel {
            price: level.price,
            lots: level.lots,
        };
        let copied = |levels: foretell_view::Levels<'_>, wanted: bool| match wanted {
            true => levels.map(level).collect(),
            false => Vec::new(),
        };
        Some(Self {
            market: listed.condition,
            token: listed.token(outcome),
            timestamp: book.time().millis(),
            bids: copied(seen.bids(), sides.buy),
            asks: copied(seen.asks(), sides.sell),
            minimum_size: listed.minimum_size,
            tick: listed.tick,
            neg_risk: listed.is_neg_risk(),
            last_trade_price: seen.last_trade().map(|last| last.price),
            sides,
            slot,
            key,
        })
    }

    pub(crate) fn text(&self, texts: &BookCache) -> Bytes {
        let book = Book {
            market: self.market,
            token: self.token,
            timestamp: self.timestamp,
            bids: &self.bids,
            asks: &self.asks,
            minimum_size: self.minimum_size,
            tick: self.tick,
            neg_risk: self.neg_risk,
            last_trade_price: self.last_trade_price,
        };
        texts.put(self.slot, self.key, book.json(self.sides))
    }
}
