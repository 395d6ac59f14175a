//! Trades, positions and holders of everybody, for addresses on the allowlist.

use crate::http::route::{Route, get, read};
use crate::resources::data::{
    activity, builders, closed_positions, holders, leaderboard, positions, totals, trades, v2,
};
use crate::resources::service::health;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", None, health::data_root),
        get("/ok", None, health::ok),
        get("/trades", None, trades::list),
        get("/positions", None, positions::list),
        get("/closed-positions", None, closed_positions::list),
        read("/holders", None, holders::list),
        get("/activity", None, activity::list),
        read("/value", None, totals::value),
        read("/traded", None, totals::traded),
        read("/oi", None, totals::open_interest),
        read("/live-volume", None, totals::live_volume),
        get("/leaderboard", None, leaderboard::list),
        get("/v1/leaderboard", None, leaderboard::list),
        get("/v1/builders/leaderboard", None, builders::leaderboard),
        read("/v1/builders/volume", None, builders::volume),
        get("/v2/trades", None, v2::trades),
        get("/v2/activity", None, v2::activity),
        get("/v2/positions", None, v2::positions::list),
        get("/v2/holders", None, v2::holders::list),
        read("/v2/prices-history", None, v2::prices::list),
        get("/v2/value", None, v2::value),
        get("/v2/oi", None, v2::open_interest),
        read("/v2/live-volume", None, v2::live_volume),
        read("/v2/leaderboard", None, leaderboard::list_v2),
        get("/v2/builders/leaderboard", None, builders::leaderboard_v2),
        read("/v2/builders/volume", None, builders::volume_v2),
    ]
}
