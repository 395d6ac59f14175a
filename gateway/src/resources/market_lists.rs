//! Lists of markets, in the order they were registered: `/markets`, `/simplified-markets`,
//! `/sampling-markets`, `/sampling-simplified-markets` (protocol 11).

use std::sync::Arc;

use foretell_model::MarketState;
use foretell_view::Market;
use foretell_wire::json_text;
use foretell_wire::market::{MarketDetail, MarketFacts, SimplifiedMarket, TradingMarket};
use foretell_wire::operator::MarketDescription;
use foretell_wire::page::{Cursor, PAGE_MARKETS, Page};
use serde::Serialize;

use crate::answer::{Answer, Place};
use crate::call::Call;
use crate::failure::Failure;
use crate::market_facts::market_facts;
use crate::resources::raw_records::raw_records;

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
    let listed = take(&call, is_sampled).await?;
    let conditions = listed.rows.iter().map(|(facts, _)| facts.condition);
    let raw = raw_records(&call.app, conditions.collect()).await;
    let rows = listed
        .rows
        .iter()
        .zip(raw)
        .map(|((facts, described), raw)| {
            MarketDetail::new(facts, described).with_raw_metadata(raw)
        });
    Ok(listed.answer(rows.collect()))
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
    let page = take(call, listed).await?;
    let rows = page.rows.iter();
    let rows = rows.map(|(facts, described)| write(facts, described));
    Ok(page.answer(rows.collect()))
}

/// The markets of a page.
struct Taken {
    rows: Vec<(MarketFacts, Arc<MarketDescription>)>,
    cursor: Cursor,
    total: usize,
    place: Place,
}

impl Taken {
    fn answer<T: Serialize>(&self, rows: Vec<T>) -> Answer {
        let page = Page::new(rows, self.cursor, PAGE_MARKETS, self.total);
        Answer::json(json_text(&page)).at(self.place)
    }
}

async fn take(call: &Call, listed: fn(&Market) -> bool) -> Result<Taken, Failure> {
    let cursor = call.query()?.cursor()?;
    let app = &call.app;
    app.fresh(call).await?;
    // Only facts are taken under the lock; five hundred markets are a megabyte of text.
    let state = app.replica.read();
    let markets = || state.view.markets().iter().filter(|(_, it)| listed(it));
    let row = |(number, market)| {
        let facts = market_facts(&state.view, number)?;
        Some((facts, app.descriptions.of(market)))
    };
    Ok(Taken {
        rows: markets()
            .skip(cursor.offset())
            .take(PAGE_MARKETS)
            .filter_map(row)
            .collect(),
        cursor,
        total: markets().count(),
        place: state.place(),
    })
}
