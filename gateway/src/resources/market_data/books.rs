//! `GET /book`, `GET` and `POST /books` (docs/api/market-data.md §2).

use foretell_wire::ErrorCode;
use foretell_wire::markets::batch::{BatchToken, Sides};
use foretell_wire::markets::book::BookAnswer;
use foretell_wire::read::page::array_json;
use foretell_wire::read::query::trading::OneToken;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromQuery, Tokens};
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;
use crate::render::book_source::{BookSource, book_source};
use crate::render::market_pages::JsonText;
use crate::resources::book_of;
use crate::view::shared_view::ViewState;

/// `GET /book?token_id=`.
pub(crate) async fn one(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<BookAnswer<'static>>, Failure> {
    let app = &context.app;
    let found = app.find(|view| book_of(view, &token)).await?;
    let found = found.ok_or(ErrorCode::OrderbookNotFound)?;
    let (seen, position) = {
        let state = app.shared_view.read();
        (
            book_source(&app.book_cache, &state, found, Sides::BOTH),
            state.position(),
        )
    };
    let book = seen
        .ok_or(ErrorCode::OrderbookNotFound)?
        .text(&app.book_cache);
    Ok(Json::written(book).at(position))
}

/// `GET` and `POST /books`: keeps the input order, omits tokens without a book, and reads all books
/// from one state of the view.
pub(crate) async fn many(
    context: RequestContext,
    Tokens(asked): Tokens,
) -> Result<Json<Vec<BookAnswer<'static>>>, Failure> {
    let app = &context.app;
    app.await_tokens(&asked).await?;
    // First fill the cache: render missing books one by one and yield after each, so that other
    // requests run. The lock below takes all books from one state, and copies only those that
    // changed meanwhile.
    for asked in &asked {
        let seen = seen_of(app, &app.shared_view.read(), asked);
        if let Some(BookSource::Copy(copy)) = seen {
            copy.text(&app.book_cache);
            rest().await;
        }
    }
    let (seen, position) = {
        let state = app.shared_view.read();
        let seen = asked.iter().filter_map(|asked| seen_of(app, &state, asked));
        (seen.collect::<Vec<_>>(), state.position())
    };
    let books: Vec<JsonText> = seen
        .into_iter()
        .map(|seen| JsonText(seen.text(&app.book_cache)))
        .collect();
    Ok(Json::written(array_json(&books)).at(position))
}

fn seen_of(app: &App, state: &ViewState, asked: &BatchToken) -> Option<BookSource> {
    let found = book_of(&state.view, &asked.token)?;
    book_source(&app.book_cache, state, found, asked.sides)
}
