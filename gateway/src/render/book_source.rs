//! The text of a token's book: from the cache, or from a copy taken under the view's lock and
//! rendered outside of it. A book may have thousands of levels.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome};
use foretell_view::{Level, Levels, View};
use foretell_wire::markets::batch::Sides;
use foretell_wire::markets::book::{Book, BookLevel};

use crate::render::book_cache::{BookCache, BookKey, slot_of};
use crate::view::shared_view::ViewState;

/// A book as of one state.
pub(crate) enum BookSource {
    /// Cached text, rendered after its last change.
    Text(Bytes),
    /// The data to render it from.
    Copy(Box<Unrendered>),
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
    let book = copied_book(&state.view, token, sides)?;
    Some(BookSource::Copy(Box::new(Unrendered {
        book,
        sides,
        slot,
        key,
    })))
}

/// The book of a token now; sides outside `sides` are empty.
pub(crate) fn copied_book(
    view: &View,
    (market, outcome): (MarketNumber, Outcome),
    sides: Sides,
) -> Option<Book> {
    let book = view.books().get(market)?;
    let listed = view.markets().get(market)?;
    let seen = book.of(outcome);
    let level = |level: Level| BookLevel {
        price: level.price,
        lots: level.lots,
    };
    let copied = |levels: Levels<'_>, wanted: bool| match wanted {
        true => levels.map(level).collect(),
        false => Vec::new(),
    };
    Some(Book {
        market: listed.condition,
        token: listed.token(outcome),
        timestamp: book.time().millis(),
        bids: copied(seen.bids(), sides.buy),
        asks: copied(seen.asks(), sides.sell),
        minimum_size: listed.minimum_size,
        tick: listed.tick,
        neg_risk: listed.is_neg_risk(),
        last_trade_price: seen.last_trade().map(|last| last.price),
    })
}

/// A book whose text is not in the cache.
pub(crate) struct Unrendered {
    book: Book,
    sides: Sides,
    slot: usize,
    key: BookKey,
}

impl Unrendered {
    pub(crate) fn text(&self, texts: &BookCache) -> Bytes {
        texts.put(self.slot, self.key, self.book.json(self.sides))
    }
}
