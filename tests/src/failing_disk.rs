//! A disk that fails where a test says, in a real engine: the n-th change of a file from then on, once
//! or for good.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use rustix::io::Errno;

/// Environment variable that names the file by which a test makes the disk of an engine fail. It is no
/// setting, and the exchange knows nothing of it.
pub const VARIABLE: &str = "UNDER_TEST_DISK_FAILS";

/// Which change fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Counted from 1, from when the trouble is made.
    pub at: u64,
    /// And everything after it.
    pub for_good: bool,
}

impl Trouble {
    /// Makes it, in the engine that was told of this file.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn make(self, file: &Path) {
        let whole = file.with_extension("new");
        fs::write(&whole, format!("{} {}", self.at, self.for_good)).expect("a file");
        fs::rename(&whole, file).expect("its name");
    }

    fn read(file: &Path) -> Option<Self> {
        let text = fs::read_to_string(file).ok()?;
        let (at, for_good) = text.split_once(' ')?;
        Some(Self {
            at: at.parse().ok()?,
            for_good: for_good.parse().ok()?,
        })
    }
}

/// Is there once the trouble has come, beside the file that made it.
#[must_use]
pub fn failed_file(file: &Path) -> PathBuf {
    file.with_extension("failed")
}

/// The disk of this process: the real one, or one that will fail when a file says so.
#[must_use]
pub fn of_this_process() -> Arc<dyn Disk> {
    match std::env::var_os(VARIABLE) {
        Some(file) => Arc::new(FailingDisk(Arc::new(Plan {
            file: file.into(),
            changes: AtomicU64::new(0),
        }))),
        None => Arc::new(RealDisk),
    }
}

#[derive(Debug)]
struct Plan {
    file: PathBuf,
    /// Since the trouble was made.
    changes: AtomicU64,
}

impl Plan {
    fn change(&self) -> io::Result<()> {
        let Some(trouble) = Trouble::read(&self.file) else {
            self.changes.store(0, Ordering::Relaxed);
            return Ok(());
        };
        let change = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        if change != trouble.at && !(trouble.for_good && change > trouble.at) {
            return Ok(());
        }
        fs::write(failed_file(&self.file), b"")?;
        Err(Errno::IO.into())
    }
}

#[derive(Clone, Debug)]
struct FailingDisk(Arc<Plan>);

#[derive(Debug)]
struct FailingFile(Box<dyn DiskFile>, Arc<Plan>);

impl Disk for FailingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.change()?;
        let file = RealDisk.create(path)?;
        Ok(Box::new(FailingFile(file, Arc::clone(&self.0))))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.change()?;
        let file = RealDisk.open(path)?;
        Ok(Box::new(FailingFile(file, Arc::clone(&self.0))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.change()?;
        RealDisk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.change()?;
        RealDisk.sync_dir(path)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

impl DiskFile for FailingFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.1.change()?;
        self.0.write_at(bytes, offset)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.1.change()?;
        self.0.sync_data()
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        self.1.change()?;
        self.0.make_read_only()
    }
}
