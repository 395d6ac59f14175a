//! Lists of markets, in the order they were registered: `/markets`, `/simplified-markets`,
//! `/sampling-markets`, `/sampling-simplified-markets` (protocol 11).

use foretell_model::{MarketNumber, MarketState};
use foretell_view::{Market, View};
use foretell_wire::json_text;
use foretell_wire::market::{MarketDetail, SimplifiedMarket, TradingMarket};
use foretell_wire::page::{Cursor, PAGE_MARKETS};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::descriptions::Descriptions;
use crate::failure::Failure;
use crate::market_facts::market_facts;
use crate::market_pages::{Form, List, RowKey};
use crate::resources::raw_records::{catalog_change, raw_records};
use crate::texts::Json;

/// Markets looked at for a page: of an old exchange few may still be active.
const LOOKED_AT: usize = 1 << 17;
/// Of them, those looked at under one hold of the lock on the view.
const STEP: usize = 2_048;
/// Rows copied under one hold, and rows written before others get their turn on the thread.
const FEW: usize = 64;

/// `GET /markets`: all of them, whatever their state.
pub(crate) async fn all(call: Call) -> Result<Answer, Failure> {
    page(&call, List::All).await
}

/// `GET /simplified-markets`: the same in short.
pub(crate) async fn simplified(call: Call) -> Result<Answer, Failure> {
    page(&call, List::Simplified).await
}

/// `GET /sampling-markets`.
pub(crate) async fn sampling(call: Call) -> Result<Answer, Failure> {
    page(&call, List::Sampling).await
}

/// `GET /sampling-simplified-markets`.
pub(crate) async fn sampling_simplified(call: Call) -> Result<Answer, Failure> {
    page(&call, List::SamplingSimplified).await
}

impl List {
    /// Sampled are those with rewards, and as long as there are none, every active one that is not
    /// hidden.
    fn has(self, market: &Market) -> bool {
        match self {
            Self::All | Self::Simplified => true,
            Self::Sampling | Self::SamplingSimplified => {
                market.state == MarketState::Active && !market.archived
            }
        }
    }
}

async fn page(call: &Call, list: List) -> Result<Answer, Failure> {
    let cursor = call.query()?.cursor()?;
    let app = &call.app;
    app.fresh(call).await?;
    // Before the markets are looked at: rows are no older than what their keys say.
    let catalog = match list.form() {
        Form::Detail => catalog_change(app).await,
        Form::Trading | Form::Simplified => None,
    };
    let mut search = Search::new(list, cursor, catalog);
    let place = app.replica.read().place();
    while !search.step(&app.replica.read().view, &app.descriptions) {
        tokio::task::yield_now().await;
    }
    let next = search.next();
    let rows = written(app, list.form(), search.found).await;
    let page = app.market_pages.page(list, cursor, rows, next);
    Ok(Answer::json(page).at(place))
}

/// A page being looked for, from a market on.
struct Search {
    list: List,
    catalog: Option<u64>,
    /// The next market to look at.
    next: usize,
    /// Markets that may still be looked at.
    left: usize,
    found: Vec<(MarketNumber, RowKey)>,
    /// Nothing is left behind it.
    is_over: bool,
}

impl Search {
    fn new(list: List, cursor: Cursor, catalog: Option<u64>) -> Self {
        Self {
            list,
            catalog,
            next: usize::try_from(cursor.offset()).unwrap_or(usize::MAX),
            left: LOOKED_AT,
            found: Vec::new(),
            is_over: false,
        }
    }

    /// Looks at the next markets; true when the page is made.
    fn step(&mut self, view: &View, descriptions: &Descriptions) -> bool {
        let enough = self.found.len() + FEW;
        for _ in 0..STEP.min(self.left) {
            let number = u32::try_from(self.next).map(MarketNumber);
            let market = number
                .ok()
                .and_then(|number| Some((number, view.markets().get(number)?)));
            let Some((number, market)) = market else {
                self.is_over = true;
                return true;
            };
            if self.list.has(market) {
                if self.found.len() == PAGE_MARKETS {
                    return true;
                }
                let key = market_facts(view, number).map(|facts| RowKey {
                    facts,
                    described: descriptions.of(market),
                    catalog: self.catalog,
                });
                self.found.extend(key.map(|key| (number, key)));
            }
            self.next += 1;
            self.left -= 1;
            if self.found.len() == enough {
                return false;
            }
        }
        self.left == 0
    }

    /// Where the next page goes on.
    fn next(&self) -> Option<Cursor> {
        (!self.is_over).then(|| Cursor::at(self.next as u64))
    }
}

/// The rows as JSON; those that changed are written, a few at a time.
async fn written(app: &App, form: Form, found: Vec<(MarketNumber, RowKey)>) -> Vec<Json> {
    let pages = &app.market_pages;
    let known = found
        .iter()
        .map(|(number, key)| pages.row(form, *number, key));
    let mut rows: Vec<Option<Json>> = known.collect();
    let missing = || (0..found.len()).filter(|&at| rows[at].is_none());
    let missing: Vec<usize> = missing().collect();
    let records = match form {
        Form::Detail if !missing.is_empty() => {
            let conditions = missing.iter().map(|&at| found[at].1.facts.condition);
            raw_records(app, conditions.collect()).await
        }
        _ => None,
    };
    let is_whole = form != Form::Detail || records.is_some();
    let mut records = records.unwrap_or_default().into_iter();
    for few in missing.chunks(FEW) {
        for &at in few {
            let (number, key) = &found[at];
            let text = row(form, key, records.next().unwrap_or_default());
            rows[at] = Some(match is_whole {
                true => pages.keep(form, *number, key.clone(), text),
                // The catalog could not be read just now.
                false => Json(text.into()),
            });
        }
        tokio::task::yield_now().await;
    }
    rows.into_iter().flatten().collect()
}

fn row(form: Form, key: &RowKey, raw: Map<String, Value>) -> String {
    let (facts, described) = (&key.facts, &key.described);
    match form {
        Form::Trading => json_text(&TradingMarket::new(facts, described)),
        Form::Simplified => json_text(&SimplifiedMarket::new(facts, described)),
        Form::Detail => json_text(&MarketDetail::new(facts, described).with_raw_metadata(raw)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market_pages::MarketPages;
    use crate::test_view::{ALICE, BOB, TestView};

    fn search(view: &View, list: List, cursor: Cursor, looked_at: usize) -> Search {
        let mut search = Search::new(list, cursor, None);
        search.left = looked_at;
        while !search.step(view, &Descriptions::default()) {}
        search
    }

    /// All of a list, page after page, and how many pages that were.
    fn listed(view: &View, list: List, looked_at: usize) -> (Vec<MarketNumber>, usize) {
        let (mut found, mut pages, mut cursor) = (Vec::new(), 0, Some(Cursor::default()));
        while let Some(at) = cursor {
            let search = search(view, list, at, looked_at);
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
        assert_eq!(listed(&view.0, List::All, LOOKED_AT), (all, 3));
        assert_eq!(
            listed(&view.0, List::Sampling, LOOKED_AT),
            (active.clone(), 1)
        );
        // Four hundred and one looks a page: the last one sees that there is no more.
        assert_eq!(listed(&view.0, List::SamplingSimplified, 401), (active, 4));
    }

    #[test]
    fn a_page_is_made_once_and_a_row_again_when_its_market_changed() {
        let mut view = TestView::new(3);
        let (pages, descriptions) = (MarketPages::default(), Descriptions::default());
        let page = |view: &View| {
            let mut search = Search::new(List::All, Cursor::default(), None);
            while !search.step(view, &descriptions) {}
            let next = search.next();
            let (mut rows, mut written) = (Vec::new(), 0);
            for (number, key) in search.found {
                let known = pages.row(Form::Trading, number, &key);
                written += usize::from(known.is_none());
                rows.push(known.unwrap_or_else(|| {
                    let text = row(Form::Trading, &key, Map::new());
                    pages.keep(Form::Trading, number, key, text)
                }));
            }
            (
                pages.page(List::All, Cursor::default(), rows, next),
                written,
            )
        };
        let (first, written) = page(&view.0);
        assert_eq!(written, 3);
        let (same, written) = page(&view.0);
        assert_eq!((written, same.as_ptr()), (0, first.as_ptr()));
        // A price moved in one market.
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
