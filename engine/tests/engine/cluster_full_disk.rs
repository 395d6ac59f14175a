//! A host of a cluster whose disk is full: the others go on, and it returns when a person has made room.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_engine::{ClusterRole, EXIT_IO_ERROR, EngineError};
use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use foretell_replication::Model;

use crate::cluster::{Host, acknowledged, followed};
use crate::harness::{Engine, frames};

/// Every write fails while it is full.
#[derive(Clone, Debug, Default)]
struct FullDisk(Arc<AtomicBool>);

#[derive(Debug)]
struct FullDiskFile(FullDisk, Box<dyn DiskFile>);

impl FullDisk {
    fn wrap(&self, file: io::Result<Box<dyn DiskFile>>) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(FullDiskFile(self.clone(), file?)))
    }
}

impl Disk for FullDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.wrap(RealDisk.create(path))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.wrap(RealDisk.open(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl DiskFile for FullDiskFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.0.0.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.1.write_at(bytes, offset)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.1.sync_data()
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        self.1.make_read_only()
    }
}

#[test]
fn a_standby_whose_disk_is_full_ends_with_74_and_returns_when_it_is_asked_to() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    let mut second = Host::new(&model, "second", ClusterRole::Standby);
    let disk = FullDisk::default();
    second.config.journal.disk = Arc::new(disk.clone());
    second.start();
    let last = acknowledged(&mut client, 1);
    followed(&second.data(), last);
    disk.0.store(true, Ordering::SeqCst);
    acknowledged(&mut client, 2);
    let ended = second.end().unwrap_err();
    assert_eq!(ended.exit_code(), EXIT_IO_ERROR, "{ended}");
    acknowledged(&mut client, 3);

    disk.0.store(false, Ordering::SeqCst);
    let refused = Engine::try_start(second.config.clone()).map(drop);
    let refused = refused.unwrap_err();
    assert!(matches!(refused, EngineError::Journal(_)), "{refused}");
    second.config.journal.after_io_error = true;
    second.start();
    let last = acknowledged(&mut client, 4);
    assert_eq!(followed(&second.data(), last), frames(&first.data()));
    drop(client);
    first.stop();
    second.stop();
}
