//! Journals for the measurement of audits.

use std::path::Path;

use crate::error::MeasureError;
use crate::workloads::resting_journal::write_journal;
use crate::workloads::stream_journal;

/// Contents of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Orders that rest, trade and are cancelled, as for the replay measurement.
    Stream,
    /// Resting orders only.
    Resting,
    /// Resting orders with real signatures, which take most of the time to make.
    Signed,
}

/// Writes a journal of about `commands` commands into a temporary directory under `scratch`, passes
/// it to `work`, and removes it.
///
/// # Errors
/// The disk or the journal fails.
pub fn with_journal<T>(
    scratch: &Path,
    commands: u32,
    contents: Contents,
    work: impl FnOnce(&Path) -> T,
) -> Result<T, MeasureError> {
    let scratch = tempfile::Builder::new()
        .prefix("foretell-journal-")
        .tempdir_in(scratch)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let journal = scratch.path().join("journal");
    match contents {
        Contents::Stream => drop(stream_journal::write(&journal, commands as usize)?),
        Contents::Resting => drop(write_journal(&journal, commands, false)?),
        Contents::Signed => drop(write_journal(&journal, commands, true)?),
    }
    Ok(work(&journal))
}
