//! `foretell backup` and `foretell restore`: a copy of a data directory, and a data directory of a copy.
//!
//! ```text
//! copy.rs ──▶ DIR/manifest.json ──▶ restore.rs ──▶ a new data directory
//! ```
//! The manifest (`manifest.rs`) names every file of the backup with its sum, and is signed. No file that it
//! names is ever changed or replaced by another: what still grows gets a new name at each run. So a run that
//! is killed leaves the backup of the run before. The journal is read by the journal's own readers.

pub(crate) mod arguments;
mod copy;
pub(crate) mod files;
mod manifest;
pub(crate) mod record;
mod restore;
mod secrets;

pub(crate) use copy::run as backup;
pub(crate) use restore::run as restore;

use std::fs::File;
use std::path::Path;

use foretell_audit::exit_codes::DAMAGE;
use foretell_journal::JournalError;

use crate::failure::Failure;
use files::failed;

/// The exclusive right to copy from or into a directory, until the file is dropped.
///
/// # Errors
/// Another process has it.
pub(crate) fn lock(directory: &Path) -> Result<File, Failure> {
    let file = File::open(directory).map_err(failed("open", directory))?;
    alone_in(file, directory)
}

/// As [`lock`], for a directory that is open.
fn alone_in(file: File, directory: &Path) -> Result<File, Failure> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(Failure::new(format!(
            "{}: another backup, restore or archive is running here",
            directory.display()
        ))
        .hint("wait until it has ended")),
    }
}

/// Damage has the exit code of an audit that finds it.
pub(crate) fn journal_failure(error: &JournalError) -> Failure {
    let failure = Failure::new(format!("journal: {error}"));
    match error {
        JournalError::Damaged { .. }
        | JournalError::Missing(_)
        | JournalError::Foreign(_)
        | JournalError::Watermark { .. } => failure.code(DAMAGE),
        _ => failure,
    }
}
