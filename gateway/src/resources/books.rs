//! `GET /book` and `POST /books` (protocol 11).

use std::collections::HashMap;

use bytes::Bytes;
use foldhash::fast::RandomState;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_view::View;
use foretell_wire::Failure as Refusal;
use foretell_wire::batch::{AskedToken, Sides, read_tokens};
use foretell_wire::book::{Book, Level, books_json};
use parking_lot::RwLock;

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::replica::State;
use crate::resources::market_of;

/// `GET /book?token_id=`.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    let app = &call.app;
    app.fresh(&call).await?;
    let found = app.find(|view| market_of(view, &token)).await?;
    let (market, outcome) = found.ok_or(Refusal::NoOrderbook)?;
    let state = app.replica.read();
    let book = app
        .books
        .get(&state, market, outcome, Sides::BOTH)
        .ok_or(Refusal::NoOrderbook)?;
    Ok(Answer::json(book).at(state.place()))
}

/// Books rendered under one hold of the lock on the view; a long one takes a millisecond.
const STEP: usize = 4;

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
    let (market, outcome) = market_of(&state.view, &asked.token)?;
    app.books.get(state, market, outcome, asked.sides)
}

/// JSON bytes.
struct Text(Bytes);

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is rendered as text")
    }
}

/// Books as they were last sent, good until the book changes.
#[derive(Default)]
pub(crate) struct BookTexts {
    texts: RwLock<HashMap<(MarketNumber, Outcome, Sides), BookText, RandomState>>,
}

struct BookText {
    epoch: u64,
    changed: Sequence,
    text: Bytes,
}

impl BookTexts {
    /// The book's JSON, rendered anew only when the book has changed.
    fn get(
        &self,
        state: &State,
        market: MarketNumber,
        outcome: Outcome,
        sides: Sides,
    ) -> Option<Bytes> {
        let changed = state.view.books().get(market)?.changed();
        let epoch = state.epoch;
        if let Some(kept) = self.texts.read().get(&(market, outcome, sides))
            && (kept.epoch, kept.changed) == (epoch, changed)
        {
            return Some(kept.text.clone());
        }
        let text = Bytes::from(render(&state.view, market, outcome, sides)?);
        let kept = BookText {
            epoch,
            changed,
            text: text.clone(),
        };
        self.texts.write().insert((market, outcome, sides), kept);
        Some(text)
    }
}

fn render(view: &View, market: MarketNumber, outcome: Outcome, sides: Sides) -> Option<String> {
    let book = view.books().get(market)?;
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
