//! `GET /data/orders` and `/data/order/{id}`: orders of every wallet bound to the owner of the
//! caller's key (docs/api/market-data.md §6).

use std::ops::ControlFlow;

use foretell_model::limits::MAX_QUOTES;
use foretell_model::{
    AccountNumber, MarketNumber, OrderId, OrderNumber, Outcome, Sequence, WalletAddress,
};
use foretell_view::{Order, TradeId, View};
use foretell_wire::ErrorCode;
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::orders::user_order::{OneUserOrder, OrderFacts, UserOrder};
use foretell_wire::read::page::{Cursor, Page};
use foretell_wire::read::query::trading::OrdersQuery;
use foretell_wire::text::ids;

use crate::access::authenticate::ReadKey;
use crate::app::App;
use crate::catalog::descriptions::Descriptions;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::render::order_json::order_facts;
use crate::resources::{market_of, resolve_optional};
use crate::view::search::{break_if, in_steps};

/// Newest trades named by an order; `/data/trades` has the others.
const NAMED_TRADES: usize = 500;

/// Bounds of a page of orders.
#[derive(Clone, Copy)]
struct PageBounds {
    /// Orders of the page.
    rows: usize,
    /// Maximum number of trade ids in all orders of a page. The page ends before an order that
    /// would exceed it; the first order is always included.
    trades: usize,
    /// Orders visited under one lock hold.
    step: usize,
    /// Trades named under one lock hold; the order in progress is completed.
    step_trades: usize,
}

const BOUNDS: PageBounds = PageBounds {
    rows: PAGE_ROWS,
    trades: 2 * NAMED_TRADES,
    step: 512,
    step_trades: 128,
};

/// `GET /data/orders`: live ones, oldest first.
pub(crate) async fn list(
    context: RequestContext,
    ReadKey(caller): ReadKey,
    FromQuery(wanted): FromQuery<OrdersQuery>,
) -> Result<Json<Page<UserOrder>>, Failure> {
    page_of(&context.app, caller.owner, &wanted).await
}

/// `GET /accounts/{wallet}/orders` of the operator: the live ones of the wallet's owner, oldest first.
pub(crate) async fn of_wallet(
    context: RequestContext,
    FromPath(wallet): FromPath<WalletAddress>,
    FromQuery(wanted): FromQuery<OrdersQuery>,
) -> Result<Json<Page<UserOrder>>, Failure> {
    let app = &context.app;
    let owner = |view: &View| Some(view.accounts().by_wallet(&wallet)?.1.owner);
    let owner = app.find(owner).await?.ok_or(ErrorCode::AccountNotFound)?;
    page_of(app, owner, &wanted).await
}

async fn page_of(
    app: &App,
    owner: AccountNumber,
    wanted: &OrdersQuery,
) -> Result<Json<Page<UserOrder>>, Failure> {
    let mut search = OrderSearch::new(owner, wanted, BOUNDS);
    let ((), position) = in_steps(app, |state| search.step(&state.view, &app.descriptions)).await;
    let (rows, next) = search.page();
    let rows = rows.into_iter().map(|row| UserOrder::from(row.facts()));
    let page = Page::new(rows.collect(), PAGE_ROWS, next);
    Ok(Json::of(&page).at(position))
}

/// A search for a page, oldest order first. An owner has some thousand at most.
struct OrderSearch<'q> {
    owner: AccountNumber,
    wanted: &'q OrdersQuery,
    bounds: PageBounds,
    /// The first order not yet visited.
    first: OrderNumber,
    found: Vec<OrderRow>,
    trades: usize,
    /// The page is complete, and more orders follow.
    is_full: bool,
}

impl<'q> OrderSearch<'q> {
    fn new(owner: AccountNumber, wanted: &'q OrdersQuery, bounds: PageBounds) -> Self {
        Self {
            owner,
            wanted,
            bounds,
            first: number_at(wanted.cursor),
            found: Vec::new(),
            trades: 0,
            is_full: false,
        }
    }

    /// Visits the next orders; breaks when the page is complete.
    fn step(&mut self, view: &View, descriptions: &Descriptions) -> ControlFlow<()> {
        let Some(filter) = OrderFilter::of(view, self.wanted) else {
            return ControlFlow::Break(());
        };
        let enough = self.trades + self.bounds.step_trades;
        let orders = view.live_orders_from(self.owner, self.first);
        let mut looked_at = 0;
        for order in orders.take(self.bounds.step) {
            if filter.takes(order) {
                let row = OrderRow::of(view, descriptions, order);
                self.is_full = row.as_ref().is_some_and(|row| !self.has_room(row));
                if self.is_full {
                    return ControlFlow::Break(());
                }
                self.trades += row.as_ref().map_or(0, |row| row.trades.len());
                self.found.extend(row);
            }
            self.first = order.number.next();
            looked_at += 1;
            if self.trades >= enough {
                return ControlFlow::Continue(());
            }
        }
        break_if(looked_at < self.bounds.step)
    }

    fn has_room(&self, row: &OrderRow) -> bool {
        let trades = self.trades + row.trades.len();
        self.found.len() < self.bounds.rows
            && (trades <= self.bounds.trades || self.found.is_empty())
    }

    /// The rows, and the next page's cursor.
    fn page(self) -> (Vec<OrderRow>, Option<Cursor>) {
        let next = self.is_full.then(|| cursor_at(self.first));
        (self.found, next)
    }
}

/// Places for each sequence in a cursor, as many as a set has quotes.
const PLACES: u64 = MAX_QUOTES as u64;

/// The cursor of a page that begins with a number: it grows with the order of arrival.
fn cursor_at(first: OrderNumber) -> Cursor {
    Cursor::at(first.sequence().0 * PLACES + u64::from(first.index()))
}

fn number_at(cursor: Cursor) -> OrderNumber {
    let index = u8::try_from(cursor.offset() % PLACES).unwrap_or_default();
    OrderNumber::of(Sequence(cursor.offset() / PLACES), index)
}

/// The filters of a query, with names resolved. A list has orders that may rest: the family's clients
/// know no other type in it.
struct OrderFilter {
    id: Option<OrderId>,
    market: Option<MarketNumber>,
    token: Option<(MarketNumber, Outcome)>,
}

impl OrderFilter {
    /// `None` when it names something that does not exist, so that nothing can match.
    fn of(view: &View, wanted: &OrdersQuery) -> Option<Self> {
        let market = |condition: &_| view.markets().number_of(condition);
        Some(Self {
            id: resolve_optional(&wanted.id, |id| ids::order_id(id))?,
            market: resolve_optional(&wanted.market, market)?,
            token: resolve_optional(&wanted.asset, |token| market_of(view, token))?,
        })
    }

    fn takes(&self, order: &Order) -> bool {
        self.id
            .map_or(order.order_type.may_rest(), |id| id == order.id)
            && self.market.is_none_or(|market| market == order.market)
            && (self.token).is_none_or(|token| token == (order.market, order.outcome))
    }
}

/// `GET /data/order/{id}`: live or finished.
pub(crate) async fn one(
    context: RequestContext,
    ReadKey(caller): ReadKey,
    FromPath(id): FromPath<OrderId>,
) -> Result<Json<OneUserOrder>, Failure> {
    let app = &context.app;
    let own = |view: &View| {
        let order = view.orders().by_id(&id)?;
        let account = view.accounts().get(order.account)?;
        if account.owner != caller.owner {
            return None;
        }
        let row = OrderRow::of(view, &app.descriptions, &order)?;
        Some((row, view.queue_ahead(&order)))
    };
    // Taken first, so that the order found is not older than the state named.
    let position = app.shared_view.read().position();
    let (found, ahead) = app.find(own).await?.ok_or(ErrorCode::OrderNotFound)?;
    let answer = OneUserOrder::new(found.facts(), ahead);
    Ok(Json::of(&answer).at(position))
}

/// An order of the view; the ids of its trades become text outside of the view's lock.
struct OrderRow {
    facts: OrderFacts,
    trades: Vec<TradeId>,
}

impl OrderRow {
    fn of(view: &View, descriptions: &Descriptions, order: &Order) -> Option<Self> {
        let trades = view.trades_of_order(order, NAMED_TRADES);
        let trades = trades.iter().filter_map(|&slot| view.trade_id(slot));
        Some(Self {
            facts: order_facts(view, descriptions, order)?,
            trades: trades.collect(),
        })
    }

    fn facts(self) -> OrderFacts {
        let trades = self.trades.iter().map(TradeId::to_string).collect();
        OrderFacts {
            trades,
            ..self.facts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_view::{ALICE, BOB, TestView, condition};

    const MARKET: MarketNumber = MarketNumber(0);

    /// Resting orders of Bob's, each after the given number of trades.
    fn traded(trades: &[u64]) -> (TestView, Vec<OrderNumber>) {
        let mut view = TestView::new(1);
        let orders = trades.iter().map(|&trades| {
            let order = view.rest(BOB, trades + 1);
            for taken in 1..=trades {
                view.take((ALICE, 0), MARKET, (BOB, order), trades + 1 - taken);
            }
            order
        });
        let orders = orders.collect();
        (view, orders)
    }

    /// A page: ids of its orders, the number of trades each names, the next cursor, and the number
    /// of lock holds.
    fn page(
        view: &View,
        wanted: &OrdersQuery,
        bounds: PageBounds,
    ) -> (Vec<OrderId>, Vec<usize>, Option<Cursor>, usize) {
        let mut search = OrderSearch::new(BOB, wanted, bounds);
        let descriptions = Descriptions::default();
        let (mut holds, mut named) = (1, 0);
        while search.step(view, &descriptions).is_continue() {
            assert!(search.trades - named <= bounds.step_trades + NAMED_TRADES);
            named = search.trades;
            holds += 1;
        }
        let (rows, next) = search.page();
        let orders = rows.iter().map(|row| row.facts.id).collect();
        let trades = rows.iter().map(|row| row.trades.len()).collect();
        (orders, trades, next, holds)
    }

    #[test]
    fn a_page_names_a_thousand_trades_and_an_order_its_newest_five_hundred() {
        let (view, orders) = traded(&[600, 0, 501, 1, 2]);
        let query = OrdersQuery::default();
        let (found, trades, next, holds) = page(&view.0, &query, BOUNDS);
        assert_eq!((found.len(), trades), (3, vec![500, 0, 500]));
        assert!(
            holds >= 2,
            "the lock is given up after an order that names many"
        );
        let next = next.expect("a page after it");
        assert!((orders[2].next()..=orders[3]).contains(&number_at(next)));
        let query = OrdersQuery {
            cursor: next,
            ..query
        };
        let (found, trades, next, _) = page(&view.0, &query, BOUNDS);
        assert_eq!((found.len(), trades, next), (2, vec![1, 2], None));

        let order = view.0.orders().live(orders[0]).expect("it rests");
        let row = OrderRow::of(&view.0, &Descriptions::default(), order).expect("a row");
        let newest: Vec<_> = view.0.trades_of_order(order, usize::MAX);
        let newest = newest[100..]
            .iter()
            .filter_map(|slot| view.0.trade_id(*slot));
        assert_eq!(
            row.facts().trades,
            newest.map(|id| id.to_string()).collect::<Vec<_>>()
        );
    }

    /// A page may end within a set, and orders of other commands stand before and after it.
    #[test]
    fn pages_end_between_the_quotes_of_a_set() {
        let mut view = TestView::new(1);
        let mut orders = vec![view.rest(BOB, 1)];
        orders.extend(view.quote(BOB, MARKET, 64));
        orders.push(view.rest(BOB, 1));
        orders.extend(view.quote(BOB, MARKET, 3));
        let expected: Vec<_> = orders
            .iter()
            .map(|order| view.0.orders().live(*order).expect("it rests").id)
            .collect();
        for (rows, step) in [(1, 1), (5, 3), (64, 512), (100, 7)] {
            let bounds = PageBounds {
                rows,
                step,
                ..BOUNDS
            };
            let (mut wanted, mut found) = (OrdersQuery::default(), Vec::new());
            loop {
                let (page, _, next, _) = page(&view.0, &wanted, bounds);
                assert!(page.len() <= rows);
                found.extend(page);
                let Some(next) = next else { break };
                let text = Cursor::text_of(Some(next));
                wanted.cursor = Cursor::parse(Some(&text)).expect("a cursor that is taken back");
            }
            assert_eq!(found, expected, "{rows} rows");
        }
    }

    #[test]
    fn pages_hold_every_order_once_while_others_end() {
        let counts = [3, 0, 1, 7, 2, 2, 0, 0, 5, 1];
        for (rows, trades, step, step_trades) in [
            (3, 6, 2, 2),
            (1, 1, 1, 1),
            (4, 100, 3, 1),
            (100, 1_000, 512, 128),
        ] {
            let bounds = PageBounds {
                rows,
                trades,
                step,
                step_trades,
            };
            let (mut view, orders) = traded(&counts);
            // The oldest order ends after its page was read.
            let mut wanted = OrdersQuery {
                market: Some(condition(MARKET)),
                ..OrdersQuery::default()
            };
            let (mut found, mut pages) = (Vec::new(), 0);
            loop {
                let (page, named, next, _) = page(&view.0, &wanted, bounds);
                assert!(page.len() <= rows);
                assert!(named.len() == 1 || named.iter().sum::<usize>() <= trades);
                found.extend(page);
                if pages == 0 {
                    view.cancel(BOB, orders[0], 1);
                }
                pages += 1;
                let Some(next) = next else { break };
                wanted.cursor = next;
            }
            let id = |order: &OrderNumber| {
                let live = view.0.orders().live(*order);
                live.map_or(found[0], |live| live.id)
            };
            assert_eq!(
                found,
                orders.iter().map(id).collect::<Vec<_>>(),
                "{rows} rows"
            );
        }
        let nothing = OrdersQuery {
            market: Some(condition(MarketNumber(9))),
            ..OrdersQuery::default()
        };
        let (view, _) = traded(&counts);
        assert_eq!(page(&view.0, &nothing, BOUNDS).0, []);
    }
}
