//! The journal under audit: opened read-only, read from its genesis to its end, or to what is
//! durable while an engine runs.

use std::fs;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use foretell_journal::frame::Frame;
use foretell_journal::{
    Batch, Batches, JournalError, ScanReport, genesis, scan, segment, watermark,
};
use foretell_model::Sequence;
use indicatif::{ProgressBar, ProgressStyle};

use super::finding::Finding;
use crate::failure::Failure;

/// Frames between two steps of the progress bar.
const STEP: u64 = 4_096;

/// A journal's directory.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    directory: PathBuf,
    progress: bool,
}

impl Source {
    /// Sees that there is a journal.
    ///
    /// # Errors
    /// There is none, or the directory cannot be read.
    pub(crate) fn open(directory: &Path, progress: bool) -> Result<Self, Failure> {
        let cannot = |what: String| Failure::new(format!("{}: {what}", directory.display()));
        let entries = fs::read_dir(directory)
            .map_err(|error| cannot(error.to_string()).hint("--journal DIR, or --data DIR"))?;
        let has_segment = entries.flatten().any(|entry| {
            let name = entry.file_name();
            name.to_str()
                .is_some_and(|name| segment::number_of(name).is_some())
        });
        if !has_segment {
            return Err(cannot("no journal is here".to_owned()).hint(
                "--journal DIR names the directory of the segments, --data DIR the one above it",
            ));
        }
        Ok(Self {
            directory: directory.to_owned(),
            progress: progress && std::io::stderr().is_terminal(),
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The random bytes that name the journal.
    ///
    /// # Errors
    /// The first segment's header cannot be read.
    pub(crate) fn genesis(&self) -> Result<[u8; 32], JournalError> {
        genesis(&self.directory)
    }

    /// What is wrong with this journal, as the failure of a command that cannot go on behind it.
    pub(crate) fn failure(&self, error: &JournalError) -> Failure {
        match Finding::damage(error) {
            Ok(finding) => self.found(&finding),
            Err(failure) => failure,
        }
    }

    /// The same of what was found in it.
    pub(crate) fn found(&self, finding: &Finding) -> Failure {
        Failure::new(format!("{}: {finding}", self.directory.display()))
            .code(finding.kind.exit_code())
    }

    /// Verifies checksums, chain, sequences and times from the genesis on and shows every frame, until
    /// `visit` breaks. Gives what the whole journal holds, or `None` after a break.
    ///
    /// # Errors
    /// Damage, or files that cannot be read.
    pub(crate) fn each(
        &self,
        visit: &mut dyn FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> Result<Option<ScanReport>, JournalError> {
        self.watched(|bar| {
            scan(&self.directory, Sequence(0), &mut |frame| {
                if frame.sequence().0.is_multiple_of(STEP) {
                    bar.set_position(frame.sequence().0);
                }
                go_on(visit(frame))
            })
        })
    }

    /// The same, of whole batches that whoever takes them may keep.
    ///
    /// # Errors
    /// A missing or foreign segment, a newer format, or files that cannot be read.
    pub(crate) fn batches(&self) -> Result<BatchReader, JournalError> {
        Ok(BatchReader {
            batches: Batches::open(&self.directory)?,
            bar: self.bar(),
        })
    }

    /// Shows how far a scan is. One that was stopped by its visitor finds nothing.
    fn watched(
        &self,
        scan: impl FnOnce(&ProgressBar) -> Result<ScanReport, JournalError>,
    ) -> Result<Option<ScanReport>, JournalError> {
        let bar = self.bar();
        let scanned = scan(&bar);
        bar.finish_and_clear();
        match scanned {
            Err(JournalError::Stopped { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// A bar as long as the watermark says; without one it only turns.
    fn bar(&self) -> ProgressBar {
        if !self.progress {
            return ProgressBar::hidden();
        }
        match watermark::read(&self.directory) {
            Ok(Some(mark)) => {
                let style = "{bar:40} {human_pos} of {human_len} frames, {per_sec}, {eta} left";
                let bar = ProgressBar::new(mark.sequence.0);
                bar.set_style(
                    ProgressStyle::with_template(style)
                        .unwrap_or_else(|_| ProgressStyle::default_bar()),
                );
                bar
            }
            _ => ProgressBar::new_spinner(),
        }
    }
}

/// Reads verified batches, and shows how far it is.
#[derive(Debug)]
pub(crate) struct BatchReader {
    batches: Batches,
    bar: ProgressBar,
}

impl BatchReader {
    /// The next batch; `None` behind the last, and behind an error.
    ///
    /// # Errors
    /// Damage, or files that cannot be read.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, JournalError> {
        let batch = self.batches.next_batch()?;
        if let Some(batch) = &batch {
            self.bar.set_position(batch.header().last.0);
        }
        Ok(batch)
    }

    /// What the journal holds, once its end was reached without an error.
    pub(crate) const fn report(&self) -> Option<&ScanReport> {
        self.batches.report()
    }
}

impl Drop for BatchReader {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Only visitors stop a scan, and they say why elsewhere.
fn go_on(flow: ControlFlow<()>) -> Result<(), String> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(String::new()),
    }
}
