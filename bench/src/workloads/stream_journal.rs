//! A stream as the journal that the exchange would have written for its commands.

use std::path::Path;

use foretell_model::Command;

use crate::error::MeasureError;
use crate::workloads::evidence::Evidence;
use crate::workloads::journal_writer::{JournalWriter, Written};
use crate::workloads::venue::{self, Funding};
use crate::workloads::workload::{STEP_NS, Workload, WorkloadKind};

/// Markets in the stream.
pub(crate) const MARKETS: u32 = 1_000;
/// One command in this many is an order that rests at the same time as others.
const RESTING_PART: usize = 20;
/// Preallocated capacity for resting orders.
const RESTING: usize = 1 << 20;

/// Generates a stream of `commands` commands and writes it as a realistic workload into a new directory. Each
/// placement has evidence with a random signature. Late cancels are rejected, and rejected commands
/// are not journalled.
pub(crate) fn write(journal: &Path, commands: usize) -> Result<Written, MeasureError> {
    let live = u32::try_from(commands / RESTING_PART).unwrap_or(u32::MAX);
    let stream = crate::generate(MARKETS, commands.max(1), live.max(1))
        .map_err(|error| MeasureError::Wrong(error.to_string()))?;
    let workload = Workload::new(&stream, WorkloadKind::Realistic);
    let funding = Funding::of(&workload);
    let capacity = funding.capacity(&workload, RESTING);
    let mut writer = JournalWriter::create(journal, capacity, STEP_NS)?;
    let mut evidence = Evidence::new()?;
    let (domain, text) = evidence.registration();
    writer.apply(&domain, &text)?;
    venue::set_up(&workload, &funding, &mut |command| {
        writer.apply(command, &[]).map(|_| ())
    })?;
    for (at, (entry, account)) in workload.entries().enumerate() {
        let command = workload.command(at);
        if let Command::PlaceOrder(order) = &command {
            let wallet = venue::wallet(account.0);
            writer.apply(&command, evidence.unsigned(order, entry.id, wallet))?;
        } else {
            writer.try_apply(&command, &[])?;
        }
    }
    writer.finish()
}
