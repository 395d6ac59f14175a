//! Search for a page of trades, newest first. A request visits a bounded number of trades: a page
//! may be short or empty, and its cursor names the trade after which the next page continues.

use std::ops::ControlFlow;

use foretell_model::AccountNumber;
use foretell_view::{BuilderFilter, TradeFilter, TradeId, TradeRecord, TradeSlot, View};
use foretell_wire::orders::trade::TradeFacts;
use foretell_wire::read::page::Cursor;
use foretell_wire::read::query::trading::TradesQuery;

use crate::app::App;
use crate::catalog::descriptions::Descriptions;
use crate::http::answer::StatePosition;
use crate::render::trade_json::{add_receipts, trade_facts};
use crate::resources::{market_of, resolve_optional};
use crate::view::search::{break_if, in_steps};

/// Trades visited for a page: about two milliseconds.
const MAX_VISITED: usize = 16_384;
/// Of these, trades visited under one lock hold.
const STEP: usize = 1_024;

/// The query and its reader.
#[derive(Clone, Copy)]
pub(crate) struct TradesRequest<'q> {
    pub(crate) query: &'q TradesQuery,
    pub(crate) scope: TradeScope,
    /// Rows of the page.
    pub(crate) limit: usize,
}

/// The selected trades and their reader.
#[derive(Clone, Copy)]
pub(crate) enum TradeScope {
    /// Trades of an owner, who is the reader.
    Owner(AccountNumber),
    /// Trades of builders, which are public.
    Builders,
    /// Every trade, which is public without its owners.
    Public,
}

pub(crate) struct TradesPage {
    pub(crate) rows: Vec<TradeFacts>,
    pub(crate) next: Option<Cursor>,
    /// The state of the first step.
    pub(crate) position: StatePosition,
}

pub(crate) async fn trades_page(app: &App, asked: TradesRequest<'_>) -> TradesPage {
    let mut search = TradeSearch::new(asked, MAX_VISITED);
    let ((), position) = in_steps(app, |state| {
        search.step(&state.view, &app.descriptions, STEP)
    })
    .await;
    let found = search.found.iter_mut();
    add_receipts(app, found.map(|found| (&found.record, &mut found.facts)));
    TradesPage {
        next: search.next(),
        rows: search.found.into_iter().map(|found| found.facts).collect(),
        position,
    }
}

struct TradeSearch<'q> {
    asked: TradesRequest<'q>,
    /// Trades that may still be visited.
    left: usize,
    /// The oldest trade visited, or the cursor's; `None` before the first.
    last: Option<TradeSlot>,
    /// No trade is left.
    is_over: bool,
    found: Vec<FoundTrade>,
}

struct FoundTrade {
    slot: TradeSlot,
    record: TradeRecord,
    facts: TradeFacts,
}

impl<'q> TradeSearch<'q> {
    fn new(asked: TradesRequest<'q>, max_visited: usize) -> Self {
        let offset = asked.query.cursor.offset();
        Self {
            asked,
            left: max_visited,
            last: (offset > 0).then(|| TradeSlot::at(offset)),
            is_over: false,
            found: Vec::new(),
        }
    }

    /// Visits up to `step` trades; breaks when the page is complete.
    fn step(&mut self, view: &View, descriptions: &Descriptions, step: usize) -> ControlFlow<()> {
        let Some(filter) = self.asked.filter(view) else {
            self.is_over = true;
            return ControlFlow::Break(());
        };
        let count = step.min(self.left);
        let slots = self.slots(view, &filter, count);
        self.left -= slots.len();
        self.is_over = slots.len() < count;
        for slot in slots {
            self.last = Some(slot);
            self.consider(view, descriptions, &filter, slot);
            if self.found.len() > self.asked.limit {
                self.is_over = false;
                return ControlFlow::Break(());
            }
        }
        break_if(self.is_over || self.left == 0)
    }

    /// The next trades to visit.
    fn slots(&self, view: &View, filter: &TradeFilter, count: usize) -> Vec<TradeSlot> {
        match &self.asked.query.id {
            None => {
                let slots = view.trade_candidates(filter, self.last);
                slots.take(count).collect()
            }
            Some(id) => {
                let slot = TradeId::parse(id).and_then(|id| view.trade_by_id(id));
                let is_ahead = |slot: &TradeSlot| self.last.is_none_or(|last| *slot < last);
                slot.filter(is_ahead).into_iter().collect()
            }
        }
    }

    fn consider(
        &mut self,
        view: &View,
        descriptions: &Descriptions,
        filter: &TradeFilter,
        slot: TradeSlot,
    ) {
        let record = view.trade(slot);
        let Some(record) = record.filter(|record| filter.matches(view, record)) else {
            return;
        };
        let reader = match self.asked.scope {
            TradeScope::Owner(owner) => Some(owner),
            TradeScope::Builders | TradeScope::Public => None,
        };
        if let Some(mut facts) = trade_facts(view, descriptions, reader, &record) {
            if let Some(builder) = filter.builder {
                facts.builder = shown_builder(&record, builder);
            }
            self.found.push(FoundTrade {
                slot,
                record,
                facts,
            });
        }
    }

    /// The next page's cursor. The search finds one row too many, which is left to that page.
    fn next(&mut self) -> Option<Cursor> {
        self.found.truncate(self.asked.limit);
        let is_full = self.found.len() == self.asked.limit;
        let last = match self.found.last() {
            Some(found) if is_full => Some(found.slot),
            _ => self.last,
        };
        let ahead = last.filter(|_| !self.is_over)?.place();
        (ahead > 0).then(|| Cursor::at(ahead))
    }
}

impl TradesRequest<'_> {
    /// The filter of the query; `None` when it names something that does not exist, so that nothing
    /// can match.
    fn filter(&self, view: &View) -> Option<TradeFilter> {
        let query = self.query;
        let wallet = |wallet| resolve_optional(wallet, |wallet| view.accounts().number_of(wallet));
        let market = |condition: &_| view.markets().number_of(condition);
        let (owner, builder) = match (self.scope, query.builder) {
            (TradeScope::Owner(owner), _) => (Some(owner), None),
            (TradeScope::Public, _) => (None, None),
            (TradeScope::Builders, None) => (None, Some(BuilderFilter::Any)),
            (TradeScope::Builders, Some(code)) => (None, Some(BuilderFilter::Code(code))),
        };
        Some(TradeFilter {
            owner,
            builder,
            taker: wallet(&query.taker)?,
            maker: wallet(&query.maker)?,
            wallet: wallet(&query.maker_address)?,
            market: resolve_optional(&query.market, market)?,
            token: resolve_optional(&query.asset, |token| market_of(view, token))?,
            after: query.after.map(|after| after.start()),
            before: query.before.map(|before| before.start()),
        })
    }
}

/// The builder shown for a trade: the requested one, else the taker's, else the maker's.
fn shown_builder(record: &TradeRecord, asked: BuilderFilter) -> [u8; 32] {
    let carried = [record.taker.builder, record.maker.builder];
    match asked {
        BuilderFilter::Code(code) => code,
        BuilderFilter::Any => carried.into_iter().flatten().next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{MarketNumber, TimeSeconds};

    use super::*;
    use crate::test_view::{ALICE, BOB, CAROL, TestView, condition, wallet};

    const MARKETS: [MarketNumber; 2] = [MarketNumber(0), MarketNumber(1)];

    /// Bob and Carol trade, Alice once in ten.
    fn traded(count: u8) -> TestView {
        let mut view = TestView::new(2);
        for number in 0..count {
            let taker = if number % 10 == 3 { ALICE } else { CAROL };
            let builders = [number % 3, number % 2];
            let market = MARKETS[usize::from(number % 4 == 0)];
            view.trade(market, (taker, builders[0]), (BOB, builders[1]));
        }
        view
    }

    fn queries() -> Vec<TradesQuery> {
        let any = TradesQuery::default;
        let mut queries = vec![any()];
        for account in [ALICE, BOB, CAROL] {
            let wallet = Some(wallet(account));
            queries.extend([
                TradesQuery {
                    taker: wallet,
                    ..any()
                },
                TradesQuery {
                    maker: wallet,
                    ..any()
                },
                TradesQuery {
                    maker_address: wallet,
                    ..any()
                },
                TradesQuery {
                    taker: wallet,
                    market: Some(condition(MARKETS[1])),
                    ..any()
                },
            ]);
        }
        queries.extend([
            TradesQuery {
                market: Some(condition(MARKETS[1])),
                ..any()
            },
            TradesQuery {
                market: Some(condition(MarketNumber(9))),
                ..any()
            },
            TradesQuery {
                builder: Some([1; 32]),
                ..any()
            },
            TradesQuery {
                builder: Some([2; 32]),
                maker: Some(wallet(ALICE)),
                ..any()
            },
            TradesQuery {
                after: Some(TimeSeconds(30)),
                before: Some(TimeSeconds(60)),
                ..any()
            },
        ]);
        queries
    }

    /// All matching trades, newest first, found by a plain loop.
    fn plainly(view: &View, asked: TradesRequest<'_>) -> Vec<String> {
        let Some(filter) = asked.filter(view) else {
            return Vec::new();
        };
        let records = view
            .trades()
            .slots()
            .rev()
            .filter_map(|slot| view.trade(slot));
        let meant = records.filter(|record| filter.matches(view, record));
        meant.map(|record| record.id.to_string()).collect()
    }

    /// A page after at most the given number of visits: its rows and the next cursor.
    fn page(
        view: &View,
        asked: TradesRequest<'_>,
        (max_visited, step): (usize, usize),
    ) -> (Vec<String>, Option<Cursor>) {
        let mut search = TradeSearch::new(asked, max_visited);
        let descriptions = Descriptions::default();
        let mut left = search.left;
        while search.step(view, &descriptions, step).is_continue() {
            assert_eq!(left - search.left, step, "one hold");
            left = search.left;
        }
        assert!(left - search.left <= step, "the last hold");
        let next = search.next();
        let rows = search.found.into_iter().map(|found| found.facts.id);
        (rows.collect(), next)
    }

    #[test]
    fn pages_hold_every_trade_once_whatever_is_asked_and_however_few_are_looked_at() {
        let view = traded(60).0;
        for query in queries() {
            for scope in [
                TradeScope::Owner(BOB),
                TradeScope::Owner(ALICE),
                TradeScope::Builders,
                TradeScope::Public,
            ] {
                for (max_visited, step, limit) in [(5, 2, 3), (7, 7, 60), (1, 1, 1), (100, 30, 10)]
                {
                    let mut query = query.clone();
                    let mut found = Vec::new();
                    let mut pages = 0;
                    loop {
                        let asked = TradesRequest {
                            query: &query,
                            scope,
                            limit,
                        };
                        let (rows, next) = page(&view, asked, (max_visited, step));
                        assert!(rows.len() <= limit);
                        found.extend(rows);
                        pages += 1;
                        assert!(pages <= 121, "no page comes further");
                        let Some(next) = next else { break };
                        query.cursor = next;
                    }
                    query.cursor = Cursor::default();
                    let query = &query;
                    assert_eq!(
                        found,
                        plainly(
                            &view,
                            TradesRequest {
                                query,
                                scope,
                                limit
                            }
                        ),
                        "{query:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_nothing_matches_costs_no_more_than_the_bound_and_goes_on() {
        let view = traded(60).0;
        // Bob is always the maker, and all trades are his.
        let query = TradesQuery {
            taker: Some(wallet(BOB)),
            ..TradesQuery::default()
        };
        let mut cursors = Vec::new();
        let mut cursor = Cursor::default();
        loop {
            let query = TradesQuery {
                cursor,
                ..query.clone()
            };
            let asked = TradesRequest {
                query: &query,
                scope: TradeScope::Owner(BOB),
                limit: 100,
            };
            let (rows, next) = page(&view, asked, (16, 4));
            assert!(rows.is_empty());
            let Some(next) = next else { break };
            cursors.push(next.offset());
            cursor = next;
        }
        assert_eq!(cursors, [44, 28, 12], "sixteen a page");
    }

    #[test]
    fn builder_trades_of_a_taker_are_found_in_the_list_of_its_trades() {
        let view = traded(60).0;
        let query = TradesQuery {
            taker: Some(wallet(ALICE)),
            ..TradesQuery::default()
        };
        let asked = TradesRequest {
            query: &query,
            scope: TradeScope::Builders,
            limit: 60,
        };
        let expected = plainly(&view, asked);
        assert!(!expected.is_empty());
        // Alice has 6 of the 60 trades.
        assert_eq!(page(&view, asked, (6, 6)).0, expected);
    }

    #[test]
    fn trades_that_come_between_two_pages_move_none() {
        let mut view = traded(20);
        let query = TradesQuery::default();
        let asked = TradesRequest {
            query: &query,
            scope: TradeScope::Owner(BOB),
            limit: 8,
        };
        let expected = plainly(&view.0, asked);
        let (mut found, next) = page(&view.0, asked, (100, 10));
        view.trade(MARKETS[0], (CAROL, 0), (BOB, 0));
        let query = TradesQuery {
            cursor: next.expect("more"),
            ..TradesQuery::default()
        };
        let asked = TradesRequest {
            query: &query,
            limit: 100,
            ..asked
        };
        let (rest, next) = page(&view.0, asked, (100, 10));
        found.extend(rest);
        assert_eq!((found, next), (expected, None));
    }

    #[test]
    fn a_trade_is_found_by_its_id_once() {
        let view = traded(5).0;
        let query = TradesQuery::default();
        let asked = TradesRequest {
            query: &query,
            scope: TradeScope::Owner(BOB),
            limit: 1,
        };
        for id in plainly(&view, asked) {
            let query = TradesQuery {
                id: Some(id.clone()),
                ..TradesQuery::default()
            };
            let asked = TradesRequest {
                query: &query,
                ..asked
            };
            assert_eq!(page(&view, asked, (100, 10)), (vec![id], None));
        }
    }
}
