//! Prices of tokens: `/price`, `/midpoint`, `/spread`, `/last-trade-price`, and for many tokens
//! `/prices`, `/midpoints`, `/spreads`, `/last-trades-prices` (docs/api/market-data.md §3).
//!
//! A missing value (empty side) is a 404 for one token and omitted in a batch; a token without a
//! trade has a last price of one half, as in the family, and is omitted in a batch.

use foretell_model::{MarketNumber, Outcome, Price, Side};
use foretell_view::{TokenBook, View};
use foretell_wire::markets::batch::{BatchToken, Sides};
use foretell_wire::markets::price::{
    ByToken, LastTrade, MidpointAnswer, PriceAnswer, SidePrices, SpreadAnswer, Text, TokenLastTrade,
};
use foretell_wire::read::query::trading::{OneToken, PriceQuery};
use foretell_wire::{ApiError, Compatibility, Decimal, ErrorCode, TokenRef};
use serde::Serialize;

use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::{FromQuery, Tokens};
use crate::http::request_context::RequestContext;
use crate::resources::{book_of, market_of};

/// `GET /price?token_id=&side=`.
pub(crate) async fn price(
    context: RequestContext,
    FromQuery(query): FromQuery<PriceQuery>,
) -> Result<Json<PriceAnswer>, Failure> {
    let side = side_of_book(context.app.compatibility, query.side);
    one(&context, &query.token_id, book_of, |book| {
        let missing = match side {
            Side::Buy => "bid",
            Side::Sell => "ask",
        };
        Ok(PriceAnswer {
            price: best(side, book).ok_or(ErrorCode::NoPrice.with([&missing]))?,
            best_bid: book.best_bid(),
            best_ask: book.best_ask(),
        })
    })
    .await
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
    one(&context, &token, book_of, |book| {
        let mid = middle(book).ok_or(ErrorCode::NoPrice.with([&"midpoint"]))?;
        Ok(MidpointAnswer { mid })
    })
    .await
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
    one(&context, &token, book_of, |book| {
        let spread = width(book).ok_or(ErrorCode::NoPrice.with([&"spread"]))?;
        Ok(SpreadAnswer { spread })
    })
    .await
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
    one(&context, &token, market_of, |book| {
        Ok(last(book).unwrap_or(LastTrade::NONE))
    })
    .await
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

/// The result of `read` for the token that `find` finds.
async fn one<T: Serialize>(
    context: &RequestContext,
    token: &TokenRef,
    find: impl Fn(&View, &TokenRef) -> Option<(MarketNumber, Outcome)>,
    read: impl FnOnce(TokenBook<'_>) -> Result<T, ApiError>,
) -> Result<Json<T>, Failure> {
    let app = &context.app;
    let found = app.find(|view| find(view, token)).await?;
    let (market, outcome) = found.ok_or(ErrorCode::OrderbookNotFound)?;
    let (answer, position) = {
        let state = app.shared_view.read();
        let book = state.view.books().get(market);
        let book = book.ok_or(ErrorCode::OrderbookNotFound)?;
        (read(book.of(outcome))?, state.position())
    };
    Ok(Json::of(&answer).at(position))
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
