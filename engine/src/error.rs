//! How a run of the engine can end badly, and what its supervisor makes of it.

use std::io;
use std::path::PathBuf;

use foretell_journal::JournalError;
use foretell_model::{Refusal, Sequence};
use thiserror::Error;

/// Exit code after an I/O error of the journal: nothing after it was acknowledged, and the
/// supervisor does not restart the engine. The next start needs `--after-io-error`.
pub const EXIT_IO_ERROR: u8 = 74;
/// Exit code when the engine refuses to start: a restart would refuse again.
pub const EXIT_REFUSED: u8 = 78;

/// Why [`crate::run`] ended.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Another engine holds the data directory.
    #[error("another engine works on {0}; stop it first, or give this one a --data of its own")]
    InUse(PathBuf),
    /// Something of the process could not be made: directory, lock, socket, thread, signal handler.
    #[error("{what}: {source}")]
    Process {
        /// What was tried.
        what: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The journal cannot be opened or recovered.
    #[error("journal: {0}")]
    Journal(#[source] JournalError),
    /// The file of the checkpoints cannot be used.
    #[error("{0}")]
    Checkpoints(#[source] foretell_checkpoint::LogError),
    /// Re-execution gives something else than the record.
    #[error(
        "replay differs from the journal at sequence {sequence}: {what}; if the replay is right, \
         start once with --accept-divergence {sequence}"
    )]
    Diverged {
        /// Where.
        sequence: Sequence,
        /// How.
        what: String,
    },
    /// Re-execution refuses what was applied: no later sequence could be right.
    #[error(
        "replay refuses the command at sequence {sequence}: {what}; another build wrote this journal"
    )]
    ReplayRefused {
        /// Where.
        sequence: Sequence,
        /// How.
        what: String,
    },
    /// The publisher, which executes every command a second time while the engine runs, came to
    /// something else than the matcher.
    #[error(
        "the second execution differs from the journal at sequence {sequence}: {what}; the engine \
         stopped so that nothing more rests on it. Start it again: recovery executes the journal \
         once more, and either goes on or says what can be done"
    )]
    PublisherDiverged {
        /// Where.
        sequence: Sequence,
        /// How.
        what: String,
    },
    /// What the journal says at this sequence cannot be: it is no frame, or the state of the exchange
    /// after it contradicts itself.
    #[error(
        "the state after sequence {sequence} cannot be: {what}; the engine stopped. Keep the data \
         directory as it is and report this: the journal holds everything, and a build that \
         corrects the fault reads it"
    )]
    Impossible {
        /// Where.
        sequence: Sequence,
        /// What.
        what: String,
    },
    /// A configured domain or setting contradicts the journal or its bounds.
    #[error("configured {what} is refused: {refusal:?}")]
    Configuration {
        /// Which.
        what: String,
        /// What the exchange said.
        refusal: Refusal,
    },
    /// The wall clock is further ahead of the journal than an exchange usually rests.
    #[error(
        "the clock of this machine is {days} days ahead of the last command of the journal (unix second \
         {wall} against {last}); engine time never goes back, so a start with a clock that is wrong \
         would end trading until then. Set the clock; if it is right and the exchange rested that \
         long, start once with --accept-clock-jump"
    )]
    ClockJumped {
        /// Whole days between the two.
        days: u64,
        /// Wall time, unix seconds.
        wall: u64,
        /// Time of the last command, unix seconds.
        last: u64,
    },
    /// Writing or syncing the journal failed while running.
    #[error("journal failed, nothing after it was acknowledged: {0}")]
    Failed(#[source] JournalError),
}

impl EngineError {
    /// The code the process ends with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => EXIT_IO_ERROR,
            Self::Process { .. } => 1,
            Self::InUse(_)
            | Self::Journal(_)
            | Self::Checkpoints(_)
            | Self::Diverged { .. }
            | Self::ReplayRefused { .. }
            | Self::PublisherDiverged { .. }
            | Self::Impossible { .. }
            | Self::ClockJumped { .. }
            | Self::Configuration { .. } => EXIT_REFUSED,
        }
    }

    pub(crate) fn process(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Process { what, source }
    }
}
