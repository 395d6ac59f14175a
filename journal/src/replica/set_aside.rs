//! Batches that a former leader wrote and the log does not have.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::batch::{BatchFrames, BatchHeader, HEADER_BYTES};
use crate::bytes::{to_usize, whole_pages};
use crate::directory;
use crate::disk::{Disk, write_all};
use crate::error::{Context, JournalError};
use crate::segment::{self, FIRST_BATCH};

/// Directory of these files in the journal's directory.
pub const SET_ASIDE_DIRECTORY: &str = "set-aside";

/// Cuts the journal at `(segment, offset)`. First every later byte is copied to a file of its own
/// and synced; then the later segments are removed, the newest first, and the rest of the segment is
/// zeroed. A crash in between leaves a journal that the next start cuts again; it keeps the first
/// copy, which has everything.
pub(super) fn cut(
    disk: &dyn Disk,
    dir: &Path,
    (number, offset): (u32, u32),
    term: u64,
) -> Result<Option<PathBuf>, JournalError> {
    let later: Vec<u32> = directory::segments(dir)?
        .into_iter()
        .filter(|other| *other > number)
        .collect();
    let own = tail(&segment::path(dir, number), offset)?;
    let mut copies = Vec::new();
    copies.extend(copy(disk, dir, (number, offset), term, &own)?);
    for other in &later {
        let batches = tail(&segment::path(dir, *other), FIRST_BATCH)?;
        let at = (*other, FIRST_BATCH);
        copies.extend(copy(disk, dir, at, term, &batches)?);
    }
    for other in later.iter().rev() {
        let path = segment::path(dir, *other);
        disk.remove(&path).context("remove", &path)?;
    }
    disk.sync_dir(dir).context("sync", dir)?;
    zero(disk, &segment::path(dir, number), offset, own.len())?;
    if let Some(path) = copies.first() {
        tracing::warn!(
            segment = number,
            offset,
            kept = %path.display(),
            "set aside batches that are not in the replicated log"
        );
    }
    Ok(copies.into_iter().next())
}

/// The bytes of a segment from `offset` up to its last page that is not zero.
fn tail(path: &Path, offset: u32) -> Result<Vec<u8>, JournalError> {
    let bytes = fs::read(path).context("read", path)?;
    let behind = bytes.get(to_usize(offset)..).unwrap_or_default();
    let used = behind.iter().rposition(|byte| *byte != 0);
    let length = used.map_or(0, |last| whole_pages(last + 1).min(behind.len()));
    Ok(behind[..length].to_vec())
}

fn copy(
    disk: &dyn Disk,
    dir: &Path,
    (number, offset): (u32, u32),
    term: u64,
    bytes: &[u8],
) -> Result<Option<PathBuf>, JournalError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let folder = dir.join(SET_ASIDE_DIRECTORY);
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => disk.sync_dir(dir).context("sync", dir)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(JournalError::io("create", &folder, error)),
    }
    let path = folder.join(format!("term-{term}-{number:08}-{offset}.batches"));
    if path.exists() {
        return Ok(Some(path));
    }
    let draft = path.with_extension("tmp");
    let mut file = disk.create(&draft).context("create", &draft)?;
    write_all(&mut *file, bytes, 0).context("write", &draft)?;
    file.sync_data().context("sync", &draft)?;
    disk.rename(&draft, &path).context("rename", &draft)?;
    disk.sync_dir(&folder).context("sync", &folder)?;
    Ok(Some(path))
}

/// Zeroes the cut bytes, so that no later scan takes them for batches.
fn zero(disk: &dyn Disk, path: &Path, offset: u32, length: usize) -> Result<(), JournalError> {
    if length == 0 {
        return Ok(());
    }
    // A segment with a successor was read-only.
    fs::set_permissions(path, Permissions::from_mode(0o600)).context("chmod", path)?;
    let mut file = disk.open(path).context("open", path)?;
    write_all(&mut *file, &vec![0; length], offset.into()).context("write", path)?;
    file.sync_data().context("sync", path)
}

/// The batches of a file that was set aside.
#[derive(Debug)]
pub struct SetAsideBatches(Vec<(BatchHeader, std::ops::Range<usize>)>, Vec<u8>);

impl SetAsideBatches {
    /// Each batch with its frames; a torn batch ends them.
    pub fn batches(&self) -> impl Iterator<Item = (&BatchHeader, BatchFrames<'_>)> {
        self.0
            .iter()
            .map(|(header, at)| (header, BatchFrames::new(header, &self.1[at.clone()])))
    }
}

/// Reads a file that was set aside.
///
/// # Errors
/// It cannot be read.
pub fn read_set_aside(path: &Path) -> Result<SetAsideBatches, JournalError> {
    let bytes = fs::read(path).context("read", path)?;
    let mut batches = Vec::new();
    let mut at = 0;
    while let Ok(header) = BatchHeader::read(bytes.get(at..).unwrap_or_default()) {
        let start = at + HEADER_BYTES;
        let payload = start..start + to_usize(header.payload);
        let sound = bytes.get(payload.clone());
        if sound.is_none_or(|payload| crc32c::crc32c(payload) != header.payload_crc) {
            break;
        }
        at += header.total();
        batches.push((header, payload));
    }
    Ok(SetAsideBatches(batches, bytes))
}
