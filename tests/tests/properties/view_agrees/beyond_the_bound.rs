//! More orders than one command may touch: takers that stop, and cancels that continue.

use foretell_model::command::{CancelAll, Deposit, RegisterKey, RegisterMarket, Split};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, Command, ConditionId, FeeSchedule, KeyNumber, Lots,
    MarketNumber, Micros, OrderId, OrderNumber, OrderType, Outcome, PlaceOrder, Reference,
    Sequence, Settings, Side, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};
use foretell_view::OrderState;

use crate::view_agrees::followed::Followed;

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);
const MAKER: AccountNumber = AccountNumber(0);
const TAKER: AccountNumber = AccountNumber(1);
const MARKET: MarketNumber = MarketNumber(0);
/// Resting orders: more than one command touches, fewer than two do.
const MANY: u64 = MAX_VISITED_ORDERS as u64 + 100;

#[test]
fn a_cancel_goes_on_in_a_second_command() {
    let mut scene = full_book();
    let cancel_all = Command::CancelAll(CancelAll {
        owner: MAKER,
        heartbeat: false,
    });
    let first = applied(&mut scene, &cancel_all);
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
    assert_eq!(taker.number, OrderNumber(sequence.0));
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
    for (byte, account) in [(1, MAKER), (2, TAKER)] {
        let wallet = WalletAddress([byte; 20]);
        let deposit = Command::Deposit(Deposit {
            wallet,
            amount: Micros(1_000_000_000),
            reference: Reference([byte; 32]),
        });
        let key = Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey([byte; 16]),
            read_only: false,
        });
        applied(&mut scene, &deposit);
        applied(&mut scene, &key);
        assert_eq!(scene.view.accounts().number_of(&wallet), Some(account));
    }
    let market = RegisterMarket {
        index: None,
        condition: ConditionId([7; 32]),
        tokens: [TokenId([8; 32]), TokenId([9; 32])],
        tick: Tick::Hundredth,
        tick_refines: true,
        minimum_size: Lots(1),
        fee: FeeSchedule::default(),
        event: None,
    };
    applied(&mut scene, &Command::RegisterMarket(market));
    applied(&mut scene, &Command::ActivateMarket { market: MARKET });
    let split = Command::Split(Split {
        account: TAKER,
        market: MARKET,
        lots: Lots(MANY * 2),
        reference: Reference([5; 32]),
    });
    applied(&mut scene, &split);
    for _ in 0..MANY {
        let bid = Command::PlaceOrder(order(&scene, MAKER, Side::Buy, 1));
        scene.step_quickly(&bid, NOW).expect("the view follows");
    }
    assert_eq!(scene.view.orders().live_count() as u64, MANY);
    scene
}

/// An order for Yes at 0.50, its id made of the sequence it will get.
fn order(scene: &Followed, account: AccountNumber, side: Side, lots: u64) -> PlaceOrder {
    let (shares, value) = (lots * 10_000, lots * 5_000);
    let (maker_amount, taker_amount) = match side {
        Side::Buy => (value, shares),
        Side::Sell => (shares, value),
    };
    let mut id = [0; 32];
    id[..8].copy_from_slice(&scene.view.sequence().next().0.to_le_bytes());
    PlaceOrder {
        order: OrderId(id),
        account,
        key: KeyNumber(account.0),
        market: MARKET,
        outcome: Outcome::Yes,
        side,
        order_type: OrderType::Gtc,
        post_only: false,
        maker_amount,
        taker_amount,
        expiration: TimeSeconds(0),
        timestamp: TimeMs(NOW.0 / 1_000_000),
    }
}

/// Applies a command that must succeed, and compares the whole state.
fn applied(scene: &mut Followed, command: &Command) -> Sequence {
    match scene.step(command, NOW) {
        Ok(Verdict::Applied(_)) => scene.view.sequence(),
        other => panic!("{command:?}: {other:?}"),
    }
}
