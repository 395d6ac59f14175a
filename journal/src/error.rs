//! All errors of the journal; a text names the remedy where there is one.

use std::io;
use std::path::{Path, PathBuf};

use foretell_model::{FramePosition, Sequence};

/// An error of opening, reading or writing a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A system call failed.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another engine holds the lock.
    #[error("{} is in use by another engine", .0.display())]
    Locked(PathBuf),
    /// A file or directory that may belong to another user.
    #[error("{}: {why}", path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// An earlier engine ended on an I/O error.
    #[error(
        "the last engine here ended on an I/O error ({0}); check the disk, then start once with --after-io-error"
    )]
    AfterIoError(String),
    /// Frames that were acknowledged, or may have been, are damaged. Nothing was changed.
    #[error(
        "segment {segment}, bytes {from} to {to}: {why}; {}. Restore the file from a copy",
        lost(*first, *last)
    )]
    Damaged {
        /// The segment.
        segment: u32,
        /// The first byte.
        from: u32,
        /// The byte after the last.
        to: u32,
        /// The first sequence that is lost.
        first: Sequence,
        /// The last sequence known to be lost; less than `first` if none is known.
        last: Sequence,
        /// The reason.
        why: String,
    },
    /// A segment is missing. Nothing was changed.
    #[error("segment {0} is missing; restore it from a copy")]
    Missing(u32),
    /// Frames whose segments were archived. Nothing was changed.
    #[error(
        "frames up to {through} are archived: name the archive's directory with --archive where a command has it, or copy \
         its segments back into {}", dir.display()
    )]
    Archived {
        /// The last archived frame.
        through: Sequence,
        /// The journal's directory.
        dir: PathBuf,
    },
    /// A segment of another journal or with another number. Nothing was changed.
    #[error(
        "segment {0} was replaced: its header has another journal, number or order than the segments before it and the \
         watermark; restore it from a copy"
    )]
    Foreign(u32),
    /// The watermark file is missing or both its slots are damaged. Nothing was changed.
    #[error("{}: {why}; restore it from a copy", path.display())]
    Watermark {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// Written by a newer version. Nothing was changed.
    #[error("{what}: written by a newer version of foretell; use that one")]
    Newer {
        /// The format version and its position.
        what: String,
    },
    /// The reader starts after the end of the journal.
    #[error("the journal ends at {last}, before sequence {after} that the reader already has")]
    Ahead {
        /// The last sequence of the reader.
        after: Sequence,
        /// The last sequence of the journal.
        last: Sequence,
    },
    /// The visitor of the frames returned an error.
    #[error("stopped at sequence {sequence}: {reason}")]
    Stopped {
        /// The sequence of the frame.
        sequence: Sequence,
        /// The visitor's error.
        reason: String,
    },
    /// The first I/O error of the writer. Nothing is acknowledged after it: end the process.
    #[error("the journal stopped: {0}")]
    Poisoned(String),
    /// No engine has run here since the machine started.
    #[error("{}: no engine has been running here since the machine started", .0.display())]
    NoEngine(PathBuf),
    /// There is no such frame at this place.
    #[error("no frame of sequence {sequence} at {place:?}")]
    NoFrame {
        /// The place that was read.
        place: FramePosition,
        /// The sequence.
        sequence: Sequence,
    },
    /// Frames that disk and replicated log had are not in the log. Nothing was changed.
    #[error(
        "the replicated log does not have sequence {0} as this journal has it, although it was acknowledged: it is \
         another log, or it lost messages. Compare the journals of all hosts (foretell audit diff), then make the log \
         again from the longest one (foretell cluster init --from)"
    )]
    NotInLog(Sequence),
    /// A copy of a replicated log, opened without the cluster.
    #[error(
        "this journal is a copy of a replicated log; start it with its [cluster] settings, or remove {} to leave the \
         cluster for good", .0.display()
    )]
    Replica(PathBuf),
    /// Invalid settings.
    #[error("{0}")]
    Options(&'static str),
}

/// Text about the lost frames.
fn lost(first: Sequence, last: Sequence) -> String {
    if last < first {
        return format!("frames from {first} on, if there were any, cannot be read");
    }
    format!("frames {first} to {last} were acknowledged and cannot be read")
}

impl JournalError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// Adds the action and the file to an I/O error.
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, JournalError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, JournalError> {
        self.map_err(|error| JournalError::io(action, path, error.into()))
    }
}
