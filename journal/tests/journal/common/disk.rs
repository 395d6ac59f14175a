//! A file system that fails on demand and records what was synced.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use parking_lot::Mutex;

/// One change of a file system.
#[derive(Clone, Debug)]
pub enum Change {
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    SyncDir,
}

/// An injected fault and its operation (counted from 0, per kind).
#[derive(Clone, Copy, Debug)]
pub enum InjectedFault {
    FailWrite(usize),
    FullAt(usize),
    FailSync(usize),
    FailRename(usize),
}

#[derive(Debug, Default)]
struct Record {
    changes: Vec<Change>,
    names: BTreeMap<u64, PathBuf>,
    lengths: BTreeMap<u64, u64>,
    next_file: u64,
    writes: usize,
    syncs: usize,
    renames: usize,
    fault: Option<InjectedFault>,
    /// A write takes at most this many bytes.
    short: Option<usize>,
    free: Option<u64>,
    /// From now on files cannot grow; their existing bytes can be overwritten.
    is_full: bool,
}

/// The real file system with a record of changes.
#[derive(Clone, Debug, Default)]
pub struct RecordingDisk(Arc<Mutex<Record>>);

#[derive(Debug)]
struct WatchedFile {
    inner: Box<dyn DiskFile>,
    id: u64,
    record: Arc<Mutex<Record>>,
}

impl RecordingDisk {
    pub fn changes(&self) -> Vec<Change> {
        self.0.lock().changes.clone()
    }

    /// Sets the fault and restarts the count at 0.
    pub fn inject(&self, fault: InjectedFault) {
        let mut record = self.0.lock();
        record.fault = Some(fault);
        (record.writes, record.syncs, record.renames) = (0, 0, 0);
    }

    pub fn counts(&self) -> (usize, usize, usize) {
        let record = self.0.lock();
        (record.writes, record.syncs, record.renames)
    }

    pub fn reset_counts(&self) {
        let mut record = self.0.lock();
        (record.writes, record.syncs, record.renames) = (0, 0, 0);
    }

    pub fn write_short(&self, bytes: usize) {
        self.0.lock().short = Some(bytes);
    }

    pub fn set_free(&self, bytes: u64) {
        self.0.lock().free = Some(bytes);
    }

    pub fn set_full(&self, is_full: bool) {
        self.0.lock().is_full = is_full;
    }

    fn file(
        &self,
        record: &mut Record,
        path: &Path,
        inner: Box<dyn DiskFile>,
    ) -> Box<dyn DiskFile> {
        let id = record.next_file;
        record.next_file += 1;
        record.names.insert(id, path.to_owned());
        Box::new(WatchedFile {
            inner,
            id,
            record: Arc::clone(&self.0),
        })
    }
}

impl Disk for RecordingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut record = self.0.lock();
        let inner = RealDisk.create(path)?;
        record.changes.push(Change::Create(path.to_owned()));
        Ok(self.file(&mut record, path, inner))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let inner = RealDisk.open(path)?;
        let mut record = self.0.lock();
        let file = self.file(&mut record, path, inner);
        let id = record.next_file - 1;
        record.lengths.insert(id, u64::MAX);
        Ok(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut record = self.0.lock();
        let count = record.renames;
        record.renames += 1;
        if matches!(record.fault, Some(InjectedFault::FailRename(at)) if at == count) {
            return Err(io::Error::from_raw_os_error(5));
        }
        RealDisk.rename(from, to)?;
        record
            .changes
            .push(Change::Rename(from.to_owned(), to.to_owned()));
        for name in record.names.values_mut().filter(|name| *name == from) {
            *name = to.to_owned();
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut record = self.0.lock();
        RealDisk.remove(path)?;
        record.changes.push(Change::Remove(path.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut record = self.0.lock();
        RealDisk.sync_dir(path)?;
        record.changes.push(Change::SyncDir);
        Ok(())
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let free = self.0.lock().free;
        free.map_or_else(|| RealDisk.free_bytes(path), Ok)
    }
}

impl DiskFile for WatchedFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut record = self.record.lock();
        let count = record.writes;
        record.writes += 1;
        let end = offset + bytes.len() as u64;
        let length = record.lengths.get(&self.id).copied().unwrap_or(0);
        if record.is_full && end > length {
            return Err(io::ErrorKind::StorageFull.into());
        }
        match record.fault {
            Some(InjectedFault::FailWrite(at)) if at == count => {
                return Err(io::Error::from_raw_os_error(5));
            }
            Some(InjectedFault::FullAt(at)) if at == count => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            _ => {}
        }
        let taken = record.short.unwrap_or(bytes.len()).min(bytes.len());
        let written = self.inner.write_at(&bytes[..taken], offset)?;
        let end = offset + written as u64;
        record.lengths.insert(self.id, length.max(end));
        let name = record.names[&self.id].clone();
        record
            .changes
            .push(Change::Write(name, offset, bytes[..written].to_vec()));
        Ok(written)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut record = self.record.lock();
        let count = record.syncs;
        record.syncs += 1;
        if matches!(record.fault, Some(InjectedFault::FailSync(at)) if at == count) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.inner.sync_data()?;
        let name = record.names[&self.id].clone();
        record.changes.push(Change::Sync(name));
        Ok(())
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        self.inner.make_read_only()
    }

    // Zeros stay zeros: a crash makes no difference.
    fn release_from(&mut self, from: u64) -> io::Result<()> {
        self.inner.release_from(from)
    }
}
