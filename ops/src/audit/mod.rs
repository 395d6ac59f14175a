//! `foretell audit …`: proofs and lookups that need only a copy of the journal.
//!
//! [`verify()`] reads the journal once: as bytes (checksums, chain, sequences), as commands that the
//! core executes again, and as events that must conserve money and shares. `--signatures` adds every
//! maker's signature, `--reference` every rule by code apart from the core. The other commands
//! replay to a point, show a frame, find a receipt, export tables, and compare two journals.
//!
//! Deliberately absent: writing. Nothing here changes a journal or needs an engine.

mod arguments;
mod attested;
mod checkpoints;
mod conservation;
mod counts;
mod diff;
mod evidence;
mod execution;
mod export;
pub mod finding;
mod fold;
mod frame_batch;
mod inclusion;
mod lookup;
mod operators;
mod reader;
mod reference;
mod registry;
mod replay;
pub mod report;
mod set_aside;
mod shown_frame;
mod signatures;
mod source;
mod state_compare;
mod text;
mod verify;
mod violation;

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use foretell_engine::JOURNAL_DIRECTORY;

pub(crate) use arguments::Audit;
pub use checkpoints::{CheckpointStats, SavedCheckpoint};
pub use counts::Counts;
pub use finding::{Finding, Kind};
pub use report::Report;
pub use verify::{Options, verify};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;
use arguments::AuditCommand;
use export::Files;
use foretell_model::Sequence;
use lookup::LookupKey;
use source::Source;

/// Runs a command of the auditor.
///
/// # Errors
/// There is no journal, or it cannot be read. Findings are reported by the exit code.
pub(crate) fn run(config: &Config, audit: &Audit, output: Output) -> Result<ExitCode, Failure> {
    let directory = audit
        .journal
        .clone()
        .unwrap_or_else(|| config.data.directory.join(JOURNAL_DIRECTORY));
    match &audit.what {
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
            let report = verify(&directory, &options)?;
            output.answer(&report.json(), |_| report.to_string());
            Ok(ExitCode::from(report.exit_code()))
        }
        AuditCommand::Replay { until } => replay::run(&open(&directory, output)?, *until, output),
        AuditCommand::Show {
            sequence,
            set_aside: Some(file),
        } => set_aside::run(file, *sequence, output),
        AuditCommand::Show { sequence, .. } => {
            let key = LookupKey::Sequence(Sequence(sequence.unwrap_or_default()));
            lookup::run(&open(&directory, output)?, key, output)
        }
        AuditCommand::Receipt { hash } => lookup::run(
            &open(&directory, output)?,
            LookupKey::Receipt(*hash),
            output,
        ),
        AuditCommand::Operators { name } => {
            operators::run(&open(&directory, output)?, name.as_deref(), output)
        }
        AuditCommand::Export(tables) => {
            let files = Files {
                trades: tables.trades.clone(),
                orders: tables.orders.clone(),
                balances: tables.balances.clone(),
            };
            export::run(&open(&directory, output)?, &files, output)
        }
        AuditCommand::Diff { first, second } => {
            // Two progress bars would overwrite each other.
            let quiet = |directory| Source::open(directory, false);
            diff::run([&quiet(first)?, &quiet(second)?], output)
        }
    }
}

fn open(directory: &Path, output: Output) -> Result<Source, Failure> {
    Source::open(directory, !output.json)
}
