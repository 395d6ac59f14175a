//! A journal made of copied segments.
//!
//! The copy may lack frames that were acknowledged. Then a marker says so, until the engine has
//! journalled that the journal was restored.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use foretell_model::Sequence;

use crate::control::JournalPosition;
use crate::directory::{self, replica_marker_path, restored_marker_path, write_marker};
use crate::disk::{Disk, write_all};
use crate::error::{Context, JournalError};
use crate::extent::{Extent, Piece};
use crate::segment;
use crate::segments::Segments;
use crate::watermark::{Watermark, WatermarkFile};

/// A copy that may lack acknowledged frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IncompleteCopy {
    /// Its last sequence.
    pub last: Sequence,
    /// Random bytes that tell what follows from what the original wrote.
    pub branch: [u8; 32],
}

impl IncompleteCopy {
    fn text(&self) -> String {
        format!("{} {}\n", self.last, hex::encode(self.branch))
    }

    fn read(text: &str) -> Option<Self> {
        let (last, digits) = text.trim_end().split_once(' ')?;
        let mut branch = [0; 32];
        hex::decode_to_slice(digits, &mut branch).ok()?;
        let last = Sequence(last.parse().ok()?);
        Some(Self { last, branch })
    }
}

/// Makes a journal of the segments in `dir`, which end at `end`: gives every file the length that its
/// header names, and writes watermark and markers. `branch` is of a copy that may lack acknowledged
/// frames; `is_replica` of a copy of a replicated log. All is synced on return.
///
/// # Errors
/// The segments are not a journal up to `end`, or an I/O error.
pub fn complete_copy(
    disk: &dyn Disk,
    dir: &Path,
    end: JournalPosition,
    branch: Option<[u8; 32]>,
    is_replica: bool,
) -> Result<(), JournalError> {
    let files = directory::segments(dir)?;
    let files = files
        .into_iter()
        .map(|number| (number, segment::path(dir, number)));
    let extent = Extent::of(&Segments::of_copy(dir, files.collect(), end))?;
    for piece in &extent.pieces {
        lengthen(disk, piece, piece.number < end.segment)?;
    }
    let last = extent.end();
    let mark = Watermark {
        count: 0,
        epoch: last.header.epoch,
        sequence: last.last,
        segment: last.number,
        end: last.bytes,
        hash: last.chain,
        genesis: extent.genesis,
    };
    WatermarkFile::create(disk, dir, &mark)?;
    if is_replica {
        write_marker(disk, &replica_marker_path(dir), "")?;
    }
    if let Some(branch) = branch {
        let copy = IncompleteCopy {
            last: last.last,
            branch,
        };
        write_marker(disk, &restored_marker_path(dir), &copy.text())?;
    }
    disk.sync_dir(dir).context("sync", dir)
}

/// Gives a segment its full length, with zeros after its batches.
fn lengthen(disk: &dyn Disk, piece: &Piece, is_sealed: bool) -> Result<(), JournalError> {
    let (path, bytes) = (&piece.path, piece.header.bytes);
    let mut file = disk.open(path).context("open", path)?;
    if fs::metadata(path).context("stat", path)?.len() < u64::from(bytes) {
        write_all(&mut *file, &[0], u64::from(bytes) - 1).context("write", path)?;
    }
    file.sync_data().context("sync", path)?;
    if is_sealed {
        file.make_read_only().context("seal", path)?;
    }
    Ok(())
}

/// The copy that this journal was restored from; `None` unless it may lack frames, and once the engine
/// has journalled that.
///
/// # Errors
/// The marker cannot be read.
pub fn restored_from(dir: &Path) -> Result<Option<IncompleteCopy>, JournalError> {
    let path = restored_marker_path(dir);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.context("read", &path)?,
    };
    let copy = IncompleteCopy::read(&text).ok_or(JournalError::Unsafe {
        path,
        why: "not a sequence and a branch",
    })?;
    Ok(Some(copy))
}

/// Makes a restored copy of a replicated log a journal of its own. The hosts of the log refuse what it writes: it
/// is on another branch.
///
/// # Errors
/// It is not a restored copy that may lack frames, or an I/O error.
pub fn leave_log(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    if restored_from(dir)?.is_none() {
        return Err(JournalError::Replica(replica_marker_path(dir)));
    }
    directory::remove_marker(disk, &replica_marker_path(dir))
}

/// Removes the marker: the journal says itself that it was restored, or agrees with the replicated
/// log.
///
/// # Errors
/// An I/O error.
pub fn forget_restored(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    directory::remove_marker(disk, &restored_marker_path(dir))
}
