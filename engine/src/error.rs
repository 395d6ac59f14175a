//! Errors that end the engine, and its exit codes.

use std::io;
use std::path::PathBuf;

use foretell_journal::JournalError;
use foretell_model::limits::FORMAT_ID;
use foretell_model::{Rejection, Sequence};
use thiserror::Error;

/// Exit code after an I/O error of the journal. Nothing after the error was acknowledged, and the
/// supervisor does not restart the engine. The next start needs `--after-io-error`.
pub const EXIT_IO_ERROR: u8 = 74;
/// Exit code when the engine refuses to start; another start would fail alike.
pub const EXIT_REFUSED: u8 = 78;

/// Exit code when another host took over the cluster. The supervisor starts the engine again; it is
/// a standby then.
pub const EXIT_SUPERSEDED: u8 = 79;

/// The reason why [`crate::run`] ended.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Another engine has locked the data directory.
    #[error("another engine uses {0}; stop it first, or start this one with another --data")]
    InUse(PathBuf),
    /// The data directory is of a build with another format id.
    #[error(
        "{}: the data is of format {found}, this build has {FORMAT_ID}; start the build that wrote it",
        file.display()
    )]
    OtherFormat {
        /// The file with the id.
        file: PathBuf,
        /// The id in it.
        found: String,
    },
    /// Creating a directory, lock, socket, thread or signal handler failed.
    #[error("{what}: {source}")]
    Process {
        /// The failed action.
        what: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The journal cannot be opened or recovered.
    #[error("journal: {0}")]
    Journal(#[source] JournalError),
    /// The checkpoint file cannot be used.
    #[error("{0}")]
    Checkpoints(#[source] foretell_checkpoint::CheckpointLogError),
    /// Re-execution produced other events than the journal records.
    #[error(
        "replay differs from the journal at sequence {sequence}: {what}; if the replay is right, \
         start once with --accept-divergence {sequence}"
    )]
    Diverged {
        /// Sequence of the command.
        sequence: Sequence,
        /// The difference.
        what: String,
    },
    /// Re-execution rejects a command that the journal records as applied. Every later sequence
    /// would be wrong.
    #[error(
        "replay rejects the command at sequence {sequence}: {what}; another build wrote this journal"
    )]
    ReplayRefused {
        /// Sequence of the command.
        sequence: Sequence,
        /// The rejection.
        what: String,
    },
    /// The publisher's second execution while the engine runs differs from the matcher's.
    #[error(
        "the second execution differs from the journal at sequence {sequence}: {what}; the engine \
         stopped so that nothing else depends on it. Start it again: recovery executes the \
         journal once more, and either continues or reports what to do"
    )]
    PublisherDiverged {
        /// Sequence of the command.
        sequence: Sequence,
        /// The difference.
        what: String,
    },
    /// The journal is impossible at this sequence: an undecodable frame, or a state of the exchange
    /// that violates an invariant.
    #[error(
        "impossible state after sequence {sequence}: {what}; the engine stopped. Keep the data \
         directory unchanged and report this: the journal holds everything, and a build with the \
         fault corrected can read it"
    )]
    Impossible {
        /// Sequence of the frame.
        sequence: Sequence,
        /// The contradiction.
        what: String,
    },
    /// A configured domain or setting contradicts the journal or is out of range.
    #[error("configured {what} is refused: {refusal:?}")]
    Configuration {
        /// The domain or setting.
        what: String,
        /// The exchange's rejection.
        refusal: Rejection,
    },
    /// The wall clock is further ahead of the journal than the allowed pause of an exchange.
    #[error(
        "the clock of this machine is {days} days ahead of the last command of the journal (unix second \
         {wall} against {last}); engine time never goes back, so a start with a wrong clock \
         would stop trading until then. Set the clock; if it is right and the exchange was down \
         that long, start once with --accept-clock-jump"
    )]
    ClockJumped {
        /// Whole days between wall time and the last command.
        days: u64,
        /// Wall time, unix seconds.
        wall: u64,
        /// Time of the last command, unix seconds.
        last: u64,
    },
    /// This host cannot take part in its cluster.
    #[error("cluster: {0}")]
    Cluster(String),
    /// Another host took over.
    #[error("{0}; nothing after it was acknowledged")]
    Superseded(String),
    /// Writing or syncing the journal failed while running.
    #[error("journal failed, nothing after it was acknowledged: {0}")]
    Failed(#[source] JournalError),
}

impl EngineError {
    /// The exit code of the process.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => EXIT_IO_ERROR,
            Self::Superseded(_) => EXIT_SUPERSEDED,
            Self::Process { .. } => 1,
            Self::InUse(_)
            | Self::OtherFormat { .. }
            | Self::Journal(_)
            | Self::Cluster(_)
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
