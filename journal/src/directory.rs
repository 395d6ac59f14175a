//! The journal's directory: ownership, content, lock.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::disk::{Disk, write_all};
use crate::error::{Context, JournalError};
use crate::segment;

/// The exclusive right to write the journal, until it is dropped.
#[derive(Debug)]
pub(crate) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    /// Unlocks explicitly. Closing the file is not enough: a child process that was forked and has
    /// not yet executed its program holds a copy of the descriptor, and with it the lock.
    fn drop(&mut self) {
        // An error changes nothing: the kernel releases the lock with the last descriptor.
        let _ = self.0.unlock();
    }
}

/// A segment that is being made without the preallocator.
pub(crate) fn unfinished(dir: &Path) -> PathBuf {
    dir.join("recovering.tmp")
}

/// The marker file that an I/O error leaves.
#[must_use]
pub fn marker_path(dir: &Path) -> PathBuf {
    dir.join("IO_ERROR")
}

/// The file that marks a journal directory as a copy of a replicated log. A start without the cluster
/// refuses it: it would write frames that the other hosts do not have.
#[must_use]
pub fn replica_marker_path(dir: &Path) -> PathBuf {
    dir.join("CLUSTER")
}

/// The file that names the last archived segment: earlier ones may be missing.
pub(crate) fn archived_marker_path(dir: &Path) -> PathBuf {
    dir.join("ARCHIVED")
}

/// The file that marks a journal restored from a copy that may lack acknowledged frames (`restored.rs`).
pub(crate) fn restored_marker_path(dir: &Path) -> PathBuf {
    dir.join("RESTORED")
}

/// Writes a marker; it has its name when it is whole and synced.
pub(crate) fn write_marker(disk: &dyn Disk, path: &Path, text: &str) -> Result<(), JournalError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let fresh = path.with_extension("tmp");
    let mut file = disk.create(&fresh).context("create", &fresh)?;
    write_all(&mut *file, text.as_bytes(), 0).context("write", &fresh)?;
    file.sync_data().context("sync", &fresh)?;
    disk.rename(&fresh, path).context("rename", &fresh)?;
    disk.sync_dir(dir).context("sync", dir)
}

/// Removes a marker durably.
pub(crate) fn remove_marker(disk: &dyn Disk, path: &Path) -> Result<(), JournalError> {
    if !path.exists() {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    disk.remove(path).context("remove", path)?;
    disk.sync_dir(dir).context("sync", dir)
}

pub(crate) fn is_replica(dir: &Path) -> bool {
    replica_marker_path(dir).exists()
}

/// Creates the directory with mode 0700, or checks that it is this user's directory.
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
    let meta = check_owned(dir)?;
    if meta.mode() & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).context("chmod", dir)?;
    }
    refuse_links(dir)
}

/// The checks of [`prepare`], which change nothing; a directory that does not exist passes.
pub(crate) fn check(dir: &Path) -> Result<(), JournalError> {
    if !dir.exists() {
        return Ok(());
    }
    check_owned(dir)?;
    refuse_links(dir)
}

/// Refuses anything but a directory of this user.
fn check_owned(dir: &Path) -> Result<fs::Metadata, JournalError> {
    let refuse = |why| {
        Err(JournalError::Unsafe {
            path: dir.to_owned(),
            why,
        })
    };
    let meta = fs::symlink_metadata(dir).context("stat", dir)?;
    if !meta.is_dir() {
        return refuse("not a directory (symbolic links are not followed)");
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return refuse("belongs to another user");
    }
    Ok(meta)
}

/// Refuses symbolic links among the files of the journal.
fn refuse_links(dir: &Path) -> Result<(), JournalError> {
    for entry in fs::read_dir(dir).context("list", dir)? {
        let entry = entry.context("list", dir)?;
        if entry.file_type().context("stat", dir)?.is_symlink() {
            return Err(JournalError::Unsafe {
                path: entry.path(),
                why: "a symbolic link, which is not allowed in a journal directory",
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

/// Takes the lock; fails at once if another process holds it.
pub(crate) fn lock(dir: &Path) -> Result<DirectoryLock, JournalError> {
    let file = open_lock_file(dir)?;
    match file.try_lock() {
        Ok(()) => Ok(DirectoryLock(file)),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", dir, error)),
    }
}

/// Whether an engine holds the lock of the directory.
pub(crate) fn is_locked(dir: &Path) -> bool {
    File::open(dir.join("LOCK"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The numbers of all segments, ascending.
pub(crate) fn segments(dir: &Path) -> Result<Vec<u32>, JournalError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).context("list", dir)? {
        let name = entry.context("list", dir)?.file_name();
        numbers.extend(name.to_str().and_then(segment::number_of));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes the unfinished files (`*.tmp`) of an earlier start.
pub(crate) fn remove_unfinished(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    for entry in fs::read_dir(dir).context("list", dir)? {
        let path = entry.context("list", dir)?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            disk.remove(&path).context("remove", &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_lock_is_free_although_a_copy_of_its_descriptor_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).unwrap();
        assert!(matches!(lock(dir.path()), Err(JournalError::Locked(_))));
        let copy = held.0.try_clone().unwrap();
        drop(held);
        assert!(lock(dir.path()).is_ok());
        drop(copy);
    }
}
