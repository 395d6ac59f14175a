//! The journal under audit: opened read-only and read from its genesis to its end, or to the
//! durable sequence while an engine runs.

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

use crate::error::AuditError as Failure;
use crate::finding::Finding;

/// Frames between updates of the progress bar.
const STEP: u64 = 4_096;

/// Directory of a journal.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    directory: PathBuf,
    progress: bool,
}

impl Source {
    /// Checks that there is a journal.
    ///
    /// # Errors
    /// There is no journal, or the directory cannot be read.
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
            return Err(cannot("there is no journal".to_owned()).hint(
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

    /// Random bytes that identify the journal.
    ///
    /// # Errors
    /// The first segment's header cannot be read.
    pub(crate) fn genesis(&self) -> Result<[u8; 32], JournalError> {
        genesis(&self.directory)
    }

    /// A journal error as the failure of a command that cannot continue.
    pub(crate) fn failure(&self, error: &JournalError) -> Failure {
        match Finding::damage(error) {
            Ok(finding) => self.found(&finding),
            Err(failure) => failure,
        }
    }

    /// A finding as the failure of a command that cannot continue.
    pub(crate) fn found(&self, finding: &Finding) -> Failure {
        Failure::new(format!("{}: {finding}", self.directory.display()))
            .code(finding.kind.exit_code())
    }

    /// Verifies checksums, chain, sequences and times from the genesis on and passes every frame to
    /// `visit`, until `visit` breaks. Returns the journal's totals, or `None` after a break.
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

    /// Like [`Self::each`], in whole batches that the caller may keep.
    ///
    /// # Errors
    /// A missing or foreign segment, a newer format, or files that cannot be read.
    pub(crate) fn batches(&self) -> Result<BatchReader, JournalError> {
        Ok(BatchReader {
            batches: Batches::open(&self.directory)?,
            bar: self.bar(),
        })
    }

    /// Shows the progress of a scan. A visitor's break is no error.
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

    /// A bar up to the watermark; a spinner without one.
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

/// Reads verified batches and updates the progress bar.
#[derive(Debug)]
pub(crate) struct BatchReader {
    batches: Batches,
    bar: ProgressBar,
}

impl BatchReader {
    /// The next batch; `None` at the end or after an error.
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

    /// Totals of the journal, if its end was reached without an error.
    pub(crate) const fn report(&self) -> Option<&ScanReport> {
        self.batches.report()
    }
}

impl Drop for BatchReader {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Only visitors stop a scan; they keep the reason.
fn go_on(flow: ControlFlow<()>) -> Result<(), String> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(String::new()),
    }
}
