//! The data directory: created and checked before a process uses it, closed to other users.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::secret_file::OPERATOR_TOKEN;

/// Sets the umask so that only the current user can open files this process creates.
pub(crate) fn restrict_umask() {
    use rustix::fs::Mode;
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// A directory of an operator's files, by what its errors call it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    noun: &'static str,
    /// The argument that names it.
    argument: &'static str,
    /// Permission bits of others that are refused.
    refused: u32,
}

const DATA: Kind = Kind {
    noun: "data directory",
    argument: "--data",
    refused: 0o077,
};
/// A backup, whose files only their owner can read.
pub(crate) const BACKUP: Kind = Kind {
    noun: "backup directory",
    argument: "DIR",
    refused: 0o022,
};
/// An archive of segments, whose files only their owner can read.
pub(crate) const ARCHIVE: Kind = Kind {
    noun: "archive",
    argument: "--to",
    refused: 0o022,
};

impl Kind {
    /// Creates the directory for its owner only, if it is missing, with those above it.
    ///
    /// # Errors
    /// It is no directory or cannot be written, belongs to another user, or others may replace it or what is in it.
    pub(crate) fn prepare(self, path: &Path) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        self.check(path)?;
        if !path.exists() {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path)
                .map_err(|error| self.unusable(path, error))?;
        }
        self.check(path)?;
        self.check_writable(path)
    }

    /// As [`Self::prepare`]; of a link, the directory that it leads to. Returns it without links.
    ///
    /// # Errors
    /// As [`Self::prepare`], or others may lead the link elsewhere.
    pub(crate) fn prepare_target(self, path: &Path) -> Result<PathBuf, Failure> {
        let unusable = |error| self.unusable(path, error);
        if path.is_symlink() {
            let link = std::path::absolute(path).map_err(unusable)?;
            self.check_way(path, &link)?;
            let target = path.canonicalize().map_err(unusable)?;
            self.prepare(&target)?;
            return Ok(target);
        }
        self.prepare(path)?;
        path.canonicalize().map_err(unusable)
    }

    /// Checks that files can be made in the directory. Leaves none.
    ///
    /// # Errors
    /// None can.
    fn check_writable(self, path: &Path) -> Result<(), Failure> {
        let made: std::io::Result<std::fs::File> = tempfile::tempfile_in(path);
        let refused = |error| self.unusable(path, format!("no file can be made in it: {error}"));
        made.map(drop).map_err(|error| {
            refused(error).hint("check the mount options and the free space of its file system")
        })
    }

    fn check(self, path: &Path) -> Result<(), Failure> {
        match path.symlink_metadata() {
            Ok(metadata) => self.check_directory(path, &metadata)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.unusable(path, error)),
        }
        self.check_parents(path)
    }

    fn check_parents(self, path: &Path) -> Result<(), Failure> {
        let absolute = std::path::absolute(path).map_err(|error| self.unusable(path, error))?;
        absolute
            .parent()
            .map_or(Ok(()), |parent| self.check_way(path, parent))
    }

    /// Checks every directory that a way leads through, also by links: whoever may replace a link leads elsewhere.
    fn check_way(self, path: &Path, way: &Path) -> Result<(), Failure> {
        for above in way.ancestors().filter(|above| above.exists()) {
            self.check_above(path, above)?;
            if let (Ok(target), Some(parent)) = (above.read_link(), above.parent()) {
                self.check_way(path, &parent.join(target))?;
            }
        }
        Ok(())
    }

    fn check_directory(self, path: &Path, metadata: &Metadata) -> Result<(), Failure> {
        if !metadata.is_dir() {
            return Err(self.unusable(path, "is not a directory"));
        }
        self.check_owner(path)?;
        match metadata.mode() & 0o777 {
            mode if mode & self.refused != 0 => {
                let act = match mode & self.refused & 0o055 {
                    0 => "write to",
                    _ => "enter",
                };
                Err(self
                    .unusable(path, format!("others may {act} it (mode {mode:o})"))
                    .hint(format!("chmod 700 {}", path.display())))
            }
            _ => Ok(()),
        }
    }

    fn check_owner(self, path: &Path) -> Result<(), Failure> {
        let Ok(metadata) = std::fs::metadata(path) else {
            return Ok(());
        };
        let (owner, ours) = (metadata.uid(), rustix::process::geteuid().as_raw());
        if owner == ours {
            return Ok(());
        }
        let argument = self.argument;
        let text = format!("it belongs to user {owner}, but this process runs as user {ours}");
        let shown = path.display();
        Err(self.unusable(path, text).hint(format!(
            "run as user {owner}, choose another {argument}, or change the owner: chown -R {ours} {shown}"
        )))
    }

    /// Whoever may write to a directory can put another one in the place of what is in it, except where only
    /// owners may (the sticky bit, as of `/tmp`). A user's own group, which has its number, is the user.
    fn check_above(self, path: &Path, above: &Path) -> Result<(), Failure> {
        let metadata = above
            .metadata()
            .map_err(|error| self.unusable(path, error))?;
        let entry = above.symlink_metadata();
        let entry = entry.map_err(|error| self.unusable(path, error))?;
        let ours = rustix::process::geteuid().as_raw();
        let mode = metadata.mode();
        let mut owners = [metadata.uid(), entry.uid()].into_iter();
        let above = above.display();
        if let Some(owner) = owners.find(|owner| ![0, ours].contains(owner)) {
            let text = format!("user {owner}, who owns {above}, can replace it");
            let argument = self.argument;
            return Err(self.unusable(path, text).hint(format!(
                "choose another {argument}, below directories of root or your own"
            )));
        }
        let others = if metadata.gid() == ours { 0o002 } else { 0o022 };
        match mode & others != 0 && mode & 0o1000 == 0 {
            true => Err(self
                .unusable(
                    path,
                    format!(
                        "others can replace it: {above} has mode {:o}",
                        mode & 0o7777
                    ),
                )
                .hint(format!("chmod go-w {above}"))),
            false => Ok(()),
        }
    }

    fn unusable(self, path: &Path, problem: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{} {}: {problem}", self.noun, path.display()))
            .code(foretell_engine::EXIT_REFUSED)
    }
}

/// Rejects a data directory of another user, who could read every secret written there.
///
/// # Errors
/// The directory exists and belongs to another user.
pub(crate) fn check_owner(path: &Path) -> Result<(), Failure> {
    DATA.check_owner(path)
}

/// Checks a data directory to which a command writes at its end.
///
/// # Errors
/// It belongs to another user, or no file can be made in it.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    DATA.check_owner(path)?;
    DATA.check_writable(path)
}

/// Creates the data directory for its owner only, and revokes access by others to files of older
/// versions.
///
/// # Errors
/// As [`check_data_directory`], or it cannot be created.
pub(crate) fn prepare_data_directory(path: &Path) -> Result<(), Failure> {
    DATA.prepare(path)?;
    close_files(path).map_err(|error| DATA.unusable(path, error))
}

/// Checks a data directory, or where it would be made.
///
/// # Errors
/// It is no directory, belongs to another user, others may enter it, or replace it or a directory above
/// it.
pub(crate) fn check_data_directory(path: &Path) -> Result<(), Failure> {
    DATA.check(path)
}

/// Checks the directories above a data directory.
///
/// # Errors
/// Others may replace one of them, or the data directory.
pub(crate) fn check_parents(path: &Path) -> Result<(), Failure> {
    DATA.check_parents(path)
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
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let mut token = [0; 32];
    getrandom::fill(&mut token).map_err(|error| token_failure(path, &error))?;
    create_token(path, &hex::encode(token))
}

/// Writes a token's file, unless there is one.
///
/// # Errors
/// It cannot be written.
pub(crate) fn create_token(path: &Path, token: &str) -> Result<(), Failure> {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let linked = write_private(&draft, token.as_bytes()).and_then(|()| {
        match std::fs::hard_link(&draft, path) {
            // Another process created the token first; that one is used.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    });
    // A leftover draft is never used as the token.
    let _ = std::fs::remove_file(&draft);
    linked.map_err(|error| token_failure(path, &error))
}

fn token_failure(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{OPERATOR_TOKEN} {}: {error}", path.display()))
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
    fn nobody_else_may_write_above_a_data_directory() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let middle = parent.path().join("middle");
        let path = middle.join("data");
        std::fs::create_dir(&middle).unwrap();
        let refused = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&middle, mode).unwrap();
            let checked = [prepare_data_directory(&path), check_data_directory(&path)];
            let [prepared, checked] = checked.map(|it| it.err().map(|error| error.to_string()));
            assert_eq!(prepared, checked);
            checked
        };
        assert_eq!(refused(0o755), None);
        assert_eq!(refused(0o1777), None, "only owners replace what is in it");
        let text = refused(0o777).unwrap();
        assert!(
            text.contains("middle has mode 777") && text.contains("chmod go-w"),
            "{text}"
        );
        // Before the directory is there, too.
        std::fs::remove_dir(&path).unwrap();
        let text = check_data_directory(&path).unwrap_err().to_string();
        assert!(text.contains("others can replace it"), "{text}");
        // A link in it, to where nobody else may write.
        let (link, own) = (middle.join("link"), parent.path().join("own"));
        std::fs::create_dir(&own).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        std::os::unix::fs::symlink(&link, parent.path().join("chain")).unwrap();
        for way in [link, parent.path().join("chain")] {
            let checked = check_data_directory(&way.join("data")).map_err(|it| it.to_string());
            assert!(checked.unwrap_err().contains("middle has mode 777"));
        }
        // Only root can give a directory away.
        if rustix::process::geteuid().is_root() {
            std::fs::set_permissions(&middle, std::fs::Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::lchown(middle.join("link"), Some(4_321), None).unwrap();
            let linked = middle.join("link").join("data");
            assert!(
                check_data_directory(&linked).is_err(),
                "its owner replaces it"
            );
            std::os::unix::fs::chown(&middle, Some(4_321), None).unwrap();
            let text = check_data_directory(&path).unwrap_err().to_string();
            assert!(text.contains("user 4321, who owns"), "{text}");
        }
    }

    #[test]
    fn archives_and_backups_are_checked_like_a_data_directory() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let middle = parent.path().join("middle");
        let path = middle.join("place");
        std::fs::create_dir(&middle).unwrap();
        let set = |path: &Path, mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(path, mode).unwrap();
        };
        for (kind, begins) in [(ARCHIVE, "archive "), (BACKUP, "backup directory ")] {
            let refused = || kind.prepare(&path).unwrap_err().to_string();
            set(&middle, 0o777);
            let text = refused();
            assert!(text.starts_with(begins), "{text}");
            assert!(text.contains("others can replace it"), "{text}");
            assert!(!path.exists(), "it is checked first");
            set(&middle, 0o755);
            kind.prepare(&path).unwrap();
            set(&path, 0o755);
            kind.prepare(&path).unwrap();
            set(&path, 0o722);
            assert!(
                refused().contains("others may write to it (mode 722)"),
                "{}",
                refused()
            );
            set(&path, 0o700);
            // Only root can change a directory's owner.
            if rustix::process::geteuid().is_root() {
                std::os::unix::fs::chown(&path, Some(4_321), None).unwrap();
                assert!(refused().contains("belongs to user 4321"), "{}", refused());
            }
            std::fs::remove_dir(&path).unwrap();
            // A link to a directory on another disk.
            let target = parent.path().join("target");
            std::os::unix::fs::symlink(&target, &path).unwrap();
            let broken = kind.prepare_target(&path).unwrap_err().to_string();
            assert!(broken.starts_with(begins), "{broken}");
            std::fs::create_dir(&target).unwrap();
            let found = kind.prepare_target(&path).unwrap();
            assert_eq!(found, target.canonicalize().unwrap());
            set(&middle, 0o777);
            let text = kind.prepare_target(&path).unwrap_err().to_string();
            assert!(text.contains("others can replace it"), "{text}");
            std::fs::remove_file(&path).unwrap();
            std::fs::remove_dir(&target).unwrap();
        }
        // No file can be made there, also by root.
        let text = BACKUP.check_writable(Path::new("/proc")).unwrap_err();
        assert!(
            text.to_string().contains("no file can be made in it"),
            "{text}"
        );
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
