//! The engine as a process: after kill -9 under load everything acknowledged is there; after
//! SIGTERM it ends cleanly.

use std::collections::HashMap;
use std::env;
use std::io::BufRead;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};

use foretell_link::{Answer, Role};
use foretell_model::{Command, OrderId, Sequence, Verdict};

use crate::harness::{Engine, MACHINES, TestClient, config, frames};
use crate::images::{assert_states_are_the_journal, published, snapshots};
use crate::snapshots::{SMALL, on_request, snapshot};
use crate::world::World;

/// The data directory of the child engine, and its thread layout.
const DIRECTORY: &str = "FORETELL_TEST_DIRECTORY";
const MACHINE: &str = "FORETELL_TEST_MACHINE";
/// Printed by the child when it serves.
const READY: &str = "engine ready";

/// Not a test by itself: the child process of the tests below.
#[test]
fn child_engine() {
    let Ok(directory) = env::var(DIRECTORY) else {
        return;
    };
    let machine: usize = env::var(MACHINE).unwrap().parse().unwrap();
    let mut config = config(Path::new(&directory));
    (config.threads, config.waiting) = MACHINES[machine];
    config.handle_signals = true;
    // So that a kill can hit every stage of the publisher, too.
    config.publishing.frames = 40;
    config.publishing.chunking = SMALL;
    foretell_engine::run(&config, |_| println!("\n{READY}")).unwrap();
}

fn spawn_child(directory: &Path, machine: usize) -> Child {
    let mut child = Process::new(env::current_exe().unwrap())
        .args(["--exact", "crash::child_engine", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(MACHINE, machine.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim_end() != READY {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the child starts");
    }
    // Kept open: the child prints more later.
    child.stdout = Some(out.into_inner());
    child
}

/// Places orders without waiting until the engine is gone; returns the acknowledged ones.
fn load(socket: PathBuf, world: World, first: u64, killed_at: usize, mut child: Child) -> Ledger {
    let mut client = TestClient::connect(&socket, Role::Trading);
    let mut ledger = Ledger::new();
    let (mut sent, mut by_request) = (0, HashMap::new());
    loop {
        // A window of orders in flight, so that the kill hits some at every stage.
        while by_request.len() < 64 {
            let order = world.resting_buy(first + sent);
            sent += 1;
            match client.send(order.place(), b"signed") {
                Ok(request) => by_request.insert(request, order.terms().order),
                Err(_) => return ledger,
            };
        }
        match client.client.receive() {
            Ok(Answer::Reply(reply)) => {
                let order = by_request.remove(&reply.request).unwrap();
                assert!(matches!(reply.verdict, Verdict::Applied(_)), "{reply:?}");
                ledger.insert(order, reply.sequence);
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => return ledger,
        }
        if ledger.len() == killed_at {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

type Ledger = HashMap<OrderId, Sequence>;

#[test]
fn what_was_acknowledged_survives_kill_nine() {
    for machine in 0..MACHINES.len() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::start(config(directory.path()));
        let world = World::build(&engine);
        let socket = engine.ready.socket.clone();
        engine.stop();

        let mut acknowledged = Ledger::new();
        for round in 0..3 {
            let child = spawn_child(directory.path(), machine);
            let ledger = load(socket.clone(), world, round * 100_000, 700, child);
            assert!(ledger.len() >= 700);
            acknowledged.extend(ledger);

            let engine = Engine::start(config(directory.path()));
            let mut client = engine.client(Role::Trading);
            let sample = world.resting_buy(round * 100_000 + 3);
            let again = client.ask(sample.place(), b"signed");
            assert!(
                matches!(again.verdict, Verdict::Repeated { first, .. } if first == acknowledged[&sample.terms().order]),
                "{again:?}"
            );
            engine.stop();
        }
        let placed: HashMap<OrderId, Sequence> = frames(directory.path())
            .into_iter()
            .filter_map(|frame| match frame.command {
                Command::PlaceOrder(order) => Some((order.order, frame.sequence)),
                _ => None,
            })
            .collect();
        for (order, sequence) in acknowledged {
            assert_eq!(placed.get(&order), Some(&sequence), "{order:?}");
        }
        // Every snapshot left by the kills is complete, and the engine can start from it.
        let engine = Engine::start(on_request(directory.path()));
        snapshot(&mut engine.client(Role::Operator));
        engine.stop();
        let images = published(directory.path());
        assert!(!images.is_empty());
        let kept = snapshots(directory.path());
        assert_states_are_the_journal(directory.path(), &kept, &images, SMALL);
    }
}

#[test]
fn a_termination_signal_is_a_clean_stop() {
    for machine in 0..MACHINES.len() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = spawn_child(directory.path(), machine);
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        assert!(child.wait().unwrap().success());
        let socket = directory.path().join(foretell_engine::SOCKET_NAME);
        assert!(!socket.exists());
    }
}
