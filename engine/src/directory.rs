//! The data directory: one engine at a time, closed to other users.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mio::net::UnixListener;
use rustix::fs::{FlockOperation, OFlags};

use crate::error::EngineError;

/// The engine's socket in the data directory, 0600.
pub const SOCKET_NAME: &str = "engine.sock";
/// The file of signed checkpoints in a data directory.
pub const CHECKPOINTS_NAME: &str = "checkpoints";
/// The journal's directory in the data directory.
pub const JOURNAL_DIRECTORY: &str = "journal";
/// The snapshots' directory in the data directory.
pub use foretell_journal::snapshot::SNAPSHOT_DIRECTORY;
/// Held as long as an engine works on the directory.
const LOCK_NAME: &str = "engine.lock";

/// A data directory of which this process is the only engine.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// The lock ends with the descriptor, however the process ends.
    _lock: File,
}

impl Directory {
    /// Makes the directory if needed, closes it to others (0700), takes its lock.
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
        // For people who look; nobody reads it back.
        lock.set_len(0)
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(tried("writing the lock in"))?;
        Ok(Self {
            path: path.to_path_buf(),
            _lock: lock,
        })
    }

    /// Where the journal lives.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL_DIRECTORY)
    }

    /// Where snapshots are published.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.path.join(SNAPSHOT_DIRECTORY)
    }

    /// Where gateways connect.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join(SOCKET_NAME)
    }

    /// Listens on the socket. One left behind by a killed engine is replaced: the lock says that
    /// nobody else listens there.
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
        // The directory is 0700, so nobody could connect before this line either.
        fs::set_permissions(&socket, Permissions::from_mode(0o600))
            .map_err(tried("closing to others"))?;
        Ok(listener)
    }

    /// Removes the socket: nobody listens any more.
    pub(crate) fn remove_socket(&self) {
        if let Err(error) = fs::remove_file(self.socket()) {
            tracing::warn!(%error, "removing the socket");
        }
    }
}

/// A symbolic link in place of the lock is refused, not followed.
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
        // A socket left behind is no obstacle.
        let _again = first.listen().unwrap();

        drop(first);
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
