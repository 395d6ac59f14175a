//! Ends of resting orders: by id, owner, market and time; bounded and resumed.

use foretell_model::command::{
    BindWallet, CancelAll, CancelMarketOrders, CancelOrder, PauseMarket, RevokeKey, SetClosedOnly,
};
use foretell_model::event::MarketStateSet;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    CloseReason, Command, CommandOutcome, Event, Hold, HoldSet, MarketState, OrderId, OrderType,
    Outcome, RejectionReason, Side, TimeNs, TimeSeconds, WalletAddress, WalletKind,
};

use crate::world::{START, Trader, UNIT, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);
const BUY_NO: (Side, Outcome) = (Side::Buy, Outcome::No);
const SELL_YES: (Side, Outcome) = (Side::Sell, Outcome::Yes);

const fn cancel_all(trader: Trader) -> Command {
    Command::CancelAll(CancelAll {
        owner: trader.account,
        heartbeat: false,
    })
}

fn numbers(closed: &[(u64, CloseReason)]) -> Vec<u64> {
    closed.iter().map(|(number, _)| *number).collect()
}

#[test]
fn a_cancelled_order_gives_back_what_it_reserved() {
    let mut world = World::new();
    let market = world.market();
    let (owner, other) = (world.trader(1, 100), world.trader(2, 100));
    world.split(owner, market, 10);
    for what in [BUY_YES, SELL_YES] {
        let order = world.limit(owner, market, what, 10, 50);
        world.place(order);
        let cancel = |trader: Trader, order: OrderId| {
            Command::CancelOrder(CancelOrder {
                owner: trader.account,
                order,
            })
        };
        world.refused(
            &cancel(other, order.order),
            RejectionReason::OrderOfAnotherOwner,
        );
        let outcome = world.done(&cancel(owner, order.order));
        assert_eq!(outcome, CommandOutcome::Cancelled { orders: 1 });
        world.refused(&cancel(owner, order.order), RejectionReason::OrderNotFound);
        assert_eq!(world.money(owner), (90 * UNIT, 0));
        assert_eq!(world.shares(owner, market), [1_000, 1_000]);
    }
}

#[test]
fn cancel_all_covers_the_wallets_of_an_owner_by_kind_and_number() {
    let mut world = World::new();
    let market = world.market();
    let owner = world.trader(1, 100);
    let bind = |world: &mut World, name: u8, kind| {
        let wallet = WalletAddress([name; 20]);
        let account = world.deposit(wallet, 100);
        world.done(&Command::BindWallet(BindWallet {
            owner: owner.wallet,
            wallet,
            kind,
        }));
        Trader {
            account,
            wallet,
            ..owner
        }
    };
    let deposit = bind(&mut world, 3, WalletKind::Deposit);
    let proxy = bind(&mut world, 4, WalletKind::Proxy);
    let stranger = world.trader(5, 100);
    let d = world.rest(deposit, market, BUY_YES, 1, 50);
    let p = world.rest(proxy, market, BUY_NO, 1, 40);
    let o1 = world.rest(owner, market, BUY_NO, 1, 41);
    let o2 = world.rest(owner, market, BUY_YES, 1, 49);
    let s = world.rest(stranger, market, BUY_YES, 1, 48);
    let nothing = CommandOutcome::Cancelled { orders: 0 };
    assert_eq!(world.repeated(&cancel_all(proxy)), (0, 0, nothing));
    assert_eq!(
        world.done(&cancel_all(owner)),
        CommandOutcome::Cancelled { orders: 4 }
    );
    assert_eq!(numbers(&world.closed()), [o1, o2, p, d]);
    assert_eq!(world.book(), [(s, 100)]);
}

#[test]
fn a_market_cancel_takes_one_market_and_one_outcome() {
    let mut world = World::new();
    let (first, second) = (world.market(), world.market());
    let owner = world.trader(1, 100);
    let elsewhere = world.rest(owner, second, BUY_YES, 1, 50);
    let yes = world.rest(owner, first, BUY_YES, 1, 50);
    let no = world.rest(owner, first, BUY_NO, 1, 40);
    let cancel = |outcome| {
        Command::CancelMarketOrders(CancelMarketOrders {
            owner: owner.account,
            market: first,
            outcome,
        })
    };
    world.done(&cancel(Some(Outcome::No)));
    assert_eq!(world.closed(), [(no, CloseReason::User)]);
    world.done(&cancel(None));
    assert_eq!(world.closed(), [(yes, CloseReason::User)]);
    assert_eq!(world.book(), [(elsewhere, 100)]);
}

#[test]
fn long_work_goes_on_in_continue_commands_and_nothing_comes_between() {
    let mut world = World::new();
    world.change_settings(|settings| settings.live_orders_per_account = 10_000);
    let market = world.market();
    let owner = world.trader(1, 10_000);
    let most = MAX_VISITED_ORDERS as u64;
    let mut events = Vec::new();
    let mut fill_book = |world: &mut World| {
        for _ in 0..2 * most + 1 {
            let order = Command::PlaceOrder(world.limit(owner, market, BUY_NO, 1, 50));
            world.exchange.apply(&order, world.now, &mut events);
        }
    };
    let full = CommandOutcome::Cancelled { orders: 4_096 };
    // Exactly `MAX_VISITED_ORDERS` orders leave no pending work.
    for _ in 0..most {
        let order = Command::PlaceOrder(world.limit(owner, market, BUY_NO, 1, 50));
        world.exchange.apply(&order, world.now, &mut Vec::new());
    }
    assert_eq!(world.done(&cancel_all(owner)), full);
    assert!(!world.exchange.has_pending_work());

    fill_book(&mut world);
    assert_eq!(world.done(&cancel_all(owner)), full);
    assert_eq!(world.events.last(), Some(&Event::WorkPending));
    assert!(world.exchange.has_pending_work());
    world.refused(&Command::AdvanceTime, RejectionReason::WorkPending);
    assert_eq!(world.done(&Command::Continue), full);
    assert_eq!(
        world.done(&Command::Continue),
        CommandOutcome::Cancelled { orders: 1 }
    );
    assert!(!world.exchange.has_pending_work());
    world.refused(&Command::Continue, RejectionReason::NothingPending);

    fill_book(&mut world);
    assert_eq!(world.done(&Command::CloseMarket { market }), full);
    let state = MarketState::Closed;
    assert_eq!(
        world.events[0],
        Event::MarketStateSet(MarketStateSet {
            holds: HoldSet::NONE,
            market,
            state
        })
    );
    world.done(&Command::Continue);
    world.done(&Command::Continue);
    assert_eq!(world.money(owner), (10_000 * UNIT, 0));
}

#[test]
fn closing_a_market_ends_bids_then_asks_best_first() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let far_ask = world.rest(trader, market, BUY_NO, 1, 30);
    let ask = world.rest(trader, market, BUY_NO, 1, 40);
    let far_bid = world.rest(trader, market, BUY_YES, 1, 30);
    let bid = world.rest(trader, market, BUY_YES, 1, 40);
    let late_bid = world.rest(trader, market, BUY_YES, 1, 40);
    world.done(&Command::PauseMarket(PauseMarket {
        market,
        hold: Hold::Operator,
    }));
    world.done(&Command::CloseMarket { market });
    assert_eq!(
        numbers(&world.closed()),
        [bid, late_bid, far_bid, ask, far_ask]
    );
    assert!(
        world
            .closed()
            .iter()
            .all(|(_, reason)| *reason == CloseReason::MarketClosed)
    );
}

#[test]
fn becoming_closed_only_ends_buys_and_leaves_sells() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.split(trader, market, 10);
    let buy_no = world.rest(trader, market, BUY_NO, 1, 40);
    let sell = world.rest(trader, market, SELL_YES, 1, 60);
    let buy_yes = world.rest(trader, market, BUY_YES, 1, 50);
    let command = Command::SetClosedOnly(SetClosedOnly {
        wallet: trader.wallet,
        closed_only: true,
    });
    assert_eq!(
        world.done(&command),
        CommandOutcome::Account(trader.account)
    );
    let reason = CloseReason::ClosedOnly;
    assert_eq!(world.closed(), [(buy_no, reason), (buy_yes, reason)]);
    assert_eq!(world.book(), [(sell, 100)]);
    let buy = Command::PlaceOrder(world.limit(trader, market, BUY_YES, 1, 50));
    world.refused(&buy, RejectionReason::ClosedOnlyAccount);
    world.rest(trader, market, SELL_YES, 1, 61);
    let answer = (0, 0, CommandOutcome::Account(trader.account));
    assert_eq!(world.repeated(&command), answer);
}

#[test]
fn time_ends_orders_by_expiration_then_number() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let mut placed = Vec::new();
    for expiration in [START + 300, START + 200, START + 300, START + 400] {
        let mut order = world.limit(trader, market, BUY_YES, 1, 50);
        order.order_type = OrderType::Gtd;
        order.expiration = TimeSeconds(expiration);
        world.place(order);
        placed.push(world.exchange.sequence().0);
    }
    let due = |seconds: u64| Some(TimeNs((START + seconds) * 1_000_000_000));
    assert_eq!(world.exchange.next_due(), due(140));
    world.refused(&Command::AdvanceTime, RejectionReason::NothingDue);
    world.wait(240);
    let outcome = world.done(&Command::AdvanceTime);
    assert_eq!(outcome, CommandOutcome::Cancelled { orders: 3 });
    assert_eq!(
        numbers(&world.closed()),
        [1, 0, 2].map(|index: usize| placed[index])
    );
    assert_eq!(world.exchange.next_due(), due(340));
    // Another safety margin changes what is due.
    world.change_settings(|settings| settings.gtd_safety_seconds = 0);
    assert_eq!(world.exchange.next_due(), due(400));
    let last = Command::CancelAll(CancelAll {
        owner: trader.account,
        heartbeat: true,
    });
    world.done(&last);
    assert_eq!(world.closed(), [(placed[3], CloseReason::Heartbeat)]);
    assert_eq!(world.exchange.next_due(), None);
}

#[test]
fn a_revoked_key_may_take_the_orders_with_it() {
    for cancel_orders in [false, true] {
        let mut world = World::new();
        let market = world.market();
        let trader = world.trader(1, 100);
        world.rest(trader, market, BUY_YES, 1, 50);
        let revoke = Command::RevokeKey(RevokeKey {
            key: trader.key,
            cancel_orders,
        });
        let orders = u32::from(cancel_orders);
        assert_eq!(world.done(&revoke), CommandOutcome::Cancelled { orders });
        assert_eq!(world.events[0], Event::KeyRevoked { key: trader.key });
        assert_eq!(world.book().len(), usize::from(!cancel_orders));
        world.refused(&revoke, RejectionReason::UnknownKey);
        let order = Command::PlaceOrder(world.limit(trader, market, BUY_YES, 1, 50));
        world.refused(&order, RejectionReason::UnknownKey);
    }
}
