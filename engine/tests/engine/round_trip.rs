//! Orders, their answers, and their frames in the journal.

use foretell_fixtures::order_id;
use foretell_link::{Role, Stage};
use foretell_model::command::CancelOrder;
use foretell_model::{
    Command, CommandOutcome, FramePosition, OrderResult, OrderStatus, OrderType, Outcome,
    Rejection, RejectionReason, Sequence, TimeMs, TimeSeconds, Verdict,
};

use crate::harness::{Engine, MACHINES, config, frames};
use crate::world::World;

#[test]
fn orders_rest_match_and_are_cancelled_on_every_machine() {
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        let owner = world.traders[0].account;

        let placed = client.ask(world.resting_buy(1).place(), b"signed");
        let Verdict::Applied(CommandOutcome::Order(result)) = placed.verdict else {
            panic!("{placed:?}");
        };
        assert_eq!(result.status, OrderStatus::Live);
        assert_eq!(placed.epoch, engine.ready.epoch);
        assert_eq!(placed.sequence, placed.last_sequence);
        assert_ne!(placed.place, FramePosition::default());

        // BUY No at 0.60 matches BUY Yes at 0.40: a mint.
        let cross = world.buy(2, 1, 2).of(Outcome::No).at("0.6");
        let matched = client.ask(cross.as_type(OrderType::Fak).place(), b"signed too");
        assert!(
            matches!(
                matched.verdict,
                Verdict::Applied(CommandOutcome::Order(OrderResult {
                    status: OrderStatus::Matched,
                    fills: 1,
                    ..
                }))
            ),
            "{matched:?}"
        );
        assert_eq!(matched.sequence, placed.sequence.next());

        let order = order_id(1);
        let gone = client.ask(Command::CancelOrder(CancelOrder { owner, order }), &[]);
        let Verdict::Rejected(refusal) = gone.verdict else {
            panic!("{gone:?}");
        };
        assert_eq!(refusal.reason, RejectionReason::OrderNotFound);
        assert_eq!(
            gone.sequence, matched.sequence,
            "judged against the last state"
        );
        assert_eq!(gone.place, FramePosition::default());

        client.ask(world.resting_buy(3).place(), b"signed");
        let order = order_id(3);
        let cancelled = client.ask(Command::CancelOrder(CancelOrder { owner, order }), &[]);
        assert_eq!(
            cancelled.verdict,
            Verdict::Applied(CommandOutcome::Cancelled { orders: 1 })
        );

        let status = client.status();
        assert_eq!(status.durable, cancelled.sequence);
        assert_eq!(
            (status.markets, status.live_orders, status.ring_used),
            (1, 0, 0)
        );
        for stage in Stage::ALL {
            assert!(status.stage(stage).count > 0, "{stage:?} was measured");
        }
        engine.stop();

        let journal = frames(directory.path());
        assert_eq!(journal.last().unwrap().sequence, cancelled.sequence);
        let placed_frame = journal
            .iter()
            .find(|it| it.sequence == placed.sequence)
            .unwrap();
        assert_eq!(placed_frame.place, placed.place);
        assert_eq!(placed_frame.evidence, b"signed");
    }
}

#[test]
fn what_the_book_refuses_is_journalled_without_evidence() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);

    let unfilled = world.buy(1, 0, 10).at("0.4").as_type(OrderType::Fok);
    let killed = client.ask(unfilled.place(), b"signed");
    assert!(
        matches!(
            killed.verdict,
            Verdict::Applied(CommandOutcome::Order(OrderResult {
                status: OrderStatus::Killed(Rejection {
                    reason: RejectionReason::FokNotFilled,
                    ..
                }),
                ..
            }))
        ),
        "{killed:?}"
    );
    // Rejected at admission: not journalled.
    let an_hour_ago = TimeMs(world.time.millis().0 - 3_600_000);
    let too_old = world.resting_buy(2).signed(an_hour_ago);
    let refused = client.ask(too_old.place(), b"signed");
    assert!(
        matches!(refused.verdict, Verdict::Rejected(_)),
        "{refused:?}"
    );
    assert_eq!(refused.sequence, killed.sequence);
    // A repeat of the order returns the first sequence.
    let placed = client.ask(world.resting_buy(3).place(), b"signed");
    let again = client.ask(world.resting_buy(3).place(), b"signed");
    assert!(
        matches!(again.verdict, Verdict::Repeated { first, .. } if first == placed.sequence),
        "{again:?}"
    );
    engine.stop();

    let journal = frames(directory.path());
    let of = |sequence: Sequence| journal.iter().find(|it| it.sequence == sequence).unwrap();
    assert_eq!(of(killed.sequence).evidence, b"");
    assert_eq!(of(placed.sequence).evidence, b"signed");
    assert_eq!(journal.last().unwrap().sequence, placed.sequence);
}

#[test]
fn long_work_is_continued_before_anything_else_and_named_in_the_reply() {
    for (threads, waiting) in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let mut config = config(directory.path());
        (config.threads, config.waiting) = (threads, waiting);
        config.settings.live_orders_per_account = 10_000;
        let engine = Engine::start(config);
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        let orders = 5_000;
        for number in 0..orders {
            client.ask(world.resting_buy(number).place(), b"signed");
        }
        let cancel = world.traders[0].cancel_all();
        // The next command waits for all of it.
        let first = client.send(cancel, &[]).unwrap();
        client
            .send(world.resting_buy(orders).place(), b"signed")
            .unwrap();
        let mut reply = || match client.client.receive().unwrap() {
            foretell_link::Answer::Reply(reply) => reply,
            other => panic!("{other:?}"),
        };
        let (cancelled, placed) = (reply(), reply());
        assert_eq!(cancelled.request, first);
        assert_eq!(
            cancelled.verdict,
            Verdict::Applied(CommandOutcome::Cancelled { orders: 4_096 })
        );
        assert_eq!(cancelled.last_sequence, cancelled.sequence.next());
        assert_eq!(placed.sequence, cancelled.last_sequence.next());
        assert_eq!(client.status().live_orders, 1);
        engine.stop();
    }
}

#[test]
fn time_passes_for_orders_that_expire() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.settings.gtd_safety_seconds = 0;
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    let soon = TimeSeconds(world.time.seconds().0 + 2);
    client.ask(world.resting_buy(1).until(soon).place(), b"signed");
    client.wait_for(|status| status.live_orders == 0);
    engine.stop();
    let journal = frames(directory.path());
    assert_eq!(journal.last().unwrap().command, Command::AdvanceTime);
}
