//! `GET /data/orders` and `/data/order/{id}`: a caller's own orders, of every wallet bound to the
//! owner of its key (protocol 6, 11).

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{Lots, OrderId};
use foretell_view::{Order, UserStatus, View};
use foretell_wire::ids;
use foretell_wire::page::{PAGE_ROWS, Page};
use foretell_wire::query::OrdersQuery;
use foretell_wire::user_order::{OneUserOrder, OrderFacts, UserOrder, UserOrderStatus};
use foretell_wire::{Failure as Refusal, json_text};

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::descriptions::Descriptions;
use crate::failure::Failure;
use crate::resources::market_of;

/// Newest trades an order names; the others are at `/data/trades`.
const NAMED_TRADES: usize = 500;

/// `GET /data/orders`: live ones, oldest first.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let wanted = OrdersQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let (page, place) = {
        let state = app.replica.read();
        (page(&state.view, app, &caller, &wanted), state.place())
    };
    Ok(Answer::json(json_text(&page)).at(place))
}

fn page(view: &View, app: &App, caller: &Caller, wanted: &OrdersQuery) -> Page<UserOrder> {
    let id = wanted.id.as_deref().map(ids::order_id);
    let market = wanted
        .market
        .map(|condition| view.markets().by_condition(&condition));
    let token = wanted.asset.map(|token| market_of(view, &token));
    let matches = |order: &&Order| {
        id.is_none_or(|id| id == Some(order.id))
            && market.is_none_or(|market| market.is_some_and(|(number, _)| number == order.market))
            && token.is_none_or(|token| token == Some((order.market, order.outcome)))
    };
    let orders: Vec<&Order> = view
        .live_orders_of_owner(caller.owner)
        .into_iter()
        .filter(matches)
        .collect();
    let rows = orders
        .iter()
        .skip(wanted.cursor.offset())
        .take(PAGE_ROWS)
        .filter_map(|order| facts(view, &app.descriptions, order))
        .map(UserOrder::from)
        .collect();
    Page::new(rows, wanted.cursor, PAGE_ROWS, orders.len())
}

/// `GET /data/order/{id}`: live or finished.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    app.fresh(&call).await?;
    let id: OrderId = ids::order_id(&call.parameter).ok_or(Refusal::OrderNotFound)?;
    let own = |view: &View| {
        let order = view.orders().by_id(&id)?;
        let account = view.accounts().get(order.account)?;
        if account.owner != caller.owner {
            return None;
        }
        facts(view, &app.descriptions, &order)
    };
    // Taken first: what is found is not older than the state it is said to show.
    let place = app.replica.read().place();
    let found = app.find(own).await?.ok_or(Refusal::OrderNotFound)?;
    Ok(Answer::json(json_text(&OneUserOrder::from(found))).at(place))
}

fn facts(view: &View, descriptions: &Descriptions, order: &Order) -> Option<OrderFacts> {
    let market = view.markets().get(order.market)?;
    let slots = view.trades_of_order(order, NAMED_TRADES);
    let trades = slots.iter().filter_map(|&slot| view.trade_id(slot));
    Some(OrderFacts {
        id: order.id,
        status: match order.state.user_status() {
            UserStatus::Live => UserOrderStatus::Live,
            UserStatus::Matched => UserOrderStatus::Matched,
            UserStatus::Canceled => UserOrderStatus::Canceled,
            UserStatus::CanceledMarketResolved => UserOrderStatus::CanceledMarketResolved,
            UserStatus::Unmatched => UserOrderStatus::Unmatched,
        },
        owner: view.keys().get(order.key)?.api_key,
        maker: view.accounts().get(order.account)?.wallet,
        market: market.condition,
        token: market.token(order.outcome),
        outcome: descriptions.label(market, order.outcome),
        side: order.side,
        order_type: order.order_type,
        price: order.price,
        original: Lots(order.original_size() / MICROS_PER_LOT),
        matched: order.matched,
        expiration: order.expiration,
        created: order.created,
        updated: order.updated,
        trades: trades.map(|id| id.to_string()).collect(),
    })
}
