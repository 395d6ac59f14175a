//! Books of either token, changes of them, and the last trade.

use crate::scene;

use foretell_model::command::SetFee;
use foretell_model::event::{FeeSet, MinimumSizeSet, OrderClosed, TickSet};
use foretell_model::{CloseReason, Command, Event, FeeSchedule, Lots, MatchKind, Sequence, Tick};
use scene::*;

#[test]
fn each_token_sees_the_orders_of_both() {
    let mut scene = Scene::trading();
    scene.split(CAROL, MARKET, 1_000);
    scene.rest(ALICE, YES, BUY, 100, 4_000);
    scene.rest(ALICE, NO, BUY, 70, 5_500);
    scene.rest(BOB, YES, BUY, 20, 4_000);
    scene.rest(CAROL, NO, SELL, 30, 6_000);
    scene.rest(CAROL, NO, SELL, 5, 7_000);
    scene.rest(CAROL, YES, SELL, 40, 6_000);
    assert_eq!(
        scene.book(YES),
        (
            vec![(4_000, 150), (3_000, 5)],
            vec![(4_500, 70), (6_000, 40)]
        )
    );
    assert_eq!(
        scene.book(NO),
        (
            vec![(5_500, 70), (4_000, 40)],
            vec![(6_000, 150), (7_000, 5)]
        )
    );
    let book = scene.view.books().get(MARKET).unwrap();
    let best = |outcome| {
        let book = book.of(outcome);
        (book.best_bid().unwrap().0, book.best_ask().unwrap().0)
    };
    assert_eq!(best(YES), (4_000, 4_500));
    assert_eq!(best(NO), (5_500, 6_000));
    let best_last: Vec<u16> = book
        .of(NO)
        .asks()
        .rev()
        .map(|level| level.price.0)
        .collect();
    assert_eq!(best_last, [7_000, 6_000]);
    assert_eq!(book.of(NO).bids().len(), 2);
}

#[test]
fn the_last_trade_is_mirrored_for_the_other_token() {
    let mut scene = Scene::trading();
    assert_eq!(
        scene.view.books().get(MARKET).unwrap().of(YES).last_trade(),
        None
    );
    let bid = scene.rest(BOB, YES, BUY, 100, 3_000);
    let time = scene.time();
    scene.place(
        limit(ALICE, NO, BUY, 40, 7_000),
        &[
            Event::Fill(fill((bid, BOB), MatchKind::Mint, 3_000, 40, 60)),
            Event::OrderCompleted,
        ],
    );
    let book = scene.view.books().get(MARKET).unwrap();
    let no = book.of(NO).last_trade().unwrap();
    assert_eq!((no.price.0, no.side, no.time), (7_000, BUY, time));
    let yes = book.of(YES).last_trade().unwrap();
    assert_eq!((yes.price.0, yes.side, yes.time), (3_000, SELL, time));
    assert_eq!(scene.book(YES).0, [(3_000, 60)]);
}

#[test]
fn only_what_a_book_shows_changes_it() {
    let mut scene = Scene::trading();
    let stands = |scene: &Scene| {
        let book = scene.view.books().get(MARKET).unwrap();
        assert_eq!(book.time().0, book.changed().0 * 1_000_000_000);
        book.changed()
    };
    assert_eq!(
        stands(&scene),
        Sequence(scene.view.sequence().0 - 1),
        "its registration"
    );

    let bid = scene.rest(ALICE, YES, BUY, 100, 4_000);
    assert_eq!(stands(&scene), scene.view.sequence());
    scene.deposit(ALICE, 5);
    scene.split(ALICE, MARKET, 10);
    scene.step(
        Command::SetFee(SetFee {
            market: MARKET,
            fee: FeeSchedule::default(),
        }),
        &[Event::FeeSet(FeeSet {
            market: MARKET,
            fee: FeeSchedule::default(),
        })],
    );
    assert_eq!(stands(&scene), Sequence(bid.0));

    let changes = [
        Event::TickSet(TickSet {
            market: MARKET,
            tick: Tick::Thousandth,
        }),
        Event::MinimumSizeSet(MinimumSizeSet {
            market: MARKET,
            minimum_size: Lots(7),
        }),
        Event::OrderClosed(OrderClosed {
            order: bid,
            account: ALICE,
            lots: Lots(100),
            reason: CloseReason::Expired,
        }),
    ];
    for change in changes {
        let sequence = scene.step(Command::AdvanceTime, &[change]);
        assert_eq!(stands(&scene), sequence, "{change:?}");
    }
    assert_eq!(scene.book(YES), (vec![], vec![]));
}
