//! `GET /book` and `POST /books` (protocol 11).

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome};
use foretell_view::View;
use foretell_wire::batch::{AskedToken, Sides, read_tokens};
use foretell_wire::book::{Book, Level, books_json};
use foretell_wire::query::Query;
use foretell_wire::{Failure as Refusal, TokenRef};

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::replica::State;
use crate::resources::market_of;
use crate::texts::Saying;

/// Books rendered under one hold of the lock on the view; a long one takes a millisecond.
const STEP: usize = 4;

/// `GET /book?token_id=`.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    let app = &call.app;
    app.fresh(&call).await?;
    let found = app.find(|view| market_of(view, &token)).await?;
    let found = found.ok_or(Refusal::NoOrderbook)?;
    let state = app.replica.read();
    let book = text(app, &state, found, Sides::BOTH).ok_or(Refusal::NoOrderbook)?;
    Ok(Answer::json(book).at(state.place()))
}

/// What such a query asks for.
pub(crate) fn asked(_: &App, query: &Query<'_>) -> Option<(TokenRef, Saying)> {
    Some((query.token().ok()?, Saying::Book(Sides::BOTH)))
}

/// `POST /books`: input order kept, unknown tokens left out, all of one state.
pub(crate) async fn many(call: Call) -> Result<Answer, Failure> {
    let asked = read_tokens(&call.body)?;
    let app = &call.app;
    app.fresh(&call).await?;
    app.meet(&asked).await?;
    // What has to be rendered is, a few at a time. Under the last hold, the one that counts, only
    // the books that have changed since are rendered again.
    for few in asked.chunks(STEP) {
        {
            let state = app.replica.read();
            for asked in few {
                book_of(app, &state, asked);
            }
        }
        tokio::task::yield_now().await;
    }
    let state = app.replica.read();
    let books: Vec<Text> = asked
        .iter()
        .filter_map(|asked| book_of(app, &state, asked))
        .map(Text)
        .collect();
    let place = state.place();
    drop(state);
    Ok(Answer::json(books_json(&books)).at(place))
}

fn book_of(app: &App, state: &State, asked: &AskedToken) -> Option<Bytes> {
    let found = market_of(&state.view, &asked.token)?;
    text(app, state, found, asked.sides)
}

/// The book's JSON, rendered anew only when the book has changed.
pub(crate) fn text(
    app: &App,
    state: &State,
    token: (MarketNumber, Outcome),
    sides: Sides,
) -> Option<Bytes> {
    let written = app.texts.get(state, token, Saying::Book(sides), |book| {
        render(&state.view, book, token, sides).ok_or(())
    });
    written?.ok()
}

/// JSON bytes.
struct Text(Bytes);

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is rendered as text")
    }
}

fn render(
    view: &View,
    book: &foretell_view::Book,
    (market, outcome): (MarketNumber, Outcome),
    sides: Sides,
) -> Option<String> {
    let listed = view.markets().get(market)?;
    let seen = book.of(outcome);
    let level = |level: foretell_view::Level| Level {
        price: level.price,
        lots: level.lots,
    };
    let bids: Vec<Level> = seen.bids().map(level).collect();
    let asks: Vec<Level> = seen.asks().map(level).collect();
    let book = Book {
        market: listed.condition,
        token: listed.token(outcome),
        timestamp: book.time().millis(),
        bids: &bids,
        asks: &asks,
        minimum_size: listed.minimum_size,
        tick: listed.tick,
        neg_risk: listed.is_neg_risk(),
        last_trade_price: seen.last_trade().map(|last| last.price),
    };
    Some(book.json(sides))
}
