//! A replace: its commands stand next to each other, in the ring and in the journal.

use foretell_fixtures::{Order, order_id};
use foretell_link::{Answer, Reply, Role};
use foretell_model::command::{CancelOrder, SetQuoteLimits, SetQuotes};
use foretell_model::limits::MAX_REPLACE;
use foretell_model::quote::{Quote, QuoteLimits};
use foretell_model::tail::Tail;
use foretell_model::{
    Command, CommandOutcome, Lots, OrderResult, OrderStatus, OrderType, Outcome, Price,
    RejectionReason, Sequence, Side, TimeMs, Verdict,
};

use crate::harness::{Engine, MACHINES, OwnedFrame, TestClient, config, frames};
use crate::world::World;

/// A BUY of No at these cents, of trader 0: an ask.
fn ask(world: &World, number: u64, cents: u64, shares: u64) -> Command {
    let order = world.buy(number, 0, shares).of(Outcome::No);
    order.at_cents(cents).place()
}

/// A BUY of Yes at 60 cents, of trader 1: it meets asks.
fn taker(world: &World, number: u64, shares: u64) -> Order {
    world.buy(number, 1, shares).at("0.6")
}

fn cancel(world: &World, trader: usize, number: u64) -> Command {
    world.traders[trader].cancel(order_id(number))
}

fn status(verdict: Verdict) -> OrderStatus {
    match verdict {
        Verdict::Applied(CommandOutcome::Order(OrderResult { status, .. })) => status,
        other => panic!("{other:?}"),
    }
}

fn reason(verdict: Verdict) -> RejectionReason {
    match verdict {
        Verdict::Rejected(rejection) => rejection.reason,
        other => panic!("{other:?}"),
    }
}

/// Whether frames have one time, and follow each other in one batch: a batch begins with a header
/// on a page of its own.
fn are_together(frames: &[OwnedFrame]) -> bool {
    frames.windows(2).all(|pair| {
        let (one, other) = (&pair[0], &pair[1]);
        one.stamp.time == other.stamp.time
            && one.place.segment == other.place.segment
            && one.place.offset + one.place.length == other.place.offset
    })
}

#[test]
fn cancels_come_first_and_each_frame_counts_what_the_group_touched() {
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        for number in 1..=3 {
            client.ask(ask(&world, number, 55, 1), b"signed");
        }
        client.ask(world.resting_buy(4).place(), b"signed");
        let replies = client.replace(
            false,
            &[
                cancel(&world, 0, 1),
                cancel(&world, 0, 99),
                taker(&world, 5, 2).place(),
                world.resting_buy(4).place(),
                taker(&world, 6, 1).place(),
            ],
        );
        let verdicts: Vec<Verdict> = replies.iter().map(|reply| reply.verdict).collect();
        let one = Verdict::Applied(CommandOutcome::Cancelled { orders: 1 });
        assert_eq!(verdicts[0], one);
        assert_eq!(reason(verdicts[1]), RejectionReason::OrderNotFound);
        assert_eq!(status(verdicts[2]), OrderStatus::Matched);
        assert!(matches!(verdicts[3], Verdict::Repeated { .. }));
        assert_eq!(status(verdicts[4]), OrderStatus::Live);
        engine.stop();
        let journal = frames(directory.path());
        let group = &journal[journal.len() - 3..];
        assert!(are_together(group), "{group:?}");
        let touched: Vec<u16> = group.iter().map(|frame| frame.stamp.touched).collect();
        assert_eq!(touched, [0, 1, 3]);
        assert_eq!(group[2].evidence, b"signed");
    }
}

/// Gives trader 0 a group that freezes with its first fill, and two quotes of No, at 55 and 50 cents.
fn quote_with_a_limit(client: &mut TestClient, world: &World) {
    let maker = world.traders[0];
    let limits = QuoteLimits {
        window_ms: 60_000,
        lots: Lots(1),
        ..QuoteLimits::default()
    };
    let limited = client.ask(
        Command::SetQuoteLimits(SetQuoteLimits {
            account: maker.account,
            key: maker.key,
            group: 0,
            limits,
            reset: false,
        }),
        &[],
    );
    assert_eq!(limited.verdict, Verdict::Applied(CommandOutcome::Done));
    let quote = |cents: u16| Quote {
        condition: 0,
        outcome: Outcome::No,
        side: Side::Buy,
        price: Price(cents * 100),
        lots: Lots(500),
        grow_tail: false,
    };
    let mut beside = Vec::new();
    Tail::append(&[world.market], &mut beside);
    Tail::append(&[quote(55).word(), quote(50).word()], &mut beside);
    let now = world.time.millis();
    let set = SetQuotes {
        account: maker.account,
        key: maker.key,
        digest: order_id(77),
        group: 0,
        revision: 1,
        seen: Sequence(u64::MAX),
        timestamp: now,
        valid_until: TimeMs(now.0 + 3_600_000),
        conditions: 1,
        quotes: 2,
    };
    let placed = client.ask(Command::SetQuotes(set), &beside);
    let is_placed = |verdict: Verdict| match verdict {
        Verdict::Applied(CommandOutcome::Quotes(result)) => result.placed.0 == 3,
        _ => false,
    };
    assert!(is_placed(placed.verdict), "{placed:?}");
}

#[test]
fn frozen_quotes_end_before_the_next_order_of_a_replace() {
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        quote_with_a_limit(&mut client, &world);
        let orders = [taker(&world, 5, 2).place(), taker(&world, 6, 5).place()];
        let replies = client.replace(false, &orders);
        assert_eq!(status(replies[0].verdict), OrderStatus::Matched);
        assert_eq!(status(replies[1].verdict), OrderStatus::Live);
        engine.stop();
        let journal = frames(directory.path());
        let group = &journal[journal.len() - 3..];
        assert!(are_together(group), "{group:?}");
        assert_eq!(group[1].command, Command::Continue);
        let touched: Vec<u16> = group.iter().map(|frame| frame.stamp.touched).collect();
        assert_eq!(touched, [0, 1, 3]);
    }
}

#[test]
fn orders_that_a_killed_one_visited_count_for_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    for number in 1..=3 {
        client.ask(ask(&world, number, 55, 1), b"signed");
    }
    let too_large = |number| taker(&world, number, 5).as_type(OrderType::Fok).place();
    let last = world.resting_buy(7).place();
    let replies = client.replace(false, &[too_large(5), too_large(6), last]);
    // A kill is applied, and takes a frame.
    let applied = |reply: &Reply| matches!(reply.verdict, Verdict::Applied(_));
    assert!(replies.iter().all(applied), "{replies:?}");
    engine.stop();
    let journal = frames(directory.path());
    let group = journal[journal.len() - 3..].iter();
    let touched: Vec<u16> = group.map(|frame| frame.stamp.touched).collect();
    assert_eq!(touched, [0, 3, 6]);
}

#[test]
fn orders_wait_for_all_cancels_if_the_client_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    client.ask(world.resting_buy(1).place(), b"signed");
    client.ask(world.resting_buy(2).place(), b"signed");
    let commands = [
        cancel(&world, 0, 99),
        cancel(&world, 0, 1),
        world.resting_buy(2).place(),
        world.resting_buy(3).place(),
    ];
    let verdicts: Vec<Verdict> = client
        .replace(true, &commands)
        .iter()
        .map(|reply| reply.verdict)
        .collect();
    // The cancel stays; a known order answers as a repeat.
    assert!(matches!(verdicts[1], Verdict::Applied(_)));
    assert!(matches!(verdicts[2], Verdict::Repeated { .. }));
    assert_eq!(reason(verdicts[3]), RejectionReason::NotAllCanceled);
    let commands = [cancel(&world, 0, 2), world.resting_buy(3).place()];
    let replies = client.replace(true, &commands);
    assert_eq!(status(replies[1].verdict), OrderStatus::Live);
    engine.stop();
    let placed = |frame: &&OwnedFrame| matches!(frame.command, Command::PlaceOrder(_));
    assert_eq!(frames(directory.path()).iter().filter(placed).count(), 3);
}

#[test]
fn no_command_of_others_comes_between() {
    const GROUPS: u64 = 60;
    for machine in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::on(machine, directory.path());
        let world = World::build(&engine);
        let socket = engine.ready.socket.clone();
        let others = std::thread::spawn(move || {
            let mut client = TestClient::connect(&socket, Role::Trading);
            for number in 0..4 * GROUPS {
                client.ask(world.resting_buy(100_000 + number).place(), b"signed");
            }
        });
        let mut client = engine.client(Role::Trading);
        let width = MAX_REPLACE as u64;
        let numbers = |group: u64| group * width..(group + 1) * width;
        for group in 0..GROUPS {
            let before = group.checked_sub(1).map(numbers).into_iter().flatten();
            let cancels = before.map(|number| cancel(&world, 0, number));
            let orders = numbers(group).map(|number| world.resting_buy(number).place());
            let commands: Vec<Command> = cancels.chain(orders).collect();
            let replies = client.replace(true, &commands);
            assert!(
                replies
                    .iter()
                    .all(|it| matches!(it.verdict, Verdict::Applied(_)))
            );
        }
        others.join().unwrap();
        engine.stop();
        let journal = frames(directory.path());
        let is_first = |frame: &OwnedFrame, group: u64| match frame.command {
            Command::CancelOrder(CancelOrder { order, .. }) => {
                order == order_id((group - 1) * width)
            }
            _ => false,
        };
        for group in 1..GROUPS {
            let at = journal.iter().position(|frame| is_first(frame, group));
            let frames = &journal[at.unwrap()..at.unwrap() + 2 * MAX_REPLACE];
            assert!(are_together(frames), "group {group}: {frames:?}");
            let touched = frames.iter().map(|frame| frame.stamp.touched);
            let expected = (0..).take(MAX_REPLACE).chain([15; MAX_REPLACE]);
            assert!(touched.eq(expected), "group {group}");
        }
    }
}

#[test]
fn a_replace_is_admitted_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.ring_capacity = 16;
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    let before = client.status().sequence;
    // One connection has half of the ring.
    let commands: Vec<Command> = (0..9).map(|it| world.resting_buy(it).place()).collect();
    let request = client.send_replace(false, &commands);
    match client.client.receive().unwrap() {
        Answer::Busy(busy) => assert_eq!(busy.request, request),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.status().sequence, before);
    client.replace(false, &commands[..8]);
    let mut reader = engine.client(Role::Reader);
    reader.send_replace(false, &commands[..1]);
    assert!(reader.client.receive().is_err(), "a reader is cut off");
    engine.stop();
}
