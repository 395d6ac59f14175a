//! The route table of each surface.

use http::Method;

use crate::config::Surface;
use crate::limits::{
    LIST_BODY_BYTES, OPERATOR_BODY_BYTES, ORDER_BODY_BYTES, ORDERS_BODY_BYTES, SMALL_BODY_BYTES,
};
use crate::resources::{
    actions, balances, books, builder_trades, cancels, catalog, checkpoints, data, empty, health,
    heartbeats, keys, market_info, market_lists, my_orders, my_trades, operator, orders, prices,
    prices_history,
};
use crate::routes::Routes;

/// Shortens a row: a handler as a plain function.
macro_rules! handle {
    ($handler:path) => {
        |call| Box::pin($handler(call))
    };
}

/// The same behind the operator's token.
macro_rules! guarded {
    ($handler:path) => {
        |call| {
            Box::pin(async move {
                operator::authorize(&call)?;
                $handler(call).await
            })
        }
    };
}

/// Families of paths this exchange does not have, whatever the method (protocol 11).
const NOT_SUPPORTED: &[&str] = &[
    "/auth/builder-api-key",
    "/markets/live-activity/{condition}",
    "/rewards/{*rest}",
    "/rfq/{*rest}",
];

/// The routes of a surface.
pub(crate) fn routes(surface: Surface) -> Routes {
    match surface {
        Surface::Trading => trading(),
        Surface::Data => data_routes(),
        Surface::Catalog => catalog_routes(),
        Surface::Operator => operator_routes(),
    }
    .build()
}

fn trading() -> Routes {
    const NONE: usize = SMALL_BODY_BYTES;
    let (get, post, delete) = (Method::GET, Method::POST, Method::DELETE);
    Routes::default()
        .add(get.clone(), "/", NONE, handle!(health::ok))
        .add(get.clone(), "/ok", NONE, handle!(health::ok))
        .add(get.clone(), "/time", NONE, handle!(health::time))
        .add(get.clone(), "/version", NONE, handle!(health::version))
        .add(
            get.clone(),
            "/audit/checkpoint",
            NONE,
            handle!(checkpoints::newest),
        )
        .add(
            get.clone(),
            "/audit/checkpoints",
            NONE,
            handle!(checkpoints::list),
        )
        .add(
            post.clone(),
            "/order",
            ORDER_BODY_BYTES,
            handle!(orders::place_one),
        )
        .add(
            post.clone(),
            "/orders",
            ORDERS_BODY_BYTES,
            handle!(orders::place_many),
        )
        .add(delete.clone(), "/order", NONE, handle!(cancels::cancel_one))
        .add(
            delete.clone(),
            "/orders",
            LIST_BODY_BYTES,
            handle!(cancels::cancel_many),
        )
        .add(
            delete.clone(),
            "/cancel-all",
            NONE,
            handle!(cancels::cancel_all),
        )
        .add(
            delete.clone(),
            "/cancel-market-orders",
            NONE,
            handle!(cancels::cancel_market),
        )
        .add(
            post.clone(),
            "/positions/split",
            NONE,
            handle!(actions::split),
        )
        .add(
            post.clone(),
            "/positions/merge",
            NONE,
            handle!(actions::merge),
        )
        .add(
            post.clone(),
            "/positions/redeem",
            NONE,
            handle!(actions::redeem),
        )
        .add(
            post.clone(),
            "/positions/convert",
            NONE,
            handle!(actions::convert),
        )
        .add(get.clone(), "/book", NONE, handle!(books::one))
        .hot("/book", books::asked)
        .add(
            post.clone(),
            "/books",
            LIST_BODY_BYTES,
            handle!(books::many),
        )
        .add(get.clone(), "/price", NONE, handle!(prices::price))
        .hot("/price", prices::price_asked)
        .add(
            post.clone(),
            "/prices",
            LIST_BODY_BYTES,
            handle!(prices::prices),
        )
        .add(get.clone(), "/midpoint", NONE, handle!(prices::midpoint))
        .hot("/midpoint", prices::midpoint_asked)
        .add(
            post.clone(),
            "/midpoints",
            LIST_BODY_BYTES,
            handle!(prices::midpoints),
        )
        .add(get.clone(), "/spread", NONE, handle!(prices::spread))
        .hot("/spread", prices::spread_asked)
        .add(
            post.clone(),
            "/spreads",
            LIST_BODY_BYTES,
            handle!(prices::spreads),
        )
        .add(
            get.clone(),
            "/last-trade-price",
            NONE,
            handle!(prices::last_trade),
        )
        .add(
            post.clone(),
            "/last-trades-prices",
            LIST_BODY_BYTES,
            handle!(prices::last_trades),
        )
        .add(
            get.clone(),
            "/prices-history",
            NONE,
            handle!(prices_history::one),
        )
        .add(
            post.clone(),
            "/batch-prices-history",
            LIST_BODY_BYTES,
            handle!(prices_history::many),
        )
        .add(get.clone(), "/data/orders", NONE, handle!(my_orders::list))
        .add(
            get.clone(),
            "/data/pre-migration-orders",
            NONE,
            handle!(empty::pre_migration_orders),
        )
        .add(
            get.clone(),
            "/order-scoring",
            NONE,
            handle!(empty::order_scoring),
        )
        .add(
            post.clone(),
            "/orders-scoring",
            LIST_BODY_BYTES,
            handle!(empty::orders_scoring),
        )
        .add(
            get.clone(),
            "/notifications",
            NONE,
            handle!(empty::notifications),
        )
        .add(
            delete.clone(),
            "/notifications",
            NONE,
            handle!(empty::drop_notifications),
        )
        .add(
            get.clone(),
            "/data/order/{id}",
            NONE,
            handle!(my_orders::one),
        )
        .add(get.clone(), "/data/trades", NONE, handle!(my_trades::list))
        .add(
            get.clone(),
            "/builder/trades",
            NONE,
            handle!(builder_trades::list),
        )
        .add(post.clone(), "/heartbeats", NONE, handle!(heartbeats::beat))
        .add(
            post.clone(),
            "/v1/heartbeats",
            NONE,
            handle!(heartbeats::beat),
        )
        .add(
            get.clone(),
            "/balance-allowance",
            NONE,
            handle!(balances::one),
        )
        .add(
            get.clone(),
            "/balance-allowance/update",
            NONE,
            handle!(balances::one),
        )
        .add(post.clone(), "/auth/api-key", NONE, handle!(keys::create))
        .add(delete.clone(), "/auth/api-key", NONE, handle!(keys::revoke))
        .add(
            get.clone(),
            "/auth/derive-api-key",
            NONE,
            handle!(keys::derive),
        )
        .add(get.clone(), "/auth/api-keys", NONE, handle!(keys::list))
        .add(
            delete.clone(),
            "/auth/api-keys",
            NONE,
            handle!(keys::revoke_all),
        )
        .add(
            post,
            "/auth/readonly-api-key",
            NONE,
            handle!(keys::create_read_only),
        )
        .add(
            delete,
            "/auth/readonly-api-key",
            NONE,
            handle!(keys::revoke_read_only),
        )
        .add(
            get.clone(),
            "/auth/readonly-api-keys",
            NONE,
            handle!(keys::list_read_only),
        )
        .add(
            get.clone(),
            "/auth/ban-status/closed-only",
            NONE,
            handle!(keys::closed_only),
        )
        .add(
            get.clone(),
            "/tick-size",
            NONE,
            handle!(market_info::tick_size),
        )
        .add(
            get.clone(),
            "/neg-risk",
            NONE,
            handle!(market_info::neg_risk),
        )
        .add(
            get.clone(),
            "/fee-rate",
            NONE,
            handle!(market_info::fee_rate),
        )
        .add(
            get.clone(),
            "/fees/builder-fees/{builder}",
            NONE,
            handle!(market_info::builder_fees),
        )
        .add(
            get.clone(),
            "/markets-by-token/{token}",
            NONE,
            handle!(market_info::market_by_token),
        )
        .add(
            get.clone(),
            "/clob-markets/{condition}",
            NONE,
            handle!(market_info::clob_market),
        )
        .add(get.clone(), "/markets", NONE, handle!(market_lists::all))
        .add(
            get.clone(),
            "/simplified-markets",
            NONE,
            handle!(market_lists::simplified),
        )
        .add(
            get.clone(),
            "/sampling-markets",
            NONE,
            handle!(market_lists::sampling),
        )
        .add(
            get.clone(),
            "/sampling-simplified-markets",
            NONE,
            handle!(market_lists::sampling_simplified),
        )
        .add(
            get,
            "/markets/{condition}",
            NONE,
            handle!(market_info::detail),
        )
        .add_all(
            NOT_SUPPORTED,
            ORDER_BODY_BYTES,
            handle!(health::not_supported),
        )
}

fn data_routes() -> Routes {
    use data::{activity, closed_positions, holders, positions, totals, trades};
    const NONE: usize = SMALL_BODY_BYTES;
    let get = Method::GET;
    Routes::default()
        .add(get.clone(), "/", NONE, handle!(health::ok))
        .add(get.clone(), "/ok", NONE, handle!(health::ok))
        .add(get.clone(), "/trades", NONE, handle!(trades::list))
        .add(get.clone(), "/positions", NONE, handle!(positions::list))
        .add(
            get.clone(),
            "/closed-positions",
            NONE,
            handle!(closed_positions::list),
        )
        .add(get.clone(), "/holders", NONE, handle!(holders::list))
        .add(get.clone(), "/activity", NONE, handle!(activity::list))
        .add(get.clone(), "/value", NONE, handle!(totals::value))
        .add(get.clone(), "/traded", NONE, handle!(totals::traded))
        .add(get.clone(), "/oi", NONE, handle!(totals::open_interest))
        .add(get, "/live-volume", NONE, handle!(totals::live_volume))
}

fn catalog_routes() -> Routes {
    use catalog::{lists, records};
    const NONE: usize = SMALL_BODY_BYTES;
    let get = Method::GET;
    Routes::default()
        .add(get.clone(), "/", NONE, handle!(health::ok))
        .add(get.clone(), "/ok", NONE, handle!(health::ok))
        .add(get.clone(), "/markets", NONE, handle!(lists::markets))
        .add(
            get.clone(),
            "/markets/slug/{slug}",
            NONE,
            handle!(records::market_by_slug),
        )
        .add(get.clone(), "/markets/{id}", NONE, handle!(records::market))
        .add(get.clone(), "/events", NONE, handle!(lists::events))
        .add(
            get.clone(),
            "/events/slug/{slug}",
            NONE,
            handle!(records::event_by_slug),
        )
        .add(get.clone(), "/events/{id}", NONE, handle!(records::event))
        .add(get.clone(), "/series", NONE, handle!(lists::series))
        .add(get.clone(), "/tags", NONE, handle!(lists::tags))
        .add(
            get.clone(),
            "/tags/slug/{slug}",
            NONE,
            handle!(records::tag_by_slug),
        )
        .add(get.clone(), "/tags/{id}", NONE, handle!(records::tag))
        .add(get, "/public-search", NONE, handle!(lists::search))
}

fn operator_routes() -> Routes {
    use operator::{accounts, keys, market_list, markets, probes, status, system};
    const NONE: usize = SMALL_BODY_BYTES;
    let (get, post) = (Method::GET, Method::POST);
    Routes::default()
        .add(get.clone(), "/livez", NONE, handle!(probes::live))
        .add(get.clone(), "/readyz", NONE, handle!(probes::ready))
        .add(get.clone(), "/metrics", NONE, handle!(probes::metrics))
        .add(get.clone(), "/status", NONE, guarded!(status::show))
        .add(
            post.clone(),
            "/accounts/deposit",
            NONE,
            guarded!(accounts::deposit),
        )
        .add(
            post.clone(),
            "/accounts/withdraw",
            NONE,
            guarded!(accounts::withdraw),
        )
        .add(
            post.clone(),
            "/accounts/bind",
            NONE,
            guarded!(accounts::bind),
        )
        .add(
            post.clone(),
            "/accounts/unbind",
            NONE,
            guarded!(accounts::unbind),
        )
        .add(
            post.clone(),
            "/accounts/closed-only",
            NONE,
            guarded!(accounts::closed_only),
        )
        .add(
            get.clone(),
            "/accounts/{wallet}",
            NONE,
            guarded!(accounts::show),
        )
        .add(
            post.clone(),
            "/fees/withdraw",
            NONE,
            guarded!(accounts::withdraw_fees),
        )
        .add(get.clone(), "/keys", NONE, guarded!(keys::list))
        .add(post.clone(), "/keys/revoke", NONE, guarded!(keys::revoke))
        .add(
            post.clone(),
            "/events",
            OPERATOR_BODY_BYTES,
            guarded!(markets::register_event),
        )
        .add(get.clone(), "/markets", NONE, guarded!(market_list::list))
        .add(
            post.clone(),
            "/markets",
            OPERATOR_BODY_BYTES,
            guarded!(markets::register),
        )
        .add(
            post.clone(),
            "/markets/activate",
            NONE,
            guarded!(markets::activate),
        )
        .add(
            post.clone(),
            "/markets/pause",
            NONE,
            guarded!(markets::pause),
        )
        .add(
            post.clone(),
            "/markets/resume",
            NONE,
            guarded!(markets::resume),
        )
        .add(
            post.clone(),
            "/markets/close",
            NONE,
            guarded!(markets::close),
        )
        .add(
            post.clone(),
            "/markets/resolve",
            NONE,
            guarded!(markets::resolve),
        )
        .add(
            post.clone(),
            "/markets/archive",
            NONE,
            guarded!(markets::archive),
        )
        .add(post.clone(), "/markets/tick", NONE, guarded!(markets::tick))
        .add(
            post.clone(),
            "/markets/minimum",
            NONE,
            guarded!(markets::minimum),
        )
        .add(post.clone(), "/markets/fee", NONE, guarded!(markets::fee))
        .add(
            get,
            "/markets/{condition}",
            NONE,
            guarded!(market_info::detail),
        )
        .add(post.clone(), "/system/mode", NONE, guarded!(system::mode))
        .add(
            post.clone(),
            "/system/settings",
            NONE,
            guarded!(system::settings),
        )
        .add(post, "/snapshot", NONE, guarded!(system::snapshot))
}
