//! A disk that fails every snapshot operation from some operation on: the files equal those of a
//! crash at that point, and the engine continues.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foretell_journal::snapshot::newest_image;
use foretell_link::{Role, SnapshotResult};
use foretell_model::{Sequence, Verdict};

use crate::harness::Engine;
use crate::hooked_disk::{Hook, HookedDisk, Operation};
use crate::images::{assert_images_are_the_journal, files, genesis, published, snapshots};
use crate::life::Life;
use crate::snapshots::{SMALL, ask_for_snapshot, on_request, snapshot};
use crate::world::World;

/// Counts operations on snapshots; all fail from `fails_at` on.
#[derive(Debug)]
struct Faults {
    done: AtomicUsize,
    fails_at: AtomicUsize,
    error: io::ErrorKind,
}

impl Faults {
    fn new(error: io::ErrorKind) -> Arc<Self> {
        Arc::new(Self {
            done: AtomicUsize::new(0),
            fails_at: AtomicUsize::new(usize::MAX),
            error,
        })
    }

    /// Lets this many more operations pass.
    fn fail_after(&self, operations: usize) {
        self.done.store(0, Ordering::SeqCst);
        self.fails_at.store(operations, Ordering::SeqCst);
    }

    fn disk(self: &Arc<Self>) -> Arc<HookedDisk<Self>> {
        Arc::new(HookedDisk(Arc::clone(self)))
    }
}

impl Hook for Faults {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let mut parts = path.components();
        let is_snapshot = parts.any(|part| part.as_os_str() == "snapshots");
        if !is_snapshot
            || self.done.fetch_add(1, Ordering::SeqCst) < self.fails_at.load(Ordering::SeqCst)
        {
            return Ok(());
        }
        Err(match operation {
            Operation::Write => io::ErrorKind::StorageFull.into(),
            _ => self.error.into(),
        })
    }

    fn tears_writes(&self) -> bool {
        true
    }
}

#[test]
fn a_crash_anywhere_between_chunks_and_images_leaves_whole_ones() {
    let mut went_well = false;
    let mut operations = 0;
    while !went_well {
        let directory = tempfile::tempdir().unwrap();
        let faults = Faults::new(io::ErrorKind::Other);
        let mut config = on_request(directory.path());
        config.journal.disk = faults.disk();
        let engine = Engine::start(config);
        let world = World::build(&engine);
        let mut client = engine.client(Role::Operator);
        let mut life = Life::new(1);
        life.go_on(&world, &mut client, 20);
        let first = snapshot(&mut client);
        faults.fail_after(operations);
        life.go_on(&world, &mut client, 14);
        let second = ask_for_snapshot(&mut client);
        went_well = faults.done.load(Ordering::SeqCst) < operations;
        // The exchange continues in every case.
        let placed = client.ask(world.resting_buy(1).place(), b"signed");
        assert!(matches!(placed.verdict, Verdict::Applied(_)), "{placed:?}");
        engine.stop();

        // A snapshot under its final name is complete.
        let dir = snapshots(directory.path());
        let genesis = genesis(directory.path());
        let there = published(directory.path());
        assert!(there.contains(&first), "after {operations} operations");
        if let SnapshotResult::Published { sequence } = second {
            assert!(there.contains(&sequence));
        }
        let newest = newest_image(&dir, &genesis, Sequence(u64::MAX)).unwrap();
        assert_eq!(newest.sequence(), there[0]);
        assert_images_are_the_journal(directory.path(), &dir, &there, SMALL);

        // A later start begins there and removes leftovers.
        let engine = Engine::start(on_request(directory.path()));
        let mut client = engine.client(Role::Operator);
        let sequence = snapshot(&mut client);
        engine.stop();
        assert_images_are_the_journal(directory.path(), &dir, &[sequence], SMALL);
        let names = files(directory.path());
        assert!(
            names.iter().all(|name| !name.ends_with(".tmp")),
            "{names:?}"
        );
        operations += 3;
    }
    assert!(operations > 30, "the snapshot took {operations} operations");
}

#[test]
fn a_full_disk_costs_snapshots_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults::new(io::ErrorKind::StorageFull);
    let mut config = on_request(directory.path());
    config.journal.disk = faults.disk();
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    let mut life = Life::new(2);
    faults.fail_after(0);
    for _ in 0..3 {
        life.go_on(&world, &mut client, 20);
        assert_eq!(ask_for_snapshot(&mut client), SnapshotResult::Failed);
        assert_eq!(client.status().snapshots.newest, Sequence(0));
    }
    // The disk has room again.
    faults.fail_after(usize::MAX);
    let sequence = snapshot(&mut client);
    // Only its attestation follows it.
    assert_eq!(sequence.next(), client.status().durable);
    engine.stop();
    let dir = snapshots(directory.path());
    assert_images_are_the_journal(directory.path(), &dir, &[sequence], SMALL);
}
