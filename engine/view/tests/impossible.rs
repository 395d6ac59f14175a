//! Frames no correct exchange writes are refused by sequence, and nothing after them is taken.

mod scene;

use foretell_model::{
    AccountNumber, CloseReason, Command, Event, FramePlace, FrameRef, Lots, MarketNumber,
    MatchKind, Micros, OrderNumber, Sequence, TimeNs,
};
use foretell_view::Impossible;
use rstest::rstest;
use scene::*;

const NOBODY: AccountNumber = AccountNumber(8);

/// Bob's only order: 60 No at 0.40 rests as the scene's last frame.
fn scene_with_order() -> (Scene, OrderNumber) {
    let mut scene = Scene::trading();
    let order = scene.rest(BOB, NO, BUY, 60, 4_000);
    (scene, order)
}

fn good_fill(maker: OrderNumber) -> foretell_model::Fill {
    fill((maker, BOB), MatchKind::Mint, 6_000, 20, 40)
}

#[rstest]
#[case::account_twice(Event::AccountOpened { account: BOB, wallet: wallet(NOBODY) })]
#[case::account_skipped(Event::AccountOpened { account: NOBODY, wallet: wallet(NOBODY) })]
#[case::address_twice(Event::AccountOpened { account: AccountNumber(3), wallet: wallet(BOB) })]
#[case::nobody(Event::Deposited { account: NOBODY, amount: Micros(1) })]
#[case::more_than_there_is(Event::Withdrawn { account: BOB, amount: Micros(1_000_000_001) })]
#[case::reserved(Event::Withdrawn { account: BOB, amount: Micros(999_800_000) })]
#[case::overflow(Event::Deposited { account: BOB, amount: Micros(u64::MAX) })]
#[case::no_shares(Event::Merged { account: BOB, market: MARKET, lots: Lots(1) })]
#[case::no_market(Event::Split { account: BOB, market: MarketNumber(5), lots: Lots(1) })]
#[case::no_fees(Event::FeesWithdrawn { amount: Micros(1) })]
#[case::of_another_command(Event::SettingsChanged)]
#[case::no_order_placed(rested(1, 100))]
#[case::nothing_placed(Event::OrderCompleted)]
#[case::not_live(Event::OrderClosed { order: OrderNumber(1), account: BOB, lots: Lots(60), reason: CloseReason::User })]
fn a_lone_event_that_cannot_be(#[case] event: Event) {
    let (mut scene, _) = scene_with_order();
    let sequence = Sequence(scene.next());
    let error = scene
        .try_step(&Command::AdvanceTime, &[event], &[])
        .unwrap_err();
    assert_eq!(error.sequence, sequence);
    let after = scene.try_step(&Command::AdvanceTime, &[], &[]).unwrap_err();
    assert_eq!(after.what, Impossible::AfterError);
}

#[test]
fn an_ending_fits_its_order() {
    for (account, lots) in [(ALICE, 60), (BOB, 59), (BOB, 61)] {
        let (mut scene, order) = scene_with_order();
        let closed = Event::OrderClosed {
            order,
            account,
            lots: Lots(lots),
            reason: CloseReason::User,
        };
        let error = scene
            .try_step(&Command::AdvanceTime, &[closed], &[])
            .unwrap_err();
        assert_eq!(
            error.what,
            Impossible::OrderDiffers(order),
            "{account} {lots}"
        );
    }
}

#[rstest]
#[case::another_maker(|fill: &mut foretell_model::Fill| fill.maker = CAROL)]
#[case::another_kind(|fill: &mut foretell_model::Fill| fill.kind = MatchKind::Complementary)]
#[case::another_price(|fill: &mut foretell_model::Fill| fill.yes_price.0 = 5_900)]
#[case::another_rest(|fill: &mut foretell_model::Fill| fill.maker_left.0 = 39)]
#[case::more_than_rests(|fill: &mut foretell_model::Fill| fill.lots.0 = 61)]
#[case::not_live(|fill: &mut foretell_model::Fill| fill.maker_order.0 += 1)]
#[case::a_fee_beyond_all_means(|fill: &mut foretell_model::Fill| fill.fee.0 = 1_000_000_000)]
fn a_fill_fits_both_orders(#[case] spoil: fn(&mut foretell_model::Fill)) {
    let (mut scene, maker) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 6_000);
    order.order = order_id(scene.next());
    let command = Command::PlaceOrder(order);
    let mut spoiled = good_fill(maker);
    spoil(&mut spoiled);
    let events = [Event::Fill(spoiled), Event::OrderCompleted];
    assert!(scene.try_step(&command, &events, &[]).is_err());

    let (mut scene, maker) = scene_with_order();
    let events = [Event::Fill(good_fill(maker)), Event::OrderCompleted];
    scene.try_step(&command, &events, &[]).unwrap();
}

#[test]
fn a_placement_ends_exactly_once() {
    let (scene, _) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 3_000);
    order.order = order_id(scene.next());
    for events in [&[][..], &[rested(20, 3_000), Event::OrderCompleted]] {
        let (mut scene, _) = scene_with_order();
        let error = scene
            .try_step(&Command::PlaceOrder(order), events, &[])
            .unwrap_err();
        assert_eq!(error.what, Impossible::PlacementUnfinished);
    }
}

#[test]
fn an_id_is_placed_once() {
    let (mut scene, first) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 3_000);
    order.order = order_id(first.0);
    let error = scene
        .try_step(&Command::PlaceOrder(order), &[rested(20, 3_000)], &[])
        .unwrap_err();
    assert_eq!(error.what, Impossible::NameTaken);
}

#[test]
fn a_limit_is_that_of_the_amounts() {
    let (mut scene, _) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 3_000);
    order.order = order_id(scene.next());
    let number = OrderNumber(scene.next());
    let error = scene
        .try_step(&Command::PlaceOrder(order), &[rested(20, 2_900)], &[])
        .unwrap_err();
    assert_eq!(error.what, Impossible::OrderDiffers(number));
}

#[test]
fn sequences_follow_one_another() {
    for wrong in [0, 2] {
        let mut scene = Scene::empty();
        let frame = FrameRef {
            sequence: Sequence(wrong),
            time: TimeNs(1),
            command: &Command::AdvanceTime,
            events: &[],
            evidence: &[],
            place: FramePlace::default(),
        };
        let error = scene.view.apply(&frame).unwrap_err();
        assert_eq!(error.sequence, Sequence(wrong));
        let expected = Sequence(1);
        assert_eq!(error.what, Impossible::OutOfOrder { expected });
        assert_eq!(
            error.to_string(),
            format!("the frame at sequence {wrong} cannot be: the next sequence is 1")
        );
    }
}
