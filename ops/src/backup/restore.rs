//! `foretell restore`: verifies a backup, and makes a data directory of it.
//!
//! The directory is made under another name beside its place, verified there, synced, and then renamed. So a
//! restore that is killed leaves no data directory. As root it is given away last, by descriptors and from the
//! inside out: nobody else can put a name into it while root still acts on names in it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, fchown};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use foretell_audit::exit_codes::DAMAGE;
use foretell_audit::{Options, Report, SavedCheckpoint};
use foretell_engine::{CHECKPOINTS_NAME, JOURNAL_DIRECTORY};
use foretell_journal::disk::RealDisk;
use foretell_journal::restored::complete_copy;
use foretell_journal::{Segments, segment};
use rustix::fs::{Dir, Mode, OFlags, openat};
use serde::Serialize;

use super::arguments::Restore;
use super::files::{Sum, Unfinished, failed, sum, sync_directory};
use super::manifest::{FileEntry, Manifest};
use super::{alone_in, journal_failure, secrets};
use crate::config::{CATALOG_NAME, Config};
use crate::data_directory::{check_owner, check_parents};
use crate::failure::Failure;
use crate::output::Output;
use crate::webhooks::cursor::CURSOR_NAME;

/// Ending of the directory that becomes the data directory.
const UNFINISHED: &str = ".restoring";

/// `foretell restore`.
///
/// # Errors
/// The backup is damaged or of another format, the data directory is in use, or files cannot be read or
/// written. No data directory is left.
pub(crate) fn run(
    config: &Config,
    arguments: &Restore,
    output: Output,
) -> Result<ExitCode, Failure> {
    let backup = Source::open(arguments)?;
    let restored = match arguments.check {
        true => backup.check(output)?,
        false => backup.restore(&config.data.directory, arguments.complete, output)?,
    };
    output.print(&restored);
    Ok(ExitCode::SUCCESS)
}

/// What was verified and made.
#[derive(Serialize)]
struct Restored {
    backup: PathBuf,
    /// The new data directory; absent after a check.
    data: Option<PathBuf>,
    /// The key of the signature in hex digits, and whether the caller named it.
    checkpoint_key: String,
    key_is_trusted: bool,
    time_ms: u64,
    last_sequence: u64,
    chain: String,
    /// Sequence of the signed checkpoint whose state was compared.
    checkpoint_sequence: Option<u64>,
    commands: u64,
    /// Whether acknowledged frames may be missing. The exchange journals that at its next start.
    may_lack_frames: bool,
    /// The journal is a copy of a replicated log.
    cluster: bool,
    missing_secrets: BTreeMap<&'static str, &'static str>,
}

impl fmt::Display for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (backup, last) = (self.backup.display(), self.last_sequence);
        writeln!(
            f,
            "{backup}: sound up to sequence {last}, {} commands executed",
            self.commands
        )?;
        match self.checkpoint_sequence {
            Some(sequence) => writeln!(
                f,
                "the state at {sequence} is that of its signed checkpoint"
            )?,
            None => writeln!(
                f,
                "no checkpoint: the attested states of the journal were compared"
            )?,
        }
        let key = &self.checkpoint_key;
        match self.key_is_trusted {
            true => writeln!(f, "signed with the trusted key {key}")?,
            false => writeln!(
                f,
                "signed with the key that it names itself, {key}: compare it with your checkpoint.pub"
            )?,
        }
        let Some(data) = &self.data else {
            return Ok(());
        };
        writeln!(f, "{}: restored", data.display())?;
        if self.may_lack_frames {
            writeln!(
                f,
                "frames after {last} may be missing: the next start journals that"
            )?;
        }
        if self.cluster {
            writeln!(
                f,
                "it is a cluster's: start it with cluster.role = \"standby\""
            )?;
        }
        for (name, meaning) in &self.missing_secrets {
            writeln!(f, "without {name}: {meaning}")?;
        }
        Ok(())
    }
}

/// A backup with a manifest whose signature holds.
struct Source {
    root: PathBuf,
    archive: Option<PathBuf>,
    manifest: Manifest,
    key: [u8; 32],
    key_is_trusted: bool,
}

impl Source {
    fn open(arguments: &Restore) -> Result<Self, Failure> {
        let root = &arguments.directory;
        let Some((manifest, key)) = Manifest::read(root)? else {
            return Err(
                Failure::new(format!("{}: there is no backup here", root.display()))
                    .hint("foretell backup DIR makes one; its last file is manifest.json"),
            );
        };
        let trusted = arguments.checkpoint_key.as_deref();
        let trusted = trusted.map(foretell_audit::public_key).transpose()?;
        if trusted.is_some_and(|trusted| trusted != key) {
            return Err(Failure::new(format!(
                "{}: signed with another key, {}",
                root.display(),
                hex::encode(key)
            ))
            .code(foretell_audit::exit_codes::SIGNATURE));
        }
        Ok(Self {
            root: root.clone(),
            archive: arguments.archive.clone(),
            manifest,
            key,
            key_is_trusted: trusted.is_some(),
        })
    }

    /// The file of a segment: in the backup, or else in the archive.
    fn segment(&self, number: u32, entry: &FileEntry) -> PathBuf {
        let own = self.root.join(&entry.file);
        match &self.archive {
            Some(archive) if !own.exists() => segment::path(archive, number),
            _ => own,
        }
    }

    /// The file of an entry that is no segment.
    fn path(&self, entry: &FileEntry) -> PathBuf {
        self.root.join(&entry.file)
    }

    fn check(&self, output: Output) -> Result<Restored, Failure> {
        let segments = self.manifest.segments.iter();
        let files: BTreeMap<u32, PathBuf> = segments
            .map(|it| (it.number, self.segment(it.number, &it.content)))
            .collect();
        let others = self.manifest.files().skip(files.len());
        let paths = files
            .values()
            .cloned()
            .chain(others.map(|entry| self.path(entry)));
        for (path, entry) in paths.zip(self.manifest.files()) {
            compare_file(&path, entry)?;
        }
        let directory = self.root.join(JOURNAL_DIRECTORY);
        let journal = Segments::of_copy(&directory, files, self.manifest.end());
        let report = self.prove(&journal, output)?;
        Ok(self.restored(&report, None, false))
    }

    fn restore(&self, data: &Path, complete: bool, output: Output) -> Result<Restored, Failure> {
        let place = Place::open(data)?;
        let journal = place.unfinished.join(JOURNAL_DIRECTORY);
        make_directory(&journal)?;
        let manifest = &self.manifest;
        for it in &manifest.segments {
            let name = segment::path(Path::new(""), it.number);
            let from = self.segment(it.number, &it.content);
            copy(&from, &it.content, &journal.join(name))?;
        }
        let branch = match complete {
            true => None,
            false => Some(branch()?),
        };
        complete_copy(
            &RealDisk,
            &journal,
            manifest.end(),
            branch,
            manifest.cluster,
        )
        .map_err(|error| journal_failure(&error))?;
        let others = [
            (&manifest.checkpoints, CHECKPOINTS_NAME),
            (&manifest.catalog, CATALOG_NAME),
            (&manifest.webhooks, CURSOR_NAME),
        ];
        for (entry, name) in others {
            if let Some(entry) = entry {
                copy(&self.path(entry), entry, &place.unfinished.join(name))?;
            }
        }
        if let Some(entry) = &manifest.secrets {
            // Its sum is compared before a secret is written.
            let file = self.path(entry);
            compare_file(&file, entry)?;
            secrets::write(&file, &place.unfinished)?;
        }
        let report = self.prove(&Segments::of(&journal), output)?;
        let restored = self.restored(&report, Some(&place), !complete);
        place.finish()?;
        Ok(restored)
    }

    /// Executes the journal, and compares its end with the manifest and its state with the checkpoint.
    fn prove(&self, journal: &Segments, output: Output) -> Result<Report, Failure> {
        let manifest = &self.manifest;
        let checkpoint = manifest.checkpoint.as_ref().map(|entry| SavedCheckpoint {
            signed: entry.signed(),
            genesis: Some(manifest.genesis),
        });
        let options = Options {
            attestations: checkpoint.is_none(),
            checkpoints: checkpoint.into_iter().collect(),
            progress: !output.json,
            ..Options::default()
        };
        let report = foretell_audit::verify_segments(journal, &options)?;
        let root = self.root.display();
        if let Some(finding) = report.findings.first() {
            return Err(Failure::new(format!("{root}: {finding}")).code(report.exit_code));
        }
        let end = (report.last_sequence.0, report.chain());
        if end != (manifest.last_sequence, Some(manifest.chain)) {
            return Err(Failure::new(format!(
                "{root}: its journal ends at sequence {}, its manifest says {}",
                report.last_sequence, manifest.last_sequence
            ))
            .code(DAMAGE));
        }
        Ok(report)
    }

    fn restored(&self, report: &Report, place: Option<&Place>, may_lack_frames: bool) -> Restored {
        let manifest = &self.manifest;
        let missing = place.map(|place| secrets::missing(&place.unfinished, manifest.cluster));
        Restored {
            backup: self.root.clone(),
            data: place.map(|place| place.data.clone()),
            checkpoint_key: hex::encode(self.key),
            key_is_trusted: self.key_is_trusted,
            time_ms: manifest.time_ms,
            last_sequence: manifest.last_sequence,
            chain: hex::encode(manifest.chain),
            checkpoint_sequence: manifest.checkpoint.as_ref().map(|it| it.sequence),
            commands: report.counts.commands,
            may_lack_frames,
            cluster: manifest.cluster,
            missing_secrets: missing.into_iter().flatten().collect(),
        }
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| {
        failed("open", path)(error)
            .hint("another copy of the backup; --archive DIR where its segments were archived")
            .code(DAMAGE)
    })
}

fn compare_file(path: &Path, entry: &FileEntry) -> Result<(), Failure> {
    let read = sum(&mut open(path)?).map_err(failed("read", path))?;
    compare(path, entry, read)
}

fn compare(path: &Path, entry: &FileEntry, read: Sum) -> Result<(), Failure> {
    match read == entry.sum() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{}: its content has changed since it was written (BLAKE3)",
            path.display()
        ))
        .hint("use another copy of the backup")
        .code(DAMAGE)),
    }
}

/// Copies a file whose sum must be that of the manifest.
fn copy(from: &Path, entry: &FileEntry, to: &Path) -> Result<(), Failure> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let unfinished = Unfinished::new(folder)?;
    compare(from, entry, unfinished.fill(&mut open(from)?)?)?;
    let name = to.file_name().and_then(|name| name.to_str());
    unfinished.finish(name.expect("a name of ours"))
}

/// Random bytes for what follows a copy that may lack frames.
fn branch() -> Result<[u8; 32], Failure> {
    let mut branch = [0; 32];
    let filled = getrandom::fill(&mut branch);
    filled.map_err(|error| Failure::new(format!("random bytes: {error}")))?;
    Ok(branch)
}

fn make_directory(path: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(failed("create", path))
}

/// The place of the new data directory.
struct Place {
    data: PathBuf,
    unfinished: PathBuf,
    /// User and group of an empty directory there, when root restores.
    owner: Option<Owner>,
    /// The unfinished directory, whatever has its name; locked.
    directory: File,
    is_finished: bool,
}

impl Drop for Place {
    /// A restore that fails leaves nothing. One that is killed leaves what the next one removes.
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // Follows no link below it.
        if let Err(error) = fs::remove_dir_all(&self.unfinished) {
            tracing::warn!(%error, directory = %self.unfinished.display(), "a failed restore leaves it");
        }
    }
}

/// Numbers of a user and a group.
#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

impl Place {
    fn open(data: &Path) -> Result<Self, Failure> {
        let data = std::path::absolute(data).map_err(failed("find", data))?;
        check_parents(&data)?;
        let owner = empty_directory(&data)?;
        let mut name = data.file_name().unwrap_or_default().to_owned();
        name.push(UNFINISHED);
        let unfinished = data.with_file_name(name);
        remove_unfinished(&unfinished, owner)?;
        make_directory(&unfinished)?;
        Ok(Self {
            directory: alone_in(open_itself(&unfinished)?, &unfinished)?,
            data,
            unfinished,
            owner,
            is_finished: false,
        })
    }

    /// Puts the directory in its place.
    fn finish(mut self) -> Result<(), Failure> {
        match self.owner {
            Some(owner) => give(&self.directory, &self.unfinished, owner)?,
            None => (self.directory.sync_all()).map_err(failed("sync", &self.unfinished))?,
        }
        fs::rename(&self.unfinished, &self.data).map_err(failed("rename to", &self.data))?;
        self.is_finished = true;
        sync_directory(self.data.parent().unwrap_or(Path::new("/")))
    }
}

/// Whom an empty directory in the place is for, when root restores; what else is there is refused.
fn empty_directory(data: &Path) -> Result<Option<Owner>, Failure> {
    let refused = |why: &str| {
        Failure::new(format!("{}: {why}", data.display()))
            .hint("choose a new directory with --data, or move this one away")
            .code(foretell_engine::EXIT_REFUSED)
    };
    let there = match data.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        there => there.map_err(failed("stat", data))?,
    };
    if !there.is_dir() {
        return Err(refused("it is not a directory"));
    }
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        check_owner(data)?;
    }
    let mut entries = fs::read_dir(data).map_err(failed("list", data))?;
    match entries.next() {
        Some(_) => Err(refused("it is not empty")),
        None => Ok(is_root.then(|| Owner {
            user: there.uid(),
            group: there.gid(),
        })),
    }
}

/// Removes what a killed restore left: a directory of this user, or one that was given away already.
fn remove_unfinished(path: &Path, owner: Option<Owner>) -> Result<(), Failure> {
    let there = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        there => there.map_err(failed("stat", path))?,
    };
    let ours = rustix::process::geteuid().as_raw();
    let is_known = there.uid() == ours || owner.is_some_and(|owner| there.uid() == owner.user);
    if !there.is_dir() || !is_known {
        return Err(Failure::new(format!(
            "{}: no restore created this directory",
            path.display()
        ))
        .hint("move it away")
        .code(foretell_engine::EXIT_REFUSED));
    }
    let _turn = alone_in(open_itself(path)?, path)?;
    // Follows no link below it, also none that its owner puts there meanwhile.
    fs::remove_dir_all(path).map_err(failed("remove", path))
}

/// Opens a directory, but not one that a link of this name leads to.
fn open_itself(path: &Path) -> Result<File, Failure> {
    open_entry(rustix::fs::CWD, path, OFlags::DIRECTORY).map_err(failed("open", path))
}

/// Opens what has a name in a directory, not where a link leads; a pipe there does not block.
fn open_entry(
    directory: impl rustix::fd::AsFd,
    name: impl rustix::path::Arg,
    more: OFlags,
) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    Ok(openat(directory, name, flags, Mode::empty())?.into())
}

/// Gives a directory and all in it to a user, durably. The directory itself comes last: its owner may put
/// anything in the place of what is in it.
fn give(directory: &File, path: &Path, owner: Owner) -> Result<(), Failure> {
    let listed = Dir::read_from(directory).map_err(io::Error::from);
    for entry in listed.map_err(failed("list", path))? {
        let entry = entry
            .map_err(io::Error::from)
            .map_err(failed("list", path))?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let inner = path.join(name.to_string_lossy().as_ref());
        let file = open_entry(directory, name, OFlags::empty()).map_err(failed("open", &inner))?;
        match file.metadata().map_err(failed("stat", &inner))?.is_dir() {
            true => give(&file, &inner, owner)?,
            false => give_one(&file, &inner, owner)?,
        }
    }
    give_one(directory, path, owner)
}

fn give_one(file: &File, path: &Path, Owner { user, group }: Owner) -> Result<(), Failure> {
    fchown(file, Some(user), Some(group)).map_err(failed("chown", path))?;
    file.sync_all().map_err(failed("sync", path))
}
