//! What a token costs: `/price`, `/midpoint`, `/spread`, `/last-trade-price`, and the same of many
//! tokens at once, `/prices`, `/midpoints`, `/spreads`, `/last-trades-prices` (protocol 11).
//!
//! What does not exist (a side, a trade) is a 404 alone and left out of a batch.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Price, Side};
use foretell_view::TokenBook;
use foretell_wire::batch::{Sides, read_tokens};
use foretell_wire::price::{
    ByToken, LastTrade, MidpointAnswer, PriceAnswer, SidePrices, SpreadAnswer, Text, TokenLastTrade,
};
use foretell_wire::query::Query;
use foretell_wire::{Decimal, Failure as Refusal, TokenRef, json_text};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::config::PriceSide;
use crate::failure::Failure;
use crate::replica::State;
use crate::resources::market_of;
use crate::texts::{BookKey, Quote, Saying, place_of};

/// `GET /price?token_id=&side=`.
pub(crate) async fn price(call: Call) -> Result<Answer, Failure> {
    let query = call.query()?;
    let (token, side) = (query.token()?, query.side()?);
    let side = side_of_book(call.app.price_side, side);
    one(&call, &token, Quote::Price(side)).await
}

/// What such a query asks for.
pub(crate) fn price_asked(app: &App, query: &Query<'_>) -> Option<(TokenRef, Saying)> {
    let (token, side) = (query.token().ok()?, query.side().ok()?);
    let side = side_of_book(app.price_side, side);
    Some((token, Saying::Quote(Quote::Price(side))))
}

/// `POST /prices`.
pub(crate) async fn prices(call: Call) -> Result<Answer, Failure> {
    let whose = call.app.price_side;
    let (rows, place) = many(&call, |book, sides| {
        let price = |side| best(side_of_book(whose, side), book);
        let prices = SidePrices {
            buy: price(Side::Buy).filter(|_| sides.buy),
            sell: price(Side::Sell).filter(|_| sides.sell),
        };
        (prices != SidePrices::default()).then_some(prices)
    })
    .await?;
    Ok(Answer::json(json_text(&ByToken(rows))).at(place))
}

/// `GET /midpoint?token_id=`.
pub(crate) async fn midpoint(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    one(&call, &token, Quote::Midpoint).await
}

/// What such a query asks for.
pub(crate) fn midpoint_asked(_: &App, query: &Query<'_>) -> Option<(TokenRef, Saying)> {
    Some((query.token().ok()?, Saying::Quote(Quote::Midpoint)))
}

/// `POST /midpoints`.
pub(crate) async fn midpoints(call: Call) -> Result<Answer, Failure> {
    let (rows, place) = many(&call, |book, _| middle(book).map(Text)).await?;
    Ok(Answer::json(json_text(&ByToken(rows))).at(place))
}

/// `GET /spread?token_id=`.
pub(crate) async fn spread(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    one(&call, &token, Quote::Spread).await
}

/// What such a query asks for.
pub(crate) fn spread_asked(_: &App, query: &Query<'_>) -> Option<(TokenRef, Saying)> {
    Some((query.token().ok()?, Saying::Quote(Quote::Spread)))
}

/// `POST /spreads`.
pub(crate) async fn spreads(call: Call) -> Result<Answer, Failure> {
    let (rows, place) = many(&call, |book, _| width(book).map(|it| Text(it.into()))).await?;
    Ok(Answer::json(json_text(&ByToken(rows))).at(place))
}

/// `GET /last-trade-price?token_id=`.
pub(crate) async fn last_trade(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    let app = &call.app;
    app.fresh(&call).await?;
    let (market, outcome) = find(app, &token).await?;
    let state = app.replica.read();
    let book = state.view.books().get(market).ok_or(Refusal::NoOrderbook)?;
    let last = last(book.of(outcome)).ok_or(Refusal::NoPrice("trade"))?;
    Ok(Answer::json(json_text(&last)).at(state.place()))
}

/// `POST /last-trades-prices`.
pub(crate) async fn last_trades(call: Call) -> Result<Answer, Failure> {
    let (rows, place) = many(&call, |book, _| last(book)).await?;
    let rows: Vec<TokenLastTrade> = rows
        .into_iter()
        .map(|(token_id, last)| TokenLastTrade { token_id, last })
        .collect();
    Ok(Answer::json(json_text(&rows)).at(place))
}

/// On which side of the book the price of a side stands: a taker buys from those who sell.
fn side_of_book(whose: PriceSide, side: Side) -> Side {
    match whose {
        PriceSide::Taker => side.opposite(),
        PriceSide::Maker => side,
    }
}

/// The best price of those who want to buy, or to sell.
fn best(side: Side, book: TokenBook<'_>) -> Option<Price> {
    match side {
        Side::Buy => book.best_bid(),
        Side::Sell => book.best_ask(),
    }
}

fn middle(book: TokenBook<'_>) -> Option<Decimal> {
    Some(Decimal::midpoint(book.best_bid()?, book.best_ask()?))
}

fn width(book: TokenBook<'_>) -> Option<Price> {
    let (bid, ask) = (book.best_bid()?, book.best_ask()?);
    Some(Price(ask.0.saturating_sub(bid.0)))
}

fn last(book: TokenBook<'_>) -> Option<LastTrade> {
    let last = book.last_trade()?;
    Some(LastTrade {
        price: last.price,
        side: last.side,
    })
}

async fn one(call: &Call, token: &TokenRef, quote: Quote) -> Result<Answer, Failure> {
    let app = &call.app;
    app.fresh(call).await?;
    let found = find(app, token).await?;
    let state = app.replica.read();
    let text = text(app, &state, found, quote).ok_or(Refusal::NoOrderbook)??;
    Ok(Answer::json(text).at(state.place()))
}

async fn find(app: &App, token: &TokenRef) -> Result<(MarketNumber, Outcome), Refusal> {
    let found = app.find(|view| market_of(view, token)).await?;
    found.ok_or(Refusal::NoOrderbook)
}

/// What is said about a token, as bytes: a few dozen, made of its best levels.
pub(crate) fn text(
    app: &App,
    state: &State,
    token: (MarketNumber, Outcome),
    quote: Quote,
) -> Option<Result<Bytes, Refusal>> {
    let book = state.view.books().get(token.0)?;
    let key = BookKey::of(state, token.0, book);
    let place = place_of(token, Saying::Quote(quote));
    if let Some(text) = app.texts.get(place, &key) {
        return Some(Ok(text));
    }
    let written = write(quote, book.of(token.1));
    Some(written.map(|text| app.texts.put(place, key, text)))
}

fn write(quote: Quote, book: TokenBook<'_>) -> Result<String, Refusal> {
    match quote {
        Quote::Price(side) => {
            let price = best(side, book).ok_or(Refusal::NoPrice(match side {
                Side::Buy => "bid",
                Side::Sell => "ask",
            }))?;
            Ok(json_text(&PriceAnswer {
                price,
                best_bid: book.best_bid(),
                best_ask: book.best_ask(),
            }))
        }
        Quote::Midpoint => {
            let mid = middle(book).ok_or(Refusal::NoPrice("midpoint"))?;
            Ok(json_text(&MidpointAnswer { mid }))
        }
        Quote::Spread => {
            let spread = width(book).ok_or(Refusal::NoPrice("spread"))?;
            Ok(json_text(&SpreadAnswer { spread }))
        }
    }
}

/// What `read` finds of each token asked for, under the token's text, in the order asked.
async fn many<T>(
    call: &Call,
    read: impl Fn(TokenBook<'_>, Sides) -> Option<T>,
) -> Result<(Vec<(String, T)>, Place), Failure> {
    let asked = read_tokens(&call.body)?;
    let app = &call.app;
    app.fresh(call).await?;
    app.meet(&asked).await?;
    let state = app.replica.read();
    let rows = asked.into_iter().filter_map(|asked| {
        let (market, outcome) = market_of(&state.view, &asked.token)?;
        let book = state.view.books().get(market)?.of(outcome);
        Some((asked.text, read(book, asked.sides)?))
    });
    Ok((rows.collect(), state.place()))
}
