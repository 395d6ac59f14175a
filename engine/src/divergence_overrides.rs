//! Divergences accepted by commands of the journal.

use std::collections::BTreeSet;
use std::path::Path;

use foretell_journal::{JournalError, Scratch};
use foretell_model::{Command, Sequence};

/// Every divergence accepted by a command after `after`. The accepting command always comes after
/// the divergence, so a replay that starts at `after` needs no earlier command.
pub(crate) fn accepted_divergences(
    journal: &Path,
    after: Sequence,
) -> Result<BTreeSet<Sequence>, JournalError> {
    let mut accepted = BTreeSet::new();
    let mut scratch = Scratch::default();
    foretell_journal::scan(journal, after, &mut |frame| {
        let frame = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())?;
        if let Command::AcceptDivergence { sequence } = frame.command {
            accepted.insert(*sequence);
        }
        Ok(())
    })?;
    Ok(accepted)
}
