//! `GET /book`, `GET` and `POST /books` (docs/api/market-data.md §2). A book may have thousands of levels:
//! they are copied under the view's lock and rendered outside of it.

use bytes::Bytes;
use foretell_model::{ConditionId, Lots, MarketNumber, Outcome, Price, Tick, TimeMs, TokenId};
use foretell_view::View;
use foretell_wire::ApiError;
use foretell_wire::batch::{BatchToken, Sides};
use foretell_wire::book::{Book, BookLevel};
use foretell_wire::page::array_json;

use crate::answer::Answer;
use crate::app::App;
use crate::book_cache::{BookCache, BookKey, RenderKey, slot_of};
use crate::failure::Failure;
use crate::market_pages::Json;
use crate::request_context::RequestContext;
use crate::resources::market_of;
use crate::shared_view::ViewState;

/// `GET /book?token_id=`.
pub(crate) async fn one(context: RequestContext) -> Result<Answer, Failure> {
    let token = context.query()?.token()?;
    let app = &context.app;
    context.wait_fresh().await?;
    let found = app.find(|view| market_of(view, &token)).await?;
    let found = found.ok_or(ApiError::NoOrderbook)?;
    let (seen, position) = {
        let state = app.shared_view.read();
        (
            book_source(&app.book_cache, &state, found, Sides::BOTH),
            state.position(),
        )
    };
    let book = seen.ok_or(ApiError::NoOrderbook)?.text(&app.book_cache);
    Ok(Answer::json(book).at(position))
}

/// `GET` and `POST /books`: keeps the input order, omits unknown tokens, and reads all books from
/// one state of the view.
pub(crate) async fn many(context: RequestContext) -> Result<Answer, Failure> {
    let asked = context.tokens()?;
    let app = &context.app;
    context.wait_fresh().await?;
    app.await_tokens(&asked).await?;
    // First fill the cache: render missing books one by one and yield after each, so that other
    // requests run. The lock below takes all books from one state, and copies only those that
    // changed meanwhile.
    for asked in &asked {
        let seen = seen_of(app, &app.shared_view.read(), asked);
        if let Some(BookSource::Copy(copy)) = seen {
            copy.text(&app.book_cache);
            tokio::task::yield_now().await;
        }
    }
    let (seen, position) = {
        let state = app.shared_view.read();
        let seen = asked.iter().filter_map(|asked| seen_of(app, &state, asked));
        (seen.collect::<Vec<_>>(), state.position())
    };
    let books: Vec<Json> = seen
        .into_iter()
        .map(|seen| Json(seen.text(&app.book_cache)))
        .collect();
    Ok(Answer::json(array_json(&books)).at(position))
}

fn seen_of(app: &App, state: &ViewState, asked: &BatchToken) -> Option<BookSource> {
    let found = market_of(&state.view, &asked.token)?;
    book_source(&app.book_cache, state, found, asked.sides)
}

/// A book as of one state.
enum BookSource {
    /// Cached text, rendered after its last change.
    Text(Bytes),
    /// The data to render it from.
    Copy(Box<CopiedBook>),
}

impl BookSource {
    /// Renders the JSON, or returns the cached text.
    fn text(self, texts: &BookCache) -> Bytes {
        match self {
            Self::Text(text) => text,
            Self::Copy(copy) => copy.text(texts),
        }
    }
}

/// The book of a token for the sides asked for; under the lock it costs a copy at most.
fn book_source(
    texts: &BookCache,
    state: &ViewState,
    token: (MarketNumber, Outcome),
    sides: Sides,
) -> Option<BookSource> {
    let book = state.view.books().get(token.0)?;
    let key = BookKey::of(state, token.0, book);
    let slot = slot_of(token, RenderKey::Book(sides));
    if let Some(text) = texts.get(slot, &key) {
        return Some(BookSource::Text(text));
    }
    let copy = CopiedBook::of(&state.view, book, token, (sides, slot, key))?;
    Some(BookSource::Copy(Box::new(copy)))
}

/// The inputs of a book's text.
struct CopiedBook {
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

    fn text(&self, texts: &BookCache) -> Bytes {
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
