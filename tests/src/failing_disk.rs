//! A disk that fails in a real engine at a point chosen by a test: at the n-th change of a file,
//! once or for good. A failed sync loses the writes that it was to cover.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use parking_lot::Mutex;
use rustix::io::Errno;

/// Environment variable with the path of the file that makes an engine's disk fail. It is not a
/// setting of the exchange.
pub const VARIABLE: &str = "UNDER_TEST_DISK_FAILS";

/// The changes that fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The first one, counted from 1 at the injection of the fault.
    pub at: u64,
    /// Whether all later changes fail, too.
    pub for_good: bool,
}

impl Trouble {
    /// Injects the fault into the engine that was started with this file.
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

/// The file that exists once the fault has occurred, in the same directory.
#[must_use]
pub fn failed_file(file: &Path) -> PathBuf {
    file.with_extension("failed")
}

/// The disk of this process: the real one, or one that fails when the file says so.
#[must_use]
pub fn of_this_process() -> Arc<dyn Disk> {
    match std::env::var_os(VARIABLE) {
        Some(file) => Arc::new(FailingDisk(Arc::new(Plan {
            file: file.into(),
            changes: Mutex::new(0),
        }))),
        None => Arc::new(RealDisk),
    }
}

#[derive(Debug)]
struct Plan {
    file: PathBuf,
    /// Changes since the injection of the fault.
    changes: Mutex<u64>,
}

impl Plan {
    fn change(&self) -> io::Result<()> {
        let mut change = self.changes.lock();
        let Some(trouble) = Trouble::read(&self.file) else {
            *change = 0;
            return Ok(());
        };
        *change += 1;
        if *change != trouble.at && !(trouble.for_good && *change > trouble.at) {
            return Ok(());
        }
        fs::write(failed_file(&self.file), b"")?;
        Err(Errno::IO.into())
    }
}

#[derive(Clone, Debug)]
struct FailingDisk(Arc<Plan>);

#[derive(Debug)]
struct FailingFile {
    file: Box<dyn DiskFile>,
    plan: Arc<Plan>,
    /// Offset and length of unsynced writes: they are lost when a sync fails.
    unsynced: Vec<(u64, usize)>,
}

impl FailingFile {
    fn boxed(file: Box<dyn DiskFile>, disk: &FailingDisk) -> Box<dyn DiskFile> {
        Box::new(Self {
            file,
            plan: Arc::clone(&disk.0),
            unsynced: Vec::new(),
        })
    }

    /// Discards unsynced writes, as the kernel does with pages it could not write.
    fn lose_the_unsynced(&mut self) -> io::Result<()> {
        for (offset, length) in self.unsynced.drain(..) {
            self.file.write_at(&vec![0; length], offset)?;
        }
        Ok(())
    }
}

impl Disk for FailingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.change()?;
        Ok(FailingFile::boxed(RealDisk.create(path)?, self))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.change()?;
        Ok(FailingFile::boxed(RealDisk.open(path)?, self))
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
        self.plan.change()?;
        let written = self.file.write_at(bytes, offset)?;
        self.unsynced.push((offset, written));
        Ok(written)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        if let Err(failed) = self.plan.change() {
            self.lose_the_unsynced()?;
            return Err(failed);
        }
        self.unsynced.clear();
        self.file.sync_data()
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        self.plan.change()?;
        self.file.make_read_only()
    }
}
