//! Orders, books, a caller's own orders, trades, positions and keys; the streams; the page.

mod errors;

use foretell_model::CommandKind::{
    CancelWithdrawal, Convert, DecreaseOrder, Merge, PlaceOrder, Redeem, RegisterKey, RenewQuotes,
    RequestWithdrawal, RevokeKey, SetQuoteLimits, Split,
};
use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::WrongHeartbeatAnswer;
use foretell_wire::limits::{
    CONVERT_BODY_BYTES, LIST_BODY_BYTES, ORDER_BODY_BYTES, ORDERS_BODY_BYTES, QUOTES_BODY_BYTES,
    REPLACE_BODY_BYTES,
};
use foretell_wire::orders::order::OrderSubmission;
use foretell_wire::orders::replace::ReplaceErrorJson;
use foretell_wire::orders::result::OrderAnswer;
use foretell_wire::read::RequestBody as _;

use crate::http::route::{Route, any, batch, delete, get, post, put, query, read};
use crate::openapi::served;
use crate::policy::rate_limits::Scope::{
    BatchPricesHistory, Book, Books, Health, Heartbeats, Keys, Ledger, MarketLists, Midpoint,
    Price, Prices, PricesHistory, Trading,
};
use crate::resources::accounts::{actions, balances, keys, rebates, withdrawals};
use crate::resources::market_data::{
    books, live_activity, market_info, market_lists, prices, prices_history,
};
use crate::resources::orders::{
    builder_trades, cancels, decrease, heartbeats, my_orders, my_trades, place, quotes, replace,
};
use crate::resources::page::files;
use crate::resources::service::{checkpoints, health, unsupported_features};
use crate::routes::page::{self, PageRoutes};
use crate::routes::streams;
use crate::routes::trading::errors::{
    CANCEL_MARKET, CHECKPOINT, HEARTBEAT, HISTORY, MARKET_OF_TOKEN, NO_KEY, ORDER, ORDER_ANSWERS,
    QUOTE, QUOTES, SIGNED, TOKEN, TRADES, TRADING,
};

pub(super) fn routes(page: PageRoutes) -> Vec<Route> {
    let mut routes = described(page);
    routes.extend(streams::routes());
    routes.extend(not_supported());
    if let PageRoutes::Page { wallet } = page {
        routes.extend(page::routes(wallet));
    }
    routes
}

/// Routes of the trading surface's OpenAPI document; streams and the page have their own.
pub(super) fn described(page: PageRoutes) -> Vec<Route> {
    let mut routes = vec![match page {
        PageRoutes::None => get("/", Health, health::ok),
        PageRoutes::Page { .. } => get("/", Health, files::root),
    }];
    routes.extend(orders());
    routes.extend(accounts());
    routes.extend(market_data());
    routes.extend(batches().into_iter().flatten());
    routes.extend(service());
    routes
}

/// Orders, and what a caller reads of them.
fn orders() -> Vec<Route> {
    vec![
        post("/order", Trading, place::place_one)
            .body(ORDER_BODY_BYTES)
            .sends(PlaceOrder)
            .errors(&[ORDER, ORDER_ANSWERS])
            .fails_with::<OrderAnswer>(&[400, 401, 404, 409, 425, 500, 503]),
        post("/orders", Trading, place::place_many).body(ORDERS_BODY_BYTES),
        post("/replace", Trading, replace::replace)
            .body(REPLACE_BODY_BYTES)
            .errors(&[OrderSubmission::ERRORS, ORDER])
            .fails_with::<ReplaceErrorJson>(&[400, 425, 503]),
        delete("/order", Trading, cancels::cancel_one).urgent(),
        delete("/orders", Trading, cancels::cancel_many)
            .body(LIST_BODY_BYTES)
            .urgent(),
        post("/order/decrease", Trading, decrease::decrease).sends(DecreaseOrder),
        post("/quotes", Trading, quotes::set)
            .body(QUOTES_BODY_BYTES)
            .errors(&[QUOTES, TRADING]),
        post("/quotes/heartbeat", Trading, quotes::heartbeat)
            .sends(RenewQuotes)
            .urgent(),
        put("/quotes/groups/{n}", Trading, quotes::limits).sends(SetQuoteLimits),
        get("/quotes/domain", Trading, quotes::domain),
        delete("/cancel-all", Trading, cancels::cancel_all).urgent(),
        delete("/cancel-market-orders", Trading, cancels::cancel_market)
            .errors(&[CANCEL_MARKET])
            .urgent(),
        read("/data/orders", Ledger, my_orders::list),
        read(
            "/data/pre-migration-orders",
            Trading,
            unsupported_features::pre_migration_orders,
        ),
        read(
            "/order-scoring",
            Trading,
            unsupported_features::order_scoring,
        ),
        query(
            "/orders-scoring",
            Trading,
            unsupported_features::orders_scoring,
        ),
        read("/data/order/{id}", Ledger, my_orders::one),
        read("/data/trades", Ledger, my_trades::list)
            .errors(&[TRADES])
            .large(),
        read("/builder/trades", Ledger, builder_trades::list)
            .errors(&[TRADES])
            .large(),
        heartbeat("/heartbeats"),
        heartbeat("/v1/heartbeats"),
    ]
}

fn heartbeat(path: &'static str) -> Route {
    post(path, Heartbeats, heartbeats::beat)
        .urgent()
        .errors(&[HEARTBEAT])
        .fails_with::<WrongHeartbeatAnswer<'static>>(&[400])
}

/// A caller's positions, balances and keys.
fn accounts() -> Vec<Route> {
    vec![
        read("/rebates/current", Trading, rebates::current),
        post("/positions/split", Trading, actions::split)
            .durable()
            .sends(Split),
        post("/positions/merge", Trading, actions::merge)
            .durable()
            .sends(Merge),
        post("/positions/redeem", Trading, actions::redeem)
            .durable()
            .sends(Redeem),
        post("/positions/convert", Trading, actions::convert)
            .durable()
            .body(CONVERT_BODY_BYTES)
            .sends(Convert),
        post("/withdrawals", Trading, withdrawals::request)
            .durable()
            .sends(RequestWithdrawal)
            .errors(&[SIGNED]),
        read("/withdrawals", Ledger, withdrawals::list),
        get("/withdrawals/domain", Trading, withdrawals::domain),
        delete("/withdrawals/{number}", Trading, withdrawals::cancel)
            .durable()
            .sends(CancelWithdrawal)
            .errors(&[&[ErrorCode::WithdrawalEnded]]),
        read(
            "/notifications",
            Trading,
            unsupported_features::notifications,
        ),
        delete(
            "/notifications",
            Trading,
            unsupported_features::drop_notifications,
        )
        .fresh(),
        read("/balance-allowance", Trading, balances::one).errors(&[TOKEN]),
        read("/balance-allowance/update", Trading, balances::one).errors(&[TOKEN]),
        post("/auth/api-key", Keys, keys::create).sends(RegisterKey),
        delete("/auth/api-key", Keys, keys::revoke).sends(RevokeKey),
        read("/auth/derive-api-key", Trading, keys::derive).errors(&[NO_KEY]),
        read("/auth/api-keys", Ledger, keys::list),
        delete("/auth/api-keys", Keys, keys::revoke_all)
            .durable()
            .sends(RevokeKey),
        post("/auth/readonly-api-key", Keys, keys::create_read_only).sends(RegisterKey),
        delete("/auth/readonly-api-key", Keys, keys::revoke_read_only).sends(RevokeKey),
        read("/auth/readonly-api-keys", Ledger, keys::list_read_only),
        read("/auth/ban-status/closed-only", Trading, keys::closed_only),
    ]
}

/// Books, prices and markets.
fn market_data() -> Vec<Route> {
    vec![
        read("/book", Book, books::one).errors(&[TOKEN]),
        read("/price", Price, prices::price).errors(&[QUOTE]),
        read("/midpoint", Midpoint, prices::midpoint).errors(&[QUOTE]),
        read("/spread", Trading, prices::spread).errors(&[QUOTE]),
        read("/last-trade-price", Trading, prices::last_trade).errors(&[TOKEN]),
        read("/prices-history", PricesHistory, prices_history::one)
            .large()
            .errors(&[HISTORY]),
        query(
            "/batch-prices-history",
            BatchPricesHistory,
            prices_history::many,
        )
        .large()
        .errors(&[HISTORY]),
        read(
            "/live-activity/events/{condition_id}",
            Ledger,
            live_activity::newest,
        ),
        read(
            "/markets/live-activity/{condition_id}",
            Ledger,
            live_activity::newest,
        ),
        read("/tick-size", Trading, market_info::tick_size).errors(&[MARKET_OF_TOKEN]),
        read(
            "/tick-size/{token_id}",
            Trading,
            market_info::tick_size_in_path,
        )
        .errors(&[MARKET_OF_TOKEN]),
        read("/neg-risk", Trading, market_info::neg_risk).errors(&[MARKET_OF_TOKEN]),
        read(
            "/neg-risk/{token_id}",
            Trading,
            market_info::neg_risk_in_path,
        )
        .errors(&[MARKET_OF_TOKEN]),
        read("/fee-rate", Trading, market_info::fee_rate).errors(&[MARKET_OF_TOKEN]),
        read(
            "/fee-rate/{token_id}",
            Trading,
            market_info::fee_rate_in_path,
        )
        .errors(&[MARKET_OF_TOKEN]),
        get(
            "/fees/builder-fees/{builder}",
            Trading,
            market_info::builder_fees,
        ),
        read(
            "/markets-by-token/{token_id}",
            Trading,
            market_info::market_by_token,
        )
        .errors(&[MARKET_OF_TOKEN]),
        read(
            "/clob-markets/{condition_id}",
            Trading,
            market_info::clob_market,
        ),
        read("/markets", MarketLists, market_lists::all).large(),
        read("/simplified-markets", MarketLists, market_lists::simplified).large(),
        read("/sampling-markets", MarketLists, market_lists::sampling).large(),
        read(
            "/sampling-simplified-markets",
            MarketLists,
            market_lists::sampling_simplified,
        )
        .large(),
        read("/markets/{condition_id}", Trading, market_info::detail),
    ]
}

/// Reads of many tokens at once.
fn batches() -> [[Route; 2]; 5] {
    [
        batch("/books", Books, books::many).map(Route::large),
        batch("/prices", Prices, prices::prices),
        batch("/midpoints", Prices, prices::midpoints),
        batch("/spreads", Prices, prices::spreads),
        batch("/last-trades-prices", Prices, prices::last_trades),
    ]
}

/// The exchange as a whole.
fn service() -> Vec<Route> {
    vec![
        get("/ok", Health, health::ok),
        get("/time", Trading, health::time),
        get("/openapi.json", Trading, served::show),
        get("/version", Trading, health::version),
        get("/audit/checkpoint", Trading, checkpoints::newest).errors(&[CHECKPOINT]),
        get("/audit/checkpoints", Trading, checkpoints::list),
    ]
}

/// Paths of features this exchange does not have, for any method (docs/api/market-data.md).
fn not_supported() -> impl Iterator<Item = Route> {
    let paths = [
        ("/auth/builder-api-key", Keys),
        ("/rewards/{*rest}", Trading),
        ("/rfq/{*rest}", Trading),
    ];
    let routes = |(path, scope)| any(path, scope, health::not_supported);
    let routes = paths.into_iter().flat_map(routes);
    routes.map(|route| {
        let route = route.body(ORDER_BODY_BYTES);
        route.errors(&[&[ErrorCode::NotSupported]])
    })
}
