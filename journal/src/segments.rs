//! The files of a journal's segments: in its directory, in an archive, or in a copy. Every reader
//! asks this type for the path of a segment.
//!
//! Segments leave the directory in ascending order (`archive.rs`). So the directory has either all
//! segments from 1 on, or the later ones and the marker `ARCHIVED`, which names the last one that
//! may be missing.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use foretell_model::Sequence;

use crate::control::JournalPosition;
use crate::directory;
use crate::error::{Context, JournalError};
use crate::map::SegmentMap;
use crate::segment::{self, FIRST_BATCH, SegmentHeader};

/// Where the segments of a journal are.
#[derive(Clone, Debug)]
pub struct Segments {
    dir: PathBuf,
    /// Segments that are not in the directory.
    elsewhere: BTreeMap<u32, PathBuf>,
    /// End of a copy, which has no watermark of its own.
    end: Option<JournalPosition>,
}

impl Segments {
    /// The segments in the journal's directory.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            elsewhere: BTreeMap::new(),
            end: None,
        }
    }

    /// The segments in the journal's directory, and in `archive` those that it does not have.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn with_archive(dir: &Path, archive: &Path) -> Result<Self, JournalError> {
        let own = directory::segments(dir)?;
        let archived = directory::segments(archive)?.into_iter();
        let elsewhere = archived
            .filter(|number| own.binary_search(number).is_err())
            .map(|number| (number, segment::path(archive, number)))
            .collect();
        Ok(Self {
            elsewhere,
            ..Self::of(dir)
        })
    }

    /// A copy of a journal that ends at `end`: the file of each segment. `dir` names it in errors.
    #[must_use]
    pub fn of_copy(dir: &Path, files: BTreeMap<u32, PathBuf>, end: JournalPosition) -> Self {
        Self {
            dir: dir.to_owned(),
            elsewhere: files,
            end: Some(end),
        }
    }

    /// The journal's directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// The end of a copy.
    pub(crate) const fn end(&self) -> Option<JournalPosition> {
        self.end
    }

    /// The numbers of all segments, ascending.
    pub(crate) fn numbers(&self) -> Result<Vec<u32>, JournalError> {
        let mut numbers: Vec<u32> = self.elsewhere.keys().copied().collect();
        if self.end.is_none() {
            numbers.extend(directory::segments(&self.dir)?);
            numbers.sort_unstable();
            numbers.dedup();
        }
        Ok(numbers)
    }

    /// The file of a segment.
    #[must_use]
    pub fn path(&self, number: u32) -> PathBuf {
        let elsewhere = self.elsewhere.get(&number).cloned();
        elsewhere.unwrap_or_else(|| segment::path(&self.dir, number))
    }

    /// The number of the first segment that must be among `numbers`: 1 unless it was archived.
    pub(crate) fn first_of(&self, numbers: &[u32]) -> Result<u32, JournalError> {
        let archived = archived_through(&self.dir)?;
        let first = numbers.first().copied().unwrap_or(1);
        Ok(first.min(archived.saturating_add(1)))
    }

    /// The error for a segment that cannot be opened.
    pub(crate) fn cannot_open(&self, number: u32, error: JournalError) -> JournalError {
        let is_missing = matches!(&error, JournalError::Io { source, .. } if source.kind() == ErrorKind::NotFound);
        let archived = archived_through(&self.dir);
        if !is_missing || archived.is_ok_and(|archived| number > archived) {
            return error;
        }
        self.archived().unwrap_or(error)
    }

    /// The error for frames of archived segments; `None` when no segment can be read.
    fn archived(&self) -> Option<JournalError> {
        let first = *directory::segments(&self.dir).ok()?.first()?;
        let header = SegmentMap::open(&segment::path(&self.dir, first), FIRST_BATCH).ok()?;
        let header = SegmentHeader::read(header.bytes()).ok()?;
        Some(self.archived_before(&header))
    }

    /// The error for frames before the first segment.
    pub(crate) fn archived_before(&self, first: &SegmentHeader) -> JournalError {
        JournalError::Archived {
            through: Sequence(first.first.0 - 1),
            dir: self.dir.clone(),
        }
    }
}

/// The last archived segment; 0 when there is none.
///
/// # Errors
/// The marker cannot be read.
pub fn archived_through(dir: &Path) -> Result<u32, JournalError> {
    let path = directory::archived_marker_path(dir);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        text => text.context("read", &path)?,
    };
    text.trim().parse().map_err(|_| JournalError::Unsafe {
        path,
        why: "not the number of a segment",
    })
}
