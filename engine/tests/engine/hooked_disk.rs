//! The file system of the machine, with a hook of the test before every operation.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile, RealDisk};

/// What is about to happen to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// A file is created or opened.
    Open,
    Write,
    Sync,
    /// A file is renamed, removed or made read-only, or a directory is synced.
    Other,
}

/// The hook of a test.
pub(crate) trait Hook: Debug + Send + Sync + 'static {
    /// May wait. An error is the error of the operation, which does not happen then.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Whether half of a failing write is written.
    fn tears_writes(&self) -> bool {
        false
    }
}

/// The disk of a test.
#[derive(Debug)]
pub(crate) struct HookedDisk<H>(pub(crate) Arc<H>);

#[derive(Debug)]
struct HookedFile<H> {
    hook: Arc<H>,
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

impl<H: Hook> HookedDisk<H> {
    fn wrap(&self, path: &Path, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(HookedFile {
            hook: Arc::clone(&self.0),
            path: path.to_owned(),
            file,
        })
    }
}

impl<H: Hook> Disk for HookedDisk<H> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.before(Operation::Open, path)?;
        Ok(self.wrap(path, RealDisk.create(path)?))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.before(Operation::Open, path)?;
        Ok(self.wrap(path, RealDisk.open(path)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.before(Operation::Other, from)?;
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        // Removing a missing file is no operation.
        if path.exists() {
            self.0.before(Operation::Other, path)?;
        }
        RealDisk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.before(Operation::Other, path)?;
        RealDisk.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

impl<H: Hook> DiskFile for HookedFile<H> {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if let Err(error) = self.hook.before(Operation::Write, &self.path) {
            if self.hook.tears_writes() {
                self.file.write_at(&bytes[..bytes.len() / 2], offset)?;
            }
            return Err(error);
        }
        self.file.write_at(bytes, offset)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.hook.before(Operation::Sync, &self.path)?;
        self.file.sync_data()
    }
    fn make_read_only(&mut self) -> io::Result<()> {
        self.hook.before(Operation::Other, &self.path)?;
        self.file.make_read_only()
    }
}
