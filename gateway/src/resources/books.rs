//! `GET /book` and `POST /books` (protocol 11). A book may have thousands of levels: they are copied
//! under the lock on the view, and become text without it.

use bytes::Bytes;
use foretell_model::{ConditionId, Lots, MarketNumber, Outcome, Price, Tick, TimeMs, TokenId};
use foretell_view::View;
use foretell_wire::batch::{AskedToken, Sides, read_tokens};
use foretell_wire::book::{Book, Level};
use foretell_wire::page::array_json;
use foretell_wire::query::Query;
use foretell_wire::{Failure as Refusal, TokenRef};

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::replica::State;
use crate::resources::market_of;
use crate::texts::{BookKey, BookTexts, Json, Saying, place_of};

/// `GET /book?token_id=`.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    let app = &call.app;
    app.fresh(&call).await?;
    let found = app.find(|view| market_of(view, &token)).await?;
    let found = found.ok_or(Refusal::NoOrderbook)?;
    let (seen, place) = {
        let state = app.replica.read();
        (seen(&app.texts, &state, found, Sides::BOTH), state.place())
    };
    let book = seen.ok_or(Refusal::NoOrderbook)?.text(&app.texts);
    Ok(Answer::json(book).at(place))
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
    // What has to be written is, one by one. Under the last hold, the one that counts, only the books
    // that have changed since are copied again.
    for asked in &asked {
        let seen = seen_of(app, &app.replica.read(), asked);
        if let Some(Seen::Copy(copy)) = seen {
            copy.text(&app.texts);
            tokio::task::yield_now().await;
        }
    }
    let (seen, place) = {
        let state = app.replica.read();
        let seen = asked.iter().filter_map(|asked| seen_of(app, &state, asked));
        (seen.collect::<Vec<_>>(), state.place())
    };
    let books: Vec<Json> = seen
        .into_iter()
        .map(|seen| Json(seen.text(&app.texts)))
        .collect();
    Ok(Answer::json(array_json(&books)).at(place))
}

fn seen_of(app: &App, state: &State, asked: &AskedToken) -> Option<Seen> {
    let found = market_of(&state.view, &asked.token)?;
    seen(&app.texts, state, found, asked.sides)
}

/// A book as one state has it.
pub(crate) enum Seen {
    /// As text, which was written since it changed.
    Text(Bytes),
    /// What that is written from.
    Copy(Box<CopiedBook>),
}

impl Seen {
    /// The JSON.
    pub(crate) fn text(self, texts: &BookTexts) -> Bytes {
        match self {
            Self::Text(text) => text,
            Self::Copy(copy) => copy.text(texts),
        }
    }
}

/// The book of a token in a state, for the sides asked for; the work under the lock is a copy at most.
pub(crate) fn seen(
    texts: &BookTexts,
    state: &State,
    token: (MarketNumber, Outcome),
    sides: Sides,
) -> Option<Seen> {
    let book = state.view.books().get(token.0)?;
    let key = BookKey::of(state, token.0, book);
    let place = place_of(token, Saying::Book(sides));
    if let Some(text) = texts.get(place, &key) {
        return Some(Seen::Text(text));
    }
    let copy = CopiedBook::of(&state.view, book, token, (sides, place, key))?;
    Some(Seen::Copy(Box::new(copy)))
}

/// What the text of a book is made of.
pub(crate) struct CopiedBook {
    market: ConditionId,
    token: TokenId,
    timestamp: TimeMs,
    bids: Vec<Level>,
    asks: Vec<Level>,
    minimum_size: Lots,
    tick: Tick,
    neg_risk: bool,
    last_trade_price: Option<Price>,
    sides: Sides,
    place: usize,
    key: BookKey,
}

impl CopiedBook {
    fn of(
        view: &View,
        book: &foretell_view::Book,
        (market, outcome): (MarketNumber, Outcome),
        (sides, place, key): (Sides, usize, BookKey),
    ) -> Option<Self> {
        let listed = view.markets().get(market)?;
        let seen = book.of(outcome);
        let level = |level: foretell_view::Level| Level {
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
            place,
            key,
        })
    }

    fn text(&self, texts: &BookTexts) -> Bytes {
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
        texts.put(self.place, self.key, book.json(self.sides))
    }
}
