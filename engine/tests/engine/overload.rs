//! Overload: excess requests get an immediate answer, memory is bounded, and cancels are accepted.

use foretell_fixtures::order_id;
use foretell_link::{Answer, BusyReason, Role};
use foretell_model::command::{CancelOrder, SetQuotes};
use foretell_model::quote::Quote;
use foretell_model::tail::Tail;
use foretell_model::{
    Command, Lots, Outcome, Price, RejectionReason, Sequence, Side, TimeMs, Verdict,
};

use crate::durable::{SyncGate, Syncs};
use crate::harness::{Engine, config};
use crate::world::World;

#[test]
fn a_full_ring_is_busy_and_keeps_room_for_cancels() {
    let directory = tempfile::tempdir().unwrap();
    let gate = SyncGate::new();
    let mut config = config(directory.path());
    config.ring_capacity = 16;
    config.journal.disk = gate.disk();
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);

    gate.set(Syncs::Wait);
    for number in 0..20 {
        client
            .send(world.resting_buy(number).place(), b"signed")
            .unwrap();
    }
    // This connection may use half of a ring of sixteen; the rest is rejected at once.
    for number in 8..20 {
        match client.client.receive().unwrap() {
            Answer::Busy(busy) => {
                assert_eq!(
                    (busy.request, busy.reason),
                    (number + 1, BusyReason::RingFull)
                );
            }
            other => panic!("{other:?}"),
        }
    }
    // Cancels may use two more.
    let owner = world.traders[0].account;
    for number in 0..3 {
        let order = order_id(number);
        client
            .send(Command::CancelOrder(CancelOrder { owner, order }), &[])
            .unwrap();
    }
    assert!(matches!(client.client.receive().unwrap(), Answer::Busy(busy) if busy.request == 23));
    assert_eq!(client.status().busy, 13);
    // Another gateway is not affected.
    let mut other = engine.client(Role::Trading);
    let order = other
        .send(world.resting_buy(50).place(), b"signed")
        .unwrap();

    gate.set(Syncs::Pass);
    for request in (1..=8).chain(21..=22) {
        match client.client.receive().unwrap() {
            Answer::Reply(reply) => assert_eq!(reply.request, request),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        matches!(other.client.receive().unwrap(), Answer::Reply(reply) if reply.request == order)
    );
    engine.stop();
}

#[test]
fn a_disk_that_is_nearly_full_refuses_orders_and_takes_cancels() {
    let directory = tempfile::tempdir().unwrap();
    let world = {
        let engine = Engine::start(config(directory.path()));
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        client.ask(world.resting_buy(1).place(), b"signed");
        let (set, beside) = quotes(&world, 1, true);
        client.ask(set, &beside);
        assert_eq!(client.status().live_orders, 2);
        engine.stop();
        world
    };
    let mut config = config(directory.path());
    config.journal.disk_reserve_bytes = u64::MAX;
    let engine = Engine::start(config);
    let mut client = engine.client(Role::Trading);
    client.wait_for(|status| status.disk_low);
    client
        .send(world.resting_buy(2).place(), b"signed")
        .unwrap();
    assert!(matches!(
        client.client.receive().unwrap(),
        Answer::Busy(busy) if busy.reason == BusyReason::DiskLow
    ));
    let owner = world.traders[0].account;
    let order = order_id(1);
    client.ask(Command::CancelOrder(CancelOrder { owner, order }), &[]);
    // A set without quotes that ends some is taken; one that ends none would use the rest of the disk for nothing.
    let mut ends = |revision| {
        let (set, beside) = quotes(&world, revision, false);
        client.ask(set, &beside).verdict
    };
    assert!(matches!(ends(2), Verdict::Applied(_)));
    assert!(
        matches!(ends(2), Verdict::Repeated { .. }),
        "it is answered again"
    );
    assert_eq!(
        ends(3),
        Verdict::Rejected(RejectionReason::CancelOnly.into())
    );
    assert_eq!(client.status().live_orders, 0);
    engine.stop();
}

/// A set of the first trader with one quote, or none, and what is beside it.
fn quotes(world: &World, revision: u64, has_quote: bool) -> (Command, Vec<u8>) {
    let quote = Quote {
        condition: 0,
        outcome: Outcome::Yes,
        side: Side::Buy,
        price: Price(100),
        lots: Lots(1_000),
        grow_tail: false,
    };
    let words: Vec<_> = has_quote.then(|| quote.word()).into_iter().collect();
    let mut beside = Vec::new();
    Tail::append(&[world.market], &mut beside);
    Tail::append(&words, &mut beside);
    let trader = &world.traders[0];
    let now = foretell_journal::wall_clock::now().millis();
    let set = SetQuotes {
        account: trader.account,
        key: trader.key,
        digest: order_id(revision + 100),
        group: 0,
        revision,
        seen: Sequence(u64::MAX),
        timestamp: now,
        valid_until: TimeMs(now.0 + 60_000),
        conditions: 1,
        quotes: u8::from(has_quote),
    };
    (Command::SetQuotes(set), beside)
}
