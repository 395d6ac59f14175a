//! Reads one segment to its end. The source of the end position differs: see [`SegmentEnd`].

use std::sync::Arc;

use foretell_model::{Sequence, TimeNs};

use crate::batch::{Batch, BatchHeader};
use crate::batch_cursor::{BatchCursor, BatchFault};
use crate::bytes::{PAGE, to_u32, to_usize, whole_pages};
use crate::error::JournalError;
use crate::frame;
use crate::map::SegmentMap;
use crate::segment::{FIRST_BATCH, SegmentHeader};
use crate::watermark::Watermark;

/// The end of a journal, as found by a scan.
#[derive(Debug)]
pub(crate) struct JournalEnd {
    /// Header of the last segment.
    pub(crate) header: SegmentHeader,
    /// Position after the last valid batch.
    pub(crate) end: BatchCursor,
    /// Position after the last proven batch.
    pub(crate) proven: BatchCursor,
    /// The valid batches between the two; all in the last segment.
    pub(crate) unproven: Vec<BatchHeader>,
    /// Range of non-zero bytes after the end that are no batch: first byte, and the byte after the
    /// last.
    pub(crate) torn: Option<(u32, u32)>,
}

/// The known end of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SegmentEnd {
    /// It has a successor, whose header names its end. All batches up to there must be valid.
    Successor(SegmentHeader),
    /// Its successor's header, which would name its end, is damaged; it contains the successor's
    /// first sequence, if known. The segment is read as far as it is valid, and only below that
    /// sequence: a start rewrites the last batches in the successor.
    DamagedSuccessor(Option<Sequence>),
    /// It is the last one of a running engine, and durable up to this byte.
    Durable(u32),
    /// It is the last one, and may end in a torn tail.
    Open,
}

impl SegmentEnd {
    /// Number of bytes of the segment that may be read.
    pub(crate) const fn readable(&self, header: &SegmentHeader) -> u32 {
        match self {
            Self::Successor(next) => next.previous_end,
            Self::Durable(end) => *end,
            Self::DamagedSuccessor(_) | Self::Open => header.bytes,
        }
    }
}

/// Reads a segment batch by batch.
#[derive(Debug)]
pub(crate) struct SegmentScan {
    header: SegmentHeader,
    map: Arc<SegmentMap>,
    end: SegmentEnd,
    /// Position after the last batch.
    cursor: BatchCursor,
    mark: WatermarkCheck,
    /// The proven part, if the segment has no successor.
    tail: UnprovenTail,
    /// The fault that ended a segment of unknown end.
    fault: Option<BatchFault>,
    /// The last frame known to have been written before a known end; the segment's first frame if
    /// unknown.
    written_up_to: Sequence,
}

impl SegmentScan {
    /// Begins before the first batch. `time` is the time of the last frame before it.
    pub(crate) fn new(
        header: SegmentHeader,
        map: Arc<SegmentMap>,
        end: SegmentEnd,
        mark: Option<Watermark>,
        time: TimeNs,
    ) -> Self {
        let cursor = BatchCursor::start(&header, time);
        let marked = mark.map(|mark| mark.sequence);
        let written_up_to = match end {
            SegmentEnd::Successor(next) => Sequence(next.first.0 - 1),
            _ => marked.unwrap_or(header.first),
        };
        Self {
            mark: match end {
                // The error about the damaged header names more than a watermark mismatch.
                SegmentEnd::DamagedSuccessor(_) => WatermarkCheck(None),
                _ => WatermarkCheck(mark.filter(|mark| mark.segment == header.number)),
            },
            tail: UnprovenTail::new(cursor, marked),
            header,
            map,
            end,
            cursor,
            fault: None,
            written_up_to,
        }
    }

    /// The next batch, or `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, JournalError> {
        self.mark.check_at(&self.cursor)?;
        let header = match self.end {
            SegmentEnd::Successor(SegmentHeader {
                previous_end: end, ..
            })
            | SegmentEnd::Durable(end) => self.next_until(end)?,
            SegmentEnd::DamagedSuccessor(next) => self.next_below(next),
            SegmentEnd::Open => self.next_valid(),
        };
        Ok(header.map(|header| Batch::new(Arc::clone(&self.map), header)))
    }

    /// The next batch below `end`, which is known to have been durable.
    fn next_until(&mut self, end: u32) -> Result<Option<BatchHeader>, JournalError> {
        if self.cursor.offset >= end {
            return Ok(None);
        }
        let bytes = self.map.bytes();
        let bytes = &bytes[..bytes.len().min(to_usize(end))];
        match self.cursor.next(bytes) {
            Ok(header) => Ok(Some(header)),
            Err(fault) => {
                let last = self.written_up_to.max(self.cursor.last.next());
                Err(self.cursor.damage(fault, end, last))
            }
        }
    }

    fn next_below(&mut self, next: Option<Sequence>) -> Option<BatchHeader> {
        let before = self.cursor;
        let header = self.cursor.next(self.map.bytes()).ok();
        let header = header.filter(|header| next.is_none_or(|next| header.last < next));
        if header.is_none() {
            self.cursor = before;
        }
        header
    }

    fn next_valid(&mut self) -> Option<BatchHeader> {
        match self.cursor.next(self.map.bytes()) {
            Ok(header) => {
                self.tail.add(header, self.cursor);
                Some(header)
            }
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    /// To be called after the last batch. Returns the end position and, for the last segment, the
    /// end of the journal.
    pub(crate) fn finish(self) -> Result<(BatchCursor, Option<JournalEnd>), JournalError> {
        let cursor = self.cursor;
        let found = match self.end {
            SegmentEnd::Open => {
                let fault = self.fault;
                let fault = fault.expect("a last segment is read until something is no batch");
                let bytes = self.map.bytes();
                let found = self.tail.finish(&self.header, cursor, bytes, fault)?;
                self.mark.check_reached(&cursor)?;
                Some(found)
            }
            SegmentEnd::Successor(next) => {
                self.mark.check_reached(&cursor)?;
                check_follows(&self.header, &cursor, &next)?;
                None
            }
            SegmentEnd::DamagedSuccessor(_) => None,
            SegmentEnd::Durable(_) => {
                self.mark.check_reached(&cursor)?;
                Some(JournalEnd {
                    header: self.header,
                    end: cursor,
                    proven: cursor,
                    unproven: Vec::new(),
                    torn: None,
                })
            }
        };
        Ok((cursor, found))
    }
}

/// Checks that a segment ends where its successor begins.
fn check_follows(
    header: &SegmentHeader,
    cursor: &BatchCursor,
    next: &SegmentHeader,
) -> Result<(), JournalError> {
    if cursor.hash == next.previous_hash && cursor.last.next() == next.first {
        return Ok(());
    }
    Err(JournalError::Damaged {
        segment: next.number,
        from: 0,
        to: FIRST_BATCH,
        first: cursor.last.next(),
        last: Sequence(0),
        why: format!(
            "it does not follow segment {} (hash chain): one of the two was replaced",
            header.number
        ),
    })
}

/// Compares the journal with the watermark at the watermark's position.
#[derive(Debug)]
struct WatermarkCheck(Option<Watermark>);

impl WatermarkCheck {
    fn check_at(&mut self, cursor: &BatchCursor) -> Result<(), JournalError> {
        let Some(mark) = self.0.filter(|mark| mark.end <= cursor.offset) else {
            return Ok(());
        };
        self.0 = None;
        let agrees =
            mark.end == cursor.offset && mark.sequence == cursor.last && mark.hash == cursor.hash;
        if agrees {
            Ok(())
        } else {
            Err(watermark_mismatch(&mark, cursor))
        }
    }

    /// At the end: the watermark's position must have been reached.
    fn check_reached(&self, cursor: &BatchCursor) -> Result<(), JournalError> {
        self.0
            .map_or(Ok(()), |mark| Err(watermark_mismatch(&mark, cursor)))
    }
}

/// The error for a watermark that disagrees. It is unknown which of the two is right, and where
/// replaced batches begin.
fn watermark_mismatch(mark: &Watermark, cursor: &BatchCursor) -> JournalError {
    JournalError::Damaged {
        segment: mark.segment,
        from: FIRST_BATCH,
        to: mark.end,
        first: cursor.last.next(),
        last: Sequence(0),
        why: format!(
            "the watermark names another batch with sequence {} there: that batch or an earlier one was replaced",
            mark.sequence
        ),
    }
}

/// The proven part of the last segment while its end is being searched.
#[derive(Debug)]
struct UnprovenTail {
    proven_up_to: Sequence,
    proven: BatchCursor,
    /// Batches above the proven position, each with the position after it.
    unproven: Vec<(BatchHeader, BatchCursor)>,
}

impl UnprovenTail {
    fn new(start: BatchCursor, marked: Option<Sequence>) -> Self {
        Self {
            // The existence of the segment proves all earlier ones.
            proven_up_to: start.last.max(marked.unwrap_or(Sequence(0))),
            proven: start,
            unproven: Vec::new(),
        }
    }

    /// Adds a valid batch and the position after it.
    fn add(&mut self, header: BatchHeader, behind: BatchCursor) {
        self.unproven.push((header, behind));
        self.prove(header.proven);
    }

    /// All frames up to `sequence` are known to be on the disk.
    fn prove(&mut self, sequence: Sequence) {
        self.proven_up_to = self.proven_up_to.max(sequence);
        let proven = self
            .unproven
            .iter()
            .take_while(|(header, _)| header.last <= self.proven_up_to)
            .count();
        if let Some((_, cursor)) = self.unproven.drain(..proven).next_back() {
            self.proven = cursor;
        }
    }

    /// Classifies the bytes after the last valid batch.
    fn finish(
        mut self,
        header: &SegmentHeader,
        end: BatchCursor,
        bytes: &[u8],
        fault: BatchFault,
    ) -> Result<JournalEnd, JournalError> {
        self.prove(later_proof(header, bytes, &end));
        if bytes.len() < to_usize(header.bytes) {
            // A file has its full length before it is renamed: no crash shortens it.
            let cut = BatchFault::Torn("the file is shorter than its header says");
            return Err(end.damage(cut, header.bytes, self.proven_up_to));
        }
        if self.proven_up_to > end.last || !matches!(fault, BatchFault::Torn(_)) {
            let length = to_u32(bytes.len());
            return Err(end.damage(fault, length, self.proven_up_to));
        }
        let behind = bytes.get(to_usize(end.offset)..).unwrap_or_default();
        let torn = behind
            .iter()
            .rposition(|byte| *byte != 0)
            .map(|last| (end.offset, end.offset + to_u32(whole_pages(last + 1))));
        Ok(JournalEnd {
            header: *header,
            end,
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

/// The highest proven sequence in any valid batch header after `end`. Such a header after a fault
/// distinguishes a hole among acknowledged frames from a torn tail.
fn later_proof(segment: &SegmentHeader, bytes: &[u8], end: &BatchCursor) -> Sequence {
    let mut proof = Sequence(0);
    let mut at = to_usize(end.offset);
    while at < bytes.len() {
        let header = BatchHeader::read(&bytes[at..])
            .ok()
            .filter(|header| is_possible_batch(segment, header, at, end));
        // Bytes inside a batch are not a header, whatever they contain.
        at += header.map_or(PAGE, |header| header.total());
        proof = proof.max(header.map_or(Sequence(0), |header| header.proven));
    }
    proof
}

/// Whether a batch with this header may have been written at offset `at`. A checksum alone does not
/// prove it: if the first page of a batch is torn, its other pages are read as headers, and a
/// client may have chosen their bytes.
fn is_possible_batch(
    segment: &SegmentHeader,
    header: &BatchHeader,
    at: usize,
    end: &BatchCursor,
) -> bool {
    // All frames between the two positions fit into the bytes between them.
    let room = (at - to_usize(end.offset)) / frame::MIN_BYTES;
    let highest = end.last.0.saturating_add(1 + room as u64);
    header.segment == segment.number
        && header.epoch == segment.epoch
        && to_usize(header.offset) == at
        && end.last.0 < header.first.0
        && header.first.0 <= highest
        && header.has_consistent_sequences()
        && at + header.total() <= to_usize(segment.bytes)
        && header.hash != [0; 32]
}
