//! A stream as a journal: what the exchange would have written, had it taken those commands.

use std::path::Path;

use crate::dress::{Dress, Dressed, STEP_NS};
use crate::encoding::EVIDENCE_BYTES;
use crate::error::MeasureError;
use crate::journal_writer::{JournalWriter, Written, random_bytes};
use crate::stream::{Action, Stream};
use crate::venue::{self, Needs};

/// Room is made ready for so many orders that rest at once.
const RESTING: usize = 1 << 20;

/// Writes a stream, dressed, with evidence beside each placement, into a directory that does not
/// exist yet. Cancels that come too late are refused, and what is refused is in no journal.
pub(crate) fn write(journal: &Path, stream: &Stream) -> Result<Written, MeasureError> {
    let dressed = Dressed::new(stream, Dress::Dressed);
    let needs = Needs::of(&dressed);
    let capacity = needs.capacity(&dressed, RESTING);
    let mut writer = JournalWriter::create(journal, capacity, STEP_NS)?;
    venue::set_up(&dressed, &needs, &mut |command| {
        writer.apply(command, &[]).map(|_| ())
    })?;
    let mut evidence = [0; EVIDENCE_BYTES];
    for (at, (entry, _)) in dressed.entries().enumerate() {
        let command = dressed.command(at);
        if entry.action == Action::Cancel {
            writer.try_apply(&command, &[])?;
        } else {
            random_bytes(u64::from(entry.id) << 8, &mut evidence);
            writer.apply(&command, &evidence)?;
        }
    }
    writer.finish()
}
