//! Scanning a journal from a sequence to its end: valid, proven and damaged ranges. Recovery and
//! audit use it. This module iterates over segments; `segment_scan.rs` reads one segment.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use foretell_model::{Sequence, TimeNs};

use crate::batch::{Batch, BatchHeader};
use crate::bytes::to_usize;
use crate::control::{ControlView, JournalPosition};
use crate::directory;
use crate::error::{Context, JournalError};
use crate::frame::Frame;
use crate::map::SegmentMap;
use crate::segment::{FIRST_BATCH, SegmentHeader, SegmentHeaderError};
use crate::segment_scan::{JournalEnd, SegmentEnd, SegmentScan};
use crate::segments::Segments;
use crate::watermark::{self, Watermark};

/// Parameters of a scan.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) segments: Segments,
    /// Batches up to this sequence are not passed on. Only the segment that contains it is
    /// verified, not the earlier ones.
    pub(crate) after: Sequence,
    pub(crate) mark: Option<Watermark>,
    /// Read from the disk, not from the page cache.
    pub(crate) past_cache: bool,
    /// The durable position of a running engine; later bytes are not read.
    pub(crate) limit: Option<JournalPosition>,
    /// An engine may start meanwhile and write into the last segment: read a copy of it.
    pub(crate) may_change: bool,
}

impl Scan {
    /// Scans to the end, or to the first error of `visit`.
    pub(crate) fn run(
        self,
        visit: &mut dyn FnMut(&Batch) -> Result<(), JournalError>,
    ) -> Result<JournalEnd, JournalError> {
        let mut scanner = self.begin()?;
        loop {
            match scanner.step()? {
                ScanStep::Batch(batch) => visit(&batch)?,
                ScanStep::End(found) => return Ok(found),
            }
        }
    }

    /// Reads the headers of all segments.
    fn begin(self) -> Result<Scanner, JournalError> {
        let (headers, unreadable) = self.headers()?;
        match headers.first() {
            Some(first) if first.number > 1 && first.first > self.after.next() => {
                Err(self.segments.archived_before(first))
            }
            _ => Ok(self.begin_at(headers, unreadable)),
        }
    }

    /// Scans segments with these headers, in ascending order.
    fn begin_at(self, mut headers: Vec<SegmentHeader>, unreadable: Option<Unreadable>) -> Scanner {
        // Start at the segment that contains frame `after`. If no frame follows, that segment
        // still gives the time of the journal's last frame.
        let start = headers
            .iter()
            .rposition(|header| header.first <= self.after)
            .unwrap_or(0);
        Scanner {
            scan: self,
            headers: headers.split_off(start).into(),
            unreadable,
            segment: None,
            last: Sequence(0),
            time: TimeNs(0),
        }
    }

    /// The end of the last of these segments; earlier ones are not read.
    pub(crate) fn end_of(self, headers: &[SegmentHeader]) -> Result<JournalEnd, JournalError> {
        let last = headers.last().ok_or(JournalError::Missing(1))?;
        let after = Sequence(last.first.0 - 1);
        let mut scanner = Self { after, ..self }.begin_at(vec![*last], None);
        loop {
            if let ScanStep::End(found) = scanner.step()? {
                return Ok(found);
            }
        }
    }

    /// The headers of all segments up to the first that cannot be read. Segments must be without
    /// gaps and of one journal.
    fn headers(&self) -> Result<(Vec<SegmentHeader>, Option<Unreadable>), JournalError> {
        let mut numbers = self.segments.numbers()?;
        let first = self.segments.first_of(&numbers)?;
        if let Some(limit) = self.limit {
            numbers.retain(|number| *number <= limit.segment);
        }
        let must_have = self.mark.map_or(1, |mark| mark.segment);
        let must_have = must_have.max(self.limit.map_or(1, |limit| limit.segment));
        let mut headers: Vec<SegmentHeader> = Vec::with_capacity(numbers.len());
        for number in first..=must_have.max(numbers.last().copied().unwrap_or(0)) {
            if numbers.binary_search(&number).is_err() {
                let missing = Unreadable::Other(JournalError::Missing(number));
                return Ok((headers, Some(missing)));
            }
            let header = match self.header(number)? {
                Ok(header) => header,
                Err(damaged) => {
                    let damaged = self.with_known_sequences(damaged, &numbers)?;
                    return Ok((headers, Some(Unreadable::Header(damaged))));
                }
            };
            let genesis = self.mark.map_or(header.genesis, |mark| mark.genesis);
            let follows = headers.last().is_none_or(|previous| {
                previous.genesis == header.genesis
                    && previous.epoch <= header.epoch
                    && previous.first <= header.first
            });
            if header.number != number || header.genesis != genesis || !follows {
                let foreign = Unreadable::Other(JournalError::Foreign(number));
                return Ok((headers, Some(foreign)));
            }
            headers.push(header);
        }
        Ok((headers, None))
    }

    /// The headers of the segments from `number` on; all of them must be readable.
    pub(crate) fn headers_from(&self, number: u32) -> Result<Vec<SegmentHeader>, JournalError> {
        let (headers, unreadable) = self.headers()?;
        if let Some(unreadable) = unreadable {
            let last = self.mark.map_or(Sequence(0), |mark| mark.sequence);
            return Err(unreadable.refuse(last.next()));
        }
        let from = headers.into_iter().filter(|it| it.number >= number);
        Ok(from.collect())
    }

    fn header(&self, number: u32) -> Result<Result<SegmentHeader, DamagedHeader>, JournalError> {
        let damaged = |why: String| {
            Ok(Err(DamagedHeader {
                segment: number,
                first: None,
                last: Sequence(0),
                why,
            }))
        };
        let map = match self.map(number, FIRST_BATCH) {
            Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::UnexpectedEof => {
                return damaged("the file is empty".to_owned());
            }
            other => other?,
        };
        match SegmentHeader::read(map.bytes()) {
            Ok(header) => Ok(Ok(header)),
            Err(error @ SegmentHeaderError::Damaged) => damaged(error.to_string()),
            Err(error @ SegmentHeaderError::Unknown(_)) => Err(JournalError::Newer {
                what: format!("segment {number}: {error}"),
            }),
        }
    }

    /// Completes the error with the sequences of the segment, as its first batch, the later
    /// segments and the watermark name them.
    fn with_known_sequences(
        &self,
        mut damaged: DamagedHeader,
        numbers: &[u32],
    ) -> Result<DamagedHeader, JournalError> {
        let readable = match self.limit {
            Some(limit) if limit.segment == damaged.segment => limit.offset,
            _ => u32::MAX,
        };
        if let Ok(map) = self.map(damaged.segment, readable)
            && let Some(batch) = map.bytes().get(to_usize(FIRST_BATCH)..)
            && let Ok(header) = BatchHeader::read(batch)
        {
            damaged.first = Some(header.first);
        }
        damaged.last = self.mark.map_or(Sequence(0), |mark| mark.sequence);
        for &number in numbers.iter().filter(|number| **number > damaged.segment) {
            if let Ok(later) = self.header(number)? {
                damaged.last = damaged.last.max(Sequence(later.first.0 - 1));
            }
        }
        Ok(damaged)
    }

    fn map(&self, number: u32, readable: u32) -> Result<Arc<SegmentMap>, JournalError> {
        let path = self.segments.path(number);
        let map = if self.past_cache {
            SegmentMap::read_past_cache(&path).context("read", &path)
        } else {
            SegmentMap::open(&path, readable).context("map", &path)
        };
        map.map(Arc::new)
    }

    fn copy(&self, number: u32) -> Result<Arc<SegmentMap>, JournalError> {
        let path = self.segments.path(number);
        let copy = SegmentMap::read(&path).context("read", &path)?;
        Ok(Arc::new(copy))
    }
}

/// Iterator over the batches of a journal.
#[derive(Debug)]
struct Scanner {
    scan: Scan,
    /// Headers of the segments that are still to be read, oldest first.
    headers: VecDeque<SegmentHeader>,
    /// The segment after these, if it cannot be read.
    unreadable: Option<Unreadable>,
    segment: Option<SegmentScan>,
    /// The last frame of the segments that were read, and its time.
    last: Sequence,
    time: TimeNs,
}

/// The next item of a scan.
enum ScanStep {
    Batch(Batch),
    End(JournalEnd),
}

impl Scanner {
    /// The next batch, or the end. Must not be called again after the end or an error.
    fn step(&mut self) -> Result<ScanStep, JournalError> {
        loop {
            let mut segment = match self.segment.take() {
                Some(segment) => segment,
                None => self.next_segment()?,
            };
            if let Some(batch) = segment.next_batch()? {
                self.segment = Some(segment);
                if batch.header().last > self.scan.after {
                    return Ok(ScanStep::Batch(batch));
                }
            } else if let Some(found) = self.finish_segment(segment)? {
                return Ok(ScanStep::End(found));
            }
        }
    }

    /// Opens the next segment, or returns the error of one that cannot be read.
    fn next_segment(&mut self) -> Result<SegmentScan, JournalError> {
        let Some(header) = self.headers.pop_front() else {
            let unreadable = self.unreadable.take();
            return Err(unreadable
                .expect("a scan ends at its last segment, or at one that cannot be read")
                .refuse(self.last.next()));
        };
        let end = match (self.headers.front(), &self.unreadable, self.scan.limit) {
            (Some(next), ..) => SegmentEnd::Successor(*next),
            (None, Some(unreadable), _) => SegmentEnd::DamagedSuccessor(unreadable.first()),
            (None, None, Some(limit)) => SegmentEnd::Durable(limit.offset),
            (None, None, None) => SegmentEnd::Open,
        };
        let map = match end {
            SegmentEnd::Open if self.scan.may_change => self.scan.copy(header.number)?,
            _ => self.scan.map(header.number, end.readable(&header))?,
        };
        Ok(SegmentScan::new(
            header,
            map,
            end,
            self.scan.mark,
            self.time,
        ))
    }

    /// Finishes a segment that was read to its end. Returns the journal's end after the last one.
    fn finish_segment(&mut self, segment: SegmentScan) -> Result<Option<JournalEnd>, JournalError> {
        let (cursor, found) = segment.finish()?;
        (self.last, self.time) = (cursor.last, cursor.time);
        match found {
            Some(found) if self.scan.after > found.end.last => Err(JournalError::Ahead {
                after: self.scan.after,
                last: found.end.last,
            }),
            found => Ok(found),
        }
    }
}

/// The error that ends the list of segments early.
#[derive(Debug)]
enum Unreadable {
    Header(DamagedHeader),
    /// A segment is missing or belongs to another journal.
    Other(JournalError),
}

impl Unreadable {
    /// Its first sequence, if known.
    const fn first(&self) -> Option<Sequence> {
        match self {
            Self::Header(damaged) => damaged.first,
            Self::Other(_) => None,
        }
    }

    /// `first` is the sequence after the last frame that could be read.
    fn refuse(self, first: Sequence) -> JournalError {
        match self {
            Self::Header(damaged) => damaged.refuse(first),
            Self::Other(error) => error,
        }
    }
}

/// A damaged header of a segment.
#[derive(Debug)]
struct DamagedHeader {
    segment: u32,
    /// The segment's first sequence, if its first batch is readable.
    first: Option<Sequence>,
    /// The last sequence known to have been written from there on; 0 for none.
    last: Sequence,
    why: String,
}

impl DamagedHeader {
    /// `first` is the sequence after the last frame that could be read.
    fn refuse(self, first: Sequence) -> JournalError {
        JournalError::Damaged {
            segment: self.segment,
            from: 0,
            to: FIRST_BATCH,
            first,
            last: self.last,
            why: self.why,
        }
    }
}

/// Content of a journal, as found by [`scan`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanReport {
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The newest epoch.
    pub epoch: u64,
    /// The last valid frame; 0 when there is none.
    pub last_sequence: Sequence,
    /// Its time; 0 when there is none.
    pub last_time: TimeNs,
    /// The last proven frame. Later ones were acknowledged in the last moments, or not at all.
    pub proven_sequence: Sequence,
    /// Chain hash of the last valid batch.
    pub hash: [u8; 32],
    /// Range of bytes after the end that are no batch: a torn tail, which the next start sets
    /// aside.
    pub torn: Option<(u32, u32)>,
}

impl ScanReport {
    pub(crate) const fn new(found: &JournalEnd) -> Self {
        Self {
            genesis: found.header.genesis,
            epoch: found.header.epoch,
            last_sequence: found.end.last,
            last_time: found.end.time,
            proven_sequence: found.proven.last,
            hash: found.end.hash,
            torn: found.torn,
        }
    }
}

/// The random bytes that name a journal, from its first segment.
pub fn genesis(dir: &Path) -> Result<[u8; 32], JournalError> {
    genesis_of(&Segments::of(dir))
}

/// As [`genesis`], of a journal whose segments are anywhere.
pub fn genesis_of(segments: &Segments) -> Result<[u8; 32], JournalError> {
    let first = segments.first_of(&segments.numbers()?)?;
    let scan = Scan {
        segments: segments.clone(),
        after: Sequence(0),
        mark: None,
        past_cache: false,
        limit: None,
        may_change: false,
    };
    match scan.header(first) {
        Ok(Ok(header)) => Ok(header.genesis),
        Ok(Err(damaged)) => Err(damaged.refuse(Sequence(1))),
        Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Err(JournalError::Missing(first))
        }
        Err(other) => Err(other),
    }
}

/// Verifies a journal without changing it and passes every frame above `after` to `visit`. With a
/// running engine it ends at the durable position. With `after` 0 it verifies all from the genesis.
///
/// # Errors
/// Damage, a missing or foreign segment, a newer format, or an error of `visit`.
pub fn scan(
    dir: &Path,
    after: Sequence,
    visit: &mut dyn FnMut(&Frame<'_>) -> Result<(), String>,
) -> Result<ScanReport, JournalError> {
    let found = read_only_scan(Segments::of(dir), after)?.run(&mut |batch| {
        batch.frames_after(after).try_for_each(|frame| {
            visit(&frame).map_err(|reason| JournalError::Stopped {
                sequence: frame.sequence(),
                reason,
            })
        })
    })?;
    Ok(ScanReport::new(&found))
}

/// Parameters for reading a journal without the lock.
pub(crate) fn read_only_scan(segments: Segments, after: Sequence) -> Result<Scan, JournalError> {
    let dir = segments.directory();
    let limit = match segments.end() {
        Some(end) => Some(end),
        None if directory::is_locked(dir) => Some(ControlView::open(dir)?.position()),
        None => None,
    };
    // A running engine's watermark may be ahead of the limit just read.
    let mark = match limit {
        Some(_) => None,
        None => watermark::read(dir)?,
    };
    let may_change = directory::is_replica(dir);
    Ok(Scan {
        segments,
        after,
        mark,
        past_cache: false,
        limit,
        may_change,
    })
}

/// The verified batches of a journal from its genesis on. As [`scan`], but the caller pulls each
/// batch.
#[derive(Debug)]
pub struct Batches {
    /// `None` at the end. It is taken out during each step, so reading cannot continue after an
    /// error or a panic.
    scanner: Option<Scanner>,
    report: Option<ScanReport>,
}

impl Batches {
    /// Reads the headers of the journal in `dir`. With a running engine the batches end at the
    /// durable position. [`Self::next_batch`] reports a damaged header after the batches before it.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        Self::of(Segments::of(dir))
    }

    /// As [`Self::open`], of a journal whose segments are anywhere.
    pub fn of(segments: Segments) -> Result<Self, JournalError> {
        Ok(Self {
            scanner: Some(read_only_scan(segments, Sequence(0))?.begin()?),
            report: None,
        })
    }

    /// The next batch; `None` after the last one and after an error.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, JournalError> {
        let Some(mut scanner) = self.scanner.take() else {
            return Ok(None);
        };
        match scanner.step()? {
            ScanStep::Batch(batch) => {
                self.scanner = Some(scanner);
                Ok(Some(batch))
            }
            ScanStep::End(found) => {
                self.report = Some(ScanReport::new(&found));
                Ok(None)
            }
        }
    }

    /// Content of the journal, once its end was reached without an error.
    #[must_use]
    pub const fn report(&self) -> Option<&ScanReport> {
        self.report.as_ref()
    }
}
