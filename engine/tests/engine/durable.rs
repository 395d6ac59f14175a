//! No answer leaves before it is durable, and none after the disk has failed.

use std::io;
use std::path::Path;
use std::sync::Arc;

use foretell_engine::client::ClientError;
use foretell_engine::{EXIT_IO_ERROR, EngineError};
use foretell_fixtures::order_id;
use foretell_link::{Answer, Request, Role};
use foretell_model::Verdict;
use parking_lot::{Condvar, Mutex};

use crate::harness::{Engine, MACHINES, config, frames};
use crate::hooked_disk::{Hook, HookedDisk, Operation};
use crate::world::World;

/// The behaviour of syncs: pass, wait, or fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syncs {
    Pass,
    Wait,
    Fail,
}

/// The test controls syncs.
#[derive(Debug)]
pub(crate) struct SyncGate {
    state: Mutex<Syncs>,
    changed: Condvar,
}

impl SyncGate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(Syncs::Pass),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn set(&self, syncs: Syncs) {
        *self.state.lock() = syncs;
        self.changed.notify_all();
    }

    pub(crate) fn disk(self: &Arc<Self>) -> Arc<HookedDisk<Self>> {
        Arc::new(HookedDisk(Arc::clone(self)))
    }
}

impl Hook for SyncGate {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        if operation != Operation::Sync {
            return Ok(());
        }
        let mut state = self.state.lock();
        loop {
            match *state {
                Syncs::Pass => return Ok(()),
                Syncs::Fail => return Err(io::Error::other("the disk is on fire")),
                Syncs::Wait => self.changed.wait(&mut state),
            }
        }
    }
}

#[test]
fn no_answer_leaves_before_what_it_rests_on_is_durable() {
    for (threads, waiting) in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let gate = SyncGate::new();
        let mut config = config(directory.path());
        (config.threads, config.waiting) = (threads, waiting);
        config.journal.disk = gate.disk();
        let engine = Engine::start(config);
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        let before = client.status().sequence;

        gate.set(Syncs::Wait);
        let placed = client
            .send(world.resting_buy(1).place(), b"signed")
            .unwrap();
        // Held back: the order, its repeat, and a rejection that depends on them.
        client
            .send(world.resting_buy(1).place(), b"signed")
            .unwrap();
        let refused = client
            .send(world.traders[1].cancel(order_id(1)), &[])
            .unwrap();
        // Every status is answered at once, without a reply in between.
        let status = client.wait_for(|it| it.sequence == before.next() && it.ring_used == 0);
        assert_eq!(status.durable, before);
        for _ in 0..50 {
            assert_eq!(client.status().durable, before);
        }

        gate.set(Syncs::Pass);
        for (request, applied) in [(placed, true), (placed + 1, false), (refused, false)] {
            let Answer::Reply(reply) = client.client.receive().unwrap() else {
                panic!("a reply");
            };
            assert_eq!(reply.request, request);
            assert_eq!(matches!(reply.verdict, Verdict::Applied(_)), applied);
            assert_eq!(reply.sequence, before.next());
        }
        engine.stop();
    }
}

#[test]
fn after_the_first_io_error_nothing_is_acknowledged() {
    for (threads, waiting) in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let gate = SyncGate::new();
        let mut config = config(directory.path());
        (config.threads, config.waiting) = (threads, waiting);
        config.journal.disk = gate.disk();
        let engine = Engine::start(config.clone());
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);

        gate.set(Syncs::Fail);
        client
            .send(world.resting_buy(1).place(), b"signed")
            .unwrap();
        let ended = client.client.receive();
        assert!(matches!(ended, Err(ClientError::Io(_))), "{ended:?}");
        let failure = engine.end().unwrap_err();
        assert!(matches!(failure, EngineError::Failed(_)), "{failure:?}");
        assert_eq!(failure.exit_code(), EXIT_IO_ERROR);

        // The next start needs the operator's consent.
        gate.set(Syncs::Pass);
        let refused = Engine::try_start(config.clone()).err().unwrap();
        assert!(matches!(refused, EngineError::Journal(_)), "{refused:?}");
        config.journal.after_io_error = true;
        let engine = Engine::start(config);
        engine.stop();
    }
}

#[test]
fn a_clean_stop_answers_everything_accepted_and_says_goodbye() {
    for (threads, waiting) in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let gate = SyncGate::new();
        let mut config = config(directory.path());
        (config.threads, config.waiting) = (threads, waiting);
        config.journal.disk = gate.disk();
        let engine = Engine::start(config);
        let world = World::build(&engine);
        let mut client = engine.client(Role::Trading);
        let before = client.status().sequence;

        gate.set(Syncs::Wait);
        let orders = 100;
        for number in 0..orders {
            client
                .send(world.resting_buy(number).place(), b"signed")
                .unwrap();
        }
        client.wait_for(|status| status.sequence.0 == before.0 + orders);
        engine.ready.stop.stop();
        // This answer shows that the engine has noticed the stop.
        let busy = loop {
            let request = Request::Submit(foretell_link::Submit {
                request: 9_999,
                operator: foretell_model::OperatorNumber::NONE,
                command: world.resting_buy(9_999).place(),
                evidence: &[],
            });
            client.client.send(&[request]).unwrap();
            let status = client.client.ask(Request::Status { request: 1 });
            if let Ok(Answer::Busy(busy)) = status {
                break busy;
            }
        };
        assert_eq!(busy.reason, foretell_link::BusyReason::Stopping);
        gate.set(Syncs::Pass);

        let mut acknowledged = Vec::new();
        let last = loop {
            match client.client.receive() {
                Ok(Answer::Reply(reply)) => acknowledged.push(reply.sequence),
                Ok(Answer::Status(_) | Answer::Busy(_)) => {}
                other => break other,
            }
        };
        assert!(
            matches!(last, Ok(Answer::Goodbye(foretell_link::Goodbye::Stopping))),
            "{last:?}"
        );
        assert!(acknowledged.len() >= 100, "{}", acknowledged.len());
        let socket = engine.ready.socket.clone();
        engine.end().unwrap();
        assert!(!socket.exists());
        let journal = frames(directory.path());
        for sequence in acknowledged {
            assert!(journal.iter().any(|frame| frame.sequence == sequence));
        }
    }
}
