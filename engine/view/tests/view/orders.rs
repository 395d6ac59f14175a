//! Orders: state, look-ups, and the order of their ends.

use crate::scene;

use foretell_model::command::{BindWallet, CancelAll};
use foretell_model::event::{OrderClosed, OrderKilled, WalletBound};
use foretell_model::{
    CloseReason, Command, Event, Lots, MatchKind, OrderNumber, OrderType, RejectionReason,
    Sequence, TimeSeconds, WalletKind,
};
use foretell_view::{OrderState, UserStatus};
use rstest::rstest;
use scene::*;

#[rstest]
#[case(CloseReason::User, UserStatus::Canceled)]
#[case(CloseReason::Expired, UserStatus::Canceled)]
#[case(CloseReason::Heartbeat, UserStatus::Canceled)]
#[case(CloseReason::SelfTrade, UserStatus::Canceled)]
#[case(CloseReason::ClosedOnly, UserStatus::Canceled)]
#[case(CloseReason::MarketClosed, UserStatus::CanceledMarketResolved)]
fn a_resting_order_ends_with_a_word(#[case] reason: CloseReason, #[case] status: UserStatus) {
    let mut scene = Scene::trading();
    let number = scene.rest(ALICE, YES, BUY, 100, 4_000);
    assert_eq!(
        scene.order(number).unwrap().state.user_status(),
        UserStatus::Live
    );
    let closed = Event::OrderClosed(OrderClosed {
        order: number,
        account: ALICE,
        lots: Lots(100),
        reason,
    });
    let sequence = scene.step(Command::AdvanceTime, &[closed]);
    let order = scene.order(number).unwrap();
    assert_eq!(
        (order.state, order.state.user_status()),
        (OrderState::Closed(reason), status)
    );
    assert_eq!((order.left, order.matched), (Lots(100), Lots(0)));
    assert_eq!(order.created.0, number.0 * 1_000_000_000);
    assert_eq!(order.updated.0, sequence.0 * 1_000_000_000);
    assert_eq!(scene.collateral(ALICE), (1_000_000_000, 0));
    let orders = scene.view.orders();
    assert_eq!((orders.live_count(), orders.live_count_of(ALICE)), (0, 0));
    assert_eq!(orders.live_count_in(order.market), 0);
}

#[rstest]
#[case::rest_of_a_fak(CloseReason::FakRest)]
#[case::too_many(CloseReason::TooManyFills)]
#[case::fee(CloseReason::FeeStopped)]
fn a_stopped_budget_buy_is_canceled_whatever_it_matched(#[case] reason: CloseReason) {
    let mut scene = Scene::trading();
    let maker = scene.rest(BOB, NO, BUY, 50, 5_000);
    let mut order = limit(ALICE, YES, BUY, 100, 5_000);
    order.order_type = OrderType::Fak;
    let own = OrderNumber(scene.next());
    let rest = Event::OrderClosed(OrderClosed {
        order: own,
        account: ALICE,
        lots: Lots(0),
        reason,
    });
    scene.place(
        order,
        &[
            Event::Fill(fill((maker, BOB), MatchKind::Mint, 5_000, 50, 0)),
            rest,
        ],
    );
    let order = scene.order(own).unwrap();
    assert_eq!(order.state.user_status(), UserStatus::Canceled);
    assert_eq!(
        order.original_size(),
        1_000_000,
        "takerAmount is more than what matched"
    );
    let maker = scene.order(maker).unwrap();
    assert_eq!(maker.state.user_status(), UserStatus::Matched);
    assert_eq!((maker.left, maker.matched), (Lots(0), Lots(50)));
}

#[test]
fn a_killed_order_is_kept_with_its_reason() {
    let mut scene = Scene::trading();
    let mut order = limit(ALICE, YES, BUY, 100, 5_000);
    order.order_type = OrderType::Fok;
    let reason = RejectionReason::FokNotFilled;
    let number = scene.place(
        order,
        &[Event::OrderKilled(OrderKilled {
            reason,
            details: [0; 2],
        })],
    );
    let order = scene.view.orders().by_id(&order_id(number.0)).unwrap();
    assert_eq!(
        (order.number, order.state),
        (number, OrderState::Killed(reason))
    );
    assert_eq!(order.state.user_status(), UserStatus::Unmatched);
    assert_eq!(scene.view.orders().live_of(ALICE).count(), 0);
    assert_eq!(scene.collateral(ALICE), (1_000_000_000, 0));
}

#[test]
fn an_order_keeps_what_was_signed() {
    let mut scene = Scene::trading();
    let mut order = limit(ALICE, NO, SELL, 100, 4_000);
    order.order_type = OrderType::Gtd;
    order.expiration = TimeSeconds(77);
    order.post_only = true;
    scene.split(ALICE, MARKET, 100);
    let number = scene.place_with(order, &[rested(100, 4_000)], &evidence_of_builder(5));
    let kept = scene.order(number).unwrap();
    assert_eq!((kept.account, kept.key.0, kept.market), (ALICE, 0, MARKET));
    assert_eq!((kept.outcome, kept.side, kept.price.0), (NO, SELL, 4_000));
    assert_eq!(
        (kept.order_type, kept.expiration, kept.post_only),
        (OrderType::Gtd, TimeSeconds(77), true)
    );
    assert_eq!(kept.size, 1_000_000);
    assert_eq!(
        (kept.original_size(), kept.signature_type),
        (1_000_000, WalletKind::Eoa)
    );
    assert_eq!(u64::from(kept.place.offset), number.0 * 512);
    assert_eq!(scene.view.builder_of(&kept), Some(&[5; 32]));
    let plain = scene.rest(BOB, YES, BUY, 1, 100);
    assert_eq!(scene.view.builder_of(&scene.order(plain).unwrap()), None);
}

#[test]
fn live_orders_are_listed_by_number_and_found_by_id() {
    let mut scene = Scene::trading();
    let bind = Event::WalletBound(WalletBound {
        owner: ALICE,
        wallet: CAROL,
        kind: WalletKind::Safe,
    });
    scene.step(
        Command::BindWallet(BindWallet {
            owner: wallet(ALICE),
            wallet: wallet(CAROL),
            kind: WalletKind::Safe,
        }),
        &[bind],
    );
    let of_carol = scene.rest(CAROL, YES, BUY, 10, 4_000);
    let first = scene.rest(ALICE, YES, BUY, 10, 4_000);
    let of_bob = scene.rest(BOB, YES, BUY, 10, 4_000);
    let second = scene.rest(ALICE, YES, BUY, 10, 3_000);
    let orders = scene.view.orders();
    let numbers = |orders: Vec<&foretell_view::Order>| -> Vec<OrderNumber> {
        orders.iter().map(|order| order.number).collect()
    };
    assert_eq!(numbers(orders.live_of(ALICE).collect()), [first, second]);
    assert_eq!(
        numbers(scene.view.live_orders_of_owner(ALICE)),
        [of_carol, first, second]
    );
    assert_eq!(numbers(scene.view.live_orders_of_owner(BOB)), [of_bob]);
    assert_eq!(
        (
            orders.live_count(),
            orders.live_count_of(ALICE),
            orders.count()
        ),
        (4, 2, 4)
    );
    assert_eq!(orders.live_count_in(orders.live(first).unwrap().market), 4);
    assert_eq!(
        orders.live(of_carol).unwrap().signature_type,
        WalletKind::Safe
    );
    assert!(orders.live(first).unwrap().is_live());
    assert!(
        orders.live(OrderNumber(1)).is_none(),
        "a deposit is no order"
    );
    assert_eq!(orders.by_id(&order_id(second.0)).unwrap().number, second);
    assert!(orders.by_id(&order_id(1)).is_none());
}

#[test]
fn what_a_cancel_ended_is_read_off_its_sequences() {
    let mut scene = Scene::trading();
    let orders: Vec<_> = (0..4)
        .map(|_| scene.rest(ALICE, YES, BUY, 10, 4_000))
        .collect();
    let closed = |index: usize| {
        Event::OrderClosed(OrderClosed {
            order: orders[index],
            account: ALICE,
            lots: Lots(10),
            reason: CloseReason::User,
        })
    };
    let cancel = Command::CancelAll(CancelAll {
        owner: ALICE,
        heartbeat: false,
    });
    let before = scene.step(Command::AdvanceTime, &[closed(3)]);
    let first = scene.step(cancel, &[closed(1), closed(0), Event::WorkPending]);
    assert!(scene.view.system().work_pending);
    let last = scene.step(Command::Continue, &[closed(2)]);
    assert!(!scene.view.system().work_pending);
    let ended = |from, to| -> Vec<(Sequence, OrderNumber)> {
        let ended = scene.view.orders().ended_between(from, to);
        ended
            .inspect(|ended| assert_eq!(ended.reason, CloseReason::User))
            .map(|ended| (ended.sequence, ended.order.number))
            .collect()
    };
    assert_eq!(
        ended(first, last),
        [(first, orders[1]), (first, orders[0]), (last, orders[2])]
    );
    assert_eq!(ended(first, first).len(), 2);
    assert_eq!(ended(before, before), [(before, orders[3])]);
    assert_eq!(ended(last.next(), last.next()), []);
    assert_eq!(ended(last, first), []);
}
