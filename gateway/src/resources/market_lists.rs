//! Lists of markets, in the order they were registered: `/markets`, `/simplified-markets`,
//! `/sampling-markets`, `/sampling-simplified-markets` (protocol 11).

use std::sync::Arc;

use foretell_model::MarketState;
use foretell_view::Market;
use foretell_wire::json_text;
use foretell_wire::market::{MarketDetail, MarketFacts, SimplifiedMarket, TradingMarket};
use foretell_wire::operator::MarketDescription;
use foretell_wire::page::{PAGE_MARKETS, Page};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::market_facts::market_facts;

/// `GET /markets`: all of them, whatever their state.
pub(crate) async fn all(call: Call) -> Result<Answer, Failure> {
    page(&call, |_| true, TradingMarket::new).await
}

/// `GET /simplified-markets`: the same in short.
pub(crate) async fn simplified(call: Call) -> Result<Answer, Failure> {
    page(&call, |_| true, SimplifiedMarket::new).await
}

/// `GET /sampling-markets`.
pub(crate) async fn sampling(call: Call) -> Result<Answer, Failure> {
    page(&call, is_sampled, MarketDetail::new).await
}

/// `GET /sampling-simplified-markets`.
pub(crate) async fn sampling_simplified(call: Call) -> Result<Answer, Failure> {
    page(&call, is_sampled, SimplifiedMarket::new).await
}

/// Those with rewards, and as long as there are none, every active one that is not hidden.
fn is_sampled(market: &Market) -> bool {
    market.state == MarketState::Active && !market.archived
}

async fn page<T: Serialize>(
    call: &Call,
    listed: fn(&Market) -> bool,
    write: fn(&MarketFacts, &MarketDescription) -> T,
) -> Result<Answer, Failure> {
    let cursor = call.query()?.cursor()?;
    let app = &call.app;
    app.fresh(call).await?;
    // Only facts are taken under the lock; five hundred markets are a megabyte of text.
    let (facts, total, place) = {
        let state = app.replica.read();
        let markets = || state.view.markets().iter().filter(|(_, it)| listed(it));
        let facts: Vec<(MarketFacts, Arc<MarketDescription>)> = markets()
            .skip(cursor.offset())
            .take(PAGE_MARKETS)
            .filter_map(|(number, market)| {
                let facts = market_facts(&state.view, number)?;
                Some((facts, app.descriptions.of(market)))
            })
            .collect();
        (facts, markets().count(), state.place())
    };
    let rows = facts
        .iter()
        .map(|(facts, described)| write(facts, described));
    let page = Page::new(rows.collect(), cursor, PAGE_MARKETS, total);
    Ok(Answer::json(json_text(&page)).at(place))
}
