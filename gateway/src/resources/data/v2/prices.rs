//! `GET /v2/prices-history`: the midpoints of a token over time.

use foretell_model::{MarketNumber, Outcome};
use foretell_view::{PricePoint, View};
use foretell_wire::ApiError;
use foretell_wire::data::{PointKey, V2Page, V2PricePoint, V2PricesQuery, V2PricesRange};
use foretell_wire::limits::MAX_HISTORY_POINTS;
use foretell_wire::markets::history::too_many_points;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::market_data::prices_history::{midpoint_decimal, seconds_now};
use crate::resources::market_of;

type Token = (MarketNumber, Outcome);

/// `GET /v2/prices-history`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(wanted): FromQuery<V2PricesQuery>,
) -> Result<Json<V2Page<V2PricePoint>>, Failure> {
    let app = &context.app;
    let now = seconds_now(&app.shared_view.read().view);
    let range = wanted.range(now)?;
    let token = app.find(|view| market_of(view, &wanted.token_id)).await?;
    let (points, bucket, position) = {
        let state = app.shared_view.read();
        let position = state.position();
        let (points, bucket) = match (token, range) {
            (None, _) => (Vec::new(), 0),
            (Some(token), V2PricesRange::AsOf(second)) => {
                let point = as_of(&state.view, token, second, now);
                (Vec::from_iter(point), 60)
            }
            (Some(token), V2PricesRange::Window { from, to, bucket }) => {
                let points = window(&state.view, token, (from, to), bucket)?;
                (points, bucket)
            }
        };
        (points, bucket, position)
    };
    let next = (points.get(wanted.limit)).map(|point| PointKey { start: point.start });
    let rows = (points.iter().take(wanted.limit)).map(|point| V2PricePoint {
        timestamp: point.start,
        price: midpoint_decimal(point.midpoint).into(),
        resolution_seconds: bucket,
    });
    let answer = V2Page::new(rows.collect(), wanted.page(), next);
    Ok(Json::of(&answer).at(position))
}

/// The midpoint at the end of the last minute that ended by `second`; of the current minute when
/// `second` is now.
fn as_of(view: &View, (market, outcome): Token, second: u64, now: u64) -> Option<PricePoint> {
    let to = match second < now {
        true => second.checked_sub(59)?,
        false => now,
    };
    view.price_history(market, outcome, 1, (0, to))?.last()
}

/// The points of buckets that start in a window.
fn window(
    view: &View,
    (market, outcome): Token,
    (from, to): (u64, u64),
    bucket: u64,
) -> Result<Vec<PricePoint>, ApiError> {
    // The first bucket begins at a multiple of its length, as all do.
    let from = from.next_multiple_of(bucket);
    let minutes = u32::try_from(bucket / 60).unwrap_or(u32::MAX);
    let Some(history) = view.price_history(market, outcome, minutes, (from, to)) else {
        return Ok(Vec::new());
    };
    match history.visits() {
        visits if visits > MAX_HISTORY_POINTS => Err(too_many_points(visits)),
        _ => Ok(history.points()),
    }
}
