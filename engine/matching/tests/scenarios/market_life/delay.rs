//! Orders that wait out a delay.

use foretell_model::command::{BindWallet, CancelAll, CancelOrder, SetClosedOnly};
use foretell_model::event::OrderReleased;
use foretell_model::{
    CloseReason, Command, CommandOutcome, Event, MarketNumber, Micros, OrderStatus, OrderType,
    PlaceOrder, RejectionReason, WalletKind,
};

use super::{BUY_NO, BUY_YES, FEE, SELL_YES, cancelled, reasons};
use crate::world::{Trader, World};

/// A market with a fee and a delay of 3 s, and two traders with 100 each.
fn scene() -> (World, MarketNumber, Trader, Trader) {
    let mut world = World::new();
    let market = world.market_with(|market| market.fee = FEE);
    let (alice, bob) = (world.trader(1, 100), world.trader(2, 100));
    world.set_terms(market, |terms| terms.taker_delay_ms = 3_000);
    (world, market, alice, bob)
}

fn cancel(trader: Trader, order: &PlaceOrder) -> Command {
    Command::CancelOrder(CancelOrder {
        owner: trader.account,
        order: order.order,
    })
}

fn cancel_all(trader: Trader) -> Command {
    Command::CancelAll(CancelAll {
        owner: trader.account,
        heartbeat: false,
    })
}

#[test]
fn a_taker_waits_and_its_rest_does_not_rest_after_a_cancel() {
    let (mut world, market, alice, bob) = scene();
    world.rest(bob, market, BUY_NO, 6, 40);
    let bid = world.limit(alice, market, BUY_YES, 10, 60);
    let number = world.delay(bid);
    assert_eq!(world.events.len(), 1);
    assert_eq!(world.money(alice), (93_904_000, 6_096_000));
    world.rest(alice, market, BUY_YES, 1, 50);
    assert_eq!(world.done(&cancel(alice, &bid)), cancelled(0));
    assert_eq!(world.repeated(&cancel(alice, &bid)), (0, 0, cancelled(0)));
    world.rest(bob, market, BUY_NO, 1, 41);
    world.wait(3);
    let CommandOutcome::Order(result) = world.advance() else {
        panic!("no order was released");
    };
    assert_eq!(result.status, OrderStatus::Matched);
    assert_eq!(
        (result.value, result.fee),
        (Micros(4_190_000), Micros(67_270))
    );
    assert!(
        matches!(world.events[0], Event::OrderReleased(OrderReleased { order, .. }) if order.0 == number)
    );
    assert_eq!(world.closed(), [(number, CloseReason::User)]);
    assert_eq!(world.money(alice), (95_242_730, 500_000));
    world.repeated(&Command::PlaceOrder(bid));
}

#[test]
fn only_an_order_that_meets_another_account_waits() {
    let (mut world, market, alice, bob) = scene();
    world.rest(alice, market, BUY_NO, 5, 40);
    // Its own order: matched at once, which ends that order.
    world.rest(alice, market, BUY_YES, 5, 60);
    world.done(&cancel_all(alice));
    world.rest(bob, market, BUY_NO, 5, 40);
    let mut post_only = world.limit(alice, market, BUY_YES, 5, 60);
    post_only.post_only = true;
    let status = world.place(post_only).status;
    assert_eq!(
        status,
        OrderStatus::Killed(RejectionReason::CrossesBook.into())
    );
    for (order_type, reason) in [
        (OrderType::Fok, RejectionReason::FokNotFilled),
        (OrderType::Fak, RejectionReason::FakNoMatch),
    ] {
        let mut order = world.limit(alice, market, BUY_YES, 5, 59);
        order.order_type = order_type;
        assert_eq!(
            world.place(order).status,
            OrderStatus::Killed(reason.into())
        );
        let mut order = world.limit(alice, market, BUY_YES, 9, 60);
        order.order_type = order_type;
        world.delay(order);
    }
    world.wait(3);
    assert_eq!(world.advance(), unmatched());
    assert_eq!(reasons(&world), [CloseReason::FokNotFilled]);
    world.advance();
    assert_eq!(
        (world.fills().len(), reasons(&world)),
        (1, vec![CloseReason::FakRest])
    );
}

fn unmatched() -> CommandOutcome {
    CommandOutcome::Order(foretell_model::OrderResult {
        status: OrderStatus::Unmatched,
        lots: foretell_model::Lots::ZERO,
        value: Micros::ZERO,
        fee: Micros::ZERO,
        fills: 0,
    })
}

#[test]
fn a_released_order_rests_behind_its_price_and_keeps_its_number() {
    let (mut world, market, alice, bob) = scene();
    let carol = world.trader(3, 100);
    let ask = world.limit(bob, market, BUY_NO, 5, 40);
    world.place(ask);
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    let delayed = world.delay(order);
    let later = world.rest(alice, market, BUY_YES, 1, 10);
    world.done(&cancel(bob, &ask));
    let before = world.rest(carol, market, BUY_YES, 5, 60);
    world.wait(3);
    let CommandOutcome::Order(result) = world.advance() else {
        panic!("no order was released");
    };
    assert_eq!(result.status, OrderStatus::Live);
    assert!(delayed < before);
    assert_eq!(world.book(), [(before, 500), (delayed, 500), (later, 100)]);
    // A cancel of many goes by number.
    world.done(&cancel_all(alice));
    let closed: Vec<_> = world.closed().iter().map(|(number, _)| *number).collect();
    assert_eq!(closed, [delayed, later]);
}

#[test]
fn a_close_a_closed_only_account_and_an_expiry_end_it() {
    let (mut world, market, alice, bob) = scene();
    world.rest(bob, market, BUY_NO, 50, 40);
    let wallet = alice.wallet;
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    world.delay(order);
    world.done(&Command::SetClosedOnly(SetClosedOnly {
        wallet,
        closed_only: true,
    }));
    assert_eq!(reasons(&world), [CloseReason::ClosedOnly]);
    world.done(&Command::SetClosedOnly(SetClosedOnly {
        wallet,
        closed_only: false,
    }));
    let mut order = world.limit(alice, market, BUY_YES, 5, 60);
    order.order_type = OrderType::Gtd;
    order.expiration = foretell_model::TimeSeconds(world.now.0 / 1_000_000_000 + 62);
    world.delay(order);
    world.wait(2);
    assert_eq!(world.advance(), cancelled(1));
    assert_eq!(reasons(&world), [CloseReason::Expired]);
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    world.delay(order);
    assert_eq!(world.done(&Command::CloseMarket { market }), cancelled(2));
    assert_eq!(reasons(&world), [CloseReason::MarketClosed; 2]);
    assert_eq!(world.money(alice), (100_000_000, 0));
}

#[test]
fn a_sale_reserves_its_shares_and_counts_as_live() {
    let (mut world, market, alice, bob) = scene();
    world.split(alice, market, 10);
    world.rest(bob, market, BUY_YES, 4, 50);
    let order = world.limit(alice, market, SELL_YES, 10, 50);
    world.delay(order);
    let again = world.limit(alice, market, SELL_YES, 1, 50);
    let shares = world.refused(
        &Command::PlaceOrder(again),
        RejectionReason::NotEnoughShares,
    );
    assert_eq!(shares, [100, 0]);
    let owner = foretell_model::WalletAddress([9; 20]);
    let bind = Command::BindWallet(BindWallet {
        owner,
        wallet: alice.wallet,
        kind: WalletKind::Safe,
    });
    world.refused(&bind, RejectionReason::WalletNotBindable);
    world.wait(3);
    world.advance();
    assert_eq!(world.fills().len(), 1);
    assert_eq!(world.shares(alice, market), [600, 1_000]);
}

#[test]
fn a_shorter_delay_overtakes_and_heartbeats_only_note() {
    let (mut world, market, alice, bob) = scene();
    world.rest(bob, market, BUY_NO, 50, 40);
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    let first = world.delay(order);
    world.set_terms(market, |terms| terms.taker_delay_ms = 1_000);
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    let second = world.delay(order);
    let heartbeat = Command::CancelAll(CancelAll {
        owner: alice.account,
        heartbeat: true,
    });
    assert_eq!(world.done(&heartbeat), cancelled(0));
    assert_eq!(world.events.len(), 2);
    assert_eq!(world.repeated(&cancel_all(alice)).2, cancelled(0));
    world.wait(3);
    for number in [second, first] {
        world.advance();
        assert!(
            matches!(world.events[0], Event::OrderReleased(OrderReleased { order, .. }) if order.0 == number)
        );
    }
}

#[test]
fn an_order_of_a_group_visits_what_earlier_frames_left() {
    let (mut world, market, alice, bob) = scene();
    world.set_terms(market, |terms| terms.taker_delay_ms = 0);
    for _ in 0..3 {
        world.rest(bob, market, BUY_NO, 1, 40);
    }
    world.touched = 4_094;
    let order = world.limit(alice, market, BUY_YES, 5, 60);
    world.place(order);
    assert_eq!(world.fills().len(), 2);
    assert_eq!(reasons(&world), [CloseReason::TooManyFills]);
}
