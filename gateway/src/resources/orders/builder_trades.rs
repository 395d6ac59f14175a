//! `GET /builder/trades`: trades whose orders carry a builder, newest first, for anyone to read
//! (docs/api/market-data.md §8).

use foretell_wire::limits::{BARE_BUILDER_ROWS, PAGE_ROWS};
use foretell_wire::orders::trade::{BuilderTrade, Trade};
use foretell_wire::read::page::{Cursor, Page};
use foretell_wire::read::query::trading::TradesQuery;
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::time::TimeForm;
use http::HeaderValue;
use serde::Serialize;

use crate::http::answer::{Json, X_NEXT_CURSOR};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::view::trade_search::{TradeScope, TradesRequest, trades_page};

/// The trades in both shapes.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum BuilderTrades {
    Rows(Vec<Trade>),
    Page(Page<BuilderTrade>),
}

/// A bare array with the cursor in a header, as the interface specifies; a page object for clients
/// that name a builder. The prefix of the request's headers selects the form of times. Without one,
/// the array has the form of the interface, and a page that of the family.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<TradesQuery>,
) -> Result<Json<BuilderTrades>, Failure> {
    let app = &context.app;
    let paged = query.builder.is_some() || has_builder_headers(&context);
    let times = app.auth.builder_times(&context.head.headers);
    let limit = if paged { PAGE_ROWS } else { BARE_BUILDER_ROWS };
    let asked = TradesRequest {
        query: &query,
        scope: TradeScope::Builders,
        limit,
    };
    let page = trades_page(app, asked).await;
    let rows = page.rows.into_iter();
    let answer = if paged {
        let rows = rows.map(|row| BuilderTrade::new(row, times.unwrap_or(TimeForm::Unix)));
        Json::of(&BuilderTrades::Page(Page::new(
            rows.collect(),
            limit,
            page.next,
        )))
    } else {
        let times = times.unwrap_or(TimeForm::Iso);
        let rows = rows.map(|row| Trade::new(row, times)).collect();
        let next = HeaderValue::from_str(&Cursor::text_of(page.next)).expect("base64");
        Json::of(&BuilderTrades::Rows(rows)).header(X_NEXT_CURSOR, next)
    };
    Ok(answer.at(page.position))
}

/// Builders' clients send signature headers of their own. The exchange issues no builder keys and
/// the data is public, so the headers are not checked.
fn has_builder_headers(context: &RequestContext) -> bool {
    let mut names = context.head.headers.keys();
    names.any(|name| name.as_str().ends_with("_builder_api_key"))
}
