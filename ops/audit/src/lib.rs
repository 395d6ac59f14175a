//! `foretell audit …`: proofs and lookups that need only a copy of the journal.
//!
//! [`verify()`] reads the journal once: as bytes (checksums, chain, sequences), as commands that the
//! core executes again, and as events that must conserve money and shares. `--signatures` adds every
//! maker's signature, `--reference` every rule by code apart from the core. The other commands
//! replay to a point, show a frame, find a receipt, export tables, and compare two journals.
//!
//! Deliberately absent: writing. Nothing here changes a journal or needs an engine.

mod arguments;
mod error;
pub mod exit_codes;
mod finding;
mod prove;
mod read;
mod show;
mod text;
mod violation;

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use crate::error::AuditError as Failure;
use foretell_model::Sequence;
use foretell_terminal::Output;

pub use arguments::Audit;
pub use error::AuditError;
pub use finding::{Finding, Kind};
pub use prove::checkpoints::CheckpointStats;
pub use prove::checkpoints::SavedCheckpoint;
pub use prove::verify::{Options, verify};
pub use show::counts::Counts;
pub use show::report::Report;

use arguments::AuditCommand;
use prove::checkpoints;
use read::source::Source;
use show::export::Files;
use show::lookup::LookupKey;
use show::{diff, export, lookup, operators, replay, set_aside};

impl Audit {
    /// Runs the command on the journal that it names, or else on the one in `journal`.
    ///
    /// # Errors
    /// There is no journal, or it cannot be read. Findings are reported by the exit code.
    pub fn run(&self, journal: &Path, output: Output) -> Result<ExitCode, Failure> {
        let directory = self.journal.as_deref().unwrap_or(journal);
        match &self.what {
            AuditCommand::Verify {
                signatures,
                reference,
                threads,
                checkpoints,
                checkpoint_key,
                attestations,
            } => {
                let checkpoints = match (checkpoints, checkpoint_key) {
                    (Some(file), Some(key)) => checkpoints::load(file, key)?,
                    _ => Vec::new(),
                };
                let options = Options {
                    checkpoints,
                    signatures: *signatures,
                    reference: *reference,
                    attestations: *attestations,
                    threads: threads.map(usize::from).and_then(NonZeroUsize::new),
                    progress: !output.json,
                };
                let report = verify(directory, &options)?;
                output.answer(&report.json(), |_| report.to_string());
                Ok(ExitCode::from(report.exit_code()))
            }
            AuditCommand::Replay { until } => {
                replay::run(&open(directory, output)?, *until, output)
            }
            AuditCommand::Show {
                sequence,
                set_aside: Some(file),
            } => set_aside::run(file, *sequence, output),
            AuditCommand::Show { sequence, .. } => {
                let key = LookupKey::Sequence(Sequence(sequence.unwrap_or_default()));
                lookup::run(&open(directory, output)?, key, output)
            }
            AuditCommand::Receipt { hash } => {
                lookup::run(&open(directory, output)?, LookupKey::Receipt(*hash), output)
            }
            AuditCommand::Operators { name } => {
                operators::run(&open(directory, output)?, name.as_deref(), output)
            }
            AuditCommand::Export(tables) => {
                let files = Files {
                    trades: tables.trades.clone(),
                    orders: tables.orders.clone(),
                    balances: tables.balances.clone(),
                };
                export::run(&open(directory, output)?, &files, output)
            }
            AuditCommand::Diff { first, second } => {
                // Two progress bars would overwrite each other.
                let quiet = |directory| Source::open(directory, false);
                diff::run([&quiet(first)?, &quiet(second)?], output)
            }
        }
    }
}

fn open(directory: &Path, output: Output) -> Result<Source, Failure> {
    Source::open(directory, !output.json)
}
