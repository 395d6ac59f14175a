//! `GET /builder/trades`: trades whose orders carry a builder, newest first, for anyone to read
//! (protocol 11).

use foretell_wire::json_text;
use foretell_wire::page::{BARE_BUILDER_ROWS, Cursor, PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::time::TimeForm;
use foretell_wire::trade::{BuilderTrade, Trade};
use http::HeaderValue;

use crate::answer::{Answer, X_NEXT_CURSOR};
use crate::call::Call;
use crate::failure::Failure;
use crate::trade_search::{Asked, Whose, trades_page};

/// A bare array as the interface says, whose cursor is a header; a page for clients that name a
/// builder.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let query = TradesQuery::of(&call.query()?)?;
    let paged = query.builder.is_some() || has_builder_headers(&call);
    app.fresh(&call).await?;
    let limit = if paged { PAGE_ROWS } else { BARE_BUILDER_ROWS };
    let asked = Asked {
        query: &query,
        whose: Whose::Builders,
        limit,
    };
    let page = trades_page(app, asked).await;
    let rows = page.rows.into_iter();
    let answer = if paged {
        let rows = rows.map(|row| BuilderTrade::new(row, TimeForm::Iso));
        Answer::json(json_text(&Page::new(rows.collect(), limit, page.next)))
    } else {
        let rows: Vec<_> = rows.map(|row| Trade::new(row, TimeForm::Iso)).collect();
        let next = HeaderValue::from_str(&Cursor::text_of(page.next)).expect("base64");
        Answer::json(json_text(&rows)).header(X_NEXT_CURSOR, next)
    };
    Ok(answer.at(page.place))
}

/// Builders' clients sign with keys of their own; nobody has one here, and nothing is secret.
fn has_builder_headers(call: &Call) -> bool {
    let mut names = call.head.headers.keys();
    names.any(|name| name.as_str().ends_with("_builder_api_key"))
}
