//! Permissions, and at-most-once execution of orders: ids, timestamps, keys, wallets.

use foretell_model::command::{
    BindWallet, CancelOrder, RegisterDomain, RegisterKey, RevokeKey, SetHeartbeat,
};
use foretell_model::limits::NEWEST_RULES;
use foretell_model::{
    AccountNumber, ApiKey, Command, CommandOutcome, Event, KeyNumber, MarketNumber, OrderId,
    OrderStatus, OrderType, Outcome, PlaceOrder, RejectionReason, Side, TimeMs, TimeSeconds,
    WalletAddress, WalletKind,
};
use rstest::rstest;

use crate::world::{START, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);

#[test]
fn a_repeated_order_is_the_first_one() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let order = world.limit(trader, market, BUY_YES, 1, 50);
    world.place(order);
    let number = world.exchange.sequence().0;
    let answer = (number, number, CommandOutcome::Done);
    assert_eq!(world.repeated(&Command::PlaceOrder(order)), answer);
    world.done(&Command::CancelOrder(CancelOrder {
        owner: trader.account,
        order: order.order,
    }));
    assert_eq!(world.repeated(&Command::PlaceOrder(order)), answer);
    let others = [
        PlaceOrder {
            post_only: true,
            ..order
        },
        PlaceOrder {
            order_type: OrderType::Gtd,
            ..order
        },
        PlaceOrder {
            expiration: TimeSeconds(5),
            ..order
        },
    ];
    for other in others {
        world.refused(&Command::PlaceOrder(other), RejectionReason::Duplicate);
    }
}

#[test]
fn a_burned_id_gets_the_first_refusal_again() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.order_type = OrderType::Fok;
    let reason = RejectionReason::FokNotFilled;
    assert_eq!(
        world.place(order).status,
        OrderStatus::Killed(reason.into())
    );
    world.refused(&Command::PlaceOrder(order), reason);
    order.order_type = OrderType::Gtc;
    world.refused(&Command::PlaceOrder(order), RejectionReason::Duplicate);
}

#[test]
fn parties_are_checked_first() {
    let mut world = World::new();
    let market = world.market();
    let (trader, other) = (world.trader(1, 100), world.trader(2, 100));
    let reading = Command::RegisterKey(RegisterKey {
        owner: trader.wallet,
        nonce: [1; 32],
        api_key: ApiKey([77; 16]),
        read_only: true,
    });
    let CommandOutcome::Key(reading) = world.done(&reading) else {
        panic!("no key");
    };
    let order = world.limit(trader, market, BUY_YES, 1, 50);
    for (order, reason) in [
        (
            PlaceOrder {
                market: MarketNumber(9),
                ..order
            },
            RejectionReason::UnknownMarket,
        ),
        (
            PlaceOrder {
                account: AccountNumber(9),
                ..order
            },
            RejectionReason::UnknownAccount,
        ),
        (
            PlaceOrder {
                key: KeyNumber(9),
                ..order
            },
            RejectionReason::UnknownKey,
        ),
        (
            PlaceOrder {
                key: reading,
                ..order
            },
            RejectionReason::UnknownKey,
        ),
        (
            PlaceOrder {
                key: other.key,
                ..order
            },
            RejectionReason::KeyOfAnotherOwner,
        ),
    ] {
        world.refused(&Command::PlaceOrder(order), reason);
    }
}

#[rstest]
#[case::oldest(-600_000, true)]
#[case::too_old(-600_001, false)]
#[case::newest(120_000, true)]
#[case::too_new(120_001, false)]
fn a_timestamp_lies_in_the_window(#[case] offset: i64, #[case] is_taken: bool) {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let now = START * 1_000;
    // The settings made at the start would move the start of the window.
    world.wait(600);
    let now = now + 600_000;
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.timestamp = TimeMs(now.checked_add_signed(offset).unwrap());
    if is_taken {
        world.place(order);
    } else {
        let command = Command::PlaceOrder(order);
        let details = world.refused(&command, RejectionReason::TimestampOutOfWindow);
        assert_eq!(details, [now - 600_000, now + 120_000]);
    }
}

#[test]
fn a_wider_window_lets_no_forgotten_id_in() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.wait(10_000);
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.timestamp.0 -= 600_001;
    world.change_settings(|settings| settings.timestamp_past_ms = 3_600_000);
    let command = Command::PlaceOrder(order);
    let details = world.refused(&command, RejectionReason::TimestampOutOfWindow);
    assert_eq!(details[0], order.timestamp.0 + 1);
    order.timestamp.0 += 1;
    world.place(order);
}

#[test]
fn a_full_id_memory_is_busy_until_its_front_is_due() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.change_settings(|settings| settings.remembered_order_ids = 1);
    let rest = |world: &mut World| {
        let order = Command::PlaceOrder(world.limit(trader, market, BUY_YES, 1, 50));
        (order, world.apply(&order))
    };
    let (first, _) = rest(&mut world);
    let (second, _) = rest(&mut world);
    world.refused(&second, RejectionReason::Busy);
    world.wait(601);
    let (second, _) = rest(&mut world);
    world.refused(&second, RejectionReason::Busy);
    world.now.0 += 1_000_000;
    rest(&mut world);
    assert_eq!(world.book().len(), 2);
    // The first order is live, so its id is still remembered and its timestamp is not checked.
    world.repeated(&first);
    let Command::PlaceOrder(order) = first else {
        panic!("an order");
    };
    world.done(&Command::CancelOrder(CancelOrder {
        owner: trader.account,
        order: order.order,
    }));
    world.refused(&first, RejectionReason::TimestampOutOfWindow);
}

#[test]
fn keys_are_registered_once_and_revoked_for_ever() {
    let mut world = World::new();
    let owner = WalletAddress([1; 20]);
    let key = |nonce: u8, text: u8, read_only| {
        Command::RegisterKey(RegisterKey {
            owner,
            nonce: [nonce; 32],
            api_key: ApiKey([text; 16]),
            read_only,
        })
    };
    let first = CommandOutcome::Key(KeyNumber(0));
    assert_eq!(world.done(&key(0, 1, false)), first);
    assert!(matches!(world.events[0], Event::AccountOpened(_)));
    assert_eq!(world.repeated(&key(0, 1, false)), (0, 0, first));
    world.refused(&key(0, 2, false), RejectionReason::KeyTaken);
    world.refused(&key(1, 1, false), RejectionReason::KeyTaken);
    world.done(&key(0, 2, true));
    world.done(&Command::RevokeKey(RevokeKey {
        key: KeyNumber(0),
        cancel_orders: false,
    }));
    world.refused(&key(0, 1, false), RejectionReason::NonceRevoked);
    world.refused(&key(0, 3, false), RejectionReason::NonceRevoked);
    world.refused(&key(2, 1, false), RejectionReason::KeyTaken);
    for number in 10..25 {
        world.done(&key(number, number, false));
    }
    world.refused(&key(25, 25, false), RejectionReason::TooManyKeys);
    world.done(&Command::RevokeKey(RevokeKey {
        key: KeyNumber(1),
        cancel_orders: false,
    }));
    world.done(&key(25, 25, false));
}

#[test]
fn wallets_are_bound_under_conditions() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    let wallet = |name: u8| WalletAddress([name; 20]);
    let bind = |owner: u8, of: u8, kind| {
        Command::BindWallet(BindWallet {
            owner: wallet(owner),
            wallet: wallet(of),
            kind,
        })
    };
    let unbind = |of: u8| Command::UnbindWallet { wallet: wallet(of) };
    world.refused(
        &bind(1, 2, WalletKind::Eoa),
        RejectionReason::WalletKindTaken,
    );
    world.refused(
        &bind(1, 1, WalletKind::Safe),
        RejectionReason::WalletNotBindable,
    );
    let bound = CommandOutcome::Account(AccountNumber(1));
    assert_eq!(world.done(&bind(1, 2, WalletKind::Safe)), bound);
    assert_eq!(world.repeated(&bind(1, 2, WalletKind::Safe)), (0, 0, bound));
    for (command, reason) in [
        (bind(2, 3, WalletKind::Safe), RejectionReason::NotAnOwner),
        (
            bind(1, 2, WalletKind::Proxy),
            RejectionReason::WalletNotBindable,
        ),
        (
            bind(4, 2, WalletKind::Safe),
            RejectionReason::WalletNotBindable,
        ),
        (
            bind(4, 1, WalletKind::Safe),
            RejectionReason::WalletNotBindable,
        ),
        (
            bind(1, 3, WalletKind::Safe),
            RejectionReason::WalletKindTaken,
        ),
        (unbind(9), RejectionReason::UnknownAccount),
        (unbind(1), RejectionReason::WalletNotBound),
    ] {
        world.refused(&command, reason);
    }
    let keyed = Command::RegisterKey(RegisterKey {
        owner: wallet(2),
        nonce: [0; 32],
        api_key: ApiKey([5; 16]),
        read_only: false,
    });
    world.refused(&keyed, RejectionReason::NotAnOwner);

    // The owner's key trades for the wallet; a live order prevents unbinding.
    let account = world.deposit(wallet(2), 10);
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.account = account;
    world.place(order);
    world.refused(&unbind(2), RejectionReason::WalletHasLiveOrders);
    let cancel = |owner| {
        Command::CancelOrder(CancelOrder {
            owner,
            order: order.order,
        })
    };
    world.refused(&cancel(account), RejectionReason::OrderOfAnotherOwner);
    world.done(&cancel(trader.account));
    assert_eq!(world.done(&unbind(2)), bound);
    let order = PlaceOrder {
        order: OrderId(world.name()),
        ..order
    };
    world.refused(
        &Command::PlaceOrder(order),
        RejectionReason::KeyOfAnotherOwner,
    );
    let own = world.trader(6, 10);
    world.rest(own, market, BUY_YES, 1, 50);
    world.refused(
        &bind(7, 6, WalletKind::Safe),
        RejectionReason::WalletNotBindable,
    );
}

#[test]
fn marks_and_system_settings_repeat() {
    let mut world = World::new();
    let trader = world.trader(1, 1);
    let heartbeat = Command::SetHeartbeat(SetHeartbeat {
        owner: trader.account,
        on: true,
    });
    world.done(&heartbeat);
    world.repeated(&heartbeat);
    let settings = world.settings();
    world.repeated(&Command::ChangeSettings {
        settings: settings.into(),
    });
    let invalid = foretell_model::Settings {
        live_orders_per_account: 0,
        ..settings
    };
    world.refused(
        &Command::ChangeSettings {
            settings: invalid.into(),
        },
        RejectionReason::InvalidSettings,
    );
    world.repeated(&Command::SwitchRules { rules: 1 });
    for rules in [0, NEWEST_RULES + 1] {
        world.refused(
            &Command::SwitchRules { rules },
            RejectionReason::UnknownRules,
        );
    }
    let domain = |byte| {
        Command::RegisterDomain(RegisterDomain {
            domain: foretell_model::DomainNumber(255),
            separator: [byte; 32],
        })
    };
    world.done(&domain(1));
    world.repeated(&domain(1));
    world.refused(&domain(2), RejectionReason::DomainDiffers);
    let sequence = world.exchange.sequence();
    world.done(&Command::AcceptDivergence { sequence });
}

#[test]
fn time_never_goes_back() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.wait(1_000);
    let order = world.limit(trader, market, BUY_YES, 1, 50);
    world.place(order);
    let late = world.now;
    world.now.0 -= 900_000_000_000;
    // Checked at the state's time, so the order's timestamp is 780 s ahead.
    let mut order = world.limit(trader, market, BUY_YES, 1, 50);
    order.timestamp = late.millis();
    world.place(order);
}
