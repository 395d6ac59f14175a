//! A journal made of copied segments.
//!
//! The copy may lack frames that were acknowledged. Then a marker names its last sequence, until the
//! engine has journalled that the journal was restored.

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

/// What a copied journal is.
#[derive(Clone, Copy, Debug)]
pub struct CopyKind {
    /// Its exchange was stopped before, and this is its end: it lacks nothing.
    pub is_complete: bool,
    /// It is a copy of a replicated log.
    pub is_replica: bool,
}

/// Makes a journal of the segments in `dir`, which end at `end`: gives every file the length that its
/// header names, and writes watermark and markers. All is synced on return.
///
/// # Errors
/// The segments are not a journal up to `end`, or an I/O error.
pub fn complete_copy(
    disk: &dyn Disk,
    dir: &Path,
    end: JournalPosition,
    kind: CopyKind,
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
    if kind.is_replica {
        write_marker(disk, &replica_marker_path(dir), "")?;
    }
    if !kind.is_complete {
        write_marker(
            disk,
            &restored_marker_path(dir),
            &format!("{}\n", last.last),
        )?;
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

/// The last sequence of the copy that this journal was restored from; `None` unless it may lack
/// frames, and once the engine has journalled that.
///
/// # Errors
/// The marker cannot be read.
pub fn restored_from(dir: &Path) -> Result<Option<Sequence>, JournalError> {
    let path = restored_marker_path(dir);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.context("read", &path)?,
    };
    let sequence = text.trim().parse().map(Sequence);
    sequence.map(Some).map_err(|_| JournalError::Unsafe {
        path,
        why: "not a sequence",
    })
}

/// Removes the marker: the journal says itself that it was restored, or agrees with the replicated
/// log.
///
/// # Errors
/// An I/O error.
pub fn forget_restored(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    directory::remove_marker(disk, &restored_marker_path(dir))
}
