//! `GET /live-activity/events/{condition_id}`, and the same under `/markets/live-activity/`: the newest
//! trades of a market, for anyone to read (docs/api/market-data.md §8).

use foretell_model::ConditionId;
use foretell_wire::ErrorCode;
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::markets::live_activity::TradeEvent;
use foretell_wire::read::query::trading::TradesQuery;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::view::trade_search::{TradeScope, TradesRequest, trades_page};

/// An array of at most [`PAGE_ROWS`] trades, newest first.
pub(crate) async fn newest(
    context: RequestContext,
    FromPath(condition): FromPath<ConditionId>,
) -> Result<Json<Vec<TradeEvent<'static>>>, Failure> {
    let app = &context.app;
    let described = app.find(|view| {
        let (_, market) = view.markets().by_condition(&condition)?;
        Some(app.descriptions.of(market))
    });
    let description = described.await?.ok_or(ErrorCode::MarketNotFound)?;
    let query = TradesQuery {
        market: Some(condition),
        ..TradesQuery::default()
    };
    let asked = TradesRequest {
        query: &query,
        scope: TradeScope::Public,
        limit: PAGE_ROWS,
    };
    let page = trades_page(app, asked).await;
    let profiles = app.profiles.texts();
    let takers: Vec<_> = page
        .rows
        .iter()
        .map(|trade| (trade, profiles.profile(&trade.taker.wallet)))
        .collect();
    let events: Vec<_> = takers
        .iter()
        .map(|(trade, profile)| TradeEvent::new(trade, &description, profile))
        .collect();
    Ok(Json::of(&events).at(page.position))
}
