//! `GET /ui/api/markets/summary?condition_ids=`: the figures of a list of markets, all of the first
//! outcome.

use foretell_model::{
    ConditionId, MarketNumber, MarketState, Micros, Outcome, Price, TimeNs, TokenId,
};
use foretell_view::{PriceHistory, PricePoint, View};
use foretell_wire::read::query::trading::SummaryQuery;
use foretell_wire::schema::JsonSchema;
use foretell_wire::{Decimal, values};
use serde::Serialize;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::page::Page;
use crate::policy::limits::SUMMARY_ROWS;
use crate::policy::work::rest;
use crate::resources::market_data::prices_history::{midpoint_decimal, seconds_now};
use crate::resources::page::page;

const HOUR: u64 = 3_600;
/// Points of a sparkline, one an hour.
const HOURS: u64 = 24;

/// The figures of one market, all of the first outcome; `null` where there is none.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MarketSummary")]
pub(crate) struct Row {
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    #[serde(with = "values::Token")]
    yes_token: TokenId,
    #[serde(with = "values::Token")]
    no_token: TokenId,
    #[serde(with = "values::State")]
    status: MarketState,
    price: Option<Text>,
    /// Change of the price since the first midpoint of the last 24 hours, in steps of a minute.
    change_24h: Option<Text>,
    /// Price of the last trade.
    last_price: Option<Text>,
    /// Unix seconds of the last trade.
    last_time: Option<u64>,
    best_bid: Option<Text>,
    best_ask: Option<Text>,
    spread: Option<Text>,
    /// Traded in the last 24 hours, whole units.
    volume_24h: Text,
    /// `false` while trades of the day are left to count.
    volume_24h_complete: bool,
    /// Traded since the beginning, whole units.
    volume: Text,
    /// Midpoints at the ends of the last 24 hours, oldest first.
    #[schemars(length(equal = 24))]
    sparkline: Vec<Option<Text>>,
}

/// A decimal as text.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct Text(#[serde(with = "values::DecimalText")] Decimal);

/// `GET /ui/api/markets/summary`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<SummaryQuery>,
) -> Result<Json<Vec<Row>>, Failure> {
    let (app, page) = (&context.app, page(&context)?);
    let position = app.shared_view.read().position();
    let mut rows = Vec::with_capacity(query.condition_ids.len());
    let mut budget = SUMMARY_ROWS;
    for condition in query.condition_ids {
        // One market under a lock hold: counting its trades takes longer than reading its book.
        rows.extend(row(app, page, condition, &mut budget));
        rest().await;
    }
    Ok(Json::of(&rows).at(position))
}

/// The row of a market; `None` when there is no such market.
fn row(app: &App, page: &Page, condition: ConditionId, budget: &mut usize) -> Option<Row> {
    let state = app.shared_view.read();
    let view = &state.view;
    let (number, market) = view.markets().by_condition(&condition)?;
    let yes = view.books().get(number)?.of(Outcome::Yes);
    let now = seconds_now(view);
    let (bid, ask, last) = (yes.best_bid(), yes.best_ask(), yes.last_trade());
    let points = day_of(view, number, 30, now).map_or_else(Vec::new, |day| day.points());
    let current = view.current_price(number, Outcome::Yes)?.half_units();
    let first = day_of(view, number, 1, now).and_then(|day| day.first());
    let change = first.map(|first| {
        let before = first.midpoint.half_units();
        Text(Decimal::new(
            (i128::from(current) - i128::from(before)) * 5,
            5,
        ))
    });
    let time = TimeNs(now.saturating_mul(1_000_000_000));
    let volume = page.volumes.of(view, number, time, budget);
    let [yes_token, no_token] = market.tokens;
    Some(Row {
        condition_id: condition,
        yes_token,
        no_token,
        status: market.state,
        price: Some(Text(Decimal::new(i128::from(current) * 5, 5))),
        change_24h: change,
        last_price: last.map(|last| price(last.price)),
        last_time: last.map(|last| last.time.seconds().0),
        best_bid: bid.map(price),
        best_ask: ask.map(price),
        spread: bid
            .zip(ask)
            .map(|(bid, ask)| price(Price(ask.0.saturating_sub(bid.0)))),
        volume_24h: Text(Micros(volume.micros).into()),
        volume_24h_complete: volume.is_complete,
        volume: Text(view.volume().value_in(number).into()),
        sparkline: sparkline(&points, now),
    })
}

fn price(price: Price) -> Text {
    Text(price.into())
}

/// Midpoints of the last 24 hours in buckets of some minutes.
fn day_of(view: &View, market: MarketNumber, minutes: u32, now: u64) -> Option<PriceHistory<'_>> {
    let from = now.saturating_sub(HOURS * HOUR);
    view.price_history(market, Outcome::Yes, minutes, (from, now))
}

/// For each of the last 24 hours the last midpoint in it.
fn sparkline(points: &[PricePoint], now: u64) -> Vec<Option<Text>> {
    let newest = now / HOUR;
    let hours = (0..HOURS).map(|hour| (newest + 1 + hour).saturating_sub(HOURS));
    let last_in = |hour: u64| {
        let in_hour = |point: &&PricePoint| point.start / HOUR == hour;
        points.iter().rev().find(in_hour)
    };
    hours
        .map(|hour| Some(Text(midpoint_decimal(last_in(hour)?.midpoint))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_view::Midpoint;

    fn point(start: u64, units: u16) -> PricePoint {
        let price = Price(units);
        PricePoint {
            start,
            midpoint: Midpoint::between(price, price),
        }
    }

    #[test]
    fn a_sparkline_has_the_last_midpoint_of_each_hour() {
        let now = 100 * HOUR + 1_000;
        let points = [
            point(77 * HOUR, 1_000),
            point(77 * HOUR + 1_800, 2_000),
            point(100 * HOUR, 4_150),
        ];
        let line = sparkline(&points, now);
        assert_eq!(line.len(), 24);
        let shown = |hour: usize| line[hour].map(|text| text.0.to_string());
        assert_eq!(shown(0).as_deref(), Some("0.2"), "of hour 77");
        assert_eq!(
            shown(23).as_deref(),
            Some("0.415"),
            "of the hour that is not over"
        );
        assert!(line[1..23].iter().all(Option::is_none), "{line:?}");
        assert!(sparkline(&[], 0).iter().all(Option::is_none));
    }
}
