//! Fills move money and shares according to docs/verify/rules.md §5, §7.

use crate::scene;

use foretell_model::event::{OrderClosed, TickSet};
use foretell_model::{CloseReason, Event, Lots, MatchKind, Micros, OrderType, Tick};
use rstest::rstest;
use scene::*;

/// Protocol 17, example 2.
#[test]
fn a_taker_mints_then_buys_then_rests() {
    let mut scene = Scene::trading();
    scene.split(CAROL, MARKET, 3_000);
    let bob = scene.rest(BOB, NO, BUY, 6_000, 4_000);
    let carol = scene.rest(CAROL, YES, SELL, 3_000, 6_100);
    assert_eq!(scene.collateral(BOB), (976_000_000, 24_000_000));
    assert_eq!(scene.shares(CAROL), [0, 3_000, 3_000, 0]);

    let alice = scene.place(
        limit(ALICE, YES, BUY, 10_000, 6_200),
        &[
            Event::Fill(fill((bob, BOB), MatchKind::Mint, 6_000, 6_000, 0)),
            Event::Fill(fill(
                (carol, CAROL),
                MatchKind::Complementary,
                6_100,
                3_000,
                0,
            )),
            rested(1_000, 6_200),
        ],
    );
    assert_eq!(
        scene.collateral(ALICE),
        (
            1_000_000_000 - 36_000_000 - 18_300_000 - 6_200_000,
            6_200_000
        )
    );
    assert_eq!(scene.shares(ALICE), [9_000, 0, 0, 0]);
    assert_eq!(scene.collateral(BOB), (976_000_000, 0));
    assert_eq!(scene.shares(BOB), [0, 6_000, 0, 0]);
    assert_eq!(scene.collateral(CAROL), (970_000_000 + 18_300_000, 0));
    assert_eq!(scene.shares(CAROL), [0, 3_000, 0, 0]);
    assert_eq!(scene.supply(MARKET), [9_000, 9_000]);
    assert_eq!(scene.book(YES), (vec![(6_200, 1_000)], vec![]));

    let order = scene.order(alice).unwrap();
    assert_eq!(
        (order.matched, order.value, order.left),
        (Lots(9_000), Micros(54_300_000), Lots(1_000))
    );
    assert_eq!(scene.order(bob).unwrap().value, Micros(24_000_000));
    assert_eq!(scene.order(carol).unwrap().value, Micros(18_300_000));
}

/// Protocol 17, example 1.
#[test]
fn a_budget_buy_pays_its_fees_beside_its_budget() {
    let mut scene = Scene::trading();
    scene.split(BOB, MARKET, 6_000);
    let cheap = scene.rest(BOB, YES, SELL, 1_000, 3_300);
    let dear = scene.rest(BOB, YES, SELL, 5_000, 3_400);
    let mut order = limit(ALICE, YES, BUY, 0, 0);
    order.order_type = OrderType::Fak;
    order.maker_amount = 10_000_000;
    order.taker_amount = 29_411_764;
    let mut first = fill((cheap, BOB), MatchKind::Complementary, 3_300, 1_000, 0);
    first.fee = Micros(88_440);
    let mut second = fill((dear, BOB), MatchKind::Complementary, 3_400, 1_970, 3_030);
    second.fee = Micros(176_820);
    let number = scene.place(
        order,
        &[
            Event::Fill(first),
            Event::Fill(second),
            Event::OrderCompleted,
        ],
    );

    assert_eq!(
        scene.collateral(ALICE),
        (1_000_000_000 - 9_998_000 - 265_260, 0)
    );
    assert_eq!(scene.collateral(BOB), (940_000_000 + 9_998_000, 0));
    assert_eq!(scene.shares(ALICE), [2_970, 0, 0, 0]);
    assert_eq!(scene.shares(BOB), [0, 6_000, 3_030, 0]);
    assert_eq!(scene.view.system().fees, Micros(265_260));
    let order = scene.order(number).unwrap();
    assert_eq!((order.price.0, order.fee), (3_400, Micros(265_260)));
    assert_eq!(
        order.original_size(),
        29_700_000,
        "what matched is more than takerAmount"
    );
    assert_eq!(scene.order(dear).unwrap().fee, Micros(0));
}

#[rstest]
#[case::of_yes(YES, 7_000)]
#[case::of_no(NO, 3_000)]
fn a_seller_pays_its_fee_out_of_the_value(
    #[case] outcome: foretell_model::Outcome,
    #[case] yes_price: u16,
) {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 100);
    let bid = scene.rest(BOB, outcome, BUY, 150, 7_000);
    let mut sold = fill((bid, BOB), MatchKind::Complementary, yes_price, 100, 50);
    sold.fee = Micros(20);
    scene.place(
        limit(ALICE, outcome, SELL, 100, 6_500),
        &[Event::Fill(sold), Event::OrderCompleted],
    );
    assert_eq!(
        scene.collateral(ALICE),
        (1_000_000_000 - 1_000_000 + 700_000 - 20, 0)
    );
    assert_eq!(scene.collateral(BOB), (1_000_000_000 - 1_050_000, 350_000));
    let mut bought = [0; 4];
    bought[outcome.index()] = 100;
    assert_eq!(scene.shares(BOB), bought);
    assert_eq!(scene.supply(MARKET), [100, 100], "shares only moved");
}

#[test]
fn two_sellers_unmake_full_sets() {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 100);
    scene.split(BOB, MARKET, 100);
    let no = scene.rest(BOB, NO, SELL, 80, 4_500);
    assert_eq!(
        scene.book(YES).0,
        [(5_500, 80)],
        "a seller of No bids for Yes"
    );
    scene.place(
        limit(ALICE, YES, SELL, 80, 5_000),
        &[
            Event::Fill(fill((no, BOB), MatchKind::Merge, 5_500, 80, 0)),
            Event::OrderCompleted,
        ],
    );
    assert_eq!(scene.supply(MARKET), [120, 120]);
    assert_eq!(scene.collateral(ALICE), (999_000_000 + 440_000, 0));
    assert_eq!(scene.collateral(BOB), (999_000_000 + 360_000, 0));
    assert_eq!(scene.shares(ALICE), [20, 100, 0, 0]);
    assert_eq!(scene.shares(BOB), [100, 20, 0, 0]);
}

#[test]
fn an_own_order_in_the_way_is_released_and_the_rest_of_a_seller_is_not_reserved() {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 100);
    let own = scene.rest(ALICE, YES, BUY, 60, 5_000);
    let other = scene.rest(BOB, YES, BUY, 30, 5_000);
    let mut order = limit(ALICE, YES, SELL, 100, 5_000);
    order.order_type = OrderType::Fak;
    let closed = |order, lots, reason| {
        Event::OrderClosed(OrderClosed {
            order,
            account: ALICE,
            lots: Lots(lots),
            reason,
        })
    };
    let number = foretell_model::OrderNumber(scene.next());
    scene.place(
        order,
        &[
            closed(own, 60, CloseReason::SelfTrade),
            Event::Fill(fill((other, BOB), MatchKind::Complementary, 5_000, 30, 0)),
            closed(number, 70, CloseReason::FakRest),
        ],
    );
    assert_eq!(scene.collateral(ALICE), (999_000_000 + 150_000, 0));
    assert_eq!(scene.shares(ALICE), [70, 100, 0, 0]);
    assert_eq!(scene.book(YES), (vec![], vec![]));
    assert_eq!(scene.order(number).unwrap().left, Lots(70));
    assert_eq!(scene.view.orders().live_count(), 0);
}

#[test]
fn the_tick_of_the_moment_gives_the_limit() {
    let mut scene = Scene::trading();
    scene.split(BOB, MARKET, 200);
    let ask = scene.rest(BOB, YES, SELL, 100, 9_700);
    let mut order = limit(ALICE, YES, BUY, 0, 0);
    order.order_type = OrderType::Fak;
    (order.maker_amount, order.taker_amount) = (9_770_000, 10_000_000);
    let refined = Event::TickSet(TickSet {
        market: MARKET,
        tick: Tick::Thousandth,
    });
    let mut price_of = |left| {
        let number = scene.place(
            order,
            &[
                Event::Fill(fill((ask, BOB), MatchKind::Complementary, 9_700, 50, left)),
                Event::OrderCompleted,
                refined,
            ],
        );
        scene.order(number).unwrap().price.0
    };
    assert_eq!(price_of(50), 9_700);
    assert_eq!(price_of(0), 9_770);
    assert_eq!(
        scene.view.markets().get(MARKET).unwrap().tick,
        Tick::Thousandth
    );
}
