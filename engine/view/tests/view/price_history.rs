//! Price history: midpoints at the ends of buckets of each size, carried forward, and ranges of
//! them.

use crate::scene;

use foretell_model::command::CancelOrder;
use foretell_model::event::{MarketStateSet, OrderClosed};
use foretell_model::{
    CloseReason, Command, Event, HoldSet, Lots, MarketNumber, MarketState, OrderNumber, Outcome,
};
use foretell_view::View;
use rstest::rstest;
use scene::*;

const HOUR: u64 = 3_600;
const ALL: (u64, u64) = (0, 12 * HOUR);

/// The market's story: bids of Alice, asks of Bob, in Yes prices.
///
/// | at | what | midpoint |
/// |---|---|---|
/// | 00:10:00 | bid 0.40 | – |
/// | 00:10:59 | ask 0.60 | 0.50 |
/// | 00:12:30 | bid 0.45 | 0.525 |
/// | 00:12:50 | that bid is cancelled | 0.50 |
/// | 00:20:00 | the ask is cancelled | – |
/// | 00:23:30 | ask 0.7, as a bid on No for 0.3 | 0.55 |
fn story() -> (Scene, [OrderNumber; 2]) {
    let mut scene = Scene::trading();
    let cancel = |scene: &mut Scene, account, order, lots| {
        let closed = Event::OrderClosed(OrderClosed {
            order,
            account,
            lots: Lots(lots),
            reason: CloseReason::User,
        });
        let id = scene.order(order).expect("it was placed").id;
        let command = Command::CancelOrder(CancelOrder {
            owner: account,
            order: id,
        });
        scene.step(command, &[closed]);
    };
    scene.split(BOB, MARKET, 100);
    scene.wait_until(600);
    let bid = scene.rest(ALICE, YES, BUY, 100, 4_000);
    scene.wait_until(659);
    let ask = scene.rest(BOB, YES, SELL, 50, 6_000);
    scene.wait_until(12 * 60 + 30);
    let better = scene.rest(ALICE, YES, BUY, 10, 4_500);
    scene.wait_until(12 * 60 + 50);
    cancel(&mut scene, ALICE, better, 10);
    scene.wait_until(20 * 60);
    cancel(&mut scene, BOB, ask, 50);
    scene.wait_until(23 * 60 + 30);
    let no = scene.rest(BOB, NO, BUY, 20, 3_000);
    (scene, [bid, no])
}

/// The same, and the market closes at 00:40:10.
fn closed_story() -> Scene {
    let (mut scene, [bid, no]) = story();
    scene.wait_until(40 * 60 + 10);
    let closed = |order, account, lots| {
        Event::OrderClosed(OrderClosed {
            order,
            account,
            lots: Lots(lots),
            reason: CloseReason::MarketClosed,
        })
    };
    let state = Event::MarketStateSet(MarketStateSet {
        holds: HoldSet::NONE,
        market: MARKET,
        state: MarketState::Closed,
    });
    let command = Command::CloseMarket { market: MARKET };
    scene.step(
        command,
        &[state, closed(bid, ALICE, 100), closed(no, BOB, 20)],
    );
    scene
}

/// Minutes and midpoints in 0.00005.
fn points(view: &View, outcome: Outcome, minutes: u32, range: (u64, u64)) -> Vec<(u64, u16)> {
    let history = view.price_history(MARKET, outcome, minutes, range);
    let history = history.expect("the market is there");
    let points = history.points();
    assert!(points.len() <= history.buckets());
    assert_eq!(history.first(), points.first().copied());
    let minute = |start| {
        assert_eq!(start % 60, 0);
        start / 60
    };
    let pairs = points.into_iter();
    pairs
        .map(|point| (minute(point.start), point.midpoint.half_units()))
        .collect()
}

/// Consecutive buckets with one midpoint.
fn run(minutes: std::ops::RangeInclusive<u64>, step: usize, midpoint: u16) -> Vec<(u64, u16)> {
    minutes
        .step_by(step)
        .map(|minute| (minute, midpoint))
        .collect()
}

#[test]
fn a_bucket_has_the_midpoint_at_its_end_and_carries_it_on() {
    let (scene, _) = story();
    let to = (0, 26 * 60 + 5);
    assert_eq!(
        points(&scene.view, YES, 1, to),
        [run(10..=19, 1, 10_000), run(23..=26, 1, 11_000)].concat()
    );
    assert_eq!(
        points(&scene.view, YES, 5, to),
        [(10, 10_000), (15, 10_000), (20, 11_000), (25, 11_000)]
    );
    // Buckets of two or three stored ones, and of minutes.
    let of = |minutes| points(&scene.view, YES, minutes, to);
    assert_eq!(of(10), [(10, 10_000), (20, 11_000)]);
    assert_eq!(of(15), [(0, 10_000), (15, 11_000)]);
    assert_eq!(of(7), [(7, 10_000), (21, 11_000)]);
    assert_eq!(of(11), [(0, 10_000), (22, 11_000)]);
    for minutes in [30, 60, 180, 720, 1_440] {
        assert_eq!(of(minutes), [(0, 11_000)], "{minutes}");
    }
}

#[test]
fn nothing_comes_after_the_close() {
    let scene = closed_story();
    assert_eq!(
        points(&scene.view, YES, 1, ALL),
        [run(10..=19, 1, 10_000), run(23..=40, 1, 11_000)].concat()
    );
    let half_hours = points(&scene.view, YES, 30, ALL);
    assert_eq!(half_hours, [(0, 11_000), (30, 11_000)]);
    assert_eq!(points(&scene.view, YES, 1, (41 * 60, 90 * 60)), []);
}

#[test]
fn an_open_market_goes_on_without_moving() {
    let (scene, _) = story();
    let half_days = points(&scene.view, YES, 720, (0, 48 * HOUR));
    assert_eq!(half_days, run(0..=48 * 60, 720, 11_000));
}

#[test]
fn the_other_token_is_the_complement() {
    let scene = closed_story();
    let no = points(&scene.view, NO, 5, ALL);
    let mirrored: Vec<_> = points(&scene.view, YES, 5, ALL)
        .into_iter()
        .map(|(minute, midpoint)| (minute, 20_000 - midpoint))
        .collect();
    assert_eq!(no, mirrored);
    assert_eq!(no[2], (20, 9_000));
}

#[rstest]
#[case::whole_buckets((15 * 60, 20 * 60 - 1), &[(15, 10_000)])]
#[case::bounds_count((15 * 60, 20 * 60), &[(15, 10_000), (20, 11_000)])]
#[case::started_before((15 * 60 + 1, 25 * 60), &[(20, 11_000), (25, 11_000)])]
#[case::none_starts_within((22 * 60, 24 * 60), &[(20, 11_000)])]
#[case::before_all((0, 9 * 60), &[])]
#[case::one_second((15 * 60, 15 * 60), &[(15, 10_000)])]
#[case::from_after_to((15 * 60 + 1, 15 * 60), &[])]
#[case::largest_from((u64::MAX, 60 * 60), &[])]
fn a_range_takes_the_buckets_that_start_in_it(
    #[case] range: (u64, u64),
    #[case] expected: &[(u64, u16)],
) {
    let scene = closed_story();
    assert_eq!(points(&scene.view, YES, 5, range), expected);
}

#[test]
fn how_many_buckets_is_known_without_making_them() {
    let (scene, _) = story();
    let history = |size, range| scene.view.price_history(MARKET, YES, size, range).unwrap();
    assert_eq!(history(1, (0, 26 * 60)).buckets(), 17);
    assert_eq!(history(1, (24 * 60, 26 * 60)).buckets(), 3);
    let all_time = history(1, (0, u64::MAX));
    assert_eq!(all_time.buckets(), (u32::MAX - 10) as usize);
}

#[test]
fn a_market_without_midpoint_has_no_history() {
    let mut scene = Scene::trading();
    assert_eq!(points(&scene.view, YES, 1, ALL), []);
    scene.rest(ALICE, YES, BUY, 100, 4_000);
    assert_eq!(points(&scene.view, YES, 1, ALL), []);
    let unknown = scene.view.price_history(MarketNumber(1), YES, 1, ALL);
    assert!(unknown.is_none());
}
