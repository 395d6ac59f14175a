//! The checks of a start, without a start: nothing is locked or changed.

use std::path::Path;

use foretell_model::Sequence;

use crate::directory;
use crate::error::JournalError;
use crate::options::Options;
use crate::recover::{
    FrameVisitor, read_frames, refuse_after_io_error, refuse_replica, watermark_of_frames,
};
use crate::scan::{ScanReport, scan};

/// Checks the journal of a running engine: markers, watermark, the headers of all segments, every batch of the
/// segment that the watermark names and of later ones. `None` of a journal that has no frame yet. With `is_cluster`
/// it may be a copy of a replicated log.
///
/// # Errors
/// Those with which a start refuses the journal.
pub fn check_running(dir: &Path, is_cluster: bool) -> Result<Option<ScanReport>, JournalError> {
    if !dir.exists() {
        return Ok(None);
    }
    refuse_marked(dir, false, is_cluster)?;
    let Some(mark) = watermark_of_frames(dir)? else {
        return Ok(None);
    };
    scan(dir, mark.sequence, &mut |_| Ok(())).map(Some)
}

/// Checks the journal of a stopped engine as [`crate::recover_into`] does before it changes anything, and passes
/// every frame above `after` to `reader`. `None` of a journal that has no frame yet. With `is_cluster` it may be a copy
/// of a replicated log.
///
/// # Errors
/// Those with which a start refuses the journal, or an error of `reader`.
pub fn check_stopped(
    dir: &Path,
    options: &Options,
    after: Sequence,
    is_cluster: bool,
    reader: &mut dyn FrameVisitor,
) -> Result<Option<ScanReport>, JournalError> {
    options.check()?;
    directory::check(dir)?;
    refuse_marked(dir, options.after_io_error, is_cluster)?;
    if !dir.exists() {
        return Ok(None);
    }
    let found = read_frames(dir, options, after, reader)?;
    Ok(found.map(|(_, end)| ScanReport::new(&end)))
}

fn refuse_marked(dir: &Path, after_io_error: bool, is_cluster: bool) -> Result<(), JournalError> {
    refuse_after_io_error(dir, after_io_error)?;
    match is_cluster {
        true => Ok(()),
        false => refuse_replica(dir),
    }
}
