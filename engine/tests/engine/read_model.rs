//! A failed read model costs the engine its snapshots and nothing else.

use std::path::Path;

use foretell_engine::EngineConfig;
use foretell_fixtures::{deposit, order_id};
use foretell_link::{Role, SnapshotResult, Status};
use foretell_model::command::Withdraw;
use foretell_model::event::Deposited;
use foretell_model::{
    AccountNumber, Command, Event, Micros, Outcome, Reference, Sequence, Verdict, WalletAddress,
};
use foretell_view::{Chunking, VIEW_VERSION};

use crate::harness::{Engine, TestClient};
use crate::images::{
    assert_images_are_the_journal, files, published, replay, snapshots, write_image_of,
};
use crate::life::Life;
use crate::restart::{journal_of, now};
use crate::snapshots::{SMALL, ask_for_snapshot, on_request, snapshot, without};
use crate::world::World;

/// Maximum number of finished orders.
const ROOM: u64 = 8;

/// Logs of a few rows.
fn small_logs(directory: &Path) -> EngineConfig {
    let mut config = on_request(directory);
    config.publishing.chunking = Chunking::Bounded {
        bits: 2,
        rows: ROOM,
    };
    config
}

fn applied(client: &mut TestClient, command: Command) -> Sequence {
    let reply = client.ask(command, b"signed");
    assert!(matches!(reply.verdict, Verdict::Applied(_)), "{reply:?}");
    reply.sequence
}

/// Places and cancels orders; each adds a row to the history.
fn place_and_cancel(world: &World, client: &mut TestClient, numbers: std::ops::Range<u64>) {
    for number in numbers {
        applied(client, world.resting_buy(number).place());
        applied(client, world.traders[0].cancel(order_id(number)));
    }
}

/// Waits until the publisher has executed everything with a stopped view.
fn stopped(client: &mut TestClient) -> Status {
    client.wait_for(|status| {
        status.snapshots.view_stopped != Sequence(0) && status.publisher_lag() == 0
    })
}

#[test]
fn a_full_log_costs_snapshots_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(small_logs(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    place_and_cancel(&world, &mut client, 0..ROOM);
    assert_eq!(client.status().snapshots.view_stopped, Sequence(0));
    applied(&mut client, world.resting_buy(100).place());
    let full = client.status().durable.0 + 2;
    place_and_cancel(&world, &mut client, 200..203);
    let at = stopped(&mut client).snapshots.view_stopped;
    assert_eq!(at, Sequence(full), "the cancel that found no room");
    assert_eq!(ask_for_snapshot(&mut client), SnapshotResult::Failed);
    // The alarm of the view does not raise that of the disk.
    assert!(!client.status().snapshots.unwritten);
    engine.stop();
    assert_eq!(published(directory.path()), []);

    // Each later start serves and accepts the same commands as before.
    for start in 0..2 {
        let engine = Engine::start(small_logs(directory.path()));
        let mut client = engine.client(Role::Operator);
        if start == 0 {
            applied(&mut client, world.traders[0].cancel(order_id(100)));
        }
        let numbers = 300 + 10 * start..302 + 10 * start;
        place_and_cancel(&world, &mut client, numbers);
        let withdraw = Command::Withdraw(Withdraw {
            wallet: world.traders[0].wallet,
            amount: Micros(1),
            reference: Reference([u8::try_from(start).unwrap(); 32]),
        });
        applied(&mut client, withdraw);
        assert_eq!(stopped(&mut client).snapshots.view_stopped, at);
        engine.stop();
    }

    // A start with room in its logs publishes again.
    let engine = Engine::start(on_request(directory.path()));
    let mut client = engine.client(Role::Operator);
    let image = snapshot(&mut client);
    let status = client.status().snapshots;
    assert_eq!(
        (status.view_stopped, status.unwritten),
        (Sequence(0), false)
    );
    engine.stop();
    let dir = snapshots(directory.path());
    assert_images_are_the_journal(directory.path(), &dir, &[image], SMALL);
}

#[test]
fn a_frame_the_view_cannot_follow_is_an_alarm_and_the_exchange_goes_on() {
    // A frame that no exchange writes, and one that makes the fold panic.
    let strange = [
        (AccountNumber(9), Micros(100)),
        (AccountNumber(0), Micros(u64::MAX)),
    ];
    for (account, amount) in strange {
        let directory = tempfile::tempdir().unwrap();
        journal_of(directory.path(), now(), |_| {
            Event::Deposited(Deposited { account, amount })
        });
        let mut config = on_request(directory.path());
        config.accept_divergence = Some(Sequence(2));
        for start in 0..2 {
            let engine = Engine::start(config.clone());
            let mut client = engine.client(Role::Operator);
            let deposit = deposit(WalletAddress([1; 20]), Micros(5), [0x50 + start; 32]);
            applied(&mut client, deposit);
            assert_eq!(stopped(&mut client).snapshots.view_stopped, Sequence(2));
            assert_eq!(ask_for_snapshot(&mut client), SnapshotResult::Failed);
            engine.stop();
            config.accept_divergence = None;
        }
    }
}

#[test]
fn snapshots_of_an_older_view_are_passed_over_and_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let mut life = Life::new(31);
    let engine = Engine::start(without(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    life.go_on(&world, &mut client, 60);
    let end = client.status().durable;
    engine.stop();
    let mut older = Vec::new();
    replay(directory.path(), SMALL, |frame, receipt, exchange, view| {
        if [end.0 - 20, end.0 - 5].contains(&frame.sequence.0) {
            let version = VIEW_VERSION - 1;
            write_image_of(directory.path(), exchange, Some(view), receipt, version);
            older.push(frame.sequence);
        }
    });
    assert_eq!(older.len(), 2);
    let old_files = files(directory.path());
    assert!(old_files.len() > 10, "{old_files:?}");

    let engine = Engine::start(on_request(directory.path()));
    let mut client = engine.client(Role::Operator);
    let mut images = Vec::new();
    for number in 500..503 {
        applied(&mut client, world.resting_buy(number).place());
        images.push(snapshot(&mut client));
    }
    engine.stop();
    let dir = snapshots(directory.path());
    assert_images_are_the_journal(directory.path(), &dir, &images, SMALL);
    // Three snapshots and their chunks are kept; all files of the older version are removed.
    images.reverse();
    assert_eq!(published(directory.path()), images);
    let left = files(directory.path());
    let left: Vec<_> = old_files
        .iter()
        .filter(|name| left.contains(name))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn images_from_before_the_view_stopped_stay() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = small_logs(directory.path());
    config.publishing.frames = 1;
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    // Each trade is a mint that completes both orders.
    for trade in 0..ROOM {
        for (trader, outcome, price) in [(0, Outcome::Yes, "0.4"), (1, Outcome::No, "0.6")] {
            let order = world.buy(2 * trade + trader as u64, trader, 5);
            applied(&mut client, order.of(outcome).at(price).place());
        }
    }
    assert_eq!(client.status().live_orders, 0);
    let status = stopped(&mut client).snapshots;
    assert!(status.newest < status.view_stopped);
    engine.stop();
    let newest = published(directory.path()).first().copied();
    assert_eq!(newest.unwrap_or_default(), status.newest);
}
