//! Time that falls due: the engine does it by itself, and before every command of that time.

use std::path::Path;
use std::time::Duration;

use foretell_engine::{EngineConfig, SigningDomain};
use foretell_fixtures::Order;
use foretell_link::{Reply, Role};
use foretell_model::command::{Dispute, Propose, SetPolicy, SetTerms};
use foretell_model::event::{MarketStateSet, OrderClosed};
use foretell_model::{
    CloseReason, Command, CommandOutcome, DomainNumber, Event, HoldSet, MarketNumber, MarketState,
    MarketTerms, OperatorNumber, OrderStatus, Outcome, Payout, PolicyUpdate, Reference,
    RejectionReason, Sequence, SystemMode, TimeMs, TimeSeconds, Verdict,
};

use crate::harness::{Engine, MACHINES, OwnedFrame, TestClient, config, frames};
use crate::recorded::Recording;
use crate::restart::now;
use crate::world::World;

/// A BUY of ten shares at these cents.
fn buy(world: &World, number: u64, trader: usize, outcome: Outcome, cents: u64) -> Order {
    world.buy(number, trader, 10).of(outcome).at_cents(cents)
}

fn set_terms(world: &World, client: &mut TestClient, change: impl FnOnce(&mut MarketTerms)) {
    let (market, mut terms) = (world.market, MarketTerms::default());
    change(&mut terms);
    let reply = client.ask(
        Command::SetTerms(SetTerms {
            market,
            terms: terms.into(),
        }),
        &[],
    );
    assert!(matches!(reply.verdict, Verdict::Applied(_)), "{reply:?}");
}

fn soon() -> TimeMs {
    TimeMs(now().millis().0 + 150)
}

/// Sends a new order until its answer is no rejection for this reason.
fn place_after(
    world: &World,
    client: &mut TestClient,
    numbers: &mut impl Iterator<Item = u64>,
    reason: RejectionReason,
) -> Reply {
    loop {
        let order = world.resting_buy(numbers.next().unwrap());
        let reply = client.ask(order.place(), b"signed");
        match reply.verdict {
            Verdict::Rejected(refusal) if refusal.reason == reason => {}
            _ => return reply,
        }
    }
}

/// Every thing that time did, by its first event.
fn time_s_deeds(frames: &[OwnedFrame]) -> Vec<Event> {
    let by_time = frames
        .iter()
        .filter(|frame| frame.command == Command::AdvanceTime);
    by_time.map(|frame| frame.events[0]).collect()
}

#[test]
fn a_market_opens_clears_and_closes_on_the_clock_of_the_engine() {
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let mut operator = engine.client(Role::Operator);
        let world = World::build_registered(&engine);
        let market = world.market;
        let mut numbers = 1..;
        set_terms(&world, &mut operator, |terms| terms.opens_at = soon());
        let not_ready = RejectionReason::MarketNotReady;
        place_after(&world, &mut operator, &mut numbers, not_ready);
        assert_eq!(operator.status().live_orders, 1);
        set_terms(&world, &mut operator, |terms| {
            (terms.game_start_time, terms.clear_book_on_start) = (soon(), true);
        });
        // The engine does it while nobody asks for anything else.
        operator.wait_for(|status| status.live_orders == 0);
        let order = world.resting_buy(numbers.next().unwrap());
        operator.ask(order.place(), b"signed");
        set_terms(&world, &mut operator, |terms| terms.closes_at = soon());
        operator.wait_for(|status| status.live_orders == 0);
        let late = world.resting_buy(numbers.next().unwrap());
        let late = operator.ask(late.place(), b"signed");
        assert!(
            matches!(late.verdict, Verdict::Rejected(refusal) if refusal.reason == RejectionReason::MarketClosed),
            "{late:?}"
        );
        engine.stop();
        let state = |state| {
            Event::MarketStateSet(MarketStateSet {
                holds: HoldSet::NONE,
                market,
                state,
            })
        };
        let deeds = time_s_deeds(&frames(directory.path()));
        let expected = [
            state(MarketState::Active),
            Event::MarketCleared { market },
            state(MarketState::Closed),
        ];
        assert_eq!(deeds, expected);
    }
}

#[test]
fn a_delayed_order_meets_the_book_of_its_time_while_the_engine_idles() {
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let world = World::build(&engine);
        let mut client = engine.client(Role::Operator);
        set_terms(&world, &mut client, |terms| terms.taker_delay_ms = 200);
        let maker = buy(&world, 1, 0, Outcome::No, 60);
        client.ask(maker.place(), b"signed");
        let taker = buy(&world, 2, 1, Outcome::Yes, 40);
        let reply = client.ask(taker.place(), b"signed");
        let Verdict::Applied(CommandOutcome::Order(result)) = reply.verdict else {
            panic!("{reply:?}");
        };
        assert_eq!(result.status, OrderStatus::Delayed);
        client.wait_for(|status| status.live_orders == 0);
        engine.stop();
        let journal = frames(directory.path());
        let released = journal.last().unwrap();
        assert_eq!(released.command, Command::AdvanceTime);
        assert!(matches!(
            released.events[..],
            [
                Event::OrderReleased(_),
                Event::Fill(_),
                Event::OrderCompleted
            ]
        ));
        let placed = journal.iter().find(|it| it.sequence == reply.sequence);
        let waited = released.stamp.time.0 - placed.unwrap().stamp.time.0;
        assert!(waited >= 200_000_000, "{waited} ns");
    }
}

/// An hour ago: a market with a delayed order, one that expires, a clear and a close.
fn long_idle(directory: &Path) -> Sequence {
    let mut recording = Recording::begin(Duration::from_secs(3_600));
    let begin = recording.now.millis().0;
    let world = recording.world(|terms| {
        terms.taker_delay_ms = 3_000;
        (terms.game_start_time, terms.clear_book_on_start) = (TimeMs(begin + 200_000), true);
        terms.closes_at = TimeMs(begin + 300_000);
    });
    recording.open(&world);
    let expires = TimeSeconds(begin / 1_000 + 160);
    let orders = [
        buy(&world, 1, 0, Outcome::No, 60),
        buy(&world, 2, 0, Outcome::No, 55),
        buy(&world, 3, 0, Outcome::No, 50).until(expires),
        buy(&world, 4, 1, Outcome::Yes, 40),
    ];
    for order in orders {
        recording.apply(order.place());
    }
    recording.write(directory)
}

/// The frames of a start after [`long_idle`].
fn started_after_long_idle(configure: impl FnOnce(&mut EngineConfig)) -> Vec<OwnedFrame> {
    let directory = tempfile::tempdir().unwrap();
    let before = long_idle(directory.path());
    let mut config = config(directory.path());
    config.domains = vec![SigningDomain {
        number: DomainNumber(1),
        separator: [5; 32],
        text: "a domain".to_owned(),
    }];
    configure(&mut config);
    let engine = Engine::start(config);
    assert_eq!(engine.client(Role::Reader).status().live_orders, 0);
    engine.stop();
    frames(directory.path()).split_off(usize::try_from(before.0).unwrap())
}

fn is_expiry_clearing_and_close(events: &[Event]) -> bool {
    matches!(
        events,
        [
            Event::OrderClosed(OrderClosed {
                reason: CloseReason::Expired,
                ..
            }),
            Event::MarketCleared { .. },
            Event::MarketStateSet(MarketStateSet {
                state: MarketState::Closed,
                ..
            }),
        ]
    )
}

#[test]
fn everything_that_fell_due_while_no_engine_ran_precedes_the_commands_of_a_start() {
    let after = started_after_long_idle(|_| {});
    let deeds = time_s_deeds(&after);
    assert!(matches!(deeds[0], Event::OrderReleased(_)), "{after:?}");
    assert!(is_expiry_clearing_and_close(&deeds[1..]), "{after:?}");
    let rest: Vec<Command> = after[4..].iter().map(|frame| frame.command).collect();
    assert!(matches!(rest[..], [Command::RegisterDomain(_)]), "{rest:?}");
}

/// A maker who could not act meanwhile trades with nobody before the protected time ends.
#[test]
fn nothing_that_fell_due_while_no_engine_ran_trades_before_post_only_begins() {
    let protected = Duration::from_secs(60);
    let after = started_after_long_idle(|config| config.post_only_after_restart = protected);
    let deeds = time_s_deeds(&after);
    assert!(is_expiry_clearing_and_close(&deeds), "{after:?}");
    let mode = SystemMode::PostOnly;
    assert_eq!(after[0].command, Command::SetMode { mode });
    assert!(matches!(after[4].command, Command::RegisterDomain(_)));
}

/// Closes a market with a proposal that time makes final after ten minutes.
pub(crate) fn proposes_by_time(market: MarketNumber) -> [Command; 3] {
    let policy = PolicyUpdate {
        by_time: Some(true),
        ..PolicyUpdate::default()
    };
    [
        Command::SetPolicy(SetPolicy {
            market: None,
            policy,
        }),
        Command::CloseMarket { market },
        Command::Propose(Propose {
            market,
            payout: Payout::Yes,
            by: None,
            evidence: [5; 32],
            window_seconds: Some(600),
            replaces: None,
            reference: Reference([7; 32]),
        }),
    ]
}

/// Disputes it, which is possible until it is final.
pub(crate) fn dispute(operator: &mut TestClient, market: MarketNumber) {
    let dispute = Command::Dispute(Dispute {
        market,
        counter: Some(Payout::No),
        by: None,
    });
    let disputed = operator.ask_as(OperatorNumber::FIRST_ADMIN, dispute);
    assert!(
        matches!(disputed.verdict, Verdict::Applied(_)),
        "{disputed:?}"
    );
}

/// The first command of a start says so at the time of the last frame, before anything falls due.
#[test]
fn a_window_that_ended_while_no_engine_ran_ends_later() {
    let directory = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(Duration::from_secs(3_600));
    let world = recording.world(|_| {});
    let market = world.market;
    recording.open(&world);
    for command in proposes_by_time(market) {
        recording.apply_as(OperatorNumber::FIRST_ADMIN, command);
    }
    let before = recording.write(directory.path());
    let started = now();
    let engine = Engine::on(MACHINES[0], directory.path());
    let mut operator = engine.client(Role::Operator);
    dispute(&mut operator, market);
    engine.stop();
    // Without an open proposal a start says nothing.
    Engine::on(MACHINES[0], directory.path()).stop();
    let all = frames(directory.path());
    let after = &all[usize::try_from(before.0).unwrap()..];
    let Command::Reopen { at } = after[0].command else {
        panic!("{after:?}");
    };
    assert!(at >= started && after[0].stamp.time < started);
    let says_so = |frame: &&OwnedFrame| matches!(frame.command, Command::Reopen { .. });
    assert_eq!(after.iter().filter(says_so).count(), 1);
}
