//! `foretell up --drill`: runs a restored copy beside the exchange that it is a copy of, under the same settings
//! file. The settings that reach out are off (`cli.rs`), webhooks and sync do not run, and the copy leaves the
//! replicated log.

use foretell_engine::{JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};
use foretell_gateway::outbox::Outbox;
use foretell_journal::disk::RealDisk;
use foretell_journal::restored;

use crate::config::Config;
use crate::failure::Failure;

/// Refuses what may be live, and makes the copy of a cluster's host a journal of its own.
///
/// # Errors
/// The data directory is not a restored copy that nobody has opened.
pub(super) fn prepare(config: &Config) -> Result<(), Failure> {
    let data = &config.data.directory;
    let journal = data.join(JOURNAL_DIRECTORY);
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    if restored::restored_from(&journal)
        .map_err(|error| failed(&error))?
        .is_some()
    {
        return restored::leave_log(&RealDisk, &journal).map_err(|error| failed(&error));
    }
    // An earlier start of this drill has journalled the restore.
    let end = Outbox::open(&journal, &data.join(SNAPSHOT_DIRECTORY), None);
    match end.is_ok_and(|end| end.is_outward_closed()) {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{}: a drill requires a restored copy that is not open",
            data.display()
        ))
        .hint("foretell restore BACKUP --data NEW, without --complete")
        .code(foretell_engine::EXIT_REFUSED)),
    }
}
