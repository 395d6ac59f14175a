//! More orders than one command may touch: takers that stop, and cancels that continue.

use foretell_fixtures::{market, order_id, trader};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, CloseReason, Command, Lots, MarketNumber, OrderNumber, PlaceOrder, Sequence,
    Settings, Side, TimeNs, Verdict,
};
use foretell_view::OrderState;

use crate::properties::view_agrees::followed::Followed;

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);
const MAKER: AccountNumber = AccountNumber(0);
const TAKER: AccountNumber = AccountNumber(1);
const MARKET: MarketNumber = MarketNumber(0);
/// Resting orders: more than one command touches, fewer than two do.
const MANY: u64 = MAX_VISITED_ORDERS as u64 + 100;

#[test]
fn a_cancel_goes_on_in_a_second_command() {
    let mut scene = full_book();
    let first = applied(&mut scene, &trader(MAKER.0).cancel_all());
    assert!(scene.view.system().work_pending);
    let last = applied(&mut scene, &Command::Continue);
    assert_ended(&scene, first, last);
}

#[test]
fn closing_a_market_goes_on_in_a_second_command() {
    let mut scene = full_book();
    let first = applied(&mut scene, &Command::CloseMarket { market: MARKET });
    let last = applied(&mut scene, &Command::Continue);
    assert_ended(&scene, first, last);
}

#[test]
fn a_taker_stops_at_the_bound() {
    let mut scene = full_book();
    let order = order(&scene, TAKER, Side::Sell, MANY * 2);
    let sequence = applied(&mut scene, &Command::PlaceOrder(order));
    let taker = scene.view.orders().by_id(&order.order);
    let taker = taker.expect("it was placed");
    assert_eq!(taker.number, OrderNumber::of(sequence, 0));
    assert_eq!(taker.state, OrderState::Closed(CloseReason::TooManyFills));
    assert_eq!(taker.matched, Lots(MAX_VISITED_ORDERS as u64));
    assert_eq!(
        scene.view.trades().of_account(TAKER).len(),
        MAX_VISITED_ORDERS
    );
    assert_eq!(scene.view.orders().live_count_of(MAKER), 100);
}

fn assert_ended(scene: &Followed, first: Sequence, last: Sequence) {
    let ended = |from, to| scene.view.orders().ended_between(from, to).count() as u64;
    assert_eq!(
        (ended(first, first), ended(first, last)),
        (MAX_VISITED_ORDERS as u64, MANY)
    );
    assert!(!scene.view.system().work_pending);
    assert_eq!(scene.view.orders().live_count(), 0);
}

/// A maker with many bids of one lot, and a taker with shares.
fn full_book() -> Followed {
    let mut scene = Followed::new();
    let settings = Settings {
        live_orders_per_account: 10_000,
        ..Settings::default()
    };
    applied(
        &mut scene,
        &Command::ChangeSettings {
            settings: settings.into(),
        },
    );
    for trader in [MAKER, TAKER].map(|account| trader(account.0)) {
        for command in trader.open(1_000) {
            applied(&mut scene, &command);
        }
        let account = scene.view.accounts().number_of(&trader.wallet);
        assert_eq!(account, Some(trader.account));
    }
    for command in market(0).refines().open() {
        applied(&mut scene, &command);
    }
    let split = trader(TAKER.0).split(MARKET, Lots(MANY * 2));
    applied(&mut scene, &split);
    for _ in 0..MANY {
        let bid = Command::PlaceOrder(order(&scene, MAKER, Side::Buy, 1));
        scene
            .step_quickly(&bid, &[], NOW)
            .expect("the view follows");
    }
    assert_eq!(scene.view.orders().live_count() as u64, MANY);
    scene
}

/// An order for Yes at 0.50, its id made of the sequence it will get.
fn order(scene: &Followed, account: AccountNumber, side: Side, lots: u64) -> PlaceOrder {
    let order = trader(account.0).order(side, Lots(lots)).at("0.5");
    let id = order_id(scene.view.sequence().next().0);
    order.id(id).signed(NOW.millis()).terms()
}

/// Applies a command that must succeed, and compares the whole state.
fn applied(scene: &mut Followed, command: &Command) -> Sequence {
    match scene.step(command, &[], NOW) {
        Ok(Verdict::Applied(_)) => scene.view.sequence(),
        other => panic!("{command:?}: {other:?}"),
    }
}
