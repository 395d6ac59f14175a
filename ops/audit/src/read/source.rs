//! The journal under audit: opened read-only and read frame by frame from its genesis to its end, or
//! to the durable sequence while an engine runs. Checksums, chain, sequences and times are verified
//! on the way.

use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;

use crate::error::AuditError;
use foretell_journal::batch::{BatchFrames, BatchHeader};
use foretell_journal::frame::Frame;
use foretell_journal::{
    Batch, Batches, Extent, ScanReport, Scratch, Segments, genesis_of, segment,
};
use foretell_model::{FrameRef, Sequence};
use indicatif::{ProgressBar, ProgressStyle};

use crate::finding::{Finding, Kind, Stop};

/// The segments of a journal.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    segments: Segments,
    progress: bool,
}

impl Source {
    /// Checks that there is a journal; `archive` has what was archived of it.
    ///
    /// # Errors
    /// There is no journal, or a directory cannot be read.
    pub(crate) fn open(
        directory: &Path,
        archive: Option<&Path>,
        progress: bool,
    ) -> Result<Self, AuditError> {
        let cannot = |what: String| AuditError::new(format!("{}: {what}", directory.display()));
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
        let segments = match archive {
            Some(archive) => Segments::with_archive(directory, archive)
                .map_err(|error| AuditError::new(error.to_string()).hint("--archive DIR"))?,
            None => Segments::of(directory),
        };
        Ok(Self::of(segments, progress))
    }

    pub(crate) fn of(segments: Segments, progress: bool) -> Self {
        Self {
            segments,
            progress: progress && std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.segments.directory()
    }

    pub(crate) const fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Random bytes that identify the journal.
    ///
    /// # Errors
    /// The first segment's header cannot be read.
    pub(crate) fn genesis(&self) -> Result<[u8; 32], Stop> {
        Ok(genesis_of(&self.segments)?)
    }

    /// Reads the headers of the segments.
    ///
    /// # Errors
    /// A missing or foreign segment, a newer format, or files that cannot be read.
    pub(crate) fn frames(&self) -> Result<Frames, Stop> {
        Ok(Frames {
            batches: Batches::of(self.segments.clone())?,
            batch: None,
            offset: 0,
            scratch: Scratch::default(),
            bar: self.bar(),
        })
    }

    /// A bar up to the last frame; a spinner where the end cannot be read. The watermark is no end: a journal that is
    /// written, or was not closed, has many frames behind it.
    fn bar(&self) -> ProgressBar {
        if !self.progress {
            return ProgressBar::hidden();
        }
        let Some(last) = self.last_frame() else {
            return ProgressBar::new_spinner();
        };
        let style = "{bar:40} {human_pos} of {human_len} frames, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(style);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(last.0).with_style(style)
    }

    /// The last frame, as the segments say without being read.
    fn last_frame(&self) -> Option<Sequence> {
        let extent = Extent::of(&self.segments).ok()?;
        Some(extent.end().last)
    }
}

/// The frames of a journal, one after the other, with a progress bar.
#[derive(Debug)]
pub(crate) struct Frames {
    batches: Batches,
    batch: Option<Batch>,
    /// Bytes of the batch's payload that were read.
    offset: u32,
    scratch: Scratch,
    bar: ProgressBar,
}

impl Frames {
    /// The next frame; `None` at the end, and after an error.
    ///
    /// # Errors
    /// Damage, or files that cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'_>>, Stop> {
        self.next_batch()?;
        let batch = self.batch.as_ref();
        Ok(batch.map(|batch| step(batch, &mut self.offset)))
    }

    /// The next frame, and what its records say.
    ///
    /// # Errors
    /// As [`Self::next`]; or a record cannot be read.
    pub(crate) fn next_decoded(&mut self) -> Result<Option<(Frame<'_>, FrameRef<'_>)>, Stop> {
        self.next_batch()?;
        let Some(batch) = &self.batch else {
            return Ok(None);
        };
        let frame = step(batch, &mut self.offset);
        let records = frame.decode(&mut self.scratch);
        let records =
            records.map_err(|error| Finding::new(Kind::Damage, frame.sequence(), error))?;
        Ok(Some((frame, records)))
    }

    /// Moves on to the next batch that holds frames when the last one was read to its end.
    fn next_batch(&mut self) -> Result<(), Stop> {
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| self.offset == batch.header().payload)
        {
            self.offset = 0;
            self.batch = None;
            self.batch = self.batches.next_batch()?;
            match &self.batch {
                Some(batch) => self.bar.set_position(batch.header().last.0),
                None => break,
            }
        }
        Ok(())
    }

    /// Totals of the journal, if its end was reached without an error.
    pub(crate) const fn report(&self) -> Option<&ScanReport> {
        self.batches.report()
    }
}

/// The frame at an offset of a batch's payload; moves the offset to its end.
fn step<'b>(batch: &'b Batch, offset: &mut u32) -> Frame<'b> {
    let payload = &batch.payload()[*offset as usize..];
    let header = BatchHeader {
        offset: batch.header().offset + *offset,
        ..*batch.header()
    };
    let frame = BatchFrames::new(&header, payload)
        .next()
        .and_then(Result::ok)
        .expect("the scan parsed every frame of the batch");
    *offset += frame.place().length;
    frame
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use foretell_fixtures::deposit;
    use foretell_journal::Options;
    use foretell_model::{Micros, TimeNs, WalletAddress};

    use super::*;

    #[test]
    fn progress_counts_to_the_last_frame_and_not_to_the_watermark() {
        let directory = tempfile::tempdir().unwrap();
        let recovered = foretell_journal::recover(
            directory.path(),
            Options::default(),
            Sequence(0),
            &mut |_| Ok(()),
        );
        let (mut appender, mut syncer, _state) = recovered.unwrap().start().unwrap();
        for number in 1..=300 {
            let command = deposit(WalletAddress([1; 20]), Micros(1), [7; 32]);
            appender.append(Sequence(number), TimeNs(number), &command, &[], &[]);
        }
        appender.publish();
        syncer.step().unwrap();
        let mark = foretell_journal::watermark::read(directory.path()).unwrap();
        assert!(mark.is_none_or(|mark| mark.sequence < Sequence(300)));
        let source = Source::of(Segments::of(directory.path()), false);
        assert_eq!(source.last_frame(), Some(Sequence(300)));
    }
}
