//! `foretell audit …`: what anybody with a copy of the journal can prove, and look up.
//!
//! [`verify()`] reads the journal three ways in one pass: as bytes (checksums, chain, sequences), as
//! commands to be executed again by the core, and as a record of its own whose rules are checked
//! without the core; `--signatures` adds every maker's signature. The other commands replay to a
//! point, show a frame, find a receipt, export tables, and compare two journals.
//!
//! Deliberately absent: writing. Nothing here changes a journal, and none of it needs an engine.

mod arguments;
mod attested;
mod checkpoints;
mod counts;
mod decoded;
mod diff;
mod execution;
mod export;
pub mod finding;
mod inclusion;
mod line;
mod lookup;
pub(crate) mod measure;
mod record;
mod recorded;
mod replay;
pub mod report;
mod signatures;
mod source;
mod text;
mod together;
mod verify;
mod words;

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use foretell_engine::JOURNAL_DIRECTORY;

pub(crate) use arguments::Audit;
pub use checkpoints::{Compared, Kept};
pub use counts::Counts;
pub use finding::{Finding, Kind};
pub use report::Report;
pub use verify::{Options, verify};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;
use arguments::What;
use export::Files;
use foretell_model::Sequence;
use lookup::Wanted;
use source::Source;

/// Runs a command of the auditor.
///
/// # Errors
/// There is no journal, or it cannot be read; what is wrong with one is said by the exit code.
pub(crate) fn run(config: &Config, audit: &Audit, output: Output) -> Result<ExitCode, Failure> {
    let directory = audit
        .journal
        .clone()
        .unwrap_or_else(|| config.data.0.join(JOURNAL_DIRECTORY));
    match &audit.what {
        What::Verify {
            signatures,
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
                attestations: *attestations,
                threads: threads.map(usize::from).and_then(NonZeroUsize::new),
                progress: !output.json,
            };
            let report = verify(&directory, &options)?;
            output.answer(&report.json(), |_| report.to_string());
            Ok(ExitCode::from(report.exit_code()))
        }
        What::Replay { until } => replay::run(&open(&directory, output)?, *until, output),
        What::Show { sequence } => {
            let wanted = Wanted::Sequence(Sequence(*sequence));
            lookup::run(&open(&directory, output)?, wanted, output)
        }
        What::Receipt { hash } => {
            lookup::run(&open(&directory, output)?, Wanted::Receipt(*hash), output)
        }
        What::Export(tables) => {
            let files = Files {
                trades: tables.trades.clone(),
                orders: tables.orders.clone(),
                balances: tables.balances.clone(),
            };
            export::run(&open(&directory, output)?, &files, output)
        }
        What::Diff { first, second } => {
            // Two bars would write over each other.
            let quiet = |directory| Source::open(directory, false);
            diff::run([&quiet(first)?, &quiet(second)?], output)
        }
    }
}

fn open(directory: &Path, output: Output) -> Result<Source, Failure> {
    Source::open(directory, !output.json)
}
