//! A stream as a journal: what the exchange would have written, had it taken those commands.

use std::path::Path;

use foretell_model::Command;

use crate::dress::{Dress, Dressed, STEP_NS};
use crate::error::MeasureError;
use crate::evidence::Evidence;
use crate::journal_writer::{JournalWriter, Written};
use crate::venue::{self, Needs};

/// Markets of the stream.
pub(crate) const MARKETS: u32 = 1_000;
/// One of so many of its commands is an order that rests at the same time as others.
const RESTING_PART: usize = 20;
/// Room is made ready for so many orders that rest at once.
const RESTING: usize = 1 << 20;

/// Generates a stream of so many commands and writes it, dressed, with the evidence of each placement (whose signature is noise), into a
/// directory that does not exist yet. Cancels that come too late are refused, and what is refused is
/// in no journal.
pub(crate) fn write(journal: &Path, commands: usize) -> Result<Written, MeasureError> {
    let live = u32::try_from(commands / RESTING_PART).unwrap_or(u32::MAX);
    let stream = crate::generate(MARKETS, commands.max(1), live.max(1))
        .map_err(|error| MeasureError::Wrong(error.to_string()))?;
    let dressed = Dressed::new(&stream, Dress::Dressed);
    let needs = Needs::of(&dressed);
    let capacity = needs.capacity(&dressed, RESTING);
    let mut writer = JournalWriter::create(journal, capacity, STEP_NS)?;
    let mut evidence = Evidence::new()?;
    let (domain, text) = evidence.registration();
    writer.apply(&domain, &text)?;
    venue::set_up(&dressed, &needs, &mut |command| {
        writer.apply(command, &[]).map(|_| ())
    })?;
    for (at, (entry, account)) in dressed.entries().enumerate() {
        let command = dressed.command(at);
        if let Command::PlaceOrder(order) = &command {
            let wallet = venue::wallet(account.0);
            writer.apply(&command, evidence.unsigned(order, entry.id, wallet))?;
        } else {
            writer.try_apply(&command, &[])?;
        }
    }
    writer.finish()
}
