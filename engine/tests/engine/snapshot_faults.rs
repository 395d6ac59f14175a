//! A disk that fails every snapshot operation from some operation on: the files equal those of a
//! crash at that point, and the engine continues.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use foretell_journal::snapshot::newest_image;
use foretell_link::{Role, SnapshotResult};
use foretell_model::{Command, Sequence, Verdict};

use crate::harness::Engine;
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

    fn pass(&self) -> io::Result<()> {
        if self.done.fetch_add(1, Ordering::SeqCst) >= self.fails_at.load(Ordering::SeqCst) {
            return Err(self.error.into());
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct FaultyDisk(Arc<Faults>);

#[derive(Debug)]
struct FaultyFile(Option<Arc<Faults>>, Box<dyn DiskFile>);

impl FaultyDisk {
    fn pass(&self, path: &Path) -> io::Result<()> {
        if path
            .components()
            .any(|part| part.as_os_str() == "snapshots")
        {
            self.0.pass()
        } else {
            Ok(())
        }
    }

    fn file(&self, path: &Path, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        let is_snapshot = path
            .components()
            .any(|part| part.as_os_str() == "snapshots");
        Box::new(FaultyFile(is_snapshot.then(|| Arc::clone(&self.0)), file))
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.pass(path)?;
        Ok(self.file(path, RealDisk.create(path)?))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.pass(path)?;
        Ok(self.file(path, RealDisk.open(path)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(from)?;
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        // Removing a missing file is no operation.
        if path.exists() {
            self.pass(path)?;
        }
        RealDisk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.pass(path)?;
        RealDisk.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

impl FaultyFile {
    fn pass(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |faults| faults.pass())
    }
}

impl DiskFile for FaultyFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.pass().is_err() {
            // A torn write: only half of it.
            self.1.write_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.1.write_at(bytes, offset)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.pass()?;
        self.1.sync_data()
    }
    fn make_read_only(&mut self) -> io::Result<()> {
        self.pass()?;
        self.1.make_read_only()
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
        config.journal.disk = Arc::new(FaultyDisk(Arc::clone(&faults)));
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
        let placed = client.ask(Command::PlaceOrder(world.resting_buy(1)), b"signed");
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
    assert!(operations > 40, "the snapshot took {operations} operations");
}

#[test]
fn a_full_disk_costs_snapshots_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults::new(io::ErrorKind::StorageFull);
    let mut config = on_request(directory.path());
    config.journal.disk = Arc::new(FaultyDisk(Arc::clone(&faults)));
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
