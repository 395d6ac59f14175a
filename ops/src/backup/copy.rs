//! `foretell backup`: copies a data directory, while the exchange runs and when it does not.
//!
//! The order makes the copy valid: each file names only what is in the files that are copied after it. So
//! checkpoints, and what webhooks have delivered, come before the journal. The journal is copied up to the durable position of one moment.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use foretell_auth::MasterSecret;
use foretell_checkpoint::{CheckpointReader, Signer};
use foretell_engine::{CHECKPOINTS_NAME, JOURNAL_DIRECTORY, check_format};
use foretell_journal::wall_clock;
use foretell_journal::{Extent, Piece, Segments, segment};
use foretell_model::limits::FORMAT_ID;
use serde::Serialize;

use super::arguments::Backup;
use super::files::{UNFINISHED, Unfinished, failed, sync_directory};
use super::manifest::{CheckpointEntry, FileEntry, MANIFEST_NAME, Manifest, SegmentEntry};
use super::record::LastBackup;
use super::{journal_failure, lock, secrets};
use crate::config::Config;
use crate::data_directory::{BACKUP, check_writable};
use crate::failure::Failure;
use crate::output::Output;
use crate::processes::process::engine_failure;
use crate::webhooks::cursor::CURSOR_NAME;

/// Endings of files that a later run replaces by others, besides those of unfinished ones.
const GROWING: &[&str] = &["growing", "checkpoints", "catalog", "webhooks", "secrets"];

/// `foretell backup`.
///
/// # Errors
/// The directory is not of this journal, the journal is damaged, or files cannot be read or written. The
/// backup of an earlier run stays valid.
pub(crate) fn run(
    config: &Config,
    arguments: &Backup,
    output: Output,
) -> Result<ExitCode, Failure> {
    output.print(&copy(config, arguments)?);
    Ok(ExitCode::SUCCESS)
}

/// What a run has copied.
#[derive(Serialize)]
struct Copied {
    directory: PathBuf,
    last_sequence: u64,
    /// Sequence of the newest signed checkpoint.
    checkpoint_sequence: Option<u64>,
    segments: usize,
    /// Files that an earlier run had copied.
    kept_files: usize,
    copied_files: usize,
    copied_bytes: u64,
    secrets: bool,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (directory, last) = (self.directory.display(), self.last_sequence);
        write!(f, "{directory}: backup up to sequence {last}")?;
        if let Some(sequence) = self.checkpoint_sequence {
            write!(f, ", newest checkpoint at {sequence}")?;
        }
        let (files, bytes, kept) = (self.copied_files, self.copied_bytes, self.kept_files);
        writeln!(f, "\n{files} files copied ({bytes} bytes), {kept} kept")?;
        match self.secrets {
            true => f.write_str("it holds every secret: encrypt it, and let nobody read it"),
            false => f.write_str("without secrets: keep them elsewhere, or add --with-secrets"),
        }
    }
}

fn copy(config: &Config, arguments: &Backup) -> Result<Copied, Failure> {
    let data = &config.data.directory;
    // A backup is noted there at its end.
    check_writable(data)?;
    check_format(data).map_err(|error| engine_failure(&error))?;
    let _turn = lock(data)?;
    let signer = signer(config)?;
    let mut target = Target::open(&arguments.directory, data, &signer)?;
    let webhooks = target.copy_file(&data.join(CURSOR_NAME), "webhooks")?;
    let (checkpoints, checkpoint) = target.copy_checkpoints(&data.join(CHECKPOINTS_NAME))?;
    let journal = data.join(JOURNAL_DIRECTORY);
    let segments = match &arguments.archive {
        Some(archive) => Segments::with_archive(&journal, archive),
        None => Ok(Segments::of(&journal)),
    };
    let extent = segments.and_then(|segments| Extent::of(&segments));
    let extent = extent.map_err(|error| journal_failure(&error))?;
    if extent.end().last.0 == 0 {
        return Err(Failure::new(
            "the journal has no frame yet: start the exchange first",
        ));
    }
    target.check_history(&extent)?;
    let segments = target.copy_segments(&extent)?;
    let catalog = target.copy_catalog(&config.catalog_file())?;
    let secrets = match arguments.with_secrets {
        true => Some(target.copy_secrets(data)?),
        false => None,
    };
    let manifest = Manifest {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        format_id: FORMAT_ID,
        time_ms: wall_clock::now().millis().0,
        genesis: extent.genesis,
        cluster: extent.is_replica,
        last_sequence: extent.end().last.0,
        chain: extent.end().chain,
        checkpoint,
        segments,
        checkpoints,
        catalog,
        webhooks,
        secrets,
    };
    manifest.write(&target.root, &signer)?;
    target.remove_old(&manifest)?;
    LastBackup::write(data, &target.root, &manifest)?;
    Ok(target.copied(&manifest))
}

/// The key that signs checkpoints.
fn signer(config: &Config) -> Result<Signer, Failure> {
    let secret = MasterSecret::load(&config.checkpoint_key_file()).map_err(|error| {
        Failure::new(error.to_string())
            .hint("--data names the data directory; the first start makes its checkpoint.key")
    })?;
    Ok(Signer::from_secret(secret.bytes()))
}

/// The directory of the backup.
struct Target {
    root: PathBuf,
    /// The manifest in place.
    previous: Option<Manifest>,
    kept_files: usize,
    copied_files: usize,
    copied_bytes: u64,
    _turn: File,
}

impl Target {
    /// Makes the directory, or opens one that holds nothing but a backup of this key.
    fn open(root: &Path, data: &Path, signer: &Signer) -> Result<Self, Failure> {
        let root = BACKUP.prepare_target(root)?;
        BACKUP.prepare(&root.join(JOURNAL_DIRECTORY))?;
        let refused = |why: &str| Failure::new(format!("{}: {why}", root.display()));
        if data.canonicalize().is_ok_and(|data| root.starts_with(data)) {
            return Err(refused("a backup is not kept in the data directory")
                .hint("choose a directory on another disk"));
        }
        let turn = lock(&root)?;
        let previous = match Manifest::read(&root)? {
            Some((manifest, key)) if key == signer.public_key() => Some(manifest),
            Some(_) => {
                return Err(
                    refused("a backup signed with another checkpoint.key is here")
                        .hint("choose an empty directory"),
                );
            }
            None => None,
        };
        if let (None, Some(name)) = (&previous, foreign_file(&root)?) {
            let why = format!("{name} is no file of a backup");
            return Err(refused(&why).hint("choose an empty directory"));
        }
        sync_directory(&root)?;
        Ok(Self {
            root,
            previous,
            kept_files: 0,
            copied_files: 0,
            copied_bytes: 0,
            _turn: turn,
        })
    }

    /// The journal must continue the one in the backup.
    fn check_history(&self, extent: &Extent) -> Result<(), Failure> {
        let Some(previous) = &self.previous else {
            return Ok(());
        };
        let other = |why: String| {
            let root = self.root.display();
            Err(Failure::new(format!(
                "{root}: the backup here is not of this journal: {why}"
            ))
            .hint("choose an empty directory, and keep the old one until you know why"))
        };
        if previous.genesis != extent.genesis {
            return other("another genesis".to_owned());
        }
        let (had, has) = (previous.last_sequence, extent.end().last.0);
        if has < had {
            return other(format!("it ends at sequence {has}, the backup at {had}"));
        }
        let (_, sealed) = previous.segments.split_last().expect("it was read");
        for entry in sealed {
            let piece = extent.pieces.iter().find(|it| it.number == entry.number);
            if piece.is_some_and(|piece| piece.chain != entry.chain) {
                return other(format!("segment {} differs", entry.number));
            }
        }
        let first = &extent.pieces[0];
        let before = sealed.iter().find(|entry| entry.number + 1 == first.number);
        match before {
            Some(entry) if entry.chain != first.chain_before() => {
                other(format!("segment {} differs", entry.number))
            }
            _ => Ok(()),
        }
    }

    /// The checkpoints, and the newest of them.
    fn copy_checkpoints(
        &mut self,
        from: &Path,
    ) -> Result<(Option<FileEntry>, Option<CheckpointEntry>), Failure> {
        if !from.exists() {
            return Ok((None, None));
        }
        let mut file = File::open(from).map_err(failed("open", from))?;
        let unfinished = Unfinished::new(&self.root)?;
        let sum = unfinished.fill(&mut file)?;
        let wrong = |error: &dyn fmt::Display| Failure::new(error.to_string());
        let newest = CheckpointReader::open(unfinished.path()).map_err(|error| wrong(&error))?;
        let newest = newest.map_or(Ok(None), |reader| reader.newest());
        let newest = newest.map_err(failed("read", from))?;
        let name = format!("{}.checkpoints", sum.short());
        let entry = self.finish(unfinished, FileEntry::new(name, sum))?;
        Ok((Some(entry), newest.map(CheckpointEntry::from)))
    }

    /// A small file that is replaced whole by whoever writes it.
    fn copy_file(&mut self, from: &Path, ending: &str) -> Result<Option<FileEntry>, Failure> {
        let mut file = match File::open(from) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed("open", from))?,
        };
        let unfinished = Unfinished::new(&self.root)?;
        let sum = unfinished.fill(&mut file)?;
        let name = format!("{}.{ending}", sum.short());
        self.finish(unfinished, FileEntry::new(name, sum)).map(Some)
    }

    /// Every segment; only those that the backup lacks are read.
    fn copy_segments(&mut self, extent: &Extent) -> Result<Vec<SegmentEntry>, Failure> {
        let first = extent.pieces[0].number;
        let previous = self
            .previous
            .as_ref()
            .map(|manifest| manifest.segments.clone());
        let previous = previous.unwrap_or_default();
        let archived = previous.iter().take_while(|entry| entry.number < first);
        let mut entries: Vec<SegmentEntry> = archived.cloned().collect();
        if u32::try_from(entries.len()).ok() != first.checked_sub(1) {
            return Err(Failure::new(format!(
                "the journal's segments up to {} are archived, and this backup does not contain all of them",
                first - 1
            ))
            .hint("pass their directory with --archive DIR"));
        }
        self.kept_files += entries.len();
        for piece in extent.sealed() {
            let name = sealed_name(piece.number);
            let had = previous.iter().find(|entry| entry.content.file == name);
            let is_whole = |entry: &&SegmentEntry| {
                let file = fs::metadata(self.root.join(&entry.content.file));
                file.is_ok_and(|file| file.len() == entry.content.bytes)
            };
            let entry = match had.filter(is_whole) {
                Some(entry) => {
                    self.kept_files += 1;
                    entry.clone()
                }
                None => {
                    extent
                        .verify(piece)
                        .map_err(|error| journal_failure(&error))?;
                    self.copy_piece(piece, |_| name)?
                }
            };
            entries.push(entry);
        }
        let (end, number) = (extent.end(), extent.end().number);
        let name = |short: String| format!("{JOURNAL_DIRECTORY}/{number:08}.{short}.growing");
        entries.push(self.copy_piece(end, name)?);
        Ok(entries)
    }

    fn copy_piece(
        &mut self,
        piece: &Piece,
        name: impl FnOnce(String) -> String,
    ) -> Result<SegmentEntry, Failure> {
        let file = File::open(&piece.path).map_err(failed("open", &piece.path))?;
        let unfinished = Unfinished::new(&self.root.join(JOURNAL_DIRECTORY))?;
        let sum = unfinished.fill(&mut file.take(piece.bytes.into()))?;
        let content = FileEntry::new(name(sum.short()), sum);
        Ok(SegmentEntry {
            number: piece.number,
            last_sequence: piece.last.0,
            chain: piece.chain,
            content: self.finish(unfinished, content)?,
        })
    }

    /// The catalog as of one transaction.
    fn copy_catalog(&mut self, from: &Path) -> Result<Option<FileEntry>, Failure> {
        if !from.exists() {
            return Ok(None);
        }
        let unfinished = Unfinished::new(&self.root)?;
        let path = unfinished.path();
        foretell_catalog::copy(from, path)
            .map_err(|error| Failure::new(format!("{}: {error}", from.display())))?;
        let mut file = File::open(path).map_err(failed("open", path))?;
        let sum = super::files::sum(&mut file).map_err(failed("read", path))?;
        let name = format!("{}.catalog", sum.short());
        self.finish(unfinished, FileEntry::new(name, sum)).map(Some)
    }

    fn copy_secrets(&mut self, data: &Path) -> Result<FileEntry, Failure> {
        let text = secrets::collect(data)?;
        let unfinished = Unfinished::new(&self.root)?;
        let sum = unfinished.fill(&mut text.as_slice())?;
        let name = format!("{}.secrets", sum.short());
        self.finish(unfinished, FileEntry::new(name, sum))
    }

    /// Gives a file its name, unless the backup has it already.
    fn finish(&mut self, unfinished: Unfinished, entry: FileEntry) -> Result<FileEntry, Failure> {
        let mut previous = self.previous.iter().flat_map(Manifest::files);
        let path = self.root.join(&entry.file);
        let is_there = fs::metadata(&path).is_ok_and(|file| file.len() == entry.bytes);
        if is_there && previous.any(|had| *had == entry) {
            self.kept_files += 1;
            let path = unfinished.path();
            fs::remove_file(path).map_err(failed("remove", path))?;
            return Ok(entry);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        unfinished.finish(name.expect("a name of ours"))?;
        self.copied_files += 1;
        self.copied_bytes += entry.bytes;
        Ok(entry)
    }

    /// Removes what the manifest in place does not name any more.
    fn remove_old(&self, manifest: &Manifest) -> Result<(), Failure> {
        let named: Vec<PathBuf> = manifest
            .files()
            .map(|entry| self.root.join(&entry.file))
            .collect();
        for folder in [self.root.clone(), self.root.join(JOURNAL_DIRECTORY)] {
            for entry in fs::read_dir(&folder).map_err(failed("list", &folder))? {
                let path = entry.map_err(failed("list", &folder))?.path();
                if is_replaceable(&path) && !named.contains(&path) {
                    fs::remove_file(&path).map_err(failed("remove", &path))?;
                }
            }
        }
        Ok(())
    }

    fn copied(&self, manifest: &Manifest) -> Copied {
        Copied {
            directory: self.root.clone(),
            last_sequence: manifest.last_sequence,
            checkpoint_sequence: manifest.checkpoint.as_ref().map(|it| it.sequence),
            segments: manifest.segments.len(),
            kept_files: self.kept_files,
            copied_files: self.copied_files,
            copied_bytes: self.copied_bytes,
            secrets: manifest.secrets.is_some(),
        }
    }
}

/// The path of a segment that never changes again, in a backup.
fn sealed_name(number: u32) -> String {
    let path = segment::path(Path::new(JOURNAL_DIRECTORY), number);
    path.to_str().expect("a name of ours").to_owned()
}

/// Whether a run may remove the file once no manifest names it.
fn is_replaceable(path: &Path) -> bool {
    let text = |part: Option<&OsStr>| part.and_then(OsStr::to_str).unwrap_or_default().to_owned();
    let (name, extension) = (text(path.file_name()), text(path.extension()));
    name.starts_with(UNFINISHED) || GROWING.contains(&extension.as_str())
}

/// A file that no run has written, in a directory without a manifest.
fn foreign_file(root: &Path) -> Result<Option<String>, Failure> {
    for entry in fs::read_dir(root).map_err(failed("list", root))? {
        let path = entry.map_err(failed("list", root))?.path();
        let is_ours = path.ends_with(JOURNAL_DIRECTORY) || is_replaceable(&path);
        if !is_ours && !path.ends_with(MANIFEST_NAME) {
            return Ok(Some(path.display().to_string()));
        }
    }
    Ok(None)
}
