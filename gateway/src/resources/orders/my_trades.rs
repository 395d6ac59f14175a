//! `GET /data/trades`: trades of every wallet bound to the owner of the caller's key, newest first
//! (docs/api/market-data.md §6).

use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::orders::trade::Trade;
use foretell_wire::read::page::Page;
use foretell_wire::read::query::trading::TradesQuery;

use crate::access::authenticate::ReadKey;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::view::trade_search::{TradeScope, TradesRequest, trades_page};

/// `GET /data/trades`.
pub(crate) async fn list(
    context: RequestContext,
    ReadKey(caller): ReadKey,
    FromQuery(query): FromQuery<TradesQuery>,
) -> Result<Json<Page<Trade>>, Failure> {
    let app = &context.app;
    let asked = TradesRequest {
        query: &query,
        scope: TradeScope::Owner(caller.owner),
        limit: PAGE_ROWS,
    };
    let page = trades_page(app, asked).await;
    let rows = page.rows.into_iter();
    let rows = rows.map(|row| Trade::new(row, caller.times)).collect();
    Ok(Json::of(&Page::new(rows, PAGE_ROWS, page.next)).at(page.position))
}
