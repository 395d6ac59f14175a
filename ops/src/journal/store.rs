//! The archive: a directory, or two commands.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretell_audit::exit_codes::DAMAGE;
use foretell_journal::segment;
use rustix::fs::Advice;

use super::Archive;
use crate::backup::files::{Unfinished, failed, sum, sync_directory};
use crate::backup::lock;
use crate::data_directory::ARCHIVE;
use crate::failure::Failure;

/// Name of the directory for files of the commands, in the data directory.
const SCRATCH: &str = "archiving";

/// Where segments go. A copy has the segment's bytes up to its end, without the zeros after it.
pub(super) enum Store {
    /// A directory, locked.
    Directory(PathBuf, #[allow(dead_code, reason = "a lock")] File),
    /// Shell commands that store and fetch, and a directory for their files.
    Commands {
        store: String,
        fetch: String,
        scratch: PathBuf,
    },
}

impl Store {
    pub(super) fn open(arguments: &Archive, data: &Path) -> Result<Self, Failure> {
        if let (Some(store), Some(fetch)) = (&arguments.command, &arguments.fetch) {
            return Ok(Self::Commands {
                store: store.clone(),
                fetch: fetch.clone(),
                scratch: empty_directory(&data.join(SCRATCH))?,
            });
        }
        let directory = arguments.to.as_deref().expect("one of the two is required");
        let directory = ARCHIVE.prepare_target(directory)?;
        sync_directory(directory.parent().unwrap_or(Path::new("/")))?;
        let turn = lock(&directory)?;
        Ok(Self::Directory(directory, turn))
    }

    /// Stores a segment durably. Storing it again succeeds and changes nothing.
    pub(super) fn put(&self, number: u32, from: File, bytes: u32) -> Result<(), Failure> {
        let mut from = from.take(bytes.into());
        let name = name(number);
        match self {
            Self::Directory(directory, _) if directory.join(&name).exists() => Ok(()),
            Self::Directory(directory, _) => {
                let unfinished = Unfinished::new(directory)?;
                unfinished.fill(&mut from)?;
                unfinished.finish(&name)
            }
            Self::Commands { store, scratch, .. } => {
                let unfinished = Unfinished::new(scratch)?;
                unfinished.fill(&mut from)?;
                unfinished.finish(&name)?;
                let file = scratch.join(&name);
                let stored = run(store, &file, &name);
                fs::remove_file(&file).map_err(failed("remove", &file))?;
                stored
            }
        }
    }

    /// Reads a segment back whole and compares it with `with`.
    pub(super) fn compare(&self, number: u32, with: File, bytes: u32) -> Result<(), Failure> {
        let name = name(number);
        match self {
            Self::Directory(directory, _) => same(&directory.join(&name), with, bytes),
            Self::Commands { fetch, scratch, .. } => {
                let file = scratch.join(&name);
                let fetched = run(fetch, &file, &name).and_then(|()| same(&file, with, bytes));
                match fs::remove_file(&file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(failed("remove", &file)(error))
                    }
                    _ => fetched,
                }
            }
        }
    }
}

fn name(number: u32) -> String {
    let path = segment::path(Path::new(""), number);
    path.to_str().expect("a name of ours").to_owned()
}

/// A directory without what a killed run left.
fn empty_directory(path: &Path) -> Result<PathBuf, Failure> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(failed("remove", path))?;
    }
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(failed("create", path))?;
    Ok(path.to_owned())
}

/// Compares a copy with the segment. The copy is read from the disk, not from memory where it was written.
fn same(copy: &Path, with: File, bytes: u32) -> Result<(), Failure> {
    let mut file = File::open(copy).map_err(failed("open", copy))?;
    // Where the file system has no such call, the copy is read from wherever it is.
    let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
    let copied = sum(&mut file).map_err(failed("read", copy))?;
    let segment = sum(&mut with.take(bytes.into())).map_err(failed("read", copy))?;
    match copied == segment {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{}: the archive has another segment under this name; nothing was removed",
            copy.display()
        ))
        .hint("choose another archive, or remove that file if you know that it is damaged")
        .code(DAMAGE)),
    }
}

/// Runs a shell command with `{file}` and `{name}` in it replaced.
fn run(command: &str, file: &Path, name: &str) -> Result<(), Failure> {
    let file = file.to_str().unwrap_or_default();
    let text = command
        .replace("{file}", &quoted(file))
        .replace("{name}", &quoted(name));
    let _ = io::stderr().flush();
    let status = Command::new("sh")
        .args(["-c", &text])
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .map_err(|error| Failure::new(format!("sh: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(
            Failure::new(format!("{text}: {status}; the segment stays")).hint(
                "the command must return 0 only when the file is durable, also for a repeated file",
            ),
        ),
    }
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_the_shell() {
        let directory = tempfile::tempdir().unwrap();
        let odd = directory.path().join("it's $HOME; `x`");
        fs::write(&odd, "content").unwrap();
        let copy = directory.path().join("copy");
        let command = format!("cp {{file}} {} && test {{name}} = \"a b\"", copy.display());
        run(&command, &odd, "a b").unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), "content");
        assert!(run("exit 3", &odd, "a").is_err());
    }
}
