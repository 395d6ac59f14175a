//! The one secret of a deployment: 32 bytes from which all API keys are derived
//! (docs/api/authentication.md §2).
//!
//! The source is a file that only its owner can read, or an environment variable. The text is 64
//! hex digits.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Permission bits that a secret's file must not have: any for group and others, execution.
const FORBIDDEN_MODE: u32 = 0o177;
/// Hex digits of the secret.
const DIGITS: usize = 64;

/// The master secret, or another secret of a deployment that is stored the same way.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct MasterSecret([u8; 32]);

impl core::fmt::Debug for MasterSecret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("MasterSecret(secret)")
    }
}

/// Why no secret was loaded. No text contains a byte of it.
#[derive(Debug, thiserror::Error)]
pub enum MasterSecretError {
    /// The file cannot be created, opened or read.
    #[error("secret {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The path is a symbolic link, a directory or a pipe.
    #[error("secret {0}: not a regular file; symbolic links are refused")]
    NotAFile(PathBuf),
    /// Other users could read the file.
    #[error(
        "secret {path}: mode {mode:04o}, 0600 expected: chmod 600 it, and replace it if others may have read it"
    )]
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("secret {0}: belongs to another user")]
    Owner(PathBuf),
    /// Not 64 hex digits.
    #[error("secret {0}: 64 hex digits expected")]
    Format(String),
    /// The system returned no random bytes.
    #[error("secret: no random bytes from the system")]
    NoRandom,
}

impl MasterSecret {
    /// A secret from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A fresh secret from the system's random bytes.
    ///
    /// # Errors
    /// [`MasterSecretError::NoRandom`].
    pub fn generate() -> Result<Self, MasterSecretError> {
        let mut secret = Self([0; 32]);
        getrandom::fill(&mut secret.0).map_err(|_| MasterSecretError::NoRandom)?;
        Ok(secret)
    }

    /// Reads the secret from environment variable `name`; `None` when it is unset or empty.
    ///
    /// # Errors
    /// [`MasterSecretError::Format`] when it is not 64 hex digits.
    pub fn from_env(name: &str) -> Result<Option<Self>, MasterSecretError> {
        match std::env::var_os(name).map(std::ffi::OsString::into_encoded_bytes) {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => {
                let text = Zeroizing::new(text);
                parse(&text)
                    .map(Some)
                    .ok_or_else(|| MasterSecretError::Format(format!("in {name}")))
            }
        }
    }

    /// Reads the secret from the file at `path`, and first creates the file (mode 0600, random
    /// secret) when it is missing. Processes that start at the same time end up with the same
    /// secret.
    ///
    /// # Errors
    /// When the file is not a regular one of our own user that only we can read, does not contain a
    /// secret, or cannot be created.
    pub fn load_or_create(path: &Path) -> Result<Self, MasterSecretError> {
        match Self::load(path) {
            Err(MasterSecretError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Self::generate()?.create(path).map_err(at(path))?;
                Self::load(path)
            }
            found => found,
        }
    }

    /// Reads the secret from the file at `path`.
    ///
    /// # Errors
    /// As [`Self::load_or_create`]; a missing file is an error: [`MasterSecretError::Io`].
    pub fn load(path: &Path) -> Result<Self, MasterSecretError> {
        // NONBLOCK: opening a pipe at this path must not hang the start.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(rustix::io::Errno::LOOP) => return Err(MasterSecretError::NotAFile(path.into())),
            Err(errno) => return Err(at(path)(errno.into())),
        };
        let metadata = file.metadata().map_err(at(path))?;
        if !metadata.is_file() {
            return Err(MasterSecretError::NotAFile(path.into()));
        }
        if metadata.mode() & FORBIDDEN_MODE != 0 {
            return Err(MasterSecretError::Permissions {
                path: path.into(),
                mode: metadata.mode() & 0o7777,
            });
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(MasterSecretError::Owner(path.into()));
        }
        let mut text = Zeroizing::new(Vec::with_capacity(DIGITS + 2));
        file.take(DIGITS as u64 + 2)
            .read_to_end(&mut text)
            .map_err(at(path))?;
        let digits = text.strip_suffix(b"\n").unwrap_or(&text);
        parse(digits).ok_or_else(|| MasterSecretError::Format(path.display().to_string()))
    }

    /// Writes the secret to `path` atomically, so that no reader sees part of it. An existing file
    /// is left unchanged.
    fn create(&self, path: &Path) -> std::io::Result<()> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut tag = [0_u8; 8];
        getrandom::fill(&mut tag).map_err(|_| std::io::ErrorKind::Other)?;
        let draft = directory.join(format!(".master-secret-{}", hex::encode(tag)));
        let written =
            self.write_new(&draft)
                .and_then(|()| match std::fs::hard_link(&draft, path) {
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                    linked => linked,
                });
        let removed = std::fs::remove_file(&draft);
        written.and(removed)?;
        File::open(directory)?.sync_all()
    }

    fn write_new(&self, path: &Path) -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let text = Zeroizing::new(hex::encode(self.0));
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    }

    /// The raw secret. Callers keep it out of logs and errors.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn parse(text: &[u8]) -> Option<MasterSecret> {
    let mut secret = MasterSecret([0; 32]);
    hex::decode_to_slice(text, &mut secret.0).ok()?;
    Some(secret)
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> MasterSecretError + '_ {
    move |source| MasterSecretError::Io {
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn it_is_created_once_readable_by_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("master.secret");
        let first = MasterSecret::load_or_create(&path).unwrap();
        let second = MasterSecret::load_or_create(&path).unwrap();
        assert_eq!(first.0, second.0);
        assert_ne!(first.0, [0; 32]);
        let mode = path.metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, 0o600);
        let names = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(names, 1, "no draft stays behind");
    }

    #[test]
    fn processes_that_start_together_agree() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("master.secret");
        let secrets: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let start = || scope.spawn(|| MasterSecret::load_or_create(&path).unwrap().0);
            let threads: Vec<_> = (0..8).map(|_| start()).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    }

    #[rstest::rstest]
    #[case(0o600, true)]
    #[case(0o400, true)]
    #[case(0o640, false)]
    #[case(0o604, false)]
    #[case(0o644, false)]
    #[case(0o700, false)]
    fn permissions(#[case] mode: u32, #[case] good: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("master.secret");
        drop(MasterSecret::load_or_create(&path).unwrap());
        set_mode(&path, mode);
        match MasterSecret::load_or_create(&path) {
            Ok(_) => assert!(good, "{mode:o}"),
            Err(error) => {
                assert!(!good, "{mode:o}: {error}");
                assert!(error.to_string().contains(&format!("{mode:04o}")));
            }
        }
    }

    #[test]
    fn links_directories_and_pipes_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        drop(MasterSecret::load_or_create(&target).unwrap());
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let dangling = directory.path().join("dangling");
        std::os::unix::fs::symlink(directory.path().join("nowhere"), &dangling).unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        for path in [&link, &dangling, &pipe, &directory.path().to_path_buf()] {
            let error = MasterSecret::load_or_create(path).unwrap_err();
            assert!(matches!(error, MasterSecretError::NotAFile(_)), "{error}");
        }
        assert!(!directory.path().join("nowhere").exists());
    }

    #[rstest::rstest]
    #[case("")]
    #[case("00")]
    #[case("zz00000000000000000000000000000000000000000000000000000000000000")]
    #[case("000000000000000000000000000000000000000000000000000000000000000\n")]
    #[case("00000000000000000000000000000000000000000000000000000000000000000")]
    #[case("0000000000000000000000000000000000000000000000000000000000000000\n\n")]
    fn what_is_no_secret_is_refused(#[case] text: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("master.secret");
        std::fs::write(&path, text).unwrap();
        set_mode(&path, 0o600);
        let error = MasterSecret::load_or_create(&path).unwrap_err();
        assert!(matches!(error, MasterSecretError::Format(_)), "{error}");
    }

    #[test]
    fn an_unset_variable_is_no_secret_and_a_wrong_one_an_error() {
        assert!(
            MasterSecret::from_env("FORETELL_NO_SUCH_VARIABLE")
                .unwrap()
                .is_none()
        );
        // Every test environment sets PATH, and it is no secret.
        let error = MasterSecret::from_env("PATH").unwrap_err().to_string();
        assert_eq!(error, "secret in PATH: 64 hex digits expected");
    }
}
