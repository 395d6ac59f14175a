//! The checks of a start, without a start: nothing is locked or changed.

use std::path::Path;

use crate::error::JournalError;
use crate::recover::{refuse_after_io_error, refuse_replica, watermark_of_frames};
use crate::scan::{ScanReport, scan};

/// What a start on the journal in `dir` would find: markers, watermark, the headers of all segments, every
/// batch of the segment that the watermark names and of later ones. `None` of a journal that has no frame
/// yet. With `is_cluster` it may be a copy of a replicated log.
///
/// # Errors
/// Those with which a start refuses the journal.
pub fn check(dir: &Path, is_cluster: bool) -> Result<Option<ScanReport>, JournalError> {
    if !dir.exists() {
        return Ok(None);
    }
    refuse_after_io_error(dir, false)?;
    if !is_cluster {
        refuse_replica(dir)?;
    }
    let Some(mark) = watermark_of_frames(dir)? else {
        return Ok(None);
    };
    scan(dir, mark.sequence, &mut |_| Ok(())).map(Some)
}
