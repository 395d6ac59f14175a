//! Lists of markets in registration order: `/markets`, `/simplified-markets`, `/sampling-markets`,
//! `/sampling-simplified-markets` (docs/api/market-data.md §5).

use std::ops::ControlFlow;

use foretell_model::{MarketNumber, MarketState};
use foretell_view::{Market, View};
use foretell_wire::json_text;
use foretell_wire::limits::PAGE_MARKETS;
use foretell_wire::markets::market::{MarketDetail, SimplifiedMarket, TradingMarket};
use foretell_wire::read::page::{Cursor, Page};
use foretell_wire::read::query::trading::PageQuery;
use serde_json::{Map, Value};

use crate::app::App;
use crate::catalog::descriptions::Descriptions;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;
use crate::render::market_facts::market_facts;
use crate::render::market_pages::{JsonText, MarketList, MarketRowKey, RowForm};
use crate::resources::service::raw_records::{catalog_change, raw_records};
use crate::view::search::{break_if, in_steps};

/// Markets visited for a page: on an old exchange few may still be active.
const MAX_VISITED: usize = 1 << 17;
/// Of these, markets visited under one lock hold.
const STEP: usize = 2_048;
/// Rows copied under one lock hold, and rows rendered before the thread yields.
const ROWS_PER_HOLD: usize = 64;

/// `GET /markets`: all, in any state.
pub(crate) async fn all(
    context: RequestContext,
    FromQuery(query): FromQuery<PageQuery>,
) -> Result<Json<Page<TradingMarket>>, Failure> {
    page(&context, query, MarketList::All).await
}

/// `GET /simplified-markets`: the same in the short form.
pub(crate) async fn simplified(
    context: RequestContext,
    FromQuery(query): FromQuery<PageQuery>,
) -> Result<Json<Page<SimplifiedMarket>>, Failure> {
    page(&context, query, MarketList::Simplified).await
}

/// `GET /sampling-markets`.
pub(crate) async fn sampling(
    context: RequestContext,
    FromQuery(query): FromQuery<PageQuery>,
) -> Result<Json<Page<MarketDetail>>, Failure> {
    page(&context, query, MarketList::Sampling).await
}

/// `GET /sampling-simplified-markets`.
pub(crate) async fn sampling_simplified(
    context: RequestContext,
    FromQuery(query): FromQuery<PageQuery>,
) -> Result<Json<Page<SimplifiedMarket>>, Failure> {
    page(&context, query, MarketList::SamplingSimplified).await
}

impl MarketList {
    /// Sampling lists have the markets with rewards. There are none yet, so they have every active
    /// market that is not hidden.
    fn has(self, market: &Market) -> bool {
        match self {
            Self::All | Self::Simplified => true,
            Self::Sampling | Self::SamplingSimplified => {
                market.state == MarketState::Active && !market.archived
            }
        }
    }
}

async fn page<T>(
    context: &RequestContext,
    PageQuery {
        next_cursor: cursor,
    }: PageQuery,
    list: MarketList,
) -> Result<Json<T>, Failure> {
    let app = &context.app;
    // Read before the markets, so that rows are no older than their keys.
    let catalog = match list.form() {
        RowForm::Detail => catalog_change(app).await,
        RowForm::Trading | RowForm::Simplified => None,
    };
    let mut search = MarketSearch::new(list, cursor, catalog);
    let ((), position) = in_steps(app, |state| search.step(&state.view, &app.descriptions)).await;
    let next = search.next();
    let rows = rendered_rows(app, list.form(), search.found).await;
    let page = app.market_pages.page(list, cursor, rows, next);
    Ok(Json::written(page).at(position))
}

/// A search for a page, from a market on.
struct MarketSearch {
    list: MarketList,
    catalog: Option<u64>,
    /// The next market to visit.
    next: usize,
    /// Markets that may still be visited.
    left: usize,
    found: Vec<(MarketNumber, MarketRowKey)>,
    /// No market is left.
    is_over: bool,
}

impl MarketSearch {
    fn new(list: MarketList, cursor: Cursor, catalog: Option<u64>) -> Self {
        Self {
            list,
            catalog,
            next: usize::try_from(cursor.offset()).unwrap_or(usize::MAX),
            left: MAX_VISITED,
            found: Vec::new(),
            is_over: false,
        }
    }

    /// Visits the next markets; breaks when the page is complete.
    fn step(&mut self, view: &View, descriptions: &Descriptions) -> ControlFlow<()> {
        let enough = self.found.len() + ROWS_PER_HOLD;
        for _ in 0..STEP.min(self.left) {
            let number = u32::try_from(self.next).map(MarketNumber);
            let market = number
                .ok()
                .and_then(|number| Some((number, view.markets().get(number)?)));
            let Some((number, market)) = market else {
                self.is_over = true;
                return ControlFlow::Break(());
            };
            if self.list.has(market) {
                if self.found.len() == PAGE_MARKETS {
                    return ControlFlow::Break(());
                }
                let key = market_facts(view, number).map(|facts| MarketRowKey {
                    facts,
                    described: descriptions.of(market),
                    catalog: self.catalog,
                });
                self.found.extend(key.map(|key| (number, key)));
            }
            self.next += 1;
            self.left -= 1;
            if self.found.len() == enough {
                return ControlFlow::Continue(());
            }
        }
        break_if(self.left == 0)
    }

    /// The next page's cursor.
    fn next(&self) -> Option<Cursor> {
        (!self.is_over).then(|| Cursor::at(self.next as u64))
    }
}

/// The rows as JSON; changed ones are rendered, a few at a time.
async fn rendered_rows(
    app: &App,
    form: RowForm,
    found: Vec<(MarketNumber, MarketRowKey)>,
) -> Vec<JsonText> {
    let pages = &app.market_pages;
    let known = found
        .iter()
        .map(|(number, key)| pages.row(form, *number, key));
    let mut rows: Vec<Option<JsonText>> = known.collect();
    let missing = || (0..found.len()).filter(|&at| rows[at].is_none());
    let missing: Vec<usize> = missing().collect();
    let records = match form {
        RowForm::Detail if !missing.is_empty() => {
            let conditions = missing.iter().map(|&at| found[at].1.facts.condition);
            raw_records(app, conditions.collect()).await
        }
        _ => None,
    };
    let is_whole = form != RowForm::Detail || records.is_some();
    let mut records = records.unwrap_or_default().into_iter();
    for few in missing.chunks(ROWS_PER_HOLD) {
        for &at in few {
            let (number, key) = &found[at];
            let text = row(form, key, records.next().unwrap_or_default());
            rows[at] = Some(match is_whole {
                true => pages.keep(form, *number, key.clone(), text),
                // The catalog was not readable, so the row is not cached.
                false => JsonText(text.into()),
            });
        }
        rest().await;
    }
    rows.into_iter().flatten().collect()
}

fn row(form: RowForm, key: &MarketRowKey, raw: Map<String, Value>) -> String {
    let (facts, described) = (&key.facts, &key.described);
    match form {
        RowForm::Trading => json_text(&TradingMarket::new(facts, described)),
        RowForm::Simplified => json_text(&SimplifiedMarket::new(facts, described)),
        RowForm::Detail => json_text(&MarketDetail::new(facts, described).with_raw_metadata(raw)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::market_pages::MarketPages;
    use crate::test_view::{ALICE, BOB, TestView};

    fn search(view: &View, list: MarketList, cursor: Cursor, max_visited: usize) -> MarketSearch {
        let mut search = MarketSearch::new(list, cursor, None);
        search.left = max_visited;
        while search.step(view, &Descriptions::default()).is_continue() {}
        search
    }

    /// All pages of a list, and their number.
    fn listed(view: &View, list: MarketList, max_visited: usize) -> (Vec<MarketNumber>, usize) {
        let (mut found, mut pages, mut cursor) = (Vec::new(), 0, Some(Cursor::default()));
        while let Some(at) = cursor {
            let search = search(view, list, at, max_visited);
            assert!(search.found.len() <= PAGE_MARKETS);
            cursor = search.next();
            found.extend(search.found.into_iter().map(|(number, _)| number));
            pages += 1;
        }
        (found, pages)
    }

    #[test]
    fn pages_hold_every_market_of_a_list_once() {
        let mut view = TestView::new(1_203);
        for market in (0..1_203).filter(|market| market % 5 != 0) {
            view.set_state(MarketNumber(market), MarketState::Paused);
        }
        let all: Vec<_> = (0..1_203).map(MarketNumber).collect();
        let active: Vec<_> = (0..1_203).step_by(5).map(MarketNumber).collect();
        assert_eq!(listed(&view.0, MarketList::All, MAX_VISITED), (all, 3));
        assert_eq!(
            listed(&view.0, MarketList::Sampling, MAX_VISITED),
            (active.clone(), 1)
        );
        // 401 visits a page: the last page finds that no market is left.
        assert_eq!(
            listed(&view.0, MarketList::SamplingSimplified, 401),
            (active, 4)
        );
    }

    #[test]
    fn a_page_is_made_once_and_a_row_again_when_its_market_changed() {
        let mut view = TestView::new(3);
        let (pages, descriptions) = (MarketPages::default(), Descriptions::default());
        let page = |view: &View| {
            let mut search = MarketSearch::new(MarketList::All, Cursor::default(), None);
            while search.step(view, &descriptions).is_continue() {}
            let next = search.next();
            let (mut rows, mut written) = (Vec::new(), 0);
            for (number, key) in search.found {
                let known = pages.row(RowForm::Trading, number, &key);
                written += usize::from(known.is_none());
                rows.push(known.unwrap_or_else(|| {
                    let text = row(RowForm::Trading, &key, Map::new());
                    pages.keep(RowForm::Trading, number, key, text)
                }));
            }
            (
                pages.page(MarketList::All, Cursor::default(), rows, next),
                written,
            )
        };
        let (first, written) = page(&view.0);
        assert_eq!(written, 3);
        let (same, written) = page(&view.0);
        assert_eq!((written, same.as_ptr()), (0, first.as_ptr()));
        // A price in one market changes.
        view.trade(MarketNumber(1), (ALICE, 0), (BOB, 0));
        let (moved, written) = page(&view.0);
        assert_eq!(written, 1);
        assert_ne!(moved, first);
        view.set_state(MarketNumber(2), MarketState::Paused);
        let (paused, written) = page(&view.0);
        assert_eq!(written, 1);
        let rows: Value = serde_json::from_slice(&paused).expect("JSON");
        assert_eq!(
            (rows["count"].as_u64(), &rows["next_cursor"]),
            (Some(3), &"LTE=".into())
        );
        assert_eq!(rows["data"][2]["accepting_orders"], false);
        assert_eq!(rows["data"][1]["accepting_orders"], true);
    }
}
