//! A missed heartbeat cancels the owner's orders.

use std::time::Duration;

use foretell_link::{Answer, Heartbeat, HeartbeatAnswer, HeartbeatId, Request, Role};
use foretell_model::command::{CancelAll, SetHeartbeat};
use foretell_model::{AccountNumber, Command, RejectionReason, Verdict};

use crate::harness::{Engine, TestClient, config, frames};
use crate::world::World;

fn beat(client: &mut TestClient, owner: AccountNumber, id: HeartbeatId) -> HeartbeatAnswer {
    let request = 77;
    let beat = Heartbeat { request, owner, id };
    match client.client.ask(Request::Heartbeat(beat)).unwrap() {
        Answer::Heartbeat(answer) => {
            assert_eq!(answer.request, request);
            answer
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_silent_chain_cancels_and_is_journalled() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.heartbeat_window = Duration::from_millis(300);
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    let owner = world.traders[0].account;
    client.ask(world.resting_buy(1).place(), b"signed");

    let wrong = beat(&mut client, owner, HeartbeatId([3; 16]));
    assert_eq!((wrong.accepted, wrong.id), (false, HeartbeatId::NONE));
    let started = beat(&mut client, owner, HeartbeatId::NONE);
    assert!(started.accepted);
    client.wait_for(|status| status.live_orders == 0);
    // The chain has ended.
    let over = beat(&mut client, owner, started.id);
    assert_eq!((over.accepted, over.id), (false, HeartbeatId::NONE));
    engine.stop();

    let commands: Vec<Command> = frames(directory.path())
        .into_iter()
        .map(|frame| frame.command)
        .collect();
    let expected = [
        Command::SetHeartbeat(SetHeartbeat { owner, on: true }),
        Command::CancelAll(CancelAll {
            owner,
            heartbeat: true,
        }),
        Command::SetHeartbeat(SetHeartbeat { owner, on: false }),
    ];
    assert_eq!(commands[commands.len() - 3..], expected);
}

#[test]
fn a_chain_is_fed_by_its_id_and_survives_a_restart_under_another() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    let owner = world.traders[0].account;
    let started = beat(&mut client, owner, HeartbeatId::NONE);
    assert_eq!(beat(&mut client, owner, started.id), started);
    assert_eq!(
        beat(&mut client, owner, HeartbeatId::NONE),
        started,
        "the same chain"
    );
    let wrong = beat(&mut client, owner, HeartbeatId([3; 16]));
    assert_eq!((wrong.accepted, wrong.id), (false, started.id));

    // An owner unknown to the exchange gets its rejection.
    let request = 5;
    let id = HeartbeatId::NONE;
    let unknown = Heartbeat {
        request,
        owner: AccountNumber(4_000_000),
        id,
    };
    match client.client.ask(Request::Heartbeat(unknown)).unwrap() {
        Answer::Reply(reply) => assert_eq!(
            reply.verdict,
            Verdict::Rejected(RejectionReason::UnknownAccount.into())
        ),
        other => panic!("{other:?}"),
    }
    let nothing = beat(&mut client, unknown.owner, started.id);
    assert_eq!((nothing.accepted, nothing.id), (false, HeartbeatId::NONE));
    engine.stop();

    let engine = Engine::start(config(directory.path()));
    let mut client = engine.client(Role::Trading);
    let right = beat(&mut client, owner, started.id);
    assert!(!right.accepted);
    assert_ne!((right.id, right.id), (HeartbeatId::NONE, started.id));
    assert!(beat(&mut client, owner, right.id).accepted);
    engine.stop();
}
