//! Scanning a journal from a sequence to its end: what is there, what of it is proven, what is
//! damaged. Recovery and audit both stand on this. Here it goes from segment to segment; what is in
//! one is in `segment_scan.rs`.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_model::{Sequence, TimeNs};

use crate::batch::{Batch, BatchHeader};
use crate::bytes::to_usize;
use crate::control::{ControlView, Position};
use crate::directory;
use crate::error::{Context, JournalError};
use crate::frame::Frame;
use crate::map::SegmentMap;
use crate::segment::{self, FIRST_BATCH, SegmentHeader, SegmentHeaderError};
use crate::segment_scan::{End, Found, SegmentScan};
use crate::watermark::{self, Watermark};

/// How to read.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) dir: PathBuf,
    /// Batches that end at or before this sequence are not shown; of their segments only the one
    /// that holds it is verified.
    pub(crate) after: Sequence,
    pub(crate) mark: Option<Watermark>,
    /// Read the disk, not the page cache.
    pub(crate) past_cache: bool,
    /// Up to here an engine that runs has said it is durable; nothing behind it is looked at.
    pub(crate) limit: Option<Position>,
}

impl Scan {
    /// Scans to the end; an error of `visit` stops it.
    pub(crate) fn run(
        self,
        visit: &mut dyn FnMut(&Batch) -> Result<(), JournalError>,
    ) -> Result<Found, JournalError> {
        let mut scanner = self.begin()?;
        loop {
            match scanner.step()? {
                Step::Batch(batch) => visit(&batch)?,
                Step::End(found) => return Ok(found),
            }
        }
    }

    /// Reads the headers of all segments.
    fn begin(self) -> Result<Scanner, JournalError> {
        let (mut headers, unreadable) = self.headers()?;
        // From the frame the reader has last, so that the end's time is known even without more.
        let start = headers
            .iter()
            .rposition(|header| header.first <= self.after)
            .unwrap_or(0);
        Ok(Scanner {
            scan: self,
            headers: headers.split_off(start).into(),
            unreadable,
            segment: None,
            last: Sequence(0),
            time: TimeNs(0),
        })
    }

    /// The headers of all segments, which must be there without gaps and belong together, up to the first that
    /// cannot be read.
    fn headers(&self) -> Result<(Vec<SegmentHeader>, Option<Unreadable>), JournalError> {
        let mut numbers = directory::segments(&self.dir)?;
        if let Some(limit) = self.limit {
            numbers.retain(|number| *number <= limit.segment);
        }
        let must_have = self.mark.map_or(1, |mark| mark.segment);
        let must_have = must_have.max(self.limit.map_or(1, |limit| limit.segment));
        let mut headers: Vec<SegmentHeader> = Vec::with_capacity(numbers.len());
        for number in 1..=must_have.max(numbers.last().copied().unwrap_or(0)) {
            if numbers.binary_search(&number).is_err() {
                let missing = Unreadable::Other(JournalError::Missing(number));
                return Ok((headers, Some(missing)));
            }
            let header = match self.header(number)? {
                Ok(header) => header,
                Err(damaged) => {
                    let damaged = self.with_what_follows(damaged, &numbers)?;
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

    /// What else tells which sequences stood there: its own first batch, the segments behind it and the
    /// watermark.
    fn with_what_follows(
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
        let path = segment::path(&self.dir, number);
        let map = if self.past_cache {
            SegmentMap::read_past_cache(&path).context("read", &path)
        } else {
            SegmentMap::open(&path, readable).context("map", &path)
        };
        map.map(Arc::new)
    }
}

/// A scan on its way from batch to batch.
#[derive(Debug)]
struct Scanner {
    scan: Scan,
    /// Of segments it has not come to, the oldest first.
    headers: VecDeque<SegmentHeader>,
    /// Behind all of them.
    unreadable: Option<Unreadable>,
    segment: Option<SegmentScan>,
    /// The last frame of the segments behind it, and its time.
    last: Sequence,
    time: TimeNs,
}

/// What a scan comes to next.
enum Step {
    Batch(Batch),
    End(Found),
}

impl Scanner {
    /// The next batch to show, or the end. Behind the end, or an error, nobody asks again.
    fn step(&mut self) -> Result<Step, JournalError> {
        loop {
            let mut segment = match self.segment.take() {
                Some(segment) => segment,
                None => self.next_segment()?,
            };
            if let Some(batch) = segment.next_batch()? {
                self.segment = Some(segment);
                if batch.header().last > self.scan.after {
                    return Ok(Step::Batch(batch));
                }
            } else if let Some(found) = self.leave(segment)? {
                return Ok(Step::End(found));
            }
        }
    }

    /// Opens the next segment, or refuses one that cannot be read.
    fn next_segment(&mut self) -> Result<SegmentScan, JournalError> {
        let Some(header) = self.headers.pop_front() else {
            let unreadable = self.unreadable.take();
            return Err(unreadable
                .expect("a scan ends at its last segment, or at one that cannot be read")
                .refuse(self.last.next()));
        };
        let end = match (self.headers.front(), &self.unreadable, self.scan.limit) {
            (Some(next), ..) => End::Successor(*next),
            (None, Some(unreadable), _) => End::DamagedSuccessor(unreadable.first()),
            (None, None, Some(limit)) => End::Durable(limit.offset),
            (None, None, None) => End::Open,
        };
        let map = self.scan.map(header.number, end.readable(&header))?;
        Ok(SegmentScan::new(
            header,
            map,
            end,
            self.scan.mark,
            self.time,
        ))
    }

    /// Steps behind a segment that was read to its end; behind the last one that is the journal's.
    fn leave(&mut self, segment: SegmentScan) -> Result<Option<Found>, JournalError> {
        let (walk, found) = segment.finish()?;
        (self.last, self.time) = (walk.last, walk.time);
        match found {
            Some(found) if self.scan.after > found.end.last => Err(JournalError::Ahead {
                after: self.scan.after,
                last: found.end.last,
            }),
            found => Ok(found),
        }
    }
}

/// Why the segments end before the journal does.
#[derive(Debug)]
enum Unreadable {
    Header(DamagedHeader),
    /// One is missing, or is another journal's.
    Other(JournalError),
}

impl Unreadable {
    /// Its first sequence, where that is known.
    const fn first(&self) -> Option<Sequence> {
        match self {
            Self::Header(damaged) => damaged.first,
            Self::Other(_) => None,
        }
    }

    /// `first` is the sequence behind everything that could be read.
    fn refuse(self, first: Sequence) -> JournalError {
        match self {
            Self::Header(damaged) => damaged.refuse(first),
            Self::Other(error) => error,
        }
    }
}

/// A segment's header that cannot be read.
#[derive(Debug)]
struct DamagedHeader {
    segment: u32,
    /// Its first sequence, where its first batch tells it.
    first: Option<Sequence>,
    /// The last that is known to have been written behind it; 0 for none.
    last: Sequence,
    why: String,
}

impl DamagedHeader {
    /// `first` is the sequence behind everything that could be read.
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

/// What a journal holds, as found by [`scan`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanReport {
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The newest epoch.
    pub epoch: u64,
    /// The last sound frame; 0 when there is none.
    pub last_sequence: Sequence,
    /// The last proven one: what is above it was not acknowledged, or in the last moments.
    pub proven_sequence: Sequence,
    /// The chain at the last sound batch.
    pub hash: [u8; 32],
    /// Bytes behind the end that are no batch: what a crash left and the next start sets aside.
    pub torn: Option<(u32, u32)>,
}

impl ScanReport {
    const fn new(found: &Found) -> Self {
        Self {
            genesis: found.header.genesis,
            epoch: found.header.epoch,
            last_sequence: found.end.last,
            proven_sequence: found.proven.last,
            hash: found.end.hash,
            torn: found.torn,
        }
    }
}

/// The random bytes that name a journal, as its first segment has them.
///
/// # Errors
/// There is no first segment, or its header is damaged or newer.
pub fn genesis(dir: &Path) -> Result<[u8; 32], JournalError> {
    let scan = Scan {
        dir: dir.to_owned(),
        after: Sequence(0),
        mark: None,
        past_cache: false,
        limit: None,
    };
    match scan.header(1) {
        Ok(Ok(header)) => Ok(header.genesis),
        Ok(Err(damaged)) => Err(damaged.refuse(Sequence(1))),
        Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Err(JournalError::Missing(1))
        }
        Err(other) => Err(other),
    }
}

/// Verifies a journal without changing it and shows every frame above `after`, whether an engine
/// runs (then up to what is durable) or not. With `after` 0 everything is verified from the genesis.
///
/// # Errors
/// Damage, a missing or foreign segment, a newer format, or what `visit` said.
pub fn scan(
    dir: &Path,
    after: Sequence,
    visit: &mut dyn FnMut(&Frame<'_>) -> Result<(), String>,
) -> Result<ScanReport, JournalError> {
    let found = reading(dir, after)?.run(&mut |batch| {
        batch.frames_after(after).try_for_each(|frame| {
            visit(&frame).map_err(|reason| JournalError::Stopped {
                sequence: frame.sequence(),
                reason,
            })
        })
    })?;
    Ok(ScanReport::new(&found))
}

/// How to read a journal that is not ours to change.
fn reading(dir: &Path, after: Sequence) -> Result<Scan, JournalError> {
    let limit = if directory::is_locked(dir) {
        Some(ControlView::open(dir)?.position())
    } else {
        None
    };
    // A running engine's watermark may already name more than the limit just read.
    let mark = watermark::read(dir)?.filter(|_| limit.is_none());
    Ok(Scan {
        dir: dir.to_owned(),
        after,
        mark,
        past_cache: false,
        limit,
    })
}

/// The verified batches of a journal from its genesis on, taken one after the other by whoever comes next:
/// what [`scan`] is for one reader.
#[derive(Debug)]
pub struct Batches {
    /// Until there is nothing more to read. It is taken out for every step, so that nobody goes on behind
    /// an error, or behind a panic.
    scanner: Option<Scanner>,
    report: Option<ScanReport>,
}

impl Batches {
    /// Reads the headers of the journal in `dir`, whether an engine runs (then the batches go up to what is
    /// durable) or not. A damaged header is told by [`Self::next_batch`], behind what stands before it.
    ///
    /// # Errors
    /// A missing or foreign segment, a newer format, or files that cannot be read.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        Ok(Self {
            scanner: Some(reading(dir, Sequence(0))?.begin()?),
            report: None,
        })
    }

    /// The next batch; `None` behind the last, and behind an error.
    ///
    /// # Errors
    /// Damage, or files that cannot be read.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, JournalError> {
        let Some(mut scanner) = self.scanner.take() else {
            return Ok(None);
        };
        match scanner.step()? {
            Step::Batch(batch) => {
                self.scanner = Some(scanner);
                Ok(Some(batch))
            }
            Step::End(found) => {
                self.report = Some(ScanReport::new(&found));
                Ok(None)
            }
        }
    }

    /// What the journal holds, once its end was reached without an error.
    #[must_use]
    pub const fn report(&self) -> Option<&ScanReport> {
        self.report.as_ref()
    }
}
