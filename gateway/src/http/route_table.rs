//! The route table of each surface.

use foretell_wire::limits::{
    CONVERT_BODY_BYTES, LIST_BODY_BYTES, OPERATOR_BODY_BYTES, ORDER_BODY_BYTES, ORDERS_BODY_BYTES,
    REPLACE_BODY_BYTES,
};
use http::Method;

use crate::http::routes::{Handler, Route, Routes};
use crate::http::surface::Surface;
use crate::page::PageConfig;
use crate::resources::accounts::{actions, balances, keys, rebates};
use crate::resources::market_data::{
    books, live_activity, market_info, market_lists, prices, prices_history,
};
use crate::resources::orders::{
    builder_trades, cancels, heartbeats, my_orders, my_trades, place, replace,
};
use crate::resources::service::{checkpoints, health, unsupported_features};
use crate::resources::{catalog, data, operator, page};
use crate::streams::connection::upgrade;

/// Builds a route's handler as a plain function.
macro_rules! handle {
    ($handler:path) => {
        |context| Box::pin($handler(context))
    };
}

/// The same, requiring the token of an operator whose role includes the route.
macro_rules! guarded {
    ($handler:path) => {
        |mut context| {
            Box::pin(async move {
                operator::actor::authorize(&mut context).await?;
                $handler(context).await
            })
        }
    };
}

/// Builds a handler of another surface: its failures keep the shape of that surface.
macro_rules! mounted {
    ($surface:ident, $handler:path) => {
        |context| {
            Box::pin(async move {
                let answer = $handler(context).await;
                Ok(answer.unwrap_or_else(|failure| failure.render(Surface::$surface)))
            })
        }
    };
}

/// The part of the page that a trading surface serves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageRoutes {
    None,
    /// The page, and with `wallet` the development wallets.
    Page {
        wallet: bool,
    },
}

impl PageRoutes {
    pub(crate) fn of(config: Option<&PageConfig>) -> Self {
        config.map_or(Self::None, |page| Self::Page {
            wallet: !page.development_wallets.is_empty(),
        })
    }
}

/// The routes of a surface.
pub(crate) fn routes(surface: Surface, page: PageRoutes) -> Routes {
    Routes::new(match surface {
        Surface::Trading => trading_routes(page),
        Surface::Data => data_routes(),
        Surface::Catalog => catalog_routes(),
        Surface::Operator => operator_routes(),
        Surface::Health => health_routes(),
    })
}

fn get(path: &'static str, handle: Handler) -> Route {
    Route::new(Method::GET, path, handle)
}

fn post(path: &'static str, handle: Handler) -> Route {
    Route::new(Method::POST, path, handle)
}

/// A POST that only reads: its list of names is too long for a query.
fn query(path: &'static str, handle: Handler) -> Route {
    post(path, handle).with_body(LIST_BODY_BYTES).reading()
}

fn delete(path: &'static str, handle: Handler) -> Route {
    Route::new(Method::DELETE, path, handle)
}

fn trading_routes(page: PageRoutes) -> Vec<Route> {
    let mut routes = vec![
        get("/ok", handle!(health::ok)),
        get("/time", handle!(health::time)),
        get("/version", handle!(health::version)),
        get("/audit/checkpoint", handle!(checkpoints::newest)),
        get("/audit/checkpoints", handle!(checkpoints::list)),
        post("/order", handle!(place::place_one)).with_body(ORDER_BODY_BYTES),
        post("/orders", handle!(place::place_many)).with_body(ORDERS_BODY_BYTES),
        post("/replace", handle!(replace::replace)).with_body(REPLACE_BODY_BYTES),
        get("/rebates/current", handle!(rebates::current)),
        delete("/order", handle!(cancels::cancel_one)),
        delete("/orders", handle!(cancels::cancel_many)).with_body(LIST_BODY_BYTES),
        delete("/cancel-all", handle!(cancels::cancel_all)),
        delete("/cancel-market-orders", handle!(cancels::cancel_market)),
        post("/positions/split", handle!(actions::split)),
        post("/positions/merge", handle!(actions::merge)),
        post("/positions/redeem", handle!(actions::redeem)),
        post("/positions/convert", handle!(actions::convert)).with_body(CONVERT_BODY_BYTES),
        get("/book", handle!(books::one)),
        get("/books", handle!(books::many)).with_body(LIST_BODY_BYTES),
        query("/books", handle!(books::many)),
        get("/price", handle!(prices::price)),
        get("/prices", handle!(prices::prices)).with_body(LIST_BODY_BYTES),
        query("/prices", handle!(prices::prices)),
        get("/midpoint", handle!(prices::midpoint)),
        get("/midpoints", handle!(prices::midpoints)).with_body(LIST_BODY_BYTES),
        query("/midpoints", handle!(prices::midpoints)),
        get("/spread", handle!(prices::spread)),
        get("/spreads", handle!(prices::spreads)).with_body(LIST_BODY_BYTES),
        query("/spreads", handle!(prices::spreads)),
        get("/last-trade-price", handle!(prices::last_trade)),
        get("/last-trades-prices", handle!(prices::last_trades)).with_body(LIST_BODY_BYTES),
        query("/last-trades-prices", handle!(prices::last_trades)),
        get("/prices-history", handle!(prices_history::one)),
        query("/batch-prices-history", handle!(prices_history::many)),
        get("/data/orders", handle!(my_orders::list)),
        get(
            "/data/pre-migration-orders",
            handle!(unsupported_features::pre_migration_orders),
        ),
        get(
            "/order-scoring",
            handle!(unsupported_features::order_scoring),
        ),
        query(
            "/orders-scoring",
            handle!(unsupported_features::orders_scoring),
        ),
        get(
            "/notifications",
            handle!(unsupported_features::notifications),
        ),
        delete(
            "/notifications",
            handle!(unsupported_features::drop_notifications),
        ),
        get("/data/order/{id}", handle!(my_orders::one)),
        get("/data/trades", handle!(my_trades::list)),
        get("/builder/trades", handle!(builder_trades::list)),
        get(
            "/live-activity/events/{condition}",
            handle!(live_activity::newest),
        ),
        get(
            "/markets/live-activity/{condition}",
            handle!(live_activity::newest),
        ),
        post("/heartbeats", handle!(heartbeats::beat)),
        post("/v1/heartbeats", handle!(heartbeats::beat)),
        get("/balance-allowance", handle!(balances::one)),
        get("/balance-allowance/update", handle!(balances::one)),
        post("/auth/api-key", handle!(keys::create)),
        delete("/auth/api-key", handle!(keys::revoke)),
        get("/auth/derive-api-key", handle!(keys::derive)),
        get("/auth/api-keys", handle!(keys::list)),
        delete("/auth/api-keys", handle!(keys::revoke_all)),
        post("/auth/readonly-api-key", handle!(keys::create_read_only)),
        delete("/auth/readonly-api-key", handle!(keys::revoke_read_only)),
        get("/auth/readonly-api-keys", handle!(keys::list_read_only)),
        get("/auth/ban-status/closed-only", handle!(keys::closed_only)),
        get("/tick-size", handle!(market_info::tick_size)),
        get("/neg-risk", handle!(market_info::neg_risk)),
        get("/fee-rate", handle!(market_info::fee_rate)),
        get(
            "/fees/builder-fees/{builder}",
            handle!(market_info::builder_fees),
        ),
        get(
            "/markets-by-token/{token}",
            handle!(market_info::market_by_token),
        ),
        get(
            "/clob-markets/{condition}",
            handle!(market_info::clob_market),
        ),
        get("/markets", handle!(market_lists::all)),
        get("/simplified-markets", handle!(market_lists::simplified)),
        get("/sampling-markets", handle!(market_lists::sampling)),
        get(
            "/sampling-simplified-markets",
            handle!(market_lists::sampling_simplified),
        ),
        get("/markets/{condition}", handle!(market_info::detail)),
    ];
    routes.extend(stream_routes());
    routes.extend(not_supported());
    match page {
        PageRoutes::None => routes.push(get("/", handle!(health::ok))),
        PageRoutes::Page { wallet } => {
            routes.push(get("/", handle!(page::files::root)));
            routes.extend(page_routes(wallet));
        }
    }
    routes
}

/// The streams, which docs/asyncapi/streams.yaml describes.
fn stream_routes() -> [Route; 6] {
    [
        get("/ws", handle!(upgrade::any)),
        get("/ws/", handle!(upgrade::any)),
        get("/ws/market", handle!(upgrade::market)),
        get("/ws/market/", handle!(upgrade::market)),
        get("/ws/user", handle!(upgrade::user)),
        get("/ws/user/", handle!(upgrade::user)),
    ]
}

/// The page, and the reads of other surfaces that it needs, on its own origin.
fn page_routes(wallet: bool) -> Vec<Route> {
    use catalog::{lists, records};
    use data::{activity, closed_positions, holders, positions, totals, trades};
    use page::{engine_room, files, proof, site, summary};
    let mut routes = vec![
        get("/ui", handle!(files::file)),
        get("/ui/", handle!(files::file)),
        get("/ui/{*path}", handle!(files::file)),
        get("/ui/logo", handle!(files::logo)),
        get("/ui/api/site", handle!(site::show)),
        get("/ui/api/engine", handle!(engine_room::show)),
        get("/ui/api/markets/summary", handle!(summary::list)),
        get("/ui/api/proof/{trade}", handle!(proof::show)),
        get("/ui/api/data/trades", mounted!(Data, trades::list)),
        get("/ui/api/data/positions", mounted!(Data, positions::list)),
        get(
            "/ui/api/data/closed-positions",
            mounted!(Data, closed_positions::list),
        ),
        get("/ui/api/data/holders", mounted!(Data, holders::list)),
        get("/ui/api/data/activity", mounted!(Data, activity::list)),
        get("/ui/api/data/value", mounted!(Data, totals::value)),
        get("/ui/api/data/oi", mounted!(Data, totals::open_interest)),
        get(
            "/ui/api/data/live-volume",
            mounted!(Data, totals::live_volume),
        ),
        get("/ui/api/catalog/markets", mounted!(Catalog, lists::markets)),
        get(
            "/ui/api/catalog/markets/slug/{slug}",
            mounted!(Catalog, records::market_by_slug),
        ),
        get(
            "/ui/api/catalog/markets/{id}",
            mounted!(Catalog, records::market),
        ),
        get("/ui/api/catalog/events", mounted!(Catalog, lists::events)),
        get(
            "/ui/api/catalog/events/slug/{slug}",
            mounted!(Catalog, records::event_by_slug),
        ),
        get(
            "/ui/api/catalog/events/{id}",
            mounted!(Catalog, records::event),
        ),
        get("/ui/api/catalog/tags", mounted!(Catalog, lists::tags)),
        get(
            "/ui/api/catalog/tags/slug/{slug}",
            mounted!(Catalog, records::tag_by_slug),
        ),
        get("/ui/api/catalog/tags/{id}", mounted!(Catalog, records::tag)),
        get(
            "/ui/api/catalog/public-search",
            mounted!(Catalog, lists::search),
        ),
    ];
    if wallet {
        routes.push(post("/ui/wallet", handle!(page::wallet::call)).with_body(ORDER_BODY_BYTES));
    }
    routes
}

/// Paths of features this exchange does not have, for any method (docs/api/market-data.md).
fn not_supported() -> impl Iterator<Item = Route> {
    use Method as M;
    let paths = ["/auth/builder-api-key", "/rewards/{*rest}", "/rfq/{*rest}"];
    let methods = [M::GET, M::POST, M::PUT, M::PATCH, M::DELETE];
    paths.into_iter().flat_map(move |path| {
        let route = |method| Route::new(method, path, handle!(health::not_supported));
        methods
            .clone()
            .map(route)
            .map(|route| route.with_body(ORDER_BODY_BYTES))
    })
}

fn data_routes() -> Vec<Route> {
    use data::{
        activity, builders, closed_positions, holders, leaderboard, positions, totals, trades, v2,
    };
    vec![
        get("/", handle!(health::data_root)),
        get("/ok", handle!(health::ok)),
        get("/trades", handle!(trades::list)),
        get("/positions", handle!(positions::list)),
        get("/closed-positions", handle!(closed_positions::list)),
        get("/holders", handle!(holders::list)),
        get("/activity", handle!(activity::list)),
        get("/value", handle!(totals::value)),
        get("/traded", handle!(totals::traded)),
        get("/oi", handle!(totals::open_interest)),
        get("/live-volume", handle!(totals::live_volume)),
        get("/leaderboard", handle!(leaderboard::list)),
        get("/v1/leaderboard", handle!(leaderboard::list)),
        get("/v1/builders/leaderboard", handle!(builders::leaderboard)),
        get("/v1/builders/volume", handle!(builders::volume)),
        get("/v2/trades", handle!(v2::trades)),
        get("/v2/activity", handle!(v2::activity)),
        get("/v2/positions", handle!(v2::positions::list)),
        get("/v2/holders", handle!(v2::holders::list)),
        get("/v2/prices-history", handle!(v2::prices::list)),
        get("/v2/value", handle!(v2::value)),
        get("/v2/oi", handle!(v2::open_interest)),
        get("/v2/live-volume", handle!(v2::live_volume)),
        get("/v2/leaderboard", handle!(leaderboard::list_v2)),
        get(
            "/v2/builders/leaderboard",
            handle!(builders::leaderboard_v2),
        ),
        get("/v2/builders/volume", handle!(builders::volume_v2)),
    ]
}

fn catalog_routes() -> Vec<Route> {
    use catalog::{lists, public_profile, records, related_tags, unsupported};
    vec![
        get("/", handle!(health::ok)),
        get("/ok", handle!(health::ok)),
        get("/status", handle!(health::status)),
        get("/markets", handle!(lists::markets)),
        get("/markets/keyset", handle!(lists::markets_keyset)),
        get("/markets/slug/{slug}", handle!(records::market_by_slug)),
        get("/markets/{id}", handle!(records::market)),
        get("/markets/{id}/tags", handle!(records::market_tags)),
        get("/events", handle!(lists::events)),
        get("/events/keyset", handle!(lists::events_keyset)),
        get("/events/slug/{slug}", handle!(records::event_by_slug)),
        get("/events/{id}", handle!(records::event)),
        get("/events/{id}/tags", handle!(records::event_tags)),
        get("/series", handle!(lists::series)),
        get("/series/{id}", handle!(records::series)),
        get("/tags", handle!(lists::tags)),
        get("/tags/slug/{slug}", handle!(records::tag_by_slug)),
        get(
            "/tags/slug/{slug}/related-tags",
            handle!(related_tags::of_slug),
        ),
        get(
            "/tags/slug/{slug}/related-tags/tags",
            handle!(related_tags::tags_of_slug),
        ),
        get("/tags/{id}", handle!(records::tag)),
        get("/tags/{id}/related-tags", handle!(related_tags::of_id)),
        get(
            "/tags/{id}/related-tags/tags",
            handle!(related_tags::tags_of_id),
        ),
        get("/sports", handle!(unsupported::sports)),
        get("/sports/market-types", handle!(lists::sports_market_types)),
        get("/teams", handle!(unsupported::teams)),
        get("/comments", handle!(unsupported::comments)),
        get("/comments/keyset", handle!(unsupported::comments_keyset)),
        get("/comments/{id}", handle!(unsupported::comment)),
        get(
            "/comments/user_address/{address}",
            handle!(unsupported::comments),
        ),
        get("/public-profile", handle!(public_profile::show)),
        get("/public-search", handle!(lists::search)),
    ]
}

fn health_routes() -> Vec<Route> {
    use operator::site::probes;
    vec![
        get("/livez", handle!(probes::live)),
        get("/readyz", handle!(probes::ready)),
    ]
}

fn operator_routes() -> Vec<Route> {
    use operator::market_life::{market_list, markets, own_markets, resolution};
    use operator::site::{admin, probes, status, system};
    use operator::{accounts, acts, keys, oracle, people};
    vec![
        get("/livez", handle!(probes::live)),
        get("/readyz", handle!(probes::ready)),
        get("/metrics", handle!(probes::metrics)),
        get("/status", guarded!(status::show)),
        post("/accounts/deposit", guarded!(accounts::deposit)),
        post("/accounts/withdraw", guarded!(accounts::withdraw)),
        post("/accounts/bind", guarded!(accounts::bind)),
        post("/accounts/unbind", guarded!(accounts::unbind)),
        post("/accounts/closed-only", guarded!(accounts::closed_only)),
        post("/accounts/describe", guarded!(accounts::describe_wallet)),
        get("/accounts/{wallet}", guarded!(accounts::show)),
        post("/fees/withdraw", guarded!(accounts::withdraw_fees)),
        get("/withdrawals", guarded!(accounts::held)),
        post("/withdrawals/confirm", guarded!(accounts::confirm)),
        post("/withdrawals/release", guarded!(accounts::release)),
        get("/rebates", guarded!(rebates::totals)),
        post("/rebates/pay", guarded!(accounts::pay_rebates)),
        get("/admin", handle!(admin::root)),
        get("/admin/", handle!(admin::file)),
        get("/admin/{*path}", handle!(admin::file)),
        get("/acts", guarded!(acts::list)),
        get("/me", guarded!(people::me)),
        get("/operators", guarded!(people::list)),
        post("/operators", guarded!(people::add)),
        post("/operators/revoke", guarded!(people::revoke)),
        get("/review", guarded!(resolution::review)),
        post("/policy", guarded!(resolution::set_policy)),
        post("/policy/clear", guarded!(resolution::clear_policy)),
        post("/policy/wallets", guarded!(resolution::list_wallet)),
        post("/oracle/proposals", handle!(oracle::propose)),
        get("/keys", guarded!(keys::list)),
        post("/keys/revoke", guarded!(keys::revoke)),
        get("/events", guarded!(own_markets::list_events)),
        post("/events", guarded!(own_markets::register_event)).with_body(OPERATOR_BODY_BYTES),
        post("/events/describe", guarded!(own_markets::describe_event))
            .with_body(OPERATOR_BODY_BYTES),
        get("/markets", guarded!(market_list::list)),
        post("/markets", guarded!(own_markets::register)).with_body(OPERATOR_BODY_BYTES),
        post("/markets/describe", guarded!(own_markets::describe)).with_body(OPERATOR_BODY_BYTES),
        post("/markets/terms", guarded!(markets::terms)),
        post("/markets/propose", guarded!(resolution::propose)),
        post("/markets/dispute", guarded!(resolution::dispute)),
        post("/markets/withdraw-proposal", guarded!(resolution::withdraw)),
        post("/markets/finalise", guarded!(resolution::finalise)),
        post("/markets/activate", guarded!(markets::activate)),
        post("/markets/pause", guarded!(markets::pause)),
        post("/markets/resume", guarded!(markets::resume)),
        post("/markets/close", guarded!(markets::close)),
        post("/markets/resolve", guarded!(markets::resolve)),
        post("/markets/archive", guarded!(markets::archive)),
        post("/markets/tick", guarded!(markets::tick)),
        post("/markets/minimum", guarded!(markets::minimum)),
        post("/markets/fee", guarded!(markets::fee)),
        get("/markets/{condition}", guarded!(market_info::detail)),
        post("/system/mode", guarded!(system::mode)),
        post("/system/settings", guarded!(system::settings)),
        post("/system/payments", guarded!(system::payments)),
        post("/snapshot", guarded!(system::snapshot)),
    ]
}
