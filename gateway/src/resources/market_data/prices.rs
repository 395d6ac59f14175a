//! Prices of tokens: `/price`, `/midpoint`, `/spread`, `/last-trade-price`, and for many tokens
//! `/prices`, `/midpoints`, `/spreads`, `/last-trades-prices` (docs/api/market-data.md §3).
//!
//! A missing value (empty side) is a 404 for one token and omitted in a batch; a token without a
//! trade has a last price of one half, as in the family, and is omitted in a batch.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Price, Side};
use foretell_view::TokenBook;
use foretell_wire::markets::batch::{BatchToken, Sides};
use foretell_wire::markets::price::{
    ByToken, LastTrade, MidpointAnswer, PriceAnswer, SidePrices, SpreadAnswer, Text, TokenLastTrade,
};
use foretell_wire::read::query::trading::{OneToken, PriceQuery};
use foretell_wire::{ApiError, Compatibility, Decimal, ErrorCode, TokenRef, json_text};

use crate::app::App;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::{FromQuery, Tokens};
use crate::http::request_context::RequestContext;
use crate::render::book_cache::{BookKey, Quote, RenderKey, slot_of};
use crate::resources::{book_of, market_of};
use crate::view::shared_view::ViewState;

/// `GET /price?token_id=&side=`.
pub(crate) async fn price(
    context: RequestContext,
    FromQuery(query): FromQuery<PriceQuery>,
) -> Result<Json<PriceAnswer>, Failure> {
    let side = side_of_book(context.app.compatibility, query.side);
    one(&context, &query.token_id, Quote::Price(side)).await
}

/// `GET` and `POST /prices`.
pub(crate) async fn prices(
    context: RequestContext,
    Tokens(asked): Tokens,
) -> Result<Json<ByToken<SidePrices>>, Failure> {
    let whose = context.app.compatibility;
    let (rows, position) = many(&context, asked, |book, sides| {
        let price = |side| best(side_of_book(whose, side), book);
        let prices = SidePrices {
            buy: price(Side::Buy).filter(|_| sides.buy),
            sell: price(Side::Sell).filter(|_| sides.sell),
        };
        (prices != SidePrices::default()).then_some(prices)
    })
    .await?;
    Ok(Json::of(&ByToken(rows)).at(position))
}

/// `GET /midpoint?token_id=`.
pub(crate) async fn midpoint(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<MidpointAnswer>, Failure> {
    one(&context, &token, Quote::Midpoint).await
}

/// `GET` and `POST /midpoints`.
pub(crate) async fn midpoints(
    context: RequestContext,
    Tokens(asked): Tokens,
) -> Result<Json<ByToken<Text>>, Failure> {
    let (rows, position) = many(&context, asked, |book, _| middle(book).map(Text)).await?;
    Ok(Json::of(&ByToken(rows)).at(position))
}

/// `GET /spread?token_id=`.
pub(crate) async fn spread(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<SpreadAnswer>, Failure> {
    one(&context, &token, Quote::Spread).await
}

/// `GET` and `POST /spreads`.
pub(crate) async fn spreads(
    context: RequestContext,
    Tokens(asked): Tokens,
) -> Result<Json<ByToken<Text>>, Failure> {
    let (rows, position) = many(&context, asked, |book, _| {
        width(book).map(|it| Text(it.into()))
    })
    .await?;
    Ok(Json::of(&ByToken(rows)).at(position))
}

/// `GET /last-trade-price?token_id=`.
pub(crate) async fn last_trade(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<LastTrade>, Failure> {
    let app = &context.app;
    let found = app.find(|view| market_of(view, &token)).await?;
    let (market, outcome) = found.ok_or(ErrorCode::OrderbookNotFound)?;
    let state = app.shared_view.read();
    let book = state
        .view
        .books()
        .get(market)
        .ok_or(ErrorCode::OrderbookNotFound)?;
    let last = last(book.of(outcome)).unwrap_or(LastTrade::NONE);
    Ok(Json::of(&last).at(state.position()))
}

/// `GET` and `POST /last-trades-prices`.
pub(crate) async fn last_trades(
    context: RequestContext,
    Tokens(asked): Tokens,
) -> Result<Json<Vec<TokenLastTrade>>, Failure> {
    let (rows, position) = many(&context, asked, |book, _| last(book)).await?;
    let rows: Vec<TokenLastTrade> = rows
        .into_iter()
        .map(|(token_id, last)| TokenLastTrade { token_id, last })
        .collect();
    Ok(Json::of(&rows).at(position))
}

/// The book side that `/price` reads for a requested side: a taker's BUY pays the best ask.
fn side_of_book(whose: Compatibility, side: Side) -> Side {
    match whose {
        Compatibility::Interface => side.opposite(),
        Compatibility::Polymarket => side,
    }
}

/// The best price of the bids or the asks.
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
        side: Some(last.side),
    })
}

/// The cached text of a quote.
async fn one<T>(
    context: &RequestContext,
    token: &TokenRef,
    quote: Quote,
) -> Result<Json<T>, Failure> {
    let app = &context.app;
    let found = find(app, token).await?;
    let state = app.shared_view.read();
    let text = text(app, &state, found, quote).ok_or(ErrorCode::OrderbookNotFound)??;
    Ok(Json::written(text).at(state.position()))
}

async fn find(app: &App, token: &TokenRef) -> Result<(MarketNumber, Outcome), ApiError> {
    let found = app.find(|view| book_of(view, token)).await?;
    found.ok_or_else(|| ErrorCode::OrderbookNotFound.into())
}

/// Renders an answer about a token: a few dozen bytes, from its best levels.
fn text(
    app: &App,
    state: &ViewState,
    token: (MarketNumber, Outcome),
    quote: Quote,
) -> Option<Result<Bytes, ApiError>> {
    let book = state.view.books().get(token.0)?;
    let key = BookKey::of(state, token.0, book);
    let slot = slot_of(token, RenderKey::Quote(quote));
    if let Some(text) = app.book_cache.get(slot, &key) {
        return Some(Ok(text));
    }
    let written = write(quote, book.of(token.1));
    Some(written.map(|text| app.book_cache.put(slot, key, text)))
}

fn write(quote: Quote, book: TokenBook<'_>) -> Result<String, ApiError> {
    match quote {
        Quote::Price(side) => {
            let price = best(side, book).ok_or(ErrorCode::NoPrice.with([&(match side {
                Side::Buy => "bid",
                Side::Sell => "ask",
            })]))?;
            Ok(json_text(&PriceAnswer {
                price,
                best_bid: book.best_bid(),
                best_ask: book.best_ask(),
            }))
        }
        Quote::Midpoint => {
            let mid = middle(book).ok_or(ErrorCode::NoPrice.with([&"midpoint"]))?;
            Ok(json_text(&MidpointAnswer { mid }))
        }
        Quote::Spread => {
            let spread = width(book).ok_or(ErrorCode::NoPrice.with([&"spread"]))?;
            Ok(json_text(&SpreadAnswer { spread }))
        }
    }
}

/// The result of `read` for each token, keyed by the token's text, in the order asked.
async fn many<T>(
    context: &RequestContext,
    asked: Vec<BatchToken>,
    read: impl Fn(TokenBook<'_>, Sides) -> Option<T>,
) -> Result<(Vec<(String, T)>, StatePosition), Failure> {
    let app = &context.app;
    app.await_tokens(&asked).await?;
    let state = app.shared_view.read();
    let rows = asked.into_iter().filter_map(|asked| {
        let (market, outcome) = market_of(&state.view, &asked.token)?;
        let book = state.view.books().get(market)?.of(outcome);
        Some((asked.text, read(book, asked.sides)?))
    });
    Ok((rows.collect(), state.position()))
}
