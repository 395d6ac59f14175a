//! Interface between the journal and the file system. Every change of a file goes through it, so a
//! test can fail the n-th write, cut it short, or build the files that a power cut would leave.
//! Readers map files and do not use it.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Once;

use rustix::fs::{FallocateFlags, OFlags};

/// A file system to write to.
pub trait Disk: Debug + Send + Sync {
    /// Creates a file with mode 0600, or truncates an existing one.
    ///
    /// # Errors
    /// The error of the system; a symbolic link is refused.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file for writing.
    ///
    /// # Errors
    /// The error of the system; a symbolic link is refused.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Renames a file, replacing `to`.
    ///
    /// # Errors
    /// The error of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// The error of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// The error of the system.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Free bytes that this user may still write.
    ///
    /// # Errors
    /// The error of the system.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// A file open for writing.
pub trait DiskFile: Debug + Send {
    /// Writes at an offset; may write less than asked.
    ///
    /// # Errors
    /// The error of the system.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Makes all earlier writes durable (`fdatasync`).
    ///
    /// # Errors
    /// The error of the system. Earlier writes may be lost then; the caller does not retry.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Removes the write permission for all users.
    ///
    /// # Errors
    /// The error of the system.
    fn make_read_only(&mut self) -> io::Result<()>;
    /// Releases the space from offset `from` on. The file keeps its length and reads as zeros
    /// there, also through existing maps. The bytes from there on must already be zeros.
    ///
    /// # Errors
    /// The error of the system. [`io::ErrorKind::Unsupported`] where it has no such call; the space
    /// stays allocated then.
    fn release_from(&mut self, from: u64) -> io::Result<()> {
        let _ = from;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Releases the unused end of a sealed file. An error is harmless and is logged once per process.
pub(crate) fn release_unused(file: &mut dyn DiskFile, from: u32, path: &Path) {
    static SAID: Once = Once::new();
    if let Err(error) = file.release_from(from.into()) {
        SAID.call_once(|| {
            tracing::info!(path = %path.display(), %error, "cannot free the unused space of sealed segments");
        });
    }
}

/// Writes all of `bytes`, also when a single write takes less.
pub(crate) fn write_all(file: &mut dyn DiskFile, bytes: &[u8], offset: u64) -> io::Result<()> {
    let (mut bytes, mut offset) = (bytes, offset);
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The file system of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("open flags are an int");
    options
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(no_follow);
    options
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = options().create(true).truncate(true).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(options().open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

impl DiskFile for RealFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(&self.0, bytes, offset)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        self.0.set_permissions(fs::Permissions::from_mode(0o400))
    }

    fn release_from(&mut self, from: u64) -> io::Result<()> {
        let unused = self.0.metadata()?.len().saturating_sub(from);
        if unused == 0 {
            return Ok(());
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.0, hole, from, unused)?)
    }
}
