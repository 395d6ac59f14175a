//! Search for a page of trades, newest first. A filter selects trades by their fills; a trade found has all
//! fills that its reader took part in. A request visits a bounded number of fills: a page may be short or
//! empty, and its cursor names the trade after which the next page continues.

use std::ops::ControlFlow;

use foretell_model::{AccountNumber, FramePosition, Sequence};
use foretell_view::{BuilderFilter, TradeFilter, TradeId, TradeRecord, TradeSide, TradeSlot, View};
use foretell_wire::orders::fill_id::FillId;
use foretell_wire::orders::trade::TradeFacts;
use foretell_wire::read::page::Cursor;
use foretell_wire::read::query::trading::TradesQuery;

use crate::app::App;
use crate::catalog::descriptions::Descriptions;
use crate::http::answer::StatePosition;
use crate::render::trade_json::{is_of, trade_facts};
use crate::resources::{market_of, resolve_optional};
use crate::view::search::{break_if, in_steps};

/// Fills visited for a page: about two milliseconds.
const MAX_VISITED: usize = 16_384;
/// Of these, fills visited under one lock hold; the trade in progress is completed.
const STEP: usize = 1_024;
/// Maximum number of fills in all trades of a page. The page ends before a trade that would exceed it; the
/// first trade is always included.
const MAX_FILLS: usize = 5_000;

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
    let next = search.next();
    // The receipts, outside of the view's lock.
    let rows = search.found.into_iter().map(|found| TradeFacts {
        receipt: (app.shared_view)
            .receipt(found.place, found.sequence)
            .unwrap_or_default(),
        ..found.facts
    });
    TradesPage {
        rows: rows.collect(),
        next,
        position,
    }
}

struct TradeSearch<'q> {
    asked: TradesRequest<'q>,
    /// Fills that may still be visited.
    left: usize,
    /// The oldest fill visited, or the cursor's; `None` before the first.
    last: Option<TradeSlot>,
    /// No trade is left.
    is_over: bool,
    /// The page is complete, and more trades follow.
    is_full: bool,
    found: Vec<FoundTrade>,
    /// Fills of the trades found.
    fills: usize,
}

struct FoundTrade {
    place: FramePosition,
    sequence: Sequence,
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
            is_full: false,
            found: Vec::new(),
            fills: 0,
        }
    }

    /// Visits about `step` fills; breaks when the page is complete.
    fn step(&mut self, view: &View, descriptions: &Descriptions, step: usize) -> ControlFlow<()> {
        let Some(filter) = self.asked.filter(view) else {
            self.is_over = true;
            return ControlFlow::Break(());
        };
        let count = step.min(self.left);
        let slots = self.slots(view, &filter, count);
        self.is_over = slots.len() < count;
        let mut visited = 0;
        for slot in slots {
            if visited >= count || self.is_full {
                self.is_over = false;
                break;
            }
            // A trade found has its other fills already.
            visited += match self.last {
                Some(last) if slot >= last => 1,
                _ => self.consider(view, descriptions, &filter, slot),
            };
        }
        self.left = self.left.saturating_sub(visited);
        self.is_over &= !self.is_full;
        break_if(self.is_over || self.is_full || self.left == 0)
    }

    /// The next fills to visit.
    fn slots(&self, view: &View, filter: &TradeFilter, count: usize) -> Vec<TradeSlot> {
        match &self.asked.query.id {
            None => {
                let slots = view.trade_candidates(filter, self.last);
                slots.take(count).collect()
            }
            Some(id) => {
                let whole = FillId::parse(id).filter(|id| id.index.is_none());
                let slot = whole.and_then(|id| view.trade_by_id(TradeId(id.trade)));
                let is_ahead = |slot: &TradeSlot| self.last.is_none_or(|last| *slot < last);
                slot.filter(is_ahead).into_iter().collect()
            }
        }
    }

    /// Adds the trade of a fill that matches and has room; returns the number of fills read.
    fn consider(
        &mut self,
        view: &View,
        descriptions: &Descriptions,
        filter: &TradeFilter,
        slot: TradeSlot,
    ) -> usize {
        let record = view.trade(slot);
        let Some(record) = record.filter(|record| filter.matches(view, record)) else {
            self.last = Some(slot);
            return 1;
        };
        let (fills, read) = self.asked.scope.fills(view, filter, slot);
        let trades = self.found.len() + 1;
        self.fills += fills.len();
        if trades > self.asked.limit || (trades > 1 && self.fills > MAX_FILLS) {
            self.is_full = true;
            return read;
        }
        // Where its first fill is; the next page begins before it.
        self.last = Some(TradeSlot::at(slot.place() - u64::from(record.index.0)));
        let reader = match self.asked.scope {
            TradeScope::Owner(owner) => Some(owner),
            TradeScope::Builders | TradeScope::Public => None,
        };
        if let Some(mut facts) = trade_facts(view, descriptions, reader, &fills) {
            if let Some(builder) = filter.builder {
                facts.builder = shown_builder(&record, builder);
            }
            self.found.push(FoundTrade {
                place: record.place,
                sequence: record.sequence,
                facts,
            });
        }
        read
    }

    /// The next page's cursor.
    fn next(&self) -> Option<Cursor> {
        let ahead = self.last.filter(|_| !self.is_over)?.place();
        (ahead > 0).then(|| Cursor::at(ahead))
    }
}

impl TradeScope {
    /// The fills of a trade that its reader took part in, and the number of fills read: all of its taker,
    /// else those of its makers.
    fn fills(
        self,
        view: &View,
        filter: &TradeFilter,
        slot: TradeSlot,
    ) -> (Vec<TradeRecord>, usize) {
        let is_reader = |side: &TradeSide| match self {
            Self::Owner(owner) => is_of(view, owner, side),
            Self::Builders => filter.builder.is_some_and(|builder| builder.is_of(side)),
            Self::Public => true,
        };
        let mut fills: Vec<_> = view.fills_of_trade(slot).collect();
        let read = fills.len();
        fills.retain(|fill| is_reader(&fill.taker) || is_reader(&fill.maker));
        (fills, read)
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

    /// Carol takes of Bob, Alice and Bob again at once, between trades of one fill.
    #[test]
    fn a_trade_of_several_fills_is_one_row_with_those_of_its_reader() {
        let mut view = TestView::new(2);
        let makers = [(BOB, 0), (ALICE, 7), (BOB, 0)];
        for _ in 0..3 {
            view.trade(MARKETS[0], (CAROL, 0), (BOB, 0));
            view.sweep(MARKETS[0], (CAROL, 0), &makers);
        }
        let view = view.0;
        let of_alice = TradesQuery {
            maker: Some(wallet(ALICE)),
            ..TradesQuery::default()
        };
        let all = TradesQuery::default();
        for (scope, query, fills, as_maker) in [
            (TradeScope::Owner(CAROL), &all, &[3, 1][..], false),
            (TradeScope::Owner(BOB), &all, &[2, 1], true),
            (TradeScope::Owner(ALICE), &all, &[1], true),
            (TradeScope::Public, &all, &[3, 1], false),
            (TradeScope::Builders, &all, &[1], false),
            // A filter selects trades, not fills.
            (TradeScope::Owner(CAROL), &of_alice, &[3], false),
        ] {
            for (max_visited, step, limit) in [(1, 1, 1), (2, 1, 2), (7, 3, 4), (100, 100, 100)] {
                let (mut rows, mut query) = (Vec::new(), query.clone());
                loop {
                    let asked = TradesRequest {
                        query: &query,
                        scope,
                        limit,
                    };
                    let mut search = TradeSearch::new(asked, max_visited);
                    let words = Descriptions::default();
                    while search.step(&view, &words, step).is_continue() {}
                    let next = search.next();
                    assert!(search.found.len() <= limit);
                    rows.extend(search.found.into_iter().map(|found| found.facts));
                    let Some(next) = next else { break };
                    query.cursor = next;
                }
                let shown = rows.iter().map(|row| (row.fills.len(), row.as_maker));
                let expected = fills.iter().map(|fills| (*fills, as_maker)).cycle();
                let expected: Vec<_> = expected.take(3 * fills.len()).collect();
                assert_eq!(shown.collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn a_page_ends_before_a_trade_with_too_many_fills() {
        let mut view = TestView::new(1);
        let makers = vec![(BOB, 0); MAX_FILLS / 2];
        for _ in 0..3 {
            view.sweep(MARKETS[0], (CAROL, 0), &makers);
        }
        let query = TradesQuery::default();
        let asked = TradesRequest {
            query: &query,
            scope: TradeScope::Owner(CAROL),
            limit: 100,
        };
        let (found, next) = page(&view.0, asked, (MAX_VISITED, MAX_VISITED));
        assert_eq!(found.len(), 2);
        let query = TradesQuery {
            cursor: next.expect("a third"),
            ..query.clone()
        };
        let asked = TradesRequest {
            query: &query,
            ..asked
        };
        let (found, next) = page(&view.0, asked, (MAX_VISITED, MAX_VISITED));
        assert_eq!((found.len(), next), (1, None));
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
