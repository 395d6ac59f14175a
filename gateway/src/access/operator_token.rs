//! The bearer token of the operator surface: a file only its owner can read.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::Zeroizing;

/// Shortest token: 128 bits in hexadecimal.
const MIN_CHARACTERS: usize = 32;
/// Longest token.
const MAX_CHARACTERS: usize = 256;
/// Permission bits that its file must not have: any for group and others, execution.
const FORBIDDEN_MODE: u32 = 0o177;

/// The token. `Debug` and errors never show it.
#[derive(Clone)]
pub struct OperatorToken(Arc<Zeroizing<String>>);

impl std::fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperatorToken(secret)")
    }
}

/// Why no token was loaded.
#[derive(Debug, Error)]
pub enum OperatorTokenError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Not a regular file of our own user with mode 0600.
    #[error("a regular file of mode 0600 of your own is expected")]
    NotPrivate,
    /// Too short, too long, or not printable ASCII without spaces.
    #[error(
        "{MIN_CHARACTERS} to {MAX_CHARACTERS} printable characters without spaces are expected"
    )]
    Form,
}

impl OperatorToken {
    /// A token from its text.
    ///
    /// # Errors
    /// [`OperatorTokenError::Form`].
    pub fn new(text: &str) -> Result<Self, OperatorTokenError> {
        let fits = (MIN_CHARACTERS..=MAX_CHARACTERS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(Arc::new(Zeroizing::new(text.to_owned()))))
        } else {
            Err(OperatorTokenError::Form)
        }
    }

    /// Reads the token from a file; trailing white space is ignored.
    ///
    /// # Errors
    /// [`OperatorTokenError`].
    pub fn load(path: &Path) -> Result<Self, OperatorTokenError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(rustix::io::Errno::LOOP) => return Err(OperatorTokenError::NotPrivate),
            Err(errno) => return Err(std::io::Error::from(errno).into()),
        };
        let metadata = file.metadata()?;
        let private = metadata.is_file()
            && metadata.mode() & FORBIDDEN_MODE == 0
            && metadata.uid() == rustix::process::geteuid().as_raw();
        if !private {
            return Err(OperatorTokenError::NotPrivate);
        }
        let mut text = Zeroizing::new(String::new());
        file.take(2 * MAX_CHARACTERS as u64)
            .read_to_string(&mut text)?;
        Self::new(text.trim_end())
    }

    /// The secret itself, as a key of signatures.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether an `Authorization` header has the token; compares in constant time.
    #[must_use]
    pub fn matches(&self, authorization: &[u8]) -> bool {
        let (scheme, token) = authorization.split_at(authorization.len().min(7));
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(self.0.as_bytes().ct_eq(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn only_the_token_itself_matches() {
        let token = OperatorToken::new(TOKEN).unwrap();
        for (header, right) in [
            (format!("Bearer {TOKEN}"), true),
            (format!("bearer {TOKEN}"), true),
            (format!("Basic {TOKEN}"), false),
            (format!("Bearer {TOKEN} "), false),
            (format!("Bearer {}", &TOKEN[1..]), false),
            (TOKEN.to_owned(), false),
            ("Bearer ".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(token.matches(header.as_bytes()), right, "{header}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn its_file_is_private_and_holds_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert!(matches!(
            OperatorToken::load(&path),
            Err(OperatorTokenError::Io(_))
        ));
        let write = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            OperatorToken::load(&path)
        };
        let loaded = write(&format!("{TOKEN}\n"), 0o600).unwrap();
        assert!(loaded.matches(format!("Bearer {TOKEN}").as_bytes()));
        assert!(matches!(
            write(TOKEN, 0o640),
            Err(OperatorTokenError::NotPrivate)
        ));
        assert!(matches!(
            write("short", 0o600),
            Err(OperatorTokenError::Form)
        ));
        assert!(matches!(
            write(&format!("{TOKEN} x"), 0o600),
            Err(OperatorTokenError::Form)
        ));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(
            OperatorToken::load(&link),
            Err(OperatorTokenError::NotPrivate)
        ));
    }
}
