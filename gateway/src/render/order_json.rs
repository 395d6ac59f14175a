//! Converts orders of the view for the wire (docs/api/market-data.md §6).

use foretell_view::{Order, UserStatus, View};
use foretell_wire::Decimal;
use foretell_wire::orders::user_order::{OrderFacts, UserOrderStatus};

use crate::catalog::descriptions::Descriptions;

/// An order with all fields except its trades.
pub(crate) fn order_facts(
    view: &View,
    descriptions: &Descriptions,
    order: &Order,
) -> Option<OrderFacts> {
    let market = view.markets().get(order.market)?;
    Some(OrderFacts {
        id: order.id,
        status: match order.state.user_status() {
            UserStatus::Live => UserOrderStatus::Live,
            UserStatus::Delayed => UserOrderStatus::Delayed,
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
        original: Decimal::micros(order.original_size().into()),
        matched: order.matched,
        expiration: order.expiration,
        created: order.created,
        updated: order.updated,
        trades: Vec::new(),
    })
}
