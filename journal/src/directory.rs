//! The journal's directory: whose it is, what lies in it, who has it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::disk::Disk;
use crate::error::{Context, JournalError};
use crate::segment;

/// The right to write the journal, as long as it is held.
#[derive(Debug)]
pub(crate) struct DirectoryLock(#[expect(dead_code, reason = "held, not read")] File);

/// The marker an I/O error leaves.
#[must_use]
pub fn marker_path(dir: &Path) -> PathBuf {
    dir.join("IO_ERROR")
}

/// Creates the directory for this user alone, or sees that it is one.
pub(crate) fn prepare(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => {
            let parent = dir
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            return disk.sync_dir(parent).context("sync", parent);
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(JournalError::io("create", dir, error)),
    }
    let refuse = |why| {
        Err(JournalError::Unsafe {
            path: dir.to_owned(),
            why,
        })
    };
    let meta = fs::symlink_metadata(dir).context("stat", dir)?;
    if !meta.is_dir() {
        return refuse("not a directory of its own (a symbolic link is not followed)");
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return refuse("belongs to another user");
    }
    if meta.mode() & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).context("chmod", dir)?;
    }
    refuse_links(dir)
}

/// No file of the journal may be a link to somewhere else.
fn refuse_links(dir: &Path) -> Result<(), JournalError> {
    for entry in fs::read_dir(dir).context("list", dir)? {
        let entry = entry.context("list", dir)?;
        if entry.file_type().context("stat", dir)?.is_symlink() {
            return Err(JournalError::Unsafe {
                path: entry.path(),
                why: "a symbolic link; the journal's files are files",
            });
        }
    }
    Ok(())
}

fn open_lock_file(dir: &Path) -> Result<File, JournalError> {
    let path = dir.join("LOCK");
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("open flags are an int");
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(&path)
        .context("open", &path)
}

/// Takes the lock; another holder is an error at once.
pub(crate) fn lock(dir: &Path) -> Result<DirectoryLock, JournalError> {
    let file = open_lock_file(dir)?;
    match file.try_lock() {
        Ok(()) => Ok(DirectoryLock(file)),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", dir, error)),
    }
}

/// Whether an engine has the directory.
pub(crate) fn is_locked(dir: &Path) -> bool {
    File::open(dir.join("LOCK"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The numbers of all segments, rising.
pub(crate) fn segments(dir: &Path) -> Result<Vec<u32>, JournalError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).context("list", dir)? {
        let name = entry.context("list", dir)?.file_name();
        numbers.extend(name.to_str().and_then(segment::number_of));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes what an earlier start left half made.
pub(crate) fn remove_unfinished(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    for entry in fs::read_dir(dir).context("list", dir)? {
        let path = entry.context("list", dir)?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            disk.remove(&path).context("remove", &path)?;
        }
    }
    Ok(())
}
