//! `foretell audit …`: proofs and lookups that need only a copy of the journal.
//!
//! `read` opens a journal and reads its frames. `prove` checks them: [`verify`] reads the journal
//! once, as bytes (checksums, chain, sequences), as commands that the core executes again, and as
//! events that must conserve money and shares; it can add every maker's signature, and every rule by
//! code apart from the core. `show` answers the commands: a report, the state at a point, a frame, an
//! export, the difference of two journals.
//!
//! Deliberately absent: writing. Nothing here changes a journal or needs an engine.

mod arguments;
mod digits;
mod error;
pub mod exit_codes;
mod finding;
mod prove;
mod read;
mod record_text;
mod show;

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use foretell_model::Sequence;
use foretell_terminal::Output;

pub use arguments::Audit;
pub use error::AuditError;
pub use finding::{Finding, Kind};
pub use prove::checkpoints::{SavedCheckpoint, public_key};
pub use prove::verify::{Options, verify, verify_segments};
pub use show::counts::Counts;
pub use show::report::{JournalTotals, Report, SignatureCounts};

use arguments::AuditCommand;
use prove::{checkpoints, verify};
use read::source::Source;
use show::lookup::{self, LookupKey};
use show::{diff, export, operators, replay, set_aside};

impl Audit {
    /// Runs the command on the journal that it names, or else on the one in `journal`.
    ///
    /// # Errors
    /// There is no journal, or it cannot be read. Findings are reported by the exit code.
    pub fn run(&self, journal: &Path, output: Output) -> Result<ExitCode, AuditError> {
        let directory = self.journal.as_deref().unwrap_or(journal);
        let source = || Source::open(directory, self.archive.as_deref(), !output.json);
        let ended = match &self.what {
            AuditCommand::Verify(arguments) => return arguments.run(&source()?, output),
            AuditCommand::Show {
                sequence,
                set_aside: Some(file),
            } => return set_aside::run(file, *sequence, output),
            AuditCommand::Diff { first, second } => {
                return diff::run([first, second], self.archive.as_deref(), output);
            }
            AuditCommand::Replay { until } => replay::run(&source()?, *until, output),
            AuditCommand::Show { sequence, .. } => {
                let sequence = Sequence(sequence.unwrap_or_default());
                lookup::run(&source()?, LookupKey::Sequence(sequence), output)
            }
            AuditCommand::Receipt { hash } => {
                lookup::run(&source()?, LookupKey::Receipt(*hash), output)
            }
            AuditCommand::Operators { name } => operators::run(&source()?, name.as_deref(), output),
            AuditCommand::Export(files) => export::run(&source()?, files, output),
        };
        ended.map_err(|stop| stop.failure(directory))
    }
}

impl arguments::Verify {
    fn run(&self, source: &Source, output: Output) -> Result<ExitCode, AuditError> {
        let checkpoints = match (&self.checkpoints, &self.checkpoint_key) {
            (Some(file), Some(key)) => checkpoints::load(file, key)?,
            _ => Vec::new(),
        };
        let report = verify::audit(
            source,
            &Options {
                checkpoints,
                signatures: self.signatures,
                reference: self.reference,
                attestations: !self.no_attestations,
                threads: self.threads.map(usize::from).and_then(NonZeroUsize::new),
                progress: !output.json,
            },
        )?;
        output.print(&report);
        Ok(ExitCode::from(report.exit_code))
    }
}
