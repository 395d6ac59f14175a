//! Divergences that commands of the journal accept.

use std::collections::BTreeSet;
use std::path::Path;

use foretell_journal::{JournalError, Scratch};
use foretell_model::{Command, Sequence};

/// Every divergence that a command journalled behind `after` accepts. A divergence is accepted
/// behind itself, so whoever replays from there needs no others.
pub(crate) fn accepted_in(
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
