//! Everything that can go wrong, each saying what to do where there is something to do.

use std::io;
use std::path::{Path, PathBuf};

use foretell_model::{FramePlace, Sequence};

/// Why the journal cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused something.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another engine has it.
    #[error("{} is in use by another engine", .0.display())]
    Locked(PathBuf),
    /// A file or directory that could be somebody else's.
    #[error("{}: {why}", path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
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
        /// In which segment.
        segment: u32,
        /// From this byte.
        from: u32,
        /// Up to before this one.
        to: u32,
        /// The first sequence that is lost.
        first: Sequence,
        /// The last that is known to be; before `first` when none is.
        last: Sequence,
        /// What is wrong there.
        why: String,
    },
    /// A segment is not there. Nothing was changed.
    #[error("segment {0} is missing; restore it from a copy")]
    Missing(u32),
    /// A segment of another journal, or of another place in this one. Nothing was changed.
    #[error(
        "segment {0} is not the one that was written here: its header names another journal than those before it and the \
         watermark, or another place; restore it from a copy"
    )]
    Foreign(u32),
    /// The watermark file is missing or both its slots are damaged. Nothing was changed.
    #[error("{}: {why}; restore it from a copy", path.display())]
    Watermark {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Written by a newer program. Nothing was changed.
    #[error("{what}: written by a newer version of foretell; use that one")]
    Newer {
        /// What was found where.
        what: String,
    },
    /// The reader starts behind the end.
    #[error("the journal ends at {last}, before sequence {after} that the reader already has")]
    Ahead {
        /// What the reader has.
        after: Sequence,
        /// The end.
        last: Sequence,
    },
    /// Whoever was shown the frames stopped.
    #[error("stopped at sequence {sequence}: {reason}")]
    Stopped {
        /// Where.
        sequence: Sequence,
        /// Why.
        reason: String,
    },
    /// The first I/O error of the writer. Nothing is acknowledged any more: end the process.
    #[error("the journal stopped: {0}")]
    Poisoned(String),
    /// No engine has run here since the machine started.
    #[error("{}: no engine has run here since the machine started", .0.display())]
    NoEngine(PathBuf),
    /// A place that holds no such frame.
    #[error("no frame of sequence {sequence} at {place:?}")]
    NoFrame {
        /// Where it was looked for.
        place: FramePlace,
        /// Which.
        sequence: Sequence,
    },
    /// Settings that cannot work.
    #[error("{0}")]
    Options(&'static str),
}

/// What damage takes away, in words.
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

/// Names the action and the file of an I/O error.
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, JournalError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, JournalError> {
        self.map_err(|error| JournalError::io(action, path, error.into()))
    }
}
