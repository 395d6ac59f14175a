//! A copy of the catalog as of one moment, while others write.

use std::ffi::c_int;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::error::CatalogError;

/// Pause before another attempt when a writer keeps the catalog.
const PAUSE: Duration = Duration::from_millis(100);

/// Copies the catalog at `from` to the new file `to`, which is not synced.
///
/// # Errors
/// A database error.
pub fn copy(from: &Path, to: &Path) -> Result<(), CatalogError> {
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut target = Connection::open(to)?;
    // A copy that is interrupted is made again from the start.
    target.pragma_update(None, "journal_mode", "OFF")?;
    // All pages in one step, which is one read transaction.
    Backup::new(&source, &mut target)?.run_to_completion(c_int::MAX, PAUSE, None)?;
    target.close().map_err(|(_, error)| error)?;
    Ok(())
}
