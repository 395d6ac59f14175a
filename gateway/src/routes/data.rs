//! Trades, positions and holders of everybody, for addresses on the allowlist.

use crate::http::route::{Route, get, read};
use crate::openapi::served;
use crate::resources::data::{
    activity, builders, closed_positions, holders, leaderboard, positions, totals, trades, v2,
};
use crate::resources::service::health;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", None, health::data_root),
        get("/ok", None, health::ok),
        get("/openapi.json", None, served::show),
        read("/trades", None, trades::list).large(),
        read("/positions", None, positions::list),
        read("/closed-positions", None, closed_positions::list),
        read("/holders", None, holders::list).large(),
        read("/activity", None, activity::list).large(),
        read("/value", None, totals::value),
        read("/traded", None, totals::traded),
        read("/oi", None, totals::open_interest),
        read("/live-volume", None, totals::live_volume),
        read("/leaderboard", None, leaderboard::list),
        read("/v1/leaderboard", None, leaderboard::list),
        read("/v1/builders/leaderboard", None, builders::leaderboard),
        read("/v1/builders/volume", None, builders::volume),
        read("/v2/trades", None, v2::trades).large(),
        read("/v2/activity", None, v2::activity).large(),
        read("/v2/positions", None, v2::positions::list),
        read("/v2/holders", None, v2::holders::list).large(),
        read("/v2/prices-history", None, v2::prices::list).large(),
        read("/v2/value", None, v2::value),
        read("/v2/oi", None, v2::open_interest),
        read("/v2/live-volume", None, v2::live_volume),
        read("/v2/leaderboard", None, leaderboard::list_v2),
        read("/v2/builders/leaderboard", None, builders::leaderboard_v2),
        read("/v2/builders/volume", None, builders::volume_v2),
    ]
}
