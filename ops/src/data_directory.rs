//! The data directory: created and checked before a process uses it, closed to other users.

use std::io::ErrorKind;
use std::path::Path;

use crate::failure::Failure;

/// Sets the umask so that only the current user can open files this process creates.
pub(crate) fn restrict_umask() {
    use rustix::fs::Mode;
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Rejects a data directory of another user, who could read every secret written there.
///
/// # Errors
/// The directory exists and belongs to another user.
pub(crate) fn check_owner(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(());
    };
    let (owner, ours) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner == ours {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::new(format!(
        "data directory {path}: it belongs to user {owner}, this process runs as user {ours}"
    ))
    .hint(format!(
        "run as user {owner}, choose another --data, or change the owner: chown -R {ours} {path}"
    ))
    .code(foretell_engine::EXIT_REFUSED))
}

/// Creates the data directory for its owner only, and revokes access by others to files of older
/// versions.
///
/// # Errors
/// It cannot be created, is no directory, belongs to another user, or others may enter it.
pub(crate) fn prepare_data_directory(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
    let failure = |text: String| {
        Failure::new(format!("data directory {}: {text}", path.display()))
            .code(foretell_engine::EXIT_REFUSED)
    };
    if !path.exists() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| failure(error.to_string()))?;
    }
    let metadata = std::fs::symlink_metadata(path).map_err(|error| failure(error.to_string()))?;
    if !metadata.is_dir() {
        return Err(failure("is not a directory".to_owned()));
    }
    check_owner(path)?;
    if metadata.mode() & 0o077 != 0 {
        return Err(failure(format!(
            "others may enter it (mode {:o})",
            metadata.permissions().mode() & 0o777
        ))
        .hint(format!("chmod 700 {}", path.display())));
    }
    close_files(path).map_err(|error| failure(error.to_string()))
}

/// Revokes access by others to the regular files of a directory.
fn close_files(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let close = |entry: std::fs::DirEntry| -> std::io::Result<()> {
        // Metadata of the entry itself, not of a link's target.
        let metadata = entry.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(())
    };
    for entry in std::fs::read_dir(directory)? {
        match close(entry?) {
            // A concurrent catalog command may have removed its temporary file.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            closed => closed?,
        }
    }
    Ok(())
}

/// Creates the catalog.
///
/// # Errors
/// It cannot be written, or it is of a newer version.
pub(crate) fn prepare_catalog(path: &Path) -> Result<(), Failure> {
    foretell_catalog::Writer::open(path)
        .map(|_| ())
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Creates the operator's bearer token, readable only by its owner, if it is missing. A power
/// failure leaves the complete file or none.
///
/// # Errors
/// It cannot be written, or no random bytes are available.
pub(crate) fn prepare_operator_token(path: &Path) -> Result<(), Failure> {
    let failure = |text: String| Failure::new(format!("operator token {}: {text}", path.display()));
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let mut token = [0; 32];
    getrandom::fill(&mut token).map_err(|error| failure(error.to_string()))?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let linked = write_private(&draft, hex::encode(token).as_bytes()).and_then(|()| {
        match std::fs::hard_link(&draft, path) {
            // Another process created the token first; that one is used.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    });
    // A leftover draft is never used as the token.
    let _ = std::fs::remove_file(&draft);
    linked.map_err(|error| failure(error.to_string()))
}

fn write_private(path: &Path, text: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use foretell_gateway::OperatorToken;

    use super::*;

    #[test]
    fn a_data_directory_is_ours_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        prepare_data_directory(&path).unwrap();
        assert_eq!(mode(&path), 0o700);

        // A file of an older version, and a link to a file of another user.
        let (older, other) = (path.join("catalog.db"), parent.path().join("other"));
        for file in [&older, &other] {
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        std::os::unix::fs::symlink(&other, path.join("link")).unwrap();
        prepare_data_directory(&path).unwrap();
        assert_eq!((mode(&older), mode(&other)), (0o600, 0o644));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
        let refused = prepare_data_directory(&path).unwrap_err().to_string();
        assert!(refused.contains("chmod 700"), "{refused}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();

        // Only root can change a directory's owner.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(4_321), None).unwrap();
            let refused = prepare_data_directory(&path).unwrap_err().to_string();
            assert!(refused.contains("belongs to user 4321"), "{refused}");
            assert!(refused.contains("chown -R 0"), "{refused}");
        }
    }

    #[test]
    fn the_operator_token_is_made_once_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("operator.token");
        prepare_operator_token(&path).unwrap();
        assert!(OperatorToken::load(&path).is_ok(), "a private file");
        let first = std::fs::read_to_string(&path).unwrap();
        prepare_operator_token(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
        let files = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(files, 1, "no draft stays behind");
        let nowhere = directory.path().join("missing").join("operator.token");
        assert!(prepare_operator_token(&nowhere).is_err());
    }
}
