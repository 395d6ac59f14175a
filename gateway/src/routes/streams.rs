//! The streams of the trading surface, which docs/asyncapi/streams.yaml describes.

use foretell_wire::ErrorCode;

use crate::http::route::{Route, get};
use crate::policy::rate_limits::Scope::Trading;
use crate::streams::connection::upgrade;

const UPGRADE: &[ErrorCode] = &[
    ErrorCode::Recovering,
    ErrorCode::TooManyStreams,
    ErrorCode::StreamsFull,
    ErrorCode::WebsocketRequired,
    ErrorCode::WebsocketNeedsHttp1,
    ErrorCode::WebsocketVersion,
    ErrorCode::WebsocketKey,
];

pub(super) fn routes() -> [Route; 3] {
    [
        get("/ws", Trading, upgrade::any),
        get("/ws/market", Trading, upgrade::market),
        get("/ws/user", Trading, upgrade::user),
    ]
    .map(|route| route.errors(&[UPGRADE]))
}
