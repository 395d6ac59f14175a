//! A market's life (docs/verify/rules.md §21 to §27): delayed orders, terms, proposals, settlement,
//! rebates, people.

use crate::scene;

use foretell_model::command::{
    AddOperator, CancelOrder, DescribeMarket, Dispute, Finalise, PayWithdrawal, Propose, SetTerms,
    Withdraw,
};
use foretell_model::event::{
    CancelRequested, Disputed, MarketResolved, MarketSettled, MarketStateSet, OrderClosed,
    OrderDelayed, OrderReleased, Proposed, RebatePaid, Redeemed, SettlementStarted, TermsSet,
    WithdrawalReleased, WithdrawalRequested, Withdrawn,
};
use foretell_model::settings::PaymentSettings;
use foretell_model::{
    CloseReason, Command, Event, HoldSet, Lots, MarketNumber, MarketState, MarketTerms, MatchKind,
    Micros, OperatorName, OperatorNumber, OperatorRole, OrderId, OrderNumber, Payout, Price,
    Reference, Sequence, TimeMs, TimeNs, WalletAddress,
};
use foretell_view::{Chunking, Day, OrderState, TradeId, UserStatus, View, WithdrawalStatus};
use scene::*;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400;

fn delayed(lots: u64, price: u16, reserved: u64) -> Event {
    Event::OrderDelayed(OrderDelayed {
        price: Price(price),
        lots: Lots(lots),
        reserved,
        due: TimeNs(9 * SECOND),
    })
}

fn released(order: OrderNumber) -> Event {
    Event::OrderReleased(OrderReleased {
        order,
        account: ALICE,
        market: MARKET,
    })
}

/// Bob bids 60 No at 0.40; Alice's 100 Yes at 0.60 wait.
fn waiting() -> (Scene, OrderNumber, OrderNumber) {
    let mut scene = Scene::trading();
    let maker = scene.rest(BOB, NO, BUY, 60, 4_000);
    let order = limit(ALICE, YES, BUY, 100, 6_000);
    let taker = scene.place(order, &[delayed(100, 6_000, 700_000)]);
    (scene, maker, taker)
}

#[test]
fn a_delayed_order_is_live_and_reserved_but_not_in_the_book() {
    let (scene, _, taker) = waiting();
    let order = scene.order(taker).unwrap();
    assert_eq!(order.state.user_status(), UserStatus::Delayed);
    assert_eq!((order.left, order.matched), (Lots(100), Lots(0)));
    assert_eq!(scene.collateral(ALICE), (999_300_000, 700_000));
    assert_eq!(scene.book(YES).0, []);
    let orders = scene.view.orders();
    assert_eq!((orders.live_count(), orders.live_count_of(ALICE)), (2, 1));
    assert_eq!(orders.delay_of(taker).unwrap().due, TimeNs(9 * SECOND));
}

#[test]
fn a_released_order_is_the_taker_of_its_frame() {
    let (mut scene, maker, taker) = waiting();
    let events = [
        released(taker),
        Event::Fill(fill((maker, BOB), MatchKind::Mint, 6_000, 60, 0)),
        rested(40, 6_000),
    ];
    let sequence = scene.step(Command::AdvanceTime, &events);
    let order = scene.order(taker).unwrap();
    assert_eq!(order.state, OrderState::Live);
    assert_eq!((order.left, order.matched), (Lots(40), Lots(60)));
    assert_eq!(scene.collateral(ALICE), (999_400_000, 240_000));
    assert_eq!(scene.book(YES).0, [(6_000, 40)]);
    let slots: Vec<_> = scene.view.fills_taken_by(&order).collect();
    let trade = scene.view.trade(slots[0]).unwrap();
    assert_eq!((slots.len(), trade.sequence), (1, sequence));
    assert_eq!(trade.taker.order, taker);
    assert_eq!(trade.id, TradeId::new(&GENESIS, sequence));
    let columns = scene.view.trade_columns(slots[0]).unwrap();
    assert_eq!(columns.sequence, sequence);
}

#[test]
fn a_cancel_of_a_delayed_order_is_noted_once_and_its_rest_ends() {
    let (mut scene, maker, taker) = waiting();
    let reason = CloseReason::User;
    let requested = Event::CancelRequested(CancelRequested {
        order: taker,
        account: ALICE,
        reason,
    });
    let cancel = Command::CancelOrder(CancelOrder {
        owner: ALICE,
        order: order_id(taker.0),
    });
    scene.step(cancel, &[requested]);
    let orders = scene.view.orders();
    assert_eq!(orders.delay_of(taker).unwrap().cancel, Some(reason));
    let lots = Lots(40);
    let closed = Event::OrderClosed(OrderClosed {
        order: taker,
        account: ALICE,
        lots,
        reason,
    });
    let filled = Event::Fill(fill((maker, BOB), MatchKind::Mint, 6_000, 60, 0));
    scene.step(Command::AdvanceTime, &[released(taker), filled, closed]);
    let order = scene.order(taker).unwrap();
    assert_eq!(order.state, OrderState::Closed(reason));
    assert_eq!(scene.collateral(ALICE), (999_640_000, 0));

    let (mut scene, _, taker) = waiting();
    let requested = Event::CancelRequested(CancelRequested {
        order: taker,
        account: ALICE,
        reason,
    });
    let twice = scene.try_step(&cancel, &[requested, requested], &[]);
    twice.unwrap_err();
}

#[test]
fn a_close_frees_all_that_a_delayed_order_reserved() {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 80);
    scene.rest(BOB, YES, BUY, 60, 4_000);
    let sale = limit(ALICE, YES, SELL, 80, 4_000);
    let taker = scene.place(sale, &[delayed(80, 4_000, 80)]);
    assert_eq!(scene.shares(ALICE), [0, 80, 80, 0]);
    let closed = Event::OrderClosed(OrderClosed {
        order: taker,
        account: ALICE,
        lots: Lots(80),
        reason: CloseReason::Cleared,
    });
    let cleared = Event::MarketCleared { market: MARKET };
    let sequence = scene.step(Command::AdvanceTime, &[cleared, closed]);
    assert_eq!(scene.shares(ALICE), [80, 80, 0, 0]);
    let market = scene.view.markets().get(MARKET).unwrap();
    assert_eq!(market.cleared, Some(TimeNs(sequence.0 * SECOND)));
}

#[test]
fn a_clear_is_armed_by_terms_with_a_start_in_the_future() {
    let mut scene = Scene::trading();
    for (start, armed) in [(1, true), (100_000, false)] {
        let terms = MarketTerms {
            game_start_time: TimeMs(start),
            clear_book_on_start: true,
            taker_delay_ms: 3_000,
            ..MarketTerms::default()
        };
        let market = MARKET;
        scene.step(
            Command::SetTerms(SetTerms {
                market,
                terms: terms.into(),
            }),
            &[Event::TermsSet(TermsSet {
                market,
                terms,
                clear_armed: armed,
            })],
        );
        let known = scene.view.markets().get(MARKET).unwrap();
        assert_eq!((known.terms, known.clear_armed), (terms, armed));
    }
}

fn propose(payout: Payout) -> (Command, Event) {
    let command = Command::Propose(Propose {
        market: MARKET,
        payout,
        by: None,
        evidence: [5; 32],
        window_seconds: Some(60),
        replaces: None,
        reference: Reference::ZERO,
    });
    let event = Event::Proposed(Proposed {
        market: MARKET,
        payout,
        challenge_ends: TimeNs(500 * SECOND),
        by_time: true,
        second_person: false,
    });
    (command, event)
}

#[test]
fn proposals_are_disputed_replaced_and_finalised() {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 10);
    let market = MARKET;
    let closed = Event::MarketStateSet(MarketStateSet {
        holds: HoldSet::NONE,
        market,
        state: MarketState::Closed,
    });
    scene.step(Command::CloseMarket { market }, &[closed]);
    let (command, event) = propose(Payout::Yes);
    let first = scene.act(OperatorNumber(2), command, &[event], b"https://source");
    let known = scene.view.resolutions().proposal(MARKET).unwrap();
    assert_eq!((known.number, known.operator), (first, OperatorNumber(2)));
    assert_eq!(&*known.source, b"https://source");

    let counter = Some(Payout::No);
    let by = Some(BOB);
    let command = Command::Dispute(Dispute {
        market,
        counter,
        by,
    });
    scene.act(
        OperatorNumber(3),
        command,
        &[Event::Disputed(Disputed { market, counter })],
        b"no",
    );
    let dispute = scene.view.resolutions().dispute(MARKET).unwrap();
    assert_eq!((dispute.operator, dispute.wallet), (OperatorNumber(3), by));
    assert_eq!((dispute.counter, &*dispute.reason), (counter, &b"no"[..]));

    let (command, event) = propose(Payout::No);
    let second = scene.act(OperatorNumber(2), command, &[event], b"");
    assert_eq!(scene.view.resolutions().dispute(MARKET), None);
    let payout = Payout::No;
    let accounts = 3;
    let finalise = Command::Finalise(Finalise {
        market,
        proposal: second,
    });
    let resolved = Event::MarketResolved(MarketResolved { market, payout });
    let started = Event::SettlementStarted(SettlementStarted { market, accounts });
    scene.step(finalise, &[resolved, started]);
    let resolutions = scene.view.resolutions();
    assert_eq!(resolutions.proposal(MARKET), None);
    assert_eq!(resolutions.finalised(MARKET).unwrap().number, second);
    assert!(scene.view.background().settlement_of(MARKET).is_some());

    let redeemed = Event::Redeemed(Redeemed {
        account: ALICE,
        market,
        lots: [Lots(10), Lots(10)],
        payout: Micros(100_000),
    });
    let paid = Micros(100_000);
    let settled = Event::MarketSettled(MarketSettled { market, paid });
    scene.step(Command::Step, &[redeemed, settled]);
    assert_eq!(scene.view.background().tasks().len(), 0);
    let market = scene.view.markets().get(MARKET).unwrap();
    assert_eq!(market.settlement_paid, paid);
    assert!(market.settled.is_some());
    assert_eq!(scene.collateral(ALICE), (1_000_000_000, 0));
}

#[test]
fn a_step_that_ends_nothing_looks_at_more_accounts() {
    let mut scene = Scene::trading();
    let accounts = 3_000;
    let started = Event::RebatePaymentStarted { accounts };
    let first = scene.step(Command::PayRebates, &[started]);
    scene.step(Command::Step, &[]);
    let task = *scene.view.background().tasks().next().unwrap();
    assert_eq!((task.first, task.next.0, task.end.0), (first, 1_024, 3_000));
    scene.step(Command::Step, &[]);
    scene.step(Command::Step, &[]);
    assert_eq!(
        scene.view.background().tasks().next().unwrap().next.0,
        3_000
    );
}

/// Alice takes 100 of Bob's; Bob accrues a rebate in the market.
fn trade_with_rebate(scene: &mut Scene, fee: u64, rebate: u64) {
    let maker = scene.rest(BOB, NO, BUY, 100, 4_000);
    let mut trade = fill((maker, BOB), MatchKind::Mint, 6_000, 100, 0);
    (trade.fee, trade.rebate) = (Micros(fee), Micros(rebate));
    scene.place(
        limit(ALICE, YES, BUY, 100, 6_000),
        &[Event::Fill(trade), Event::OrderCompleted],
    );
}

#[test]
fn rebates_accrue_by_day_and_market_and_are_paid() {
    let mut scene = Scene::trading_in(View::with_chunking(GENESIS, Chunking::Bits(1)));
    for day in 0..3 {
        scene.wait_until(day * DAY + 100);
        trade_with_rebate(&mut scene, 1_000, 100 + day);
        trade_with_rebate(&mut scene, 1_000, 100);
    }
    let rebates = scene.view.rebates();
    for day in 0..3 {
        let day = Day(day);
        let expected = Micros(200 + u64::from(day.0));
        let of_bob: Vec<_> = (rebates.of_account(BOB, day).iter())
            .map(|row| (row.day, row.market, row.amount))
            .collect();
        assert_eq!(of_bob, [(day, MARKET, expected)]);
        let of_day: Vec<_> = rebates.of_day(day).map(|row| row.amount).collect();
        assert_eq!(of_day, [expected]);
    }
    assert_eq!(rebates.of_account(BOB, Day(3)), []);
    assert_eq!(rebates.of_account(ALICE, Day(0)), []);
    let sum = Micros(603);
    assert_eq!(scene.view.system().fees, Micros(6_000 - sum.0));
    assert_eq!(scene.view.system().accrued, sum);
    let free = scene.collateral(BOB).0;

    scene.step(
        Command::PayRebates,
        &[Event::RebatePaymentStarted { accounts: 3 }],
    );
    let (account, amount) = (BOB, sum);
    let paid = Event::RebatePaid(RebatePaid { account, amount });
    scene.step(
        Command::Step,
        &[paid, Event::RebatePaymentEnded { paid: sum }],
    );
    assert_eq!(scene.collateral(BOB).0, free + sum.0);
    let bob = scene.view.accounts().get(BOB).unwrap();
    assert_eq!((bob.accrued, bob.rebates_paid), (Micros(0), sum));
    assert_eq!(scene.view.system().accrued, Micros(0));
}

#[test]
fn a_withdrawal_is_reserved_while_it_waits() {
    let mut scene = Scene::trading();
    let (account, amount) = (BOB, Micros(60));
    let command = Command::Withdraw(Withdraw {
        wallet: wallet(BOB),
        amount,
        reference: Reference([4; 32]),
    });
    let held = Event::WithdrawalRequested(WithdrawalRequested { account, amount });
    let asked = scene.act(OperatorNumber(2), command, &[held], b"w1");
    assert_eq!(scene.collateral(BOB), (999_999_940, 60));
    let known = *scene.view.withdrawals().waiting().get(asked).unwrap();
    assert_eq!(
        (known.claimed_by, known.reference.as_str()),
        (OperatorNumber(2), "w1")
    );
    let pay = Command::PayWithdrawal(PayWithdrawal {
        withdrawal: asked,
        payment: Reference([5; 32]),
    });
    let events = [
        Event::WithdrawalReleased(WithdrawalReleased {
            account,
            amount,
            asked,
        }),
        Event::Withdrawn(Withdrawn { account, amount }),
    ];
    scene.act(OperatorNumber(3), pay, &events, b"wire 1");
    assert_eq!(scene.collateral(BOB), (999_999_940, 0));
    let withdrawals = scene.view.withdrawals();
    assert_eq!(withdrawals.waiting().count(), 0);
    let paid = withdrawals.find(BOB, asked).unwrap();
    assert_eq!(
        (paid.status, paid.payment.as_str(), paid.ended_by),
        (WithdrawalStatus::Paid, "wire 1", OperatorNumber(3))
    );
}

#[test]
fn operators_are_numbered_from_the_first_admin() {
    let mut scene = Scene::trading();
    let name = OperatorName::new("ann").unwrap();
    let command = Command::AddOperator(AddOperator {
        role: OperatorRole::Resolver,
        name,
        token: [7; 32],
    });
    // The sync is the second.
    let operator = OperatorNumber(3);
    let added = Event::OperatorAdded { operator };
    scene.act(OperatorNumber(1), command, &[added], b"");
    let people = scene.view.people();
    assert_eq!(
        people.operator(OperatorNumber(1)).unwrap().name.text(),
        "admin"
    );
    assert_eq!(people.by_name(&name).unwrap().0, operator);
    let revoke = Command::RevokeOperator { operator };
    let revoked = Event::OperatorRevoked { operator };
    scene.act(OperatorNumber(1), revoke, &[revoked], b"");
    assert_eq!(scene.view.people().by_name(&name), None);
    assert!(!scene.view.people().operator(operator).unwrap().is_live());

    let payments = PaymentSettings {
        withdrawal_limit: Micros(5),
        rebates_daily: true,
    };
    scene.step(
        Command::SetPayments {
            payments: payments.into(),
        },
        &[Event::PaymentsSet { payments }],
    );
    assert_eq!(scene.view.people().payments, payments);
}

#[test]
fn an_operators_words_do_not_include_the_reason() {
    let mut scene = Scene::trading();
    let market = MARKET;
    let described = Event::MarketDescribed { market };
    let command = Command::DescribeMarket(DescribeMarket { market, slug: None });
    scene.act(
        OperatorNumber(1),
        command,
        &[described],
        b"\0question\0\"Old?\"",
    );
    scene.act(
        OperatorNumber(1),
        command,
        &[described],
        b"\0slug\0\"s\"\0question\0\"New?\"",
    );
    let known = scene.view.markets().get(MARKET).unwrap();
    let words = b"\0question\0\"New?\"\0slug\0\"s\"";
    assert!(known.description.ends_with(words));
    assert_eq!(known.changed, Sequence(scene.next() - 1));
}

#[test]
fn a_profile_is_of_any_wallet() {
    let mut scene = Scene::trading();
    let wallet = WalletAddress([9; 20]);
    let (command, event) = (
        Command::DescribeWallet { wallet },
        Event::WalletDescribed { wallet },
    );
    scene.act(
        OperatorNumber(1),
        command,
        &[event],
        b"\0name\0\"Ann\"\0bio\0\"\"",
    );
    scene.act(OperatorNumber(1), command, &[event], b"\0bio\0\"rain\"");
    let profile = &scene.view.profiles()[&wallet];
    assert_eq!(&*profile.words, b"\0bio\0\"rain\"\0name\0\"Ann\"");
    assert_eq!(profile.changed, Sequence(scene.next() - 1));
}

#[test]
fn all_of_it_survives_a_snapshot() {
    let (mut scene, _, taker) = waiting();
    let wallet = WalletAddress([9; 20]);
    let named = Event::WalletDescribed { wallet };
    let command = Command::DescribeWallet { wallet };
    scene.act(OperatorNumber(1), command, &[named], b"\0name\0\"Ann\"");
    trade_with_rebate_of_no(&mut scene);
    let image = scene.view.snapshot().unwrap();
    let section = |name: &str| {
        let found = image.sections.iter().find(|(it, _)| *it == name);
        found.map(|(_, bytes)| &**bytes)
    };
    let restored = View::from_snapshot(section, |_| None).unwrap();
    assert_eq!(restored.snapshot().unwrap().sections, image.sections);
    let order = restored
        .orders()
        .by_id(&OrderId(order_id(taker.0).0))
        .unwrap();
    assert_eq!(order.state, OrderState::Delayed);
    assert_eq!(restored.profiles(), scene.view.profiles());
    assert_eq!(restored.rebates().of_account(CAROL, Day(0)).len(), 1);
}

/// Carol makes a trade of Bob's at another price, with a rebate.
fn trade_with_rebate_of_no(scene: &mut Scene) {
    let maker = scene.rest(CAROL, NO, BUY, 10, 3_000);
    let mut trade = fill((maker, CAROL), MatchKind::Mint, 7_000, 10, 0);
    (trade.fee, trade.rebate) = (Micros(10), Micros(3));
    let events = [Event::Fill(trade), Event::OrderCompleted];
    scene.place(limit(BOB, YES, BUY, 10, 7_000), &events);
}

#[test]
fn what_ends_with_the_yes_of_another_question_is_not_finalised_by_its_own_proposal() {
    let mut scene = Scene::trading();
    let winner = MarketNumber(1);
    scene.market(winner, None, 0);
    let (command, event) = propose(Payout::No);
    scene.act(OperatorNumber(2), command, &[event], b"");
    let finalise = Command::Finalise(Finalise {
        market: winner,
        proposal: Sequence(1),
    });
    let payout = Payout::No;
    let paid = Micros(0);
    let settled = |market| Event::MarketSettled(MarketSettled { market, paid });
    let resolved = |market| Event::MarketResolved(MarketResolved { market, payout });
    let events = [winner, MARKET].map(|market| [resolved(market), settled(market)]);
    scene.step(finalise, events.as_flattened());
    let resolutions = scene.view.resolutions();
    assert_eq!(resolutions.proposal(MARKET), None);
    assert_eq!(resolutions.finalised(MARKET), None);
}
