//! Removes segments from a journal whose copies are proven, also while an engine and followers run.
//!
//! - A marker names the segment first. So a missing segment is one that was archived, or damage.
//! - A follower holds a shared lock on the segment that it reads; a locked segment stays, and so do
//!   all later ones, because segments leave in ascending order.
//! - Nothing else needs a lock: a file that is mapped or open can still be read after its name is
//!   gone, and the engine writes only to the last segment.

use std::fs::File;
use std::path::Path;

use rustix::fs::OFlags;

use crate::directory::{self, archived_marker_path, write_marker};
use crate::disk::Disk;
use crate::error::{Context, JournalError};
use crate::map::open_for_reading;
use crate::segment;
use crate::segments::archived_through;

/// Keeps a segment in the journal until the file is dropped; `None` when it is being removed.
pub(crate) fn hold(path: &Path) -> Option<File> {
    let file = open_for_reading(path, OFlags::empty()).ok()?;
    file.try_lock_shared().ok()?;
    Some(file)
}

/// Removes the first segment of the journal in `dir`, of which the caller has a proven copy. Returns
/// false, and changes nothing, when a follower reads it.
///
/// # Errors
/// It is not the first segment, or has no successor; an I/O error.
pub fn remove_archived(disk: &dyn Disk, dir: &Path, number: u32) -> Result<bool, JournalError> {
    let numbers = directory::segments(dir)?;
    if numbers.first() != Some(&number) || numbers.get(1) != Some(&(number + 1)) {
        return Err(JournalError::Options(
            "only the first segment of a journal that has a successor can leave it",
        ));
    }
    let path = segment::path(dir, number);
    let file = open_for_reading(&path, OFlags::empty()).context("open", &path)?;
    if file.try_lock().is_err() {
        return Ok(false);
    }
    if archived_through(dir)? < number {
        write_marker(disk, &archived_marker_path(dir), &format!("{number}\n"))?;
    }
    disk.remove(&path).context("remove", &path)?;
    disk.sync_dir(dir).context("sync", dir)?;
    Ok(true)
}
