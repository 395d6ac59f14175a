//! Trades: their two sides, and every way to find them.

use crate::scene;

use foretell_model::command::BindWallet;
use foretell_model::event::WalletBound;
use foretell_model::{Command, Event, MatchKind, Micros, Sequence, TimeNs, TradeIndex, WalletKind};
use foretell_view::{TradeId, TradeSlot};
use scene::*;

/// Bob rests No, Carol (builder 7) rests Yes; Alice (builder 8) takes both, then Bob (builder 7)
/// takes the remainder of Carol's order. Three trades in two frames.
fn traded() -> (Scene, [foretell_model::OrderNumber; 4]) {
    let mut scene = Scene::trading();
    scene.split(CAROL, MARKET, 100);
    let bob = scene.rest(BOB, NO, BUY, 60, 4_000);
    let ask = limit(CAROL, YES, SELL, 50, 6_100);
    let carol = scene.place_with(ask, &[rested(50, 6_100)], &evidence_of_builder(7));
    let mut second = fill((carol, CAROL), MatchKind::Complementary, 6_100, 30, 20);
    second.fee = Micros(110);
    let alice = scene.place_with(
        limit(ALICE, YES, BUY, 90, 6_200),
        &[
            Event::Fill(fill((bob, BOB), MatchKind::Mint, 6_000, 60, 0)),
            Event::Fill(second),
            Event::OrderCompleted,
        ],
        &evidence_of_builder(8),
    );
    let last = scene.place_with(
        limit(BOB, YES, BUY, 20, 6_100),
        &[
            Event::Fill(fill((carol, CAROL), MatchKind::Complementary, 6_100, 20, 0)),
            Event::OrderCompleted,
        ],
        &evidence_of_builder(7),
    );
    (scene, [bob, carol, alice, last])
}

fn slots(scene: &Scene) -> Vec<TradeSlot> {
    scene.view.trades().slots().collect()
}

#[test]
fn a_trade_shows_both_sides_in_their_own_tokens() {
    let (scene, [bob, carol, alice, _]) = traded();
    let all = slots(&scene);
    let mint = scene.view.trade(all[0]).unwrap();
    assert_eq!(
        (mint.sequence, mint.index),
        (Sequence(alice.0), TradeIndex(0))
    );
    assert_eq!(
        (mint.kind, mint.lots.0, mint.fee),
        (MatchKind::Mint, 60, Micros(0))
    );
    assert_eq!(
        (mint.taker.order, mint.taker.account, mint.taker.price.0),
        (alice, ALICE, 6_000)
    );
    assert_eq!((mint.taker.outcome, mint.taker.side), (YES, BUY));
    assert_eq!(
        (mint.maker.order, mint.maker.account, mint.maker.price.0),
        (bob, BOB, 4_000)
    );
    assert_eq!((mint.maker.outcome, mint.maker.side), (NO, BUY));
    assert_eq!(
        (mint.taker_value().0, mint.maker_value().0),
        (360_000, 240_000)
    );
    assert_eq!(
        (mint.taker.builder, mint.maker.builder),
        (Some([8; 32]), None)
    );
    assert_eq!(mint.taker.order_id, order_id(alice.0));
    assert_eq!(
        (mint.time.0, u64::from(mint.place.offset)),
        (alice.0 * 1_000_000_000, alice.0 * 512)
    );

    let sale = scene.view.trade(all[1]).unwrap();
    assert_eq!(
        (sale.sequence, sale.index, sale.fee),
        (Sequence(alice.0), TradeIndex(1), Micros(110))
    );
    assert_eq!(
        (sale.maker.order, sale.maker.outcome, sale.maker.side),
        (carol, YES, SELL)
    );
    assert_eq!((sale.maker.price.0, sale.maker.key.0), (6_100, 2));
}

#[test]
fn a_trade_is_all_fills_of_a_frame_and_found_by_its_id() {
    let (scene, [_, carol, alice, last]) = traded();
    let all = slots(&scene);
    let firsts = [(alice, all[0]), (alice, all[0]), (last, all[2])];
    for (slot, (number, first)) in all.iter().zip(firsts) {
        let id = TradeId::new(&GENESIS, Sequence(number.0));
        assert_eq!(scene.view.trade_id(*slot), Some(id));
        assert_eq!(scene.view.trade(*slot).unwrap().id, id);
        assert_eq!(scene.view.trade_by_id(id), Some(first));
    }
    let unknown = TradeId::new(&GENESIS, Sequence(carol.0));
    assert_eq!(scene.view.trade_by_id(unknown), None);

    for (slots, trade) in [(&all[..2], alice), (&all[2..], last)] {
        let fills: Vec<_> = slots
            .iter()
            .filter_map(|it| scene.view.trade(*it))
            .collect();
        let order = scene.order(trade).unwrap();
        for slot in slots {
            let found: Vec<_> = scene.view.fills_of_trade(*slot).collect();
            assert_eq!(found, fills);
            let sum = scene.view.trade_columns(*slot).unwrap().sum;
            assert_eq!(
                (sum.lots, sum.value, sum.fee),
                (order.matched, order.value, order.fee)
            );
        }
    }
    let none = scene.view.fills_of_trade(TradeSlot::at(9)).count();
    assert_eq!(none, 0);
}

#[test]
fn trades_are_listed_by_whom_and_what_they_concern() {
    let (scene, [bob, carol, alice, last]) = traded();
    let all = slots(&scene);
    let (view, trades) = (&scene.view, scene.view.trades());
    assert_eq!(trades.count(), 3);
    assert_eq!(listed(trades.of_market(MARKET)), all);
    assert_eq!(listed(trades.of_account(ALICE)), &all[..2]);
    assert_eq!(listed(trades.of_account(BOB)), &[all[0], all[2]]);
    assert_eq!(listed(trades.of_account(CAROL)), &all[1..]);
    let nobody = foretell_model::AccountNumber(9);
    assert_eq!(listed(trades.of_account(nobody)), &[]);
    for account in [ALICE, BOB, CAROL, nobody] {
        let of_account = listed(trades.of_account(account));
        assert_eq!(
            listed(view.trades_of_account_in(account, MARKET)),
            of_account
        );
        assert_eq!(
            view.holdings().traded_markets(account),
            usize::from(!of_account.is_empty())
        );
        let elsewhere = foretell_model::MarketNumber(9);
        assert_eq!(listed(view.trades_of_account_in(account, elsewhere)), &[]);
    }
    assert_eq!(listed(trades.with_builder()), all);
    assert_eq!(listed(view.trades_of_builder(&[7; 32])), &all[1..]);
    assert_eq!(listed(view.trades_of_builder(&[8; 32])), &all[..2]);
    assert_eq!(listed(view.trades_of_builder(&[0; 32])), &[]);

    let newest = |number, limit| {
        let order = scene.order(number).unwrap();
        view.trades_of_order(&order, limit)
    };
    let of = |number| newest(number, usize::MAX);
    assert_eq!(newest(alice, 1), &all[..1]);
    assert_eq!(newest(carol, 1), &all[2..]);
    assert_eq!(newest(carol, 0), &[]);
    assert_eq!(of(alice), &all[..1]);
    assert_eq!(of(bob), &all[..1]);
    assert_eq!(of(carol), &all[1..]);
    assert_eq!(of(last), &all[2..]);
    assert_eq!(view.fills_taken_by(&scene.order(carol).unwrap()).count(), 0);
}

#[test]
fn an_owner_sees_a_trade_between_its_wallets_once() {
    let (mut scene, [_, _, alice, last]) = traded();
    let all = slots(&scene);
    let ever = || TimeNs(0)..TimeNs(u64::MAX);
    let newest_first: Vec<_> = scene.view.trades_of_owner(BOB, ever(), None).collect();
    assert_eq!(newest_first, [all[2], all[0]]);
    let bind = Event::WalletBound(WalletBound {
        owner: BOB,
        wallet: CAROL,
        kind: WalletKind::Proxy,
    });
    scene.step(
        Command::BindWallet(BindWallet {
            owner: wallet(BOB),
            wallet: wallet(CAROL),
            kind: WalletKind::Proxy,
        }),
        &[bind],
    );
    let newest_first: Vec<_> = scene.view.trades_of_owner(BOB, ever(), None).collect();
    assert_eq!(newest_first, [all[2], all[1], all[0]]);

    // Before an earlier end of reading, and within a time range.
    let older = |than| scene.view.trades_of_owner(BOB, ever(), Some(than));
    assert_eq!(older(all[2]).collect::<Vec<_>>(), [all[1], all[0]]);
    assert_eq!(older(all[0]).count(), 0);
    let at = |number: foretell_model::OrderNumber| TimeNs(number.0 * 1_000_000_000);
    let within = |time| scene.view.trades_of_owner(BOB, time, None);
    assert_eq!(
        within(at(alice)..at(last)).collect::<Vec<_>>(),
        [all[1], all[0]]
    );
}

#[test]
fn a_list_is_cut_by_time() {
    let (scene, [_, _, alice, last]) = traded();
    let all = slots(&scene);
    let at = |number: foretell_model::OrderNumber| TimeNs(number.0 * 1_000_000_000);
    let of_market = scene.view.trades().of_market(MARKET);
    let cut = |from, before| listed(scene.view.trades_within(of_market, from, before));
    assert_eq!(cut(TimeNs(0), TimeNs(u64::MAX)), all);
    assert_eq!(cut(at(alice), at(last)), &all[..2]);
    assert_eq!(cut(at(last), TimeNs(u64::MAX)), &all[2..]);
    assert_eq!(cut(at(last), at(alice)), &[]);
    assert_eq!(listed(of_market.oldest(2)), &all[..2]);
    assert_eq!(listed(of_market.oldest(9)), all);
    assert_eq!(listed(of_market.older_than(all[1])), &all[..1]);
    let newest = scene
        .view
        .trades_within(of_market, at(last), TimeNs(u64::MAX));
    assert_eq!(listed(newest.oldest(1)), &all[2..]);
    assert_eq!(listed(newest.older_than(all[1])), &[]);
}
