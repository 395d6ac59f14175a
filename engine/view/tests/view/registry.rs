//! Accounts, keys, markets, event groups and the system.

use crate::scene;

use foretell_model::command::{
    ArchiveMarket, BindWallet, Convert, Merge, PauseMarket, Redeem, RegisterDomain, ResolveMarket,
    ResumeMarket, RevokeKey, SetClosedOnly, SetHeartbeat, Withdraw,
};
use foretell_model::event::{
    ClosedOnlySet, Converted, EventRegistered, HeartbeatSet, MarketArchived, MarketResolved,
    MarketStateSet, Merged, Redeemed, WalletBound, WalletUnbound, Withdrawn,
};
use foretell_model::{
    ApiKey, Command, DomainNumber, Event, EventId, EventNumber, Hold, HoldSet, KeyNumber, Lots,
    MarketNumber, MarketState, Micros, Outcome, Payout, QuestionSet, Reference, Settings,
    SettingsUpdate, SystemMode, TimeNs, WalletKind,
};
use rstest::rstest;
use scene::*;

#[test]
fn wallets_are_listed_in_order_of_kind_and_leave_again() {
    let mut scene = Scene::trading();
    let bind = |scene: &mut Scene, account, kind| {
        let command = Command::BindWallet(BindWallet {
            owner: wallet(ALICE),
            wallet: wallet(account),
            kind,
        });
        let bound = Event::WalletBound(WalletBound {
            owner: ALICE,
            wallet: account,
            kind,
        });
        scene.step(command, &[bound]);
    };
    bind(&mut scene, BOB, WalletKind::Deposit);
    bind(&mut scene, CAROL, WalletKind::Proxy);
    let accounts = scene.view.accounts();
    assert_eq!(
        accounts.wallets_of(ALICE).collect::<Vec<_>>(),
        [ALICE, CAROL, BOB]
    );
    assert_eq!(
        accounts.wallet_of_kind(ALICE, WalletKind::Deposit),
        Some(BOB)
    );
    assert_eq!(accounts.wallet_of_kind(ALICE, WalletKind::Safe), None);
    assert_eq!(accounts.wallet_of_kind(ALICE, WalletKind::Eoa), Some(ALICE));
    let bob = accounts.get(BOB).unwrap();
    assert_eq!((bob.owner, bob.kind), (ALICE, WalletKind::Deposit));

    let unbound = Event::WalletUnbound(WalletUnbound {
        owner: ALICE,
        wallet: BOB,
    });
    scene.step(
        Command::UnbindWallet {
            wallet: wallet(BOB),
        },
        &[unbound],
    );
    let accounts = scene.view.accounts();
    assert_eq!(
        accounts.wallets_of(ALICE).collect::<Vec<_>>(),
        [ALICE, CAROL]
    );
    let (number, bob) = accounts.by_wallet(&wallet(BOB)).unwrap();
    assert_eq!((number, bob.owner, bob.kind), (BOB, BOB, WalletKind::Eoa));
}

#[test]
fn money_comes_goes_and_changes_form() {
    let mut scene = Scene::trading();
    scene.split(ALICE, MARKET, 100);
    assert_eq!(
        (scene.collateral(ALICE), scene.shares(ALICE)),
        ((999_000_000, 0), [100, 100, 0, 0])
    );
    let merge = Command::Merge(Merge {
        account: ALICE,
        market: MARKET,
        lots: Lots(40),
        reference: Reference::ZERO,
    });
    let merged = Event::Merged(Merged {
        account: ALICE,
        market: MARKET,
        lots: Lots(40),
    });
    scene.step(merge, &[merged]);
    assert_eq!(
        (scene.collateral(ALICE), scene.supply(MARKET)),
        ((999_400_000, 0), [60, 60])
    );

    let payout = Payout::Half;
    scene.step(
        Command::ResolveMarket(ResolveMarket {
            market: MARKET,
            payout,
            replaces: None,
        }),
        &[Event::MarketResolved(MarketResolved {
            market: MARKET,
            payout,
        })],
    );
    let redeem = Command::Redeem(Redeem {
        account: ALICE,
        market: MARKET,
        reference: Reference::ZERO,
    });
    let redeemed = Event::Redeemed(Redeemed {
        account: ALICE,
        market: MARKET,
        lots: [Lots(60), Lots(60)],
        payout: Micros(600_000),
    });
    scene.step(redeem, &[redeemed]);
    let alice = scene.view.accounts().get(ALICE).unwrap();
    assert_eq!(
        (alice.free.0, scene.view.holdings().balances(ALICE).count()),
        (1_000_000_000, 0)
    );

    let withdraw = Command::Withdraw(Withdraw {
        wallet: wallet(ALICE),
        amount: Micros(1),
        reference: Reference::ZERO,
    });
    let withdrawn = Event::Withdrawn(Withdrawn {
        account: ALICE,
        amount: Micros(1),
    });
    scene.step(withdraw, &[withdrawn]);
    assert_eq!(
        scene.view.accounts().get(ALICE).unwrap().total(),
        Micros(999_999_999)
    );
    assert_eq!(scene.view.system().collateral, Micros(2_999_999_999));
}

/// Protocol 17, example 3.
#[test]
fn a_conversion_gives_the_other_questions() {
    let mut scene = Scene::empty();
    scene.deposit(ALICE, 20_000_000);
    let event = EventNumber(0);
    let registered = Event::EventRegistered(EventRegistered {
        event,
        id: EventId(77),
        outside: MarketNumber(0),
    });
    let register = Command::RegisterEvent { event: EventId(77) };
    scene
        .try_step(&register, &[registered], b"who wins")
        .unwrap();
    let [a, b, c] = [1, 2, 3].map(MarketNumber);
    for market in [a, b, c] {
        scene.market(market, Some(event), market.0 - 1);
    }
    scene.step(
        Command::ActivateMarket { market: a },
        &[Event::EventFrozen { event }],
    );
    scene.split(ALICE, a, 500);
    scene.split(ALICE, b, 500);

    let questions = QuestionSet::default().with(0).with(1);
    let convert = Command::Convert(Convert {
        account: ALICE,
        event,
        questions,
        lots: Lots(500),
        reference: Reference::ZERO,
    });
    let converted = Event::Converted(Converted {
        account: ALICE,
        event,
        questions,
        lots: Lots(500),
        collateral: Micros(5_000_000),
    });
    scene.step(convert, &[converted]);
    assert_eq!(scene.collateral(ALICE), (15_000_000, 0));
    let outside = MarketNumber(0);
    for market in [a, b, c, outside] {
        assert_eq!(scene.supply(market), [500, 0]);
    }
    let view = &scene.view;
    assert_eq!(view.current_price(outside, Outcome::Yes), None);
    let listed: Vec<_> = view.markets().iter().map(|(number, _)| number).collect();
    assert_eq!(listed, [a, b, c]);
    let before = |end| -> Vec<_> {
        let markets = view.markets().before(end);
        markets.map(|(number, _)| number).collect()
    };
    assert_eq!(before(None), [c, b, a]);
    assert_eq!(before(Some(c)), [b, a]);
    assert_eq!(before(Some(outside)), []);
    assert_eq!(before(Some(MarketNumber(99))), [c, b, a]);
    let hidden = view.markets().get(outside).unwrap();
    assert_eq!(view.markets().by_condition(&hidden.condition), None);
    assert_eq!(view.markets().by_token(&hidden.tokens[0]), None);
    assert_eq!(
        (hidden.state, view.market_count()),
        (MarketState::Closed, 3)
    );
    let (number, entry) = scene.view.events().by_id(EventId(77)).unwrap();
    assert_eq!(
        (number, entry.frozen, entry.converted),
        (event, true, Lots(500))
    );
    assert_eq!(
        (entry.questions.as_slice(), &*entry.description),
        (&[a, b, c][..], &b"who wins"[..])
    );
    let market = scene.view.markets().get(c).unwrap();
    assert_eq!(
        (market.question, market.is_neg_risk()),
        (Some((event, 2)), true)
    );
}

#[test]
fn a_market_is_found_by_its_names_and_lives() {
    let mut scene = Scene::empty();
    let registered = scene.market(MARKET, None, 0);
    let rules = market_rules(MARKET, None);
    let (number, market) = scene.view.markets().by_condition(&rules.condition).unwrap();
    assert_eq!(
        (number, &*market.description, market.changed),
        (MARKET, &b"about it"[..], registered)
    );
    assert_eq!(
        (market.state, market.activated),
        (MarketState::Registered, None)
    );
    assert_eq!(
        scene.view.markets().by_token(&token(MARKET, NO)),
        Some((MARKET, NO))
    );
    assert_eq!(market.token(NO), token(MARKET, NO));
    assert_eq!(
        scene.view.markets().by_token(&token(MarketNumber(1), NO)),
        None
    );

    let time = |sequence: foretell_model::Sequence| Some(TimeNs(sequence.0 * 1_000_000_000));
    let state = |scene: &mut Scene, command, state| {
        let set = Event::MarketStateSet(MarketStateSet {
            holds: HoldSet::NONE,
            market: MARKET,
            state,
        });
        scene.step(command, &[set])
    };
    let active = scene.activate(MARKET);
    state(
        &mut scene,
        Command::PauseMarket(PauseMarket {
            market: MARKET,
            hold: Hold::Operator,
        }),
        MarketState::Paused,
    );
    state(
        &mut scene,
        Command::ResumeMarket(ResumeMarket {
            market: MARKET,
            hold: Hold::Operator,
        }),
        MarketState::Active,
    );
    let closed = state(
        &mut scene,
        Command::CloseMarket { market: MARKET },
        MarketState::Closed,
    );
    let resolved = scene.step(
        Command::ResolveMarket(ResolveMarket {
            market: MARKET,
            payout: Payout::Half,
            replaces: None,
        }),
        &[Event::MarketResolved(MarketResolved {
            market: MARKET,
            payout: Payout::Half,
        })],
    );
    let archived = scene.step(
        Command::ArchiveMarket(ArchiveMarket {
            market: MARKET,
            archived: true,
        }),
        &[Event::MarketArchived(MarketArchived {
            market: MARKET,
            archived: true,
        })],
    );
    let market = scene.view.markets().get(MARKET).unwrap();
    assert_eq!(
        (market.activated, market.closed, market.resolved),
        (time(active), time(closed), time(resolved))
    );
    assert_eq!(
        (market.state, market.payout),
        (MarketState::Resolved, Some(Payout::Half))
    );
    assert_eq!((market.archived, market.changed), (true, archived));
}

#[rstest]
#[case(MarketState::Active, SystemMode::Running, true)]
#[case(MarketState::Active, SystemMode::PostOnly, true)]
#[case(MarketState::Active, SystemMode::CancelOnly, false)]
#[case(MarketState::Active, SystemMode::Paused, false)]
#[case(MarketState::Registered, SystemMode::Running, false)]
#[case(MarketState::Paused, SystemMode::Running, false)]
#[case(MarketState::Closed, SystemMode::PostOnly, false)]
fn a_market_takes_orders_when_it_and_the_system_do(
    #[case] state: MarketState,
    #[case] mode: SystemMode,
    #[case] takes: bool,
) {
    let mut scene = Scene::trading();
    let market = MARKET;
    scene.step(
        Command::AdvanceTime,
        &[Event::MarketStateSet(MarketStateSet {
            holds: HoldSet::NONE,
            market,
            state,
        })],
    );
    scene.step(Command::SetMode { mode }, &[Event::ModeSet { mode }]);
    assert_eq!(scene.view.accepting_orders(market), takes);
    assert!(!scene.view.accepting_orders(MarketNumber(1)));
}

#[test]
fn keys_are_found_by_text_and_owner_and_die() {
    let mut scene = Scene::trading();
    let second = scene.key(KeyNumber(3), ALICE);
    let dead = scene.step(
        Command::RevokeKey(RevokeKey {
            key: KeyNumber(0),
            cancel_orders: false,
        }),
        &[Event::KeyRevoked { key: KeyNumber(0) }],
    );
    let keys = scene.view.keys();
    let of_alice: Vec<_> = keys
        .of_owner(ALICE)
        .map(|(number, key)| (number.0, key.is_live()))
        .collect();
    assert_eq!(of_alice, [(0, false), (3, true)]);
    let (number, key) = keys.by_text(&ApiKey([1; 16])).unwrap();
    assert_eq!(
        (number, key.owner, key.revoked),
        (KeyNumber(0), ALICE, Some(TimeNs(dead.0 * 1_000_000_000)))
    );
    let (_, key) = keys.by_text(&ApiKey([4; 16])).unwrap();
    assert_eq!(
        (key.nonce, key.created),
        ([3; 32], TimeNs(second.0 * 1_000_000_000))
    );
    assert!(keys.by_text(&ApiKey([9; 16])).is_none());
}

#[test]
fn the_system_is_what_its_commands_say() {
    let mut scene = Scene::trading();
    assert_eq!(scene.view.system().rules, 1);
    let settings = Settings {
        gtd_safety_seconds: 5,
        ..Settings::default()
    };
    let change = Command::ChangeSettings {
        settings: SettingsUpdate {
            gtd_safety_seconds: Some(settings.gtd_safety_seconds),
            ..SettingsUpdate::default()
        },
    };
    scene.step(change, &[Event::SettingsChanged]);
    scene.step(
        Command::SwitchRules { rules: 2 },
        &[Event::RulesSwitched { rules: 2 }],
    );
    let domain = DomainNumber(4);
    let register = Command::RegisterDomain(RegisterDomain {
        domain,
        separator: [6; 32],
    });
    scene
        .try_step(&register, &[Event::DomainRegistered { domain }], b"name 2")
        .unwrap();
    let owner = ALICE;
    scene.step(
        Command::SetHeartbeat(SetHeartbeat { owner, on: true }),
        &[Event::HeartbeatSet(HeartbeatSet { owner, on: true })],
    );
    let closed_only = Command::SetClosedOnly(SetClosedOnly {
        wallet: wallet(BOB),
        closed_only: true,
    });
    let set = Event::ClosedOnlySet(ClosedOnlySet {
        account: BOB,
        closed_only: true,
    });
    scene.step(closed_only, &[set]);
    let system = scene.view.system();
    assert_eq!((system.settings, system.rules), (settings, 2));
    let entry = &system.domains[&domain];
    assert_eq!((entry.separator, &*entry.text), ([6; 32], &b"name 2"[..]));
    let account = |number| scene.view.accounts().get(number).unwrap();
    assert_eq!(
        (account(ALICE).heartbeat, account(ALICE).closed_only),
        (true, false)
    );
    assert_eq!(
        (account(BOB).heartbeat, account(BOB).closed_only),
        (false, true)
    );
    assert_eq!(system.time.0, system.sequence.0 * 1_000_000_000);
}
