//! `GET /v2/prices-history`: the midpoints of a token over time.

use foretell_model::{MarketNumber, Outcome};
use foretell_view::{BucketSize, PriceHistory, PricePoint, View};
use foretell_wire::ApiError;
use foretell_wire::data::{V2Page, V2PricePoint, V2PricesQuery, V2PricesRange};
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
                (
                    Vec::from_iter(point),
                    u64::from(BucketSize::Minute.minutes()) * 60,
                )
            }
            (Some(token), V2PricesRange::Window { from, to, bucket }) => {
                let points = window(&state.view, token, (from, to), bucket)?;
                (points, bucket)
            }
        };
        (points, bucket, position)
    };
    let next = points.get(wanted.limit).map(|point| point.start);
    let rows = (points.iter().take(wanted.limit)).map(|point| V2PricePoint {
        timestamp: point.start,
        price: midpoint_decimal(point.midpoint).into(),
        resolution_seconds: bucket,
    });
    let answer = V2Page::continued(rows.collect(), next);
    Ok(Json::of(&answer).at(position))
}

/// The midpoint at the end of the last minute that ended by `second`; of the current minute when
/// `second` is now.
fn as_of(view: &View, token: Token, second: u64, now: u64) -> Option<PricePoint> {
    let to = match second < now {
        true => second.checked_sub(59)?,
        false => now,
    };
    history(view, token, BucketSize::Minute, (0, to))?.last()
}

/// The points of buckets that start in a window. A bucket shows the last midpoint in it that is
/// kept, of the largest kept bucket that divides it.
fn window(
    view: &View,
    token: Token,
    (from, to): (u64, u64),
    bucket: u64,
) -> Result<Vec<PricePoint>, ApiError> {
    let divides = |size: &&BucketSize| bucket.is_multiple_of(u64::from(size.minutes()) * 60);
    let size = BucketSize::ALL.iter().rev().find(divides);
    let size = size.copied().unwrap_or(BucketSize::Minute);
    // The first bucket begins at a multiple of its length, as all do.
    let from = from.next_multiple_of(bucket);
    let Some(history) = history(view, token, size, (from, to)) else {
        return Ok(Vec::new());
    };
    if history.buckets() > MAX_HISTORY_POINTS {
        return Err(too_many_points(history.buckets()));
    }
    let mut points: Vec<PricePoint> = Vec::new();
    for point in history.points() {
        let start = point.start - point.start % bucket;
        let point = PricePoint { start, ..point };
        match points.last_mut() {
            Some(last) if last.start == start => *last = point,
            _ => points.push(point),
        }
    }
    Ok(points)
}

fn history(
    view: &View,
    (market, outcome): Token,
    size: BucketSize,
    range: (u64, u64),
) -> Option<PriceHistory<'_>> {
    view.price_history(market, outcome, size, range)
}
