//! Matching: priority, order types, self-trades, fees, bounds.

use foretell_model::event::{OrderClosed, OrderKilled, TickSet};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    CloseReason, Command, Event, FeeSchedule, Lots, MatchKind, Micros, OrderStatus, OrderType,
    Outcome, PlaceOrder, Rejection, RejectionReason, Side, SystemMode, Tick, TimeSeconds,
};
use rstest::rstest;

use crate::world::{START, UNIT, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);
const BUY_NO: (Side, Outcome) = (Side::Buy, Outcome::No);
const SELL_YES: (Side, Outcome) = (Side::Sell, Outcome::Yes);
const SELL_NO: (Side, Outcome) = (Side::Sell, Outcome::No);

/// A FOK or FAK BUY of Yes that spends `micros` at a limit of `cents`.
fn budget(
    mut order: PlaceOrder,
    order_type: OrderType,
    (micros, shares): (u64, u64),
) -> PlaceOrder {
    order.order_type = order_type;
    order.maker_amount = micros;
    order.taker_amount = shares;
    order
}

/// The four kinds of match, each at the maker's price; the taker gets the price improvement.
#[rstest]
#[case::buy_yes_from_seller(SELL_YES, 40, BUY_YES, 50, MatchKind::Complementary, 40)]
#[case::sell_yes_to_buyer(BUY_YES, 60, SELL_YES, 50, MatchKind::Complementary, 60)]
#[case::buy_no_from_seller(SELL_NO, 40, BUY_NO, 50, MatchKind::Complementary, 40)]
#[case::mint_from_yes(BUY_NO, 60, BUY_YES, 50, MatchKind::Mint, 40)]
#[case::mint_from_no(BUY_YES, 60, BUY_NO, 50, MatchKind::Mint, 40)]
#[case::merge_from_yes(SELL_NO, 40, SELL_YES, 50, MatchKind::Merge, 60)]
#[case::merge_from_no(SELL_YES, 40, SELL_NO, 50, MatchKind::Merge, 60)]
fn orders_meet_at_the_makers_price(
    #[case] maker: (Side, Outcome),
    #[case] maker_cents: u64,
    #[case] taker: (Side, Outcome),
    #[case] limit: u64,
    #[case] kind: MatchKind,
    #[case] paid: u64,
) {
    let mut world = World::new();
    let market = world.market();
    let (first, second) = (world.trader(1, 100), world.trader(2, 100));
    world.split(first, market, 10);
    world.split(second, market, 10);
    let supply = world.supply(market)[0];
    world.rest(first, market, maker, 10, maker_cents);
    let order = world.limit(second, market, taker, 10, limit);
    let result = world.place(order);
    assert_eq!(result.value, Micros(10 * paid * UNIT / 100));
    assert_eq!(world.fills()[0].kind, kind);
    assert_eq!(world.book(), []);
    let change = match kind {
        MatchKind::Complementary => supply,
        MatchKind::Mint => supply + 1_000,
        MatchKind::Merge => supply - 1_000,
    };
    assert_eq!(world.supply(market), [change; 2]);
}

#[test]
fn the_book_serves_by_price_then_arrival_whatever_the_outcome() {
    let mut world = World::new();
    let market = world.market();
    let (maker, taker) = (world.trader(1, 1_000), world.trader(2, 1_000));
    world.split(maker, market, 100);
    let expected = [
        world.rest(maker, market, SELL_YES, 1, 51),
        world.rest(maker, market, BUY_NO, 1, 48),
        world.rest(maker, market, SELL_YES, 1, 50),
        world.rest(maker, market, BUY_NO, 1, 50),
        world.rest(maker, market, SELL_YES, 1, 52),
    ];
    let order = world.limit(taker, market, BUY_YES, 4, 52);
    world.place(order);
    let met: Vec<_> = world
        .fills()
        .iter()
        .map(|fill| fill.maker_order.0)
        .collect();
    assert_eq!(met, [2, 3, 0, 1].map(|index: usize| expected[index]));
    assert_eq!(world.book(), [(expected[4], 100)]);
}

#[test]
fn a_partial_fill_keeps_the_makers_place() {
    let mut world = World::new();
    let market = world.market();
    let (maker, taker) = (world.trader(1, 1_000), world.trader(2, 1_000));
    let first = world.rest(maker, market, BUY_NO, 10, 50);
    let second = world.rest(maker, market, BUY_NO, 10, 50);
    for left in [900, 800] {
        let order = world.limit(taker, market, BUY_YES, 1, 50);
        world.place(order);
        assert_eq!(world.fills()[0].maker_left, Lots(left));
        assert_eq!(world.book(), [(first, left), (second, 1_000)]);
    }
}

#[test]
fn own_orders_are_cancelled_when_met_by_gtc() {
    let mut world = World::new();
    let market = world.market();
    let (me, other) = (world.trader(1, 100), world.trader(2, 100));
    let own = world.rest(me, market, BUY_NO, 10, 52);
    world.rest(other, market, BUY_NO, 10, 51);
    let beyond = world.rest(me, market, BUY_NO, 10, 40);
    let order = world.limit(me, market, BUY_YES, 20, 50);
    let result = world.place(order);
    assert_eq!(
        (result.status, result.lots),
        (OrderStatus::Matched, Lots(1_000))
    );
    assert_eq!(world.closed(), [(own, CloseReason::SelfTrade)]);
    assert!(world.book().iter().any(|(number, _)| *number == beyond));
    assert_eq!(world.book().len(), 2);
}

#[test]
fn a_fok_that_cannot_fill_leaves_everything_as_it_was() {
    let mut world = World::new();
    let market = world.market();
    let (me, other) = (world.trader(1, 100), world.trader(2, 100));
    world.rest(me, market, BUY_NO, 10, 60);
    world.rest(other, market, BUY_NO, 10, 55);
    let book = world.book();
    let money = [me, other].map(|who| world.money(who));
    let order = world.limit(me, market, BUY_YES, 0, 50);
    // 10 shares for 4.50 are available; 4.60 would buy more.
    let result = world.place(budget(order, OrderType::Fok, (4_960_000, 9_920_000)));
    assert_eq!(
        result.status,
        OrderStatus::Killed(RejectionReason::FokNotFilled.into())
    );
    let reason = RejectionReason::FokNotFilled;
    assert_eq!(
        world.events,
        [Event::OrderKilled(OrderKilled {
            reason,
            details: [0; 2]
        })]
    );
    assert_eq!(world.book(), book);
    assert_eq!([me, other].map(|who| world.money(who)), money);
}

#[test]
fn own_orders_before_the_last_foreign_fill_go_and_those_after_it_stay() {
    for order_type in [OrderType::Fok, OrderType::Fak] {
        let mut world = World::new();
        let market = world.market();
        let (me, other) = (world.trader(1, 100), world.trader(2, 100));
        let before = world.rest(me, market, BUY_NO, 1, 60);
        let foreign = world.rest(other, market, BUY_NO, 10, 55);
        let after = world.rest(me, market, BUY_NO, 1, 54);
        let order = world.limit(me, market, BUY_YES, 0, 50);
        let result = world.place(budget(order, order_type, (4_500_000, 9_000_000)));
        assert_eq!(result.lots, Lots(1_000));
        assert_eq!(world.closed(), [(before, CloseReason::SelfTrade)]);
        assert!(matches!(world.events[0], Event::OrderClosed(_)));
        assert_eq!(world.fills()[0].maker_order.0, foreign);
        assert_eq!(world.events.last(), Some(&Event::OrderCompleted));
        assert_eq!(world.book(), [(after, 100)]);
    }
}

#[test]
fn a_fak_without_a_foreign_fill_is_killed_and_cancels_nothing() {
    let mut world = World::new();
    let market = world.market();
    let me = world.trader(1, 100);
    let own = world.rest(me, market, BUY_NO, 1, 60);
    let order = world.limit(me, market, BUY_YES, 0, 50);
    let result = world.place(budget(order, OrderType::Fak, (4_500_000, 9_000_000)));
    assert_eq!(
        result.status,
        OrderStatus::Killed(RejectionReason::FakNoMatch.into())
    );
    assert_eq!(world.book(), [(own, 100)]);
}

#[test]
fn the_rest_of_a_fak_is_closed() {
    let mut world = World::new();
    let market = world.market();
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    world.split(taker, market, 20);
    world.rest(maker, market, BUY_YES, 10, 50);
    let mut order = world.limit(taker, market, SELL_YES, 20, 40);
    order.order_type = OrderType::Fak;
    world.place(order);
    let number = world.exchange.sequence().0;
    assert_eq!(world.closed(), [(number, CloseReason::FakRest)]);
    assert!(matches!(
        world.events.last(),
        Some(Event::OrderClosed(OrderClosed {
            lots: Lots(1_000),
            ..
        }))
    ));
    assert_eq!(world.money(taker), (85 * UNIT, 0));
}

/// A budget is full when its rest buys nothing, at the next price or at the limit.
#[rstest]
#[case::buys_all_that_is_there(5_000_000, true, 1_000)]
#[case::less_than_a_lot_left(5_004_999, true, 1_000)]
#[case::a_lot_more_was_wanted(5_006_000, false, 1_000)]
#[case::nothing_at_all(4_999, false, 0)]
fn a_budget_is_full_when_its_rest_buys_no_lot(
    #[case] micros: u64,
    #[case] is_full: bool,
    #[case] lots: u64,
) {
    let mut world = World::new();
    let market = world.market();
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    world.rest(maker, market, BUY_NO, 10, 50);
    let order = world.limit(taker, market, BUY_YES, 0, 50);
    let result = world.place(budget(order, OrderType::Fak, (micros, micros * 100 / 55)));
    assert_eq!(result.lots, Lots(lots));
    let is_completed = world.events.last() == Some(&Event::OrderCompleted);
    assert_eq!(is_completed, is_full, "{:?}", world.events);
}

#[test]
fn a_fee_that_uses_up_the_purse_stops_a_budget() {
    for (order_type, expected) in [
        (OrderType::Fok, Some(Event::OrderCompleted)),
        (OrderType::Fak, None),
    ] {
        let mut world = World::new();
        let market = world.market_with(|market| {
            market.fee = FeeSchedule {
                rate_ppm: 1_000_000,
                exponent: 1,
            };
        });
        let maker = world.trader(1, 1_000);
        world.split(maker, market, 100);
        world.rest(maker, market, SELL_YES, 100, 50);
        // At the limit of 0.90, ten shares cost 9 plus a fee of 0.9; at 0.50 a share costs 0.75.
        let taker = world.trader(2, 10);
        let order = world.limit(taker, market, BUY_YES, 0, 90);
        let result = world.place(budget(order, order_type, (9_000_000, 10_000_000)));
        assert_eq!(result.lots, Lots(1_333));
        assert_eq!(result.value + result.fee, Micros(9_997_500));
        match expected {
            Some(event) => assert_eq!(world.events.last(), Some(&event)),
            None => assert_eq!(world.closed()[0].1, CloseReason::FeeStopped),
        }
    }
}

#[test]
fn the_fee_of_a_seller_is_at_most_the_proceeds() {
    let mut world = World::new();
    let market = world.market_with(|market| {
        market.fee = FeeSchedule {
            rate_ppm: 1_000_000,
            exponent: 0,
        };
    });
    let (buyer, seller) = (world.trader(1, 100), world.trader(2, 100));
    world.split(seller, market, 10);
    world.rest(buyer, market, BUY_YES, 10, 5);
    let order = world.limit(seller, market, SELL_YES, 10, 5);
    let result = world.place(order);
    assert_eq!(
        (result.value, result.fee),
        (Micros(500_000), Micros(500_000))
    );
    assert_eq!(world.money(seller), (90 * UNIT, 0));
}

#[test]
fn post_only_is_refused_if_it_would_cross_and_burns_its_id() {
    let mut world = World::new();
    let market = world.market();
    let me = world.trader(1, 100);
    let own = world.rest(me, market, BUY_NO, 1, 50);
    let mut order = world.limit(me, market, BUY_YES, 1, 50);
    order.post_only = true;
    let result = world.place(order);
    assert_eq!(
        result.status,
        OrderStatus::Killed(RejectionReason::CrossesBook.into())
    );
    assert_eq!(world.book(), [(own, 100)]);
    world.refused(&Command::PlaceOrder(order), RejectionReason::CrossesBook);
    let mut below = world.limit(me, market, BUY_YES, 1, 49);
    below.post_only = true;
    assert_eq!(world.place(below).status, OrderStatus::Live);
    below.order_type = OrderType::Fok;
    below.order = foretell_model::OrderId(world.name());
    world.refused(
        &Command::PlaceOrder(below),
        RejectionReason::PostOnlyNeedsResting,
    );
}

#[test]
fn a_small_marketable_buy_is_refused_and_a_small_resting_one_is_not() {
    let mut world = World::new();
    world.change_settings(|settings| settings.marketable_minimum = Micros(UNIT));
    let market = world.market();
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    world.split(maker, market, 10);
    world.rest(maker, market, BUY_NO, 10, 50);
    // Exactly the minimum is accepted.
    let enough = world.limit(taker, market, BUY_YES, 2, 50);
    assert_eq!(world.place(enough).status, OrderStatus::Matched);
    let small = world.limit(taker, market, BUY_YES, 1, 50);
    let (reason, details) = (
        RejectionReason::MarketableBelowMinimum,
        [500_000, 1_000_000],
    );
    let killed = OrderStatus::Killed(Rejection { reason, details });
    assert_eq!(world.place(small).status, killed);
    let details = {
        let order = world.limit(taker, market, BUY_YES, 1, 50);
        let command = Command::PlaceOrder(budget(order, OrderType::Fak, (500_000, 1_000_000)));
        world.refused(&command, RejectionReason::MarketableBelowMinimum)
    };
    assert_eq!(details, [500_000, 1_000_000]);
    world.rest(taker, market, BUY_YES, 1, 49);
    let sell = world.limit(maker, market, SELL_YES, 1, 40);
    assert_eq!(world.place(sell).status, OrderStatus::Matched);
}

#[rstest]
#[case::gtd_due(OrderType::Gtd, START + 60, false)]
#[case::gtd_just_not_due(OrderType::Gtd, START + 61, true)]
#[case::gtd_without(OrderType::Gtd, 0, false)]
#[case::gtc_with(OrderType::Gtc, START + 1_000, false)]
fn an_expiration_must_be_ahead_and_of_a_gtd(
    #[case] order_type: OrderType,
    #[case] expiration: u64,
    #[case] is_valid: bool,
) {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.order_type = order_type;
    order.expiration = TimeSeconds(expiration);
    if is_valid {
        assert_eq!(world.place(order).status, OrderStatus::Live);
    } else {
        world.refused(
            &Command::PlaceOrder(order),
            RejectionReason::InvalidExpiration,
        );
    }
}

#[rstest]
#[case::zero(Side::Buy, OrderType::Gtc, 0, 1, RejectionReason::AmountZero, [0, 0])]
#[case::too_large(Side::Buy, OrderType::Gtc, 1, 1_000_000_000_000_001, RejectionReason::AmountTooLarge, [0, 0])]
#[case::finer_than_a_lot(Side::Buy, OrderType::Gtc, 5_000, 10_001, RejectionReason::SizeNotLots, [10_001, 0])]
#[case::sell_finer_than_a_lot(Side::Sell, OrderType::Fak, 10_001, 5_000, RejectionReason::SizeNotLots, [10_001, 0])]
#[case::inexact(Side::Buy, OrderType::Gtc, 10_001, 20_000, RejectionReason::PriceOffTick, [100, 0])]
#[case::finer_than_a_tick(Side::Buy, OrderType::Gtc, 5_010, 10_000, RejectionReason::PriceOffTick, [100, 0])]
#[case::at_one(Side::Buy, OrderType::Gtc, 10_000, 10_000, RejectionReason::PriceOffTick, [100, 0])]
#[case::far_above_one(Side::Buy, OrderType::Gtc, 655_360_000, 10_000, RejectionReason::PriceOffTick, [100, 0])]
#[case::budget_below_a_tick(Side::Buy, OrderType::Fok, 9_999, 1_000_000, RejectionReason::PriceOffTick, [100, 0])]
#[case::sell_rounds_up_to_one(Side::Sell, OrderType::Fok, 1_000_000, 990_001, RejectionReason::PriceOffTick, [100, 0])]
fn amounts_are_checked(
    #[case] side: Side,
    #[case] order_type: OrderType,
    #[case] maker_amount: u64,
    #[case] taker_amount: u64,
    #[case] reason: RejectionReason,
    #[case] details: [u64; 2],
) {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let mut order = world.limit(trader, market, (side, Outcome::Yes), 1, 50);
    order.order_type = order_type;
    (order.maker_amount, order.taker_amount) = (maker_amount, taker_amount);
    assert_eq!(world.refused(&Command::PlaceOrder(order), reason), details);
}

/// The signed ratio is rounded in the signer's favour, so no fill is worse than signed.
#[rstest]
#[case::buy_down(Side::Buy, 10_000_000, 29_411_764, 34)]
#[case::buy_just_below_rounds_down(Side::Buy, 10_000_000, 29_411_765, 33)]
#[case::sell_up(Side::Sell, 10_000_000, 3_300_001, 34)]
#[case::sell_exact(Side::Sell, 10_000_000, 3_300_000, 33)]
fn a_market_order_is_limited_by_its_ratio(
    #[case] side: Side,
    #[case] maker_amount: u64,
    #[case] taker_amount: u64,
    #[case] limit: u64,
) {
    let opposite = match side {
        Side::Buy => Outcome::No,
        Side::Sell => Outcome::Yes,
    };
    for (cents, meets) in [
        (limit, true),
        (limit + 1, side == Side::Sell),
        (limit - 1, side == Side::Buy),
    ] {
        let mut world = World::new();
        let market = world.market();
        let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
        world.split(taker, market, 10);
        let own_cents = if side == Side::Buy {
            100 - cents
        } else {
            cents
        };
        world.rest(maker, market, (Side::Buy, opposite), 50, own_cents);
        let mut order = world.limit(taker, market, (side, Outcome::Yes), 1, 50);
        order.order_type = OrderType::Fak;
        (order.maker_amount, order.taker_amount) = (maker_amount, taker_amount);
        let met = world.place(order).status == OrderStatus::Matched;
        assert_eq!(met, meets, "limit {limit}, maker at {cents}");
    }
}

#[test]
fn admission_looks_at_money_shares_size_and_live_orders() {
    let mut world = World::new();
    let market = world.market_with(|market| market.minimum_size = Lots(500));
    let trader = world.trader(1, 10);
    world.split(trader, market, 5);
    let place = |world: &mut World, what, shares, cents| {
        Command::PlaceOrder(world.limit(trader, market, what, shares, cents))
    };
    let small = place(&mut world, BUY_YES, 4, 50);
    assert_eq!(
        world.refused(&small, RejectionReason::SizeBelowMinimum),
        [400, 500]
    );
    let dear = place(&mut world, BUY_YES, 11, 50);
    assert_eq!(
        world.refused(&dear, RejectionReason::NotEnoughCollateral),
        [5_500_000, 5_000_000]
    );
    let short = place(&mut world, SELL_YES, 6, 50);
    assert_eq!(
        world.refused(&short, RejectionReason::NotEnoughShares),
        [600, 500]
    );
    world.change_settings(|settings| settings.live_orders_per_account = 1);
    world.rest(trader, market, SELL_YES, 5, 50);
    // Orders that cannot rest do not count.
    let mut fak = world.limit(trader, market, BUY_YES, 5, 50);
    fak.order_type = OrderType::Fak;
    let killed = OrderStatus::Killed(RejectionReason::FakNoMatch.into());
    assert_eq!(world.place(fak).status, killed);
    let second = place(&mut world, BUY_NO, 5, 40);
    assert_eq!(
        world.refused(&second, RejectionReason::TooManyLiveOrders),
        [1, 1]
    );
}

#[test]
fn a_buy_that_may_rest_is_admitted_with_its_fee_and_rests_without() {
    let mut world = World::new();
    let market = world.market_with(|market| {
        market.fee = FeeSchedule {
            rate_ppm: 33_333,
            exponent: 2,
        };
    });
    // 10 shares at 0.50: 10 × 0.033333 × 0.0625 = 0.020833125, rounded up to a micro.
    let trader = world.trader(1, 5);
    let order = Command::PlaceOrder(world.limit(trader, market, BUY_YES, 10, 50));
    let details = world.refused(&order, RejectionReason::NotEnoughCollateral);
    assert_eq!(details, [5_020_834, 5_000_000]);
    world.deposit(trader.wallet, 1);
    world.done(&order);
    assert_eq!(world.money(trader), (UNIT, 5 * UNIT));
}

#[test]
fn a_trade_near_the_ends_makes_the_tick_finer_once() {
    for (cents, refines) in [(4, false), (96, false), (3, true), (97, true)] {
        let mut world = World::new();
        let market = world.market_with(|market| market.tick_refines = true);
        let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
        let staying = world.rest(maker, market, BUY_NO, 1, 1);
        world.rest(maker, market, BUY_NO, 1, 100 - cents);
        let order = world.limit(taker, market, BUY_YES, 1, cents);
        world.place(order);
        let tick = Tick::Thousandth;
        let expected = Event::TickSet(TickSet { market, tick });
        assert_eq!(
            world.events.last() == Some(&expected),
            refines,
            "at {cents}"
        );
        assert_eq!(world.book(), [(staying, 100)]);
    }
}

#[test]
fn a_finer_tick_and_a_market_that_forbids_it_stay() {
    for (tick, tick_refines) in [
        (Tick::Hundredth, false),
        (Tick::Thousandth, true),
        (Tick::TenThousandth, true),
    ] {
        let mut world = World::new();
        let market = world.market_with(|market| {
            market.tick = tick;
            market.tick_refines = tick_refines;
        });
        let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
        world.rest(maker, market, BUY_NO, 1, 1);
        let order = world.limit(taker, market, BUY_YES, 1, 99);
        world.place(order);
        assert_eq!(world.events.last(), Some(&Event::OrderCompleted));
    }
}

#[test]
fn a_taker_stops_at_the_bound_of_touched_orders() {
    let mut world = World::new();
    world.change_settings(|settings| settings.live_orders_per_account = 10_000);
    let market = world.market();
    let (maker, taker) = (world.trader(1, 10_000), world.trader(2, 10_000));
    let most = MAX_VISITED_ORDERS as u64;
    let mut events = Vec::new();
    for _ in 0..=most {
        let order = Command::PlaceOrder(world.limit(maker, market, BUY_NO, 1, 50));
        world.exchange.apply(&order, world.now, &mut events);
    }
    // A FOK that visits exactly the bound succeeds.
    let mut fok = world.limit(taker, market, BUY_YES, 0, 50);
    fok = budget(
        fok,
        OrderType::Fok,
        ((most + 1) * UNIT / 2, (most + 1) * UNIT),
    );
    let killed = OrderStatus::Killed(RejectionReason::FokNotFilled.into());
    assert_eq!(world.place(fok).status, killed);
    let order = world.limit(taker, market, BUY_YES, most + 1, 50);
    let result = world.place(order);
    assert_eq!(result.lots, Lots(most * 100));
    let number = world.exchange.sequence().0;
    assert_eq!(world.closed(), [(number, CloseReason::TooManyFills)]);
    assert_eq!(world.book().len(), 1);
    for _ in 1..most {
        let order = Command::PlaceOrder(world.limit(maker, market, BUY_NO, 1, 50));
        world.exchange.apply(&order, world.now, &mut events);
    }
    let order = world.limit(taker, market, BUY_YES, most, 50);
    world.place(order);
    assert_eq!(world.events.last(), Some(&Event::OrderCompleted));
}

#[rstest]
#[case(SystemMode::CancelOnly, false, RejectionReason::CancelOnly)]
#[case(SystemMode::Paused, true, RejectionReason::SystemPaused)]
#[case(SystemMode::PostOnly, false, RejectionReason::PostOnlyMode)]
fn modes_refuse_orders(
    #[case] mode: SystemMode,
    #[case] post_only: bool,
    #[case] reason: RejectionReason,
) {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.done(&Command::SetMode { mode });
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.post_only = post_only;
    world.refused(&Command::PlaceOrder(order), reason);
    if mode == SystemMode::PostOnly {
        order.post_only = true;
        assert_eq!(world.place(order).status, OrderStatus::Live);
    }
}
