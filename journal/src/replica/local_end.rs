//! The end of the local copy, before a start compares it with the log.

use std::path::{Path, PathBuf};

use foretell_model::Sequence;

use super::item::batch_message;
use super::set_aside;
use crate::bytes::to_u32;
use crate::chain;
use crate::directory::{self, DirectoryLock};
use crate::error::{Context, JournalError};
use crate::options::Options;
use crate::recover::{begin_journal, first_header, refuse_after_io_error};
use crate::scan::Scan;
use crate::segment::{self, FIRST_BATCH, SegmentHeader};
use crate::segment_scan::JournalEnd;
use crate::segments::Segments;
use crate::watermark::{self, Watermark};

/// An item at the end of the local copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalItem {
    /// Its segment.
    pub segment: u32,
    /// Its offset; 0 for the segment's header.
    pub offset: u32,
    /// The end of it.
    pub end: u32,
    /// Last sequence up to its end.
    pub last: Sequence,
    /// Term of the leader that wrote it.
    pub term: u64,
    /// BLAKE3 of its message in the log.
    pub digest: [u8; 32],
    /// The watermark covers it: disk and log had it.
    pub confirmed: bool,
}

/// A locked journal directory and the items at its end. Nothing was changed yet.
#[derive(Debug)]
pub struct LocalEnd {
    dir: PathBuf,
    options: Options,
    _lock: DirectoryLock,
    items: Vec<LocalItem>,
    torn: Option<(u32, u32)>,
    /// The highest *proven* field of these batches: disk and log had everything up to it.
    proven: Sequence,
}

impl LocalEnd {
    /// Locks the directory, creating it if there is none, and reads its end from the watermark on.
    ///
    /// # Errors
    /// As [`crate::recover_into`].
    pub fn open(dir: &Path, options: &Options) -> Result<Self, JournalError> {
        options.check()?;
        let disk = &*options.disk;
        directory::prepare(disk, dir)?;
        let lock = directory::lock(dir)?;
        refuse_after_io_error(dir, options.after_io_error)?;
        directory::remove_unfinished(disk, dir)?;
        let mut local = Self {
            dir: dir.to_owned(),
            options: options.clone(),
            _lock: lock,
            items: Vec::new(),
            torn: None,
            proven: Sequence(0),
        };
        if directory::segments(dir)?.is_empty() {
            return Ok(local);
        }
        let mark = watermark::read(dir)?.ok_or_else(|| JournalError::Watermark {
            path: watermark::path(dir),
            why: "it is missing".to_owned(),
        })?;
        let end = local.read(&mark)?;
        local.torn = end.torn;
        Ok(local)
    }

    /// The items from the header of the watermark's segment on, oldest first; empty for an empty
    /// directory.
    #[must_use]
    pub fn items(&self) -> &[LocalItem] {
        &self.items
    }

    /// The last batch that disk and log had, or the header of the watermark's segment.
    pub(super) fn confirmed(&self) -> Option<&LocalItem> {
        let is_proven = |it: &LocalItem| it.offset > 0 && it.last <= self.proven;
        let mut newest_first = self.items.iter().rev();
        newest_first.find(|it| it.confirmed || is_proven(it))
    }

    /// Keeps the first `count` items and sets the others aside, into files of their own that
    /// `foretell audit show` reads. Also removes a torn tail. Returns the first of these files.
    ///
    /// # Errors
    /// A confirmed item would be cut ([`JournalError::NotInLog`]), or an I/O error.
    pub fn keep(self, count: usize) -> Result<Option<PathBuf>, JournalError> {
        let Some(end) = count.checked_sub(1).and_then(|last| self.items.get(last)) else {
            return match self.items.first() {
                Some(first) => Err(JournalError::NotInLog(first.last)),
                None => Ok(None),
            };
        };
        if let Some(lost) = self.items[count..].iter().find(|item| item.confirmed) {
            return Err(JournalError::NotInLog(lost.last));
        }
        let is_whole = count == self.items.len() && self.torn.is_none();
        if is_whole {
            return Ok(None);
        }
        let last = self.items.last().expect("there is one");
        set_aside::cut(
            &*self.options.disk,
            &self.dir,
            (end.segment, end.end),
            last.term,
        )
    }

    fn read(&mut self, mark: &Watermark) -> Result<JournalEnd, JournalError> {
        let scan = Scan {
            segments: Segments::of(&self.dir),
            after: Sequence(0),
            mark: Some(*mark),
            past_cache: self.options.after_io_error,
            limit: None,
            may_change: false,
        };
        let headers = scan.headers_from(mark.segment)?;
        let first = headers.first().ok_or(JournalError::Missing(mark.segment))?;
        let after = Sequence(first.first.0 - 1);
        let mut batches = Vec::new();
        let end = Scan { after, ..scan }.run(&mut |batch| {
            let header = batch.header();
            let message = batch.bytes();
            self.proven = self.proven.max(header.proven);
            batches.push(LocalItem {
                segment: header.segment,
                offset: header.offset,
                end: header.offset + to_u32(header.total()),
                last: header.last,
                term: header.epoch,
                digest: *blake3::hash(batch_message(header, message)).as_bytes(),
                confirmed: header.last <= mark.sequence,
            });
            Ok(())
        })?;
        for header in &headers {
            self.items.push(header_item(header, mark));
            let own = batches.iter().filter(|it| it.segment == header.number);
            self.items.extend(own);
        }
        Ok(end)
    }
}

fn header_item(header: &SegmentHeader, mark: &Watermark) -> LocalItem {
    LocalItem {
        segment: header.number,
        offset: 0,
        end: FIRST_BATCH,
        last: Sequence(header.first.0 - 1),
        term: header.epoch,
        digest: *blake3::hash(&header.page()[..]).as_bytes(),
        confirmed: header.number <= mark.segment,
    }
}

/// Creates a journal in an empty directory: with the first header of the log, or with a genesis of
/// its own (term 1). Returns the header of its first segment.
///
/// # Errors
/// The header is not that of a first segment; the directory has segments; an I/O error.
pub fn create(
    dir: &Path,
    options: &Options,
    header: Option<SegmentHeader>,
) -> Result<SegmentHeader, JournalError> {
    options.check()?;
    let disk = &*options.disk;
    directory::prepare(disk, dir)?;
    let _lock = directory::lock(dir)?;
    directory::remove_unfinished(disk, dir)?;
    if !directory::segments(dir)?.is_empty() {
        return Err(JournalError::Options("the journal exists already"));
    }
    let header = match header {
        Some(header) => header,
        None => first_header(options)?,
    };
    let starts = (header.number, header.first, header.previous_end);
    if starts != (1, Sequence(1), 0) || header.previous_hash != chain::chain_start(&header.genesis)
    {
        return Err(JournalError::Options(
            "the log's first message is not the header of a journal's first segment",
        ));
    }
    begin_journal(disk, dir, &header)?;
    Ok(header)
}

/// Passes the messages of a whole journal to `visit`, in order. No engine may run on it. Verifies
/// everything.
///
/// # Errors
/// Damage, or an error of `visit`.
pub fn each_item(
    dir: &Path,
    options: &Options,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), JournalError> {
    let _lock = directory::lock(dir)?;
    let scan = Scan {
        segments: Segments::of(dir),
        after: Sequence(0),
        mark: watermark::read(dir)?,
        past_cache: options.after_io_error,
        limit: None,
        may_change: false,
    };
    let mut headers = scan.headers_from(1)?.into_iter().peekable();
    let stopped = |sequence, reason| JournalError::Stopped { sequence, reason };
    let mut begin = |up_to: u32, visit: &mut dyn FnMut(&[u8]) -> Result<(), String>| {
        while let Some(header) = headers.next_if(|header| header.number <= up_to) {
            visit(&header.page()[..]).map_err(|reason| stopped(header.first, reason))?;
        }
        Ok(())
    };
    scan.run(&mut |batch| {
        let header = batch.header();
        begin(header.segment, visit)?;
        let message = batch_message(header, batch.bytes());
        visit(message).map_err(|reason| stopped(header.first, reason))
    })?;
    begin(u32::MAX, visit)
}

/// Removes a journal without a batch, whose header the log did not accept: another host founded the
/// journal.
///
/// # Errors
/// It has batches; an I/O error.
pub fn remove_unfounded(dir: &Path, options: &Options) -> Result<(), JournalError> {
    let local = LocalEnd::open(dir, options)?;
    if local.items.len() > 1 || local.torn.is_some() {
        return Err(JournalError::Options("the journal has frames"));
    }
    let disk = &*options.disk;
    for path in [segment::path(dir, 1), watermark::path(dir)] {
        if path.exists() {
            disk.remove(&path).context("remove", &path)?;
        }
    }
    disk.sync_dir(dir).context("sync", dir)
}
