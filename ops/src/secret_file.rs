//! Files with a secret, under the name of what they hold.

use std::path::Path;

use foretell_gateway::OperatorToken;

use crate::failure::Failure;

/// What the errors call the secrets.
pub(crate) const OPERATOR_TOKEN: &str = "operator token";
pub(crate) const SYNC_TOKEN: &str = "sync token";
pub(crate) const WEBHOOKS_SECRET: &str = "secret of webhooks";
pub(crate) const ORACLE_SECRET: &str = "secret of the oracle";

/// Reads the secret in a file. `noun` says what it is.
///
/// # Errors
/// There is no such file, others may read it, or its content is no secret; the text names `noun` and file.
pub(crate) fn load(noun: &str, file: &Path) -> Result<OperatorToken, Failure> {
    let path = file.display();
    OperatorToken::load(file).map_err(|error| Failure::new(format!("{noun} {path}: {error}")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_error_names_the_noun_and_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let refused = || load(WEBHOOKS_SECRET, &file).unwrap_err().to_string();
        let begins = format!("secret of webhooks {}: ", file.display());
        assert!(refused().starts_with(&begins), "{}", refused());
        std::fs::write(&file, "short").unwrap();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
        mode(0o644).unwrap();
        assert!(refused().starts_with(&begins) && refused().contains("0600"));
        mode(0o600).unwrap();
        assert!(refused().starts_with(&begins) && refused().contains("32 to 256"));
        std::fs::write(&file, "a".repeat(32)).unwrap();
        load(WEBHOOKS_SECRET, &file).unwrap();
    }
}
