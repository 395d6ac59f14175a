//! A page of trades, looked for from the newest trade backwards. No request looks at more than a bounded
//! number of trades, whatever it asks for: a page may end before it is full, or be empty, and its cursor
//! says after which trade the next one goes on.

use foretell_model::AccountNumber;
use foretell_view::{CarriedBuilder, TradeFilter, TradeId, TradeRecord, TradeSlot, View};
use foretell_wire::page::Cursor;
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::TradeFacts;

use crate::answer::Place;
use crate::app::App;
use crate::descriptions::Descriptions;
use crate::resources::{market_of, named};
use crate::trade_rows::{facts, receipts};

/// Trades looked at for a page: about two milliseconds.
const LOOKED_AT: usize = 16_384;
/// Of them, those looked at under one hold of the lock on the view.
const STEP: usize = 1_024;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'q> {
    pub(crate) query: &'q TradesQuery,
    pub(crate) whose: Whose,
    /// Rows of the page.
    pub(crate) limit: usize,
}

/// Which trades, and who reads them.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    /// Those of an owner, who reads them.
    Owner(AccountNumber),
    /// Those of builders, which anybody may read.
    Builders,
}

/// A page.
pub(crate) struct TradesPage {
    pub(crate) rows: Vec<TradeFacts>,
    pub(crate) next: Option<Cursor>,
    /// The state it began with.
    pub(crate) place: Place,
}

/// Looks for a page.
pub(crate) async fn trades_page(app: &App, asked: Asked<'_>) -> TradesPage {
    let mut search = Search::new(asked, LOOKED_AT);
    let place = app.replica.read().place();
    while !search.step(&app.replica.read().view, &app.descriptions, STEP) {
        tokio::task::yield_now().await;
    }
    let found = search.found.iter_mut();
    receipts(app, found.map(|found| (&found.record, &mut found.facts)));
    TradesPage {
        next: search.next(),
        rows: search.found.into_iter().map(|found| found.facts).collect(),
        place,
    }
}

/// A page being looked for.
struct Search<'q> {
    asked: Asked<'q>,
    /// Trades that may still be looked at.
    left: usize,
    /// The oldest one looked at, or where the cursor says; `None` before the first.
    last: Option<TradeSlot>,
    /// Nothing is left behind it.
    is_over: bool,
    found: Vec<Found>,
}

struct Found {
    slot: TradeSlot,
    record: TradeRecord,
    facts: TradeFacts,
}

impl<'q> Search<'q> {
    fn new(asked: Asked<'q>, looked_at: usize) -> Self {
        let offset = asked.query.cursor.offset();
        Self {
            asked,
            left: looked_at,
            last: (offset > 0).then(|| TradeSlot::at(offset)),
            is_over: false,
            found: Vec::new(),
        }
    }

    /// Looks at up to `step` trades; true when the page is made.
    fn step(&mut self, view: &View, descriptions: &Descriptions, step: usize) -> bool {
        let Some(filter) = self.asked.filter(view) else {
            self.is_over = true;
            return true;
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
                return true;
            }
        }
        self.is_over || self.left == 0
    }

    /// The next trades to look at.
    fn slots(&self, view: &View, filter: &TradeFilter, count: usize) -> Vec<TradeSlot> {
        match &self.asked.query.id {
            None => {
                let slots = view.trades_to_look_at(filter, self.last);
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
        let Some(record) = record.filter(|record| filter.takes(view, record)) else {
            return;
        };
        let reader = match self.asked.whose {
            Whose::Owner(owner) => Some(owner),
            Whose::Builders => None,
        };
        if let Some(mut facts) = facts(view, descriptions, reader, &record) {
            if let Some(builder) = filter.builder {
                facts.builder = shown_builder(&record, builder);
            }
            self.found.push(Found {
                slot,
                record,
                facts,
            });
        }
    }

    /// Where the next page goes on. A row that is one too many is left to that page.
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

impl Asked<'_> {
    /// What the query means; `None` when it names something that is not there, so that nothing can
    /// match.
    fn filter(&self, view: &View) -> Option<TradeFilter> {
        let query = self.query;
        let wallet = |wallet| named(wallet, |wallet| view.accounts().number_of(wallet));
        let market = |condition: &_| Some(view.markets().by_condition(condition)?.0);
        let (owner, builder) = match (self.whose, query.builder) {
            (Whose::Owner(owner), _) => (Some(owner), None),
            (Whose::Builders, None) => (None, Some(CarriedBuilder::Any)),
            (Whose::Builders, Some(code)) => (None, Some(CarriedBuilder::Code(code))),
        };
        Some(TradeFilter {
            owner,
            builder,
            taker: wallet(&query.taker)?,
            maker: wallet(&query.maker)?,
            wallet: wallet(&query.maker_address)?,
            market: named(&query.market, market)?,
            token: named(&query.asset, |token| market_of(view, token))?,
            after: query.after.map(|after| after.start()),
            before: query.before.map(|before| before.start()),
        })
    }
}

/// The builder a trade is shown for: the one asked for, else the taker's, else the maker's.
fn shown_builder(record: &TradeRecord, asked: CarriedBuilder) -> [u8; 32] {
    let carried = [record.taker.builder, record.maker.builder];
    match asked {
        CarriedBuilder::Code(code) => code,
        CarriedBuilder::Any => carried.into_iter().flatten().next().unwrap_or_default(),
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

    /// All trades that are meant, newest first, found one by one.
    fn plainly(view: &View, asked: Asked<'_>) -> Vec<String> {
        let Some(filter) = asked.filter(view) else {
            return Vec::new();
        };
        let records = view
            .trades()
            .slots()
            .rev()
            .filter_map(|slot| view.trade(slot));
        let meant = records.filter(|record| filter.takes(view, record));
        meant.map(|record| record.id.to_string()).collect()
    }

    /// A page, after looking at no more than the bounds say; its rows, and the next one's cursor.
    fn page(
        view: &View,
        asked: Asked<'_>,
        (looked_at, step): (usize, usize),
    ) -> (Vec<String>, Option<Cursor>) {
        let mut search = Search::new(asked, looked_at);
        let descriptions = Descriptions::default();
        let mut left = search.left;
        while !search.step(view, &descriptions, step) {
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
            for whose in [Whose::Owner(BOB), Whose::Owner(ALICE), Whose::Builders] {
                for (looked_at, step, limit) in [(5, 2, 3), (7, 7, 60), (1, 1, 1), (100, 30, 10)] {
                    let mut query = query.clone();
                    let mut found = Vec::new();
                    let mut pages = 0;
                    loop {
                        let asked = Asked {
                            query: &query,
                            whose,
                            limit,
                        };
                        let (rows, next) = page(&view, asked, (looked_at, step));
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
                            Asked {
                                query,
                                whose,
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
        // Bob never takes, and all trades are his.
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
            let asked = Asked {
                query: &query,
                whose: Whose::Owner(BOB),
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
    fn trades_that_come_between_two_pages_move_none() {
        let mut view = traded(20);
        let query = TradesQuery::default();
        let asked = Asked {
            query: &query,
            whose: Whose::Owner(BOB),
            limit: 8,
        };
        let expected = plainly(&view.0, asked);
        let (mut found, next) = page(&view.0, asked, (100, 10));
        view.trade(MARKETS[0], (CAROL, 0), (BOB, 0));
        let query = TradesQuery {
            cursor: next.expect("more"),
            ..TradesQuery::default()
        };
        let asked = Asked {
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
        let asked = Asked {
            query: &query,
            whose: Whose::Owner(BOB),
            limit: 1,
        };
        for id in plainly(&view, asked) {
            let query = TradesQuery {
                id: Some(id.clone()),
                ..TradesQuery::default()
            };
            let asked = Asked {
                query: &query,
                ..asked
            };
            assert_eq!(page(&view, asked, (100, 10)), (vec![id], None));
        }
    }
}
