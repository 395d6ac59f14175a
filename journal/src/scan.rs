//! Scanning a journal from a sequence to its end: what is there, what of it is proven, what is
//! damaged. Recovery and audit both stand on this.

use std::io::ErrorKind;
use std::path::Path;

use foretell_model::{Sequence, TimeNs};

use crate::batch::BatchHeader;
use crate::bytes::{PAGE, to_u32, to_usize, whole_pages};
use crate::control::{ControlView, Position};
use crate::directory;
use crate::error::{Context, JournalError};
use crate::frame::Frame;
use crate::map::SegmentMap;
use crate::segment::{self, FIRST_BATCH, SegmentHeader, SegmentHeaderError};
use crate::walk::{Batch, Fault, Walk};
use crate::watermark::{self, Watermark};

/// Who is shown every batch; an error stops the scan.
pub(crate) type Visit<'v> = dyn FnMut(&Batch<'_>) -> Result<(), JournalError> + 'v;

/// How to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'s> {
    pub(crate) dir: &'s Path,
    /// Batches that end at or before this sequence are not shown; of their segments only the one
    /// that holds it is verified.
    pub(crate) after: Sequence,
    pub(crate) mark: Option<&'s Watermark>,
    /// Read the disk, not the page cache.
    pub(crate) past_cache: bool,
    /// Up to here an engine that runs has said it is durable; nothing behind it is looked at.
    pub(crate) limit: Option<Position>,
}

/// The end of a journal.
#[derive(Debug)]
pub(crate) struct Found {
    /// Header of the last segment.
    pub(crate) header: SegmentHeader,
    /// Behind the last sound batch.
    pub(crate) end: Walk,
    /// Behind the last proven batch.
    pub(crate) proven: Walk,
    /// The sound batches between the two; all in the last segment.
    pub(crate) unproven: Vec<BatchHeader>,
    /// What stands behind the end and is no batch: first byte, and first byte behind it.
    pub(crate) torn: Option<(u32, u32)>,
}

impl Scan<'_> {
    /// Scans to the end.
    pub(crate) fn run(&self, visit: &mut Visit<'_>) -> Result<Found, JournalError> {
        let (headers, damaged) = self.headers()?;
        // From the frame the reader has last, so that the end's time is known even without more.
        let start = headers
            .iter()
            .rposition(|header| header.first <= self.after)
            .unwrap_or(0);
        let mut time = TimeNs(0);
        for pair in headers[start..].windows(2) {
            time = self.finished_segment(&pair[0], &pair[1], time, visit)?.time;
        }
        if let Some(damaged) = damaged {
            let last = headers.last();
            let end = last.map_or(Ok(Sequence(0)), |last| {
                self.segment_before_damage(last, damaged.first, time, visit)
            });
            return Err(damaged.refuse(end?.next()));
        }
        let last = headers[headers.len() - 1];
        let found = self.last_segment(&last, time, visit)?;
        if self.after > found.end.last {
            return Err(JournalError::Ahead {
                after: self.after,
                last: found.end.last,
            });
        }
        Ok(found)
    }

    /// The headers of all segments, which must be there without gaps and belong together, up to the first that
    /// is damaged.
    fn headers(&self) -> Result<(Vec<SegmentHeader>, Option<DamagedHeader>), JournalError> {
        let mut numbers = directory::segments(self.dir)?;
        if let Some(limit) = self.limit {
            numbers.retain(|number| *number <= limit.segment);
        }
        let must_have = self.mark.map_or(1, |mark| mark.segment);
        let must_have = must_have.max(self.limit.map_or(1, |limit| limit.segment));
        for expected in 1..=must_have.max(numbers.last().copied().unwrap_or(0)) {
            if numbers.binary_search(&expected).is_err() {
                return Err(JournalError::Missing(expected));
            }
        }
        let mut headers: Vec<SegmentHeader> = Vec::with_capacity(numbers.len());
        for &number in &numbers {
            let header = match self.header(number)? {
                Ok(header) => header,
                Err(damaged) => {
                    let damaged = self.with_what_follows(damaged, &numbers)?;
                    return Ok((headers, Some(damaged)));
                }
            };
            let genesis = self.mark.map_or(header.genesis, |mark| mark.genesis);
            let follows = headers.last().is_none_or(|previous| {
                previous.genesis == header.genesis
                    && previous.epoch <= header.epoch
                    && previous.first <= header.first
            });
            if header.number != number || header.genesis != genesis || !follows {
                return Err(JournalError::Foreign(number));
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

    fn map(&self, number: u32, readable: u32) -> Result<SegmentMap, JournalError> {
        let path = segment::path(self.dir, number);
        if self.past_cache {
            SegmentMap::read_past_cache(&path).context("read", &path)
        } else {
            SegmentMap::open(&path, readable).context("map", &path)
        }
    }

    /// A segment whose successor's header is damaged: only that says where it ends, so it is read as far as
    /// it is sound, and not what its successor begins with: a start writes the last batches anew there. Gives
    /// the last sequence.
    fn segment_before_damage(
        &self,
        header: &SegmentHeader,
        next_first: Option<Sequence>,
        time: TimeNs,
        visit: &mut Visit<'_>,
    ) -> Result<Sequence, JournalError> {
        let map = self.map(header.number, header.bytes)?;
        let mut walk = Walk::start(header, time);
        let mut last = walk.last;
        while let Ok(batch) = walk.next(map.bytes()) {
            if next_first.is_some_and(|next| batch.header.last >= next) {
                break;
            }
            self.show(&batch, visit)?;
            last = batch.header.last;
        }
        Ok(last)
    }

    /// A segment with a successor: it must be sound up to where the successor says it ends.
    fn finished_segment(
        &self,
        header: &SegmentHeader,
        next: &SegmentHeader,
        time: TimeNs,
        visit: &mut Visit<'_>,
    ) -> Result<Walk, JournalError> {
        let map = self.map(header.number, next.previous_end)?;
        let walk = self.walk_to(header, next.previous_end, &map, time, visit, || {
            Sequence(next.first.0 - 1)
        })?;
        if walk.hash == next.previous_hash && walk.last.next() == next.first {
            return Ok(walk);
        }
        Err(JournalError::Damaged {
            segment: header.number,
            from: FIRST_BATCH,
            to: next.previous_end,
            first: header.first,
            last: Sequence(next.first.0 - 1),
            why: format!("segment {} does not follow it (hash chain)", next.number),
        })
    }

    /// Walks a segment up to an end that is known to have been durable.
    fn walk_to(
        &self,
        header: &SegmentHeader,
        end: u32,
        map: &SegmentMap,
        time: TimeNs,
        visit: &mut Visit<'_>,
        last: impl Fn() -> Sequence,
    ) -> Result<Walk, JournalError> {
        let bytes = map.bytes();
        let bytes = &bytes[..bytes.len().min(to_usize(end))];
        let mut walk = Walk::start(header, time);
        let mut mark = MarkCheck::new(self.mark, header.number);
        mark.look(&walk)?;
        while walk.at < end {
            let from = walk.at;
            let batch = walk
                .next(bytes)
                .map_err(|fault| refuse(&walk, fault, end, last().max(walk.last.next())))?;
            debug_assert!(walk.at > from, "a batch takes a page at least");
            self.show(&batch, visit)?;
            mark.look(&walk)?;
        }
        mark.done()?;
        Ok(walk)
    }

    /// The segment without a successor: it may end in what a crash left.
    fn last_segment(
        &self,
        header: &SegmentHeader,
        time: TimeNs,
        visit: &mut Visit<'_>,
    ) -> Result<Found, JournalError> {
        if let Some(limit) = self.limit {
            let map = self.map(header.number, limit.offset)?;
            let last = || self.mark.map_or(header.first, |mark| mark.sequence);
            let end = self.walk_to(header, limit.offset, &map, time, visit, last)?;
            return Ok(Found {
                header: *header,
                end,
                proven: end,
                unproven: Vec::new(),
                torn: None,
            });
        }
        let map = self.map(header.number, header.bytes)?;
        let bytes = map.bytes();
        let mut tail = Tail::new(header, self.mark, time);
        let mut mark = MarkCheck::new(self.mark, header.number);
        mark.look(&tail.end)?;
        let fault = loop {
            match tail.end.next(bytes) {
                Ok(batch) => {
                    self.show(&batch, visit)?;
                    tail.add(batch.header);
                    mark.look(&tail.end)?;
                }
                Err(fault) => break fault,
            }
        };
        let found = tail.finish(header, bytes, fault)?;
        mark.done()?;
        Ok(found)
    }

    fn show(&self, batch: &Batch<'_>, visit: &mut Visit<'_>) -> Result<(), JournalError> {
        if batch.header.last <= self.after {
            return Ok(());
        }
        visit(batch)
    }
}

/// A fault where everything must be sound.
fn refuse(walk: &Walk, fault: Fault, to: u32, last: Sequence) -> JournalError {
    let why = match fault {
        Fault::Torn(why) => why.to_owned(),
        Fault::Wrong(why) => why,
        Fault::Newer(what) => {
            return JournalError::Newer {
                what: format!("segment {}, byte {}: {what}", walk.segment, walk.at),
            };
        }
    };
    JournalError::Damaged {
        segment: walk.segment,
        from: walk.at,
        to,
        first: walk.last.next(),
        last,
        why,
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

/// Compares the journal with the watermark where the walk passes it.
struct MarkCheck<'m> {
    mark: Option<&'m Watermark>,
}

impl<'m> MarkCheck<'m> {
    fn new(mark: Option<&'m Watermark>, segment: u32) -> Self {
        Self {
            mark: mark.filter(|mark| mark.segment == segment),
        }
    }

    fn look(&mut self, walk: &Walk) -> Result<(), JournalError> {
        let Some(mark) = self.mark.filter(|mark| mark.end <= walk.at) else {
            return Ok(());
        };
        self.mark = None;
        let agrees = mark.end == walk.at && mark.sequence == walk.last && mark.hash == walk.hash;
        if agrees { Ok(()) } else { Err(differs(mark)) }
    }

    /// The walk is over: it must have come to the mark.
    fn done(&self) -> Result<(), JournalError> {
        self.mark.map_or(Ok(()), |mark| Err(differs(mark)))
    }
}

fn differs(mark: &Watermark) -> JournalError {
    JournalError::Damaged {
        segment: mark.segment,
        from: FIRST_BATCH,
        to: mark.end,
        first: Sequence(1),
        last: mark.sequence,
        why: "these are not the batches the watermark names (replaced?)".to_owned(),
    }
}

/// The end of the last segment while it is being found.
struct Tail {
    end: Walk,
    proven_up_to: Sequence,
    proven: Walk,
    /// Batches above the proven point, each with the walk behind it.
    unproven: Vec<(BatchHeader, Walk)>,
}

impl Tail {
    fn new(header: &SegmentHeader, mark: Option<&Watermark>, time: TimeNs) -> Self {
        let start = Walk::start(header, time);
        Self {
            end: start,
            // That the segment exists proves all before it.
            proven_up_to: start
                .last
                .max(mark.map_or(Sequence(0), |mark| mark.sequence)),
            proven: start,
            unproven: Vec::new(),
        }
    }

    fn add(&mut self, header: BatchHeader) {
        self.unproven.push((header, self.end));
        self.prove(header.proven);
    }

    /// Everything up to `sequence` was known to be on the disk.
    fn prove(&mut self, sequence: Sequence) {
        self.proven_up_to = self.proven_up_to.max(sequence);
        let proven = self
            .unproven
            .iter()
            .take_while(|(header, _)| header.last <= self.proven_up_to)
            .count();
        if let Some((_, walk)) = self.unproven.drain(..proven).next_back() {
            self.proven = walk;
        }
    }

    /// Judges what stands behind the last sound batch.
    fn finish(
        mut self,
        header: &SegmentHeader,
        bytes: &[u8],
        fault: Fault,
    ) -> Result<Found, JournalError> {
        self.prove(later_proof(header, bytes, self.end.at));
        if bytes.len() < to_usize(header.bytes) {
            // It had its whole length before it had its name: no crash shortens it.
            let cut = Fault::Torn("the file is shorter than its header says");
            return Err(refuse(&self.end, cut, header.bytes, self.proven_up_to));
        }
        if self.proven_up_to > self.end.last || !matches!(fault, Fault::Torn(_)) {
            let end = to_u32(bytes.len());
            return Err(refuse(&self.end, fault, end, self.proven_up_to));
        }
        let behind = bytes.get(to_usize(self.end.at)..).unwrap_or_default();
        let torn = behind
            .iter()
            .rposition(|byte| *byte != 0)
            .map(|last| (self.end.at, self.end.at + to_u32(whole_pages(last + 1))));
        Ok(Found {
            header: *header,
            end: self.end,
            proven: self.proven,
            unproven: self
                .unproven
                .into_iter()
                .map(|(header, _)| header)
                .collect(),
            torn,
        })
    }
}

/// The highest sequence that any sound batch header from `at` on says was on the disk already.
/// Such a header behind a fault tells a hole among acknowledged frames from a torn tail.
fn later_proof(segment: &SegmentHeader, bytes: &[u8], at: u32) -> Sequence {
    let mut proof = Sequence(0);
    let mut at = to_usize(at);
    while at < bytes.len() {
        let header = BatchHeader::read(&bytes[at..]).ok().filter(|header| {
            header.segment == segment.number
                && to_usize(header.offset) == at
                && header.epoch == segment.epoch
        });
        // What lies inside a batch is no header, whatever its bytes say.
        at += header.map_or(PAGE, |header| header.total());
        proof = proof.max(header.map_or(Sequence(0), |header| header.proven));
    }
    proof
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

/// The random bytes that name a journal, as its first segment has them.
///
/// # Errors
/// There is no first segment, or its header is damaged or newer.
pub fn genesis(dir: &Path) -> Result<[u8; 32], JournalError> {
    let scan = Scan {
        dir,
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
    let limit = if directory::is_locked(dir) {
        Some(ControlView::open(dir)?.position())
    } else {
        None
    };
    // A running engine's watermark may already name more than the limit just read.
    let mark = watermark::read(dir)?.filter(|_| limit.is_none());
    let scan = Scan {
        dir,
        after,
        mark: mark.as_ref(),
        past_cache: false,
        limit,
    };
    let found = scan.run(&mut |batch| {
        batch.frames_after(after).try_for_each(|frame| {
            visit(&frame).map_err(|reason| JournalError::Stopped {
                sequence: frame.sequence(),
                reason,
            })
        })
    })?;
    Ok(ScanReport {
        genesis: found.header.genesis,
        epoch: found.header.epoch,
        last_sequence: found.end.last,
        proven_sequence: found.proven.last,
        hash: found.end.hash,
        torn: found.torn,
    })
}
