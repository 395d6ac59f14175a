//! Reads a private key from a file: every user could see it in an argument.

use std::path::Path;

use zeroize::Zeroizing;

use crate::failure::Failure;

/// Environment variable with the private key of the trading account of `foretell-bench load`; no
/// setting.
pub const LOAD_KEY_VARIABLE: &str = "FORETELL_LOAD_PRIVATE_KEY";

/// The key's text.
///
/// # Errors
/// The file cannot be read, or other users have access to it.
pub fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let failure =
        |text: String| Failure::new(format!("private key file {}: {text}", path.display()));
    let mode = std::fs::metadata(path)
        .map_err(|error| failure(error.to_string()))?
        .permissions()
        .mode();
    if mode & 0o077 != 0 {
        return Err(
            failure(format!("others may read it (mode {:o})", mode & 0o777))
                .hint(format!("chmod 600 {}", path.display())),
        );
    }
    std::fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| failure(error.to_string()))
}
