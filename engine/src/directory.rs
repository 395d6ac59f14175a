//! The data directory: locked by one engine, closed to other users.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mio::net::UnixListener;
use rustix::fs::{FlockOperation, OFlags};

use crate::error::EngineError;

/// The engine's socket in the data directory, mode 0600.
pub const SOCKET_NAME: &str = "engine.sock";
/// The file of signed checkpoints in a data directory.
pub const CHECKPOINTS_NAME: &str = "checkpoints";
/// The journal's directory in the data directory.
pub const JOURNAL_DIRECTORY: &str = "journal";
/// The snapshots' directory in the data directory.
pub use foretell_journal::snapshot::SNAPSHOT_DIRECTORY;
/// Locked while an engine uses the directory.
const LOCK_NAME: &str = "engine.lock";

/// A data directory locked by this process.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// The kernel releases the lock with the last descriptor, even if the process is killed.
    lock: File,
}

impl Drop for Directory {
    /// Unlocks explicitly. Closing the file is not enough: a child process that was forked and has
    /// not yet executed its program holds a copy of the descriptor, and with it the lock.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl Directory {
    /// Creates the directory if needed, sets its mode to 0700 and locks it.
    pub(crate) fn lock(path: &Path) -> Result<Self, EngineError> {
        let tried = |what: &str| EngineError::process(format!("{what} {}", path.display()));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(tried("making the data directory"))?;
        fs::set_permissions(path, Permissions::from_mode(0o700))
            .map_err(tried("closing the data directory to others"))?;
        let mut lock = open_lock(&path.join(LOCK_NAME)).map_err(tried("opening the lock in"))?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(EngineError::InUse(path.to_path_buf()));
            }
            taken => taken.map_err(|error| tried("locking")(error.into()))?,
        }
        // Information for operators; the engine never reads it.
        lock.set_len(0)
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(tried("writing the lock in"))?;
        Ok(Self {
            path: path.to_path_buf(),
            lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL_DIRECTORY)
    }

    pub(crate) fn snapshots(&self) -> PathBuf {
        self.path.join(SNAPSHOT_DIRECTORY)
    }

    /// Names this directory on this machine since its boot: the lock keeps a second process of this place away.
    pub(crate) fn place(&self) -> Result<String, EngineError> {
        let tried = |what: &str| EngineError::process(format!("{what} {}", self.path.display()));
        let metadata = fs::metadata(&self.path).map_err(tried("reading"))?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let (device, inode) = (metadata.dev(), metadata.ino());
        Ok(format!("{} {device:x} {inode:x}", boot.trim()))
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join(SOCKET_NAME)
    }

    /// Listens on the socket and replaces one left by a killed engine: the lock proves that no
    /// other engine listens.
    pub(crate) fn listen(&self) -> Result<UnixListener, EngineError> {
        let socket = self.socket();
        let tried = |what: &str| EngineError::process(format!("{what} {}", socket.display()));
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(tried("removing the old socket")(error));
            }
            _ => {}
        }
        let listener = UnixListener::bind(&socket).map_err(tried("listening on"))?;
        // The directory is 0700, so no other user could connect before this line either.
        fs::set_permissions(&socket, Permissions::from_mode(0o600))
            .map_err(tried("closing to others"))?;
        Ok(listener)
    }

    /// Removes the socket after listening has ended.
    pub(crate) fn remove_socket(&self) {
        if let Err(error) = fs::remove_file(self.socket()) {
            tracing::warn!(%error, "removing the socket");
        }
    }
}

/// The process id of the engine that uses a data directory; 0 when it cannot be read. `None` when no engine
/// does.
#[must_use]
pub fn running_engine(data: &Path) -> Option<i32> {
    let file = File::open(data.join(LOCK_NAME)).ok()?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let text = io::read_to_string(file).unwrap_or_default();
            Some(text.trim().parse().unwrap_or(0))
        }
        _ => None,
    }
}

/// Fails on a symbolic link in place of the lock.
fn open_lock(path: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("open flags fit an int");
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_engine_and_is_closed_to_others() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();

        let first = Directory::lock(&path).unwrap();
        assert!(matches!(Directory::lock(&path), Err(EngineError::InUse(_))));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        let _listener = first.listen().unwrap();
        assert_eq!(mode(&first.socket()), 0o600);
        // An existing socket is replaced.
        let _again = first.listen().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(running_engine(&path), Some(own));

        drop(first);
        assert_eq!(running_engine(&path), None);
        Directory::lock(&path).unwrap();
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("precious");
        fs::write(&target, "text").unwrap();
        let path = parent.path().join("data");
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::symlink(&target, path.join(LOCK_NAME)).unwrap();
        assert!(matches!(
            Directory::lock(&path),
            Err(EngineError::Process { .. })
        ));
        assert_eq!(fs::read_to_string(target).unwrap(), "text");
    }
}
