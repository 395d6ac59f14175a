//! Frames that no correct exchange writes are rejected by sequence, and so is every later frame.

use crate::scene;

use foretell_model::event::{AccountOpened, Deposited, Merged, OrderClosed, Split, Withdrawn};
use foretell_model::{
    AccountNumber, CloseReason, Command, Event, Fill, FramePosition, FrameRef, Lots, MarketNumber,
    MatchKind, Micros, OrderNumber, Outcome, Price, Sequence, TimeNs,
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

fn good_fill(maker: OrderNumber) -> Fill {
    fill((maker, BOB), MatchKind::Mint, 6_000, 20, 40)
}

#[rstest]
#[case::account_twice(Event::AccountOpened(AccountOpened { account: BOB, wallet: wallet(NOBODY) }))]
#[case::account_skipped(Event::AccountOpened(AccountOpened { account: NOBODY, wallet: wallet(NOBODY) }))]
#[case::address_twice(Event::AccountOpened(AccountOpened { account: AccountNumber(3), wallet: wallet(BOB) }))]
#[case::nobody(Event::Deposited(Deposited { account: NOBODY, amount: Micros(1) }))]
#[case::more_than_there_is(Event::Withdrawn(Withdrawn { account: BOB, amount: Micros(1_000_000_001) }))]
#[case::reserved(Event::Withdrawn(Withdrawn { account: BOB, amount: Micros(999_800_000) }))]
#[case::overflow(Event::Deposited(Deposited { account: BOB, amount: Micros(u64::MAX) }))]
#[case::no_shares(Event::Merged(Merged { account: BOB, market: MARKET, lots: Lots(1) }))]
#[case::no_market(Event::Split(Split { account: BOB, market: MarketNumber(5), lots: Lots(1) }))]
#[case::no_fees(Event::FeesWithdrawn { amount: Micros(1) })]
#[case::of_another_command(Event::SettingsChanged)]
#[case::no_order_placed(rested(1, 100))]
#[case::nothing_placed(Event::OrderCompleted)]
#[case::not_live(Event::OrderClosed(OrderClosed { order: OrderNumber(1), account: BOB, lots: Lots(60), reason: CloseReason::User }))]
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
fn a_frame_that_makes_the_fold_panic_is_refused_like_others() {
    let (mut scene, _) = scene_with_order();
    // The value of this many shares exceeds the range of amounts.
    let split = Event::Split(Split {
        account: BOB,
        market: MARKET,
        lots: Lots(u64::MAX),
    });
    let step = |scene: &mut Scene, events: &[Event]| {
        scene
            .try_step(&Command::AdvanceTime, events, &[])
            .unwrap_err()
    };
    assert_eq!(step(&mut scene, &[split]).what, Impossible::Panicked);
    assert_eq!(step(&mut scene, &[]).what, Impossible::AfterError);
    assert!(scene.view.snapshot().is_none());
}

#[test]
fn an_ending_fits_its_order() {
    for (account, lots) in [(ALICE, 60), (BOB, 59), (BOB, 61)] {
        let (mut scene, order) = scene_with_order();
        let closed = Event::OrderClosed(OrderClosed {
            order,
            account,
            lots: Lots(lots),
            reason: CloseReason::User,
        });
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

/// The error of a forged fill, given the maker's order.
type Refused = fn(OrderNumber) -> Impossible;

const DIFFERS: Refused = Impossible::OrderDiffers;
const NO_MONEY: Refused = |_| Impossible::AmountOutOfRange;

#[rstest]
#[case::another_maker(YES, |fill: &mut Fill| fill.maker = CAROL, DIFFERS)]
#[case::another_token(YES, |fill: &mut Fill| fill.kind = MatchKind::Complementary, DIFFERS)]
#[case::buyers_do_not_merge(YES, |fill: &mut Fill| fill.kind = MatchKind::Merge, DIFFERS)]
#[case::two_buyers_of_one_token(NO, |fill: &mut Fill| fill.kind = MatchKind::Complementary, DIFFERS)]
#[case::another_price(YES, |fill: &mut Fill| fill.yes_price = Price(5_900), DIFFERS)]
#[case::another_rest(YES, |fill: &mut Fill| fill.maker_left = Lots(39), DIFFERS)]
#[case::more_than_rests(YES, |fill: &mut Fill| fill.lots = Lots(61), NO_MONEY)]
#[case::not_live(YES, |fill: &mut Fill| fill.maker_order.0 -= 1, |order: OrderNumber| Impossible::OrderNotLive(OrderNumber(order.0 - 1)))]
#[case::a_fee_beyond_all_means(YES, |fill: &mut Fill| fill.fee = Micros(1_000_000_000), NO_MONEY)]
fn a_fill_fits_both_orders(
    #[case] outcome: Outcome,
    #[case] spoil: fn(&mut Fill),
    #[case] refused: Refused,
) {
    let (mut scene, maker) = scene_with_order();
    let mut order = limit(ALICE, outcome, BUY, 20, 6_000);
    order.order = order_id(scene.next());
    let mut spoiled = good_fill(maker);
    spoil(&mut spoiled);
    let events = [Event::Fill(spoiled), Event::OrderCompleted];
    let error = scene
        .try_step(&Command::PlaceOrder(order), &events, &[])
        .unwrap_err();
    assert_eq!(error.what, refused(maker));
}

#[test]
fn the_fill_that_was_spoiled_is_good() {
    let (mut scene, maker) = scene_with_order();
    let events = [Event::Fill(good_fill(maker)), Event::OrderCompleted];
    scene.place(limit(ALICE, YES, BUY, 20, 6_000), &events);
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
fn nothing_trades_after_the_end() {
    let (mut scene, maker) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 6_000);
    order.order = order_id(scene.next());
    let events = [Event::OrderCompleted, Event::Fill(good_fill(maker))];
    let error = scene
        .try_step(&Command::PlaceOrder(order), &events, &[])
        .unwrap_err();
    assert_eq!(error.what, Impossible::NotOfCommand { code: 1 });
}

#[test]
fn an_id_is_placed_once() {
    let (mut scene, first) = scene_with_order();
    let mut order = limit(ALICE, YES, BUY, 20, 3_000);
    order.order = order_id(first.0);
    let error = scene
        .try_step(&Command::PlaceOrder(order), &[rested(20, 3_000)], &[])
        .unwrap_err();
    assert_eq!(error.what, Impossible::DuplicateName);
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
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            sequence: Sequence(wrong),
            time: TimeNs(1),
            command: &Command::AdvanceTime,
            events: &[],
            evidence: &[],
            place: FramePosition::default(),
        };
        let error = scene.view.apply(&frame).unwrap_err();
        assert_eq!(error.sequence, Sequence(wrong));
        let expected = Sequence(1);
        assert_eq!(error.what, Impossible::OutOfOrder { expected });
        assert_eq!(
            error.to_string(),
            format!("impossible frame at sequence {wrong}: expected sequence 1")
        );
    }
}
