//! Scanning one segment to its end, which is known in different ways.

use std::sync::Arc;

use foretell_model::{Sequence, TimeNs};

use crate::batch::{Batch, BatchHeader};
use crate::bytes::{PAGE, to_u32, to_usize, whole_pages};
use crate::error::JournalError;
use crate::frame;
use crate::map::SegmentMap;
use crate::segment::{FIRST_BATCH, SegmentHeader};
use crate::walk::{Fault, Walk};
use crate::watermark::Watermark;

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

/// Where a segment ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Where its successor says: up to there it must be sound.
    Successor(SegmentHeader),
    /// Its successor has this first sequence, where that is known, but a header that is damaged, and only
    /// that would say where this one ends. So it is read as far as it is sound, and not what its successor
    /// begins with: a start writes the last batches anew there.
    DamagedSuccessor(Option<Sequence>),
    /// It is the last one of an engine that runs, and durable up to this byte.
    Durable(u32),
    /// It is the last one, and may end in what a crash left.
    Open,
}

impl End {
    /// The first bytes of the segment that may be read.
    pub(crate) const fn readable(&self, header: &SegmentHeader) -> u32 {
        match self {
            Self::Successor(next) => next.previous_end,
            Self::Durable(end) => *end,
            Self::DamagedSuccessor(_) | Self::Open => header.bytes,
        }
    }
}

/// A segment that is read batch by batch.
#[derive(Debug)]
pub(crate) struct SegmentScan {
    header: SegmentHeader,
    map: Arc<SegmentMap>,
    end: End,
    /// Behind the last batch.
    walk: Walk,
    mark: MarkCheck,
    /// What of it is proven, where it has no successor.
    tail: Tail,
    /// What stopped the walk where it may stop anywhere.
    fault: Option<Fault>,
    /// The last frame that is known to have been written before an end that is known; where nothing tells,
    /// its first one.
    written_up_to: Sequence,
}

impl SegmentScan {
    /// Begins before its first batch. `time` is that of the last frame before it.
    pub(crate) fn new(
        header: SegmentHeader,
        map: Arc<SegmentMap>,
        end: End,
        mark: Option<Watermark>,
        time: TimeNs,
    ) -> Self {
        let walk = Walk::start(&header, time);
        let marked = mark.map(|mark| mark.sequence);
        let written_up_to = match end {
            End::Successor(next) => Sequence(next.first.0 - 1),
            _ => marked.unwrap_or(header.first),
        };
        Self {
            mark: match end {
                // The damage tells more than a mark that disagrees.
                End::DamagedSuccessor(_) => MarkCheck(None),
                _ => MarkCheck(mark.filter(|mark| mark.segment == header.number)),
            },
            tail: Tail::new(walk, marked),
            header,
            map,
            end,
            walk,
            fault: None,
            written_up_to,
        }
    }

    /// The next batch, or `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, JournalError> {
        self.mark.look(&self.walk)?;
        let header = match self.end {
            End::Successor(SegmentHeader {
                previous_end: end, ..
            })
            | End::Durable(end) => self.next_before(end)?,
            End::DamagedSuccessor(next) => self.next_below(next),
            End::Open => self.next_sound(),
        };
        Ok(header.map(|header| Batch::new(Arc::clone(&self.map), header)))
    }

    /// Up to an end that is known to have been durable.
    fn next_before(&mut self, end: u32) -> Result<Option<BatchHeader>, JournalError> {
        if self.walk.at >= end {
            return Ok(None);
        }
        let bytes = self.map.bytes();
        let bytes = &bytes[..bytes.len().min(to_usize(end))];
        match self.walk.next(bytes) {
            Ok(header) => Ok(Some(header)),
            Err(fault) => {
                let last = self.written_up_to.max(self.walk.last.next());
                Err(refuse(&self.walk, fault, end, last))
            }
        }
    }

    fn next_below(&mut self, next: Option<Sequence>) -> Option<BatchHeader> {
        let before = self.walk;
        let header = self.walk.next(self.map.bytes()).ok();
        let header = header.filter(|header| next.is_none_or(|next| header.last < next));
        if header.is_none() {
            self.walk = before;
        }
        header
    }

    fn next_sound(&mut self) -> Option<BatchHeader> {
        match self.walk.next(self.map.bytes()) {
            Ok(header) => {
                self.tail.add(header, self.walk);
                Some(header)
            }
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    /// Once there is no next batch: where that is and, when the journal ends here, how.
    pub(crate) fn finish(self) -> Result<(Walk, Option<Found>), JournalError> {
        let walk = self.walk;
        let found = match self.end {
            End::Open => {
                let fault = self.fault;
                let fault = fault.expect("a last segment is read until something is no batch");
                let bytes = self.map.bytes();
                let found = self.tail.finish(&self.header, walk, bytes, fault)?;
                self.mark.done(&walk)?;
                Some(found)
            }
            End::Successor(next) => {
                self.mark.done(&walk)?;
                follows(&self.header, &walk, &next)?;
                None
            }
            End::DamagedSuccessor(_) => None,
            End::Durable(_) => {
                self.mark.done(&walk)?;
                Some(Found {
                    header: self.header,
                    end: walk,
                    proven: walk,
                    unproven: Vec::new(),
                    torn: None,
                })
            }
        };
        Ok((walk, found))
    }
}

/// Whether a segment was read to where its successor begins.
fn follows(header: &SegmentHeader, walk: &Walk, next: &SegmentHeader) -> Result<(), JournalError> {
    if walk.hash == next.previous_hash && walk.last.next() == next.first {
        return Ok(());
    }
    Err(JournalError::Damaged {
        segment: next.number,
        from: 0,
        to: FIRST_BATCH,
        first: walk.last.next(),
        last: Sequence(0),
        why: format!(
            "it does not follow segment {} (hash chain): one of the two is not the one that was written",
            header.number
        ),
    })
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

/// Compares the journal with the watermark where the walk passes it.
#[derive(Debug)]
struct MarkCheck(Option<Watermark>);

impl MarkCheck {
    fn look(&mut self, walk: &Walk) -> Result<(), JournalError> {
        let Some(mark) = self.0.filter(|mark| mark.end <= walk.at) else {
            return Ok(());
        };
        self.0 = None;
        let agrees = mark.end == walk.at && mark.sequence == walk.last && mark.hash == walk.hash;
        if agrees {
            Ok(())
        } else {
            Err(differs(&mark, walk))
        }
    }

    /// The walk is over: it must have come to the mark.
    fn done(&self, walk: &Walk) -> Result<(), JournalError> {
        self.0.map_or(Ok(()), |mark| Err(differs(&mark, walk)))
    }
}

/// Which of the two is the true one, nothing here tells; nor where batches that were replaced begin.
fn differs(mark: &Watermark, walk: &Walk) -> JournalError {
    JournalError::Damaged {
        segment: mark.segment,
        from: FIRST_BATCH,
        to: mark.end,
        first: walk.last.next(),
        last: Sequence(0),
        why: format!(
            "the watermark names another batch with sequence {} there: it was replaced, or what stands before was",
            mark.sequence
        ),
    }
}

/// What of the last segment is proven, while its end is being found.
#[derive(Debug)]
struct Tail {
    proven_up_to: Sequence,
    proven: Walk,
    /// Batches above the proven point, each with the walk behind it.
    unproven: Vec<(BatchHeader, Walk)>,
}

impl Tail {
    fn new(start: Walk, marked: Option<Sequence>) -> Self {
        Self {
            // That the segment exists proves all before it.
            proven_up_to: start.last.max(marked.unwrap_or(Sequence(0))),
            proven: start,
            unproven: Vec::new(),
        }
    }

    /// A sound batch, and the walk behind it.
    fn add(&mut self, header: BatchHeader, behind: Walk) {
        self.unproven.push((header, behind));
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
        end: Walk,
        bytes: &[u8],
        fault: Fault,
    ) -> Result<Found, JournalError> {
        self.prove(later_proof(header, bytes, &end));
        if bytes.len() < to_usize(header.bytes) {
            // It had its whole length before it had its name: no crash shortens it.
            let cut = Fault::Torn("the file is shorter than its header says");
            return Err(refuse(&end, cut, header.bytes, self.proven_up_to));
        }
        if self.proven_up_to > end.last || !matches!(fault, Fault::Torn(_)) {
            let length = to_u32(bytes.len());
            return Err(refuse(&end, fault, length, self.proven_up_to));
        }
        let behind = bytes.get(to_usize(end.at)..).unwrap_or_default();
        let torn = behind
            .iter()
            .rposition(|byte| *byte != 0)
            .map(|last| (end.at, end.at + to_u32(whole_pages(last + 1))));
        Ok(Found {
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

/// The highest sequence that any sound batch header behind `end` says was on the disk already.
/// Such a header behind a fault tells a hole among acknowledged frames from a torn tail.
fn later_proof(segment: &SegmentHeader, bytes: &[u8], end: &Walk) -> Sequence {
    let mut proof = Sequence(0);
    let mut at = to_usize(end.at);
    while at < bytes.len() {
        let header = BatchHeader::read(&bytes[at..])
            .ok()
            .filter(|header| may_stand(segment, header, at, end));
        // What lies inside a batch is no header, whatever its bytes say.
        at += header.map_or(PAGE, |header| header.total());
        proof = proof.max(header.map_or(Sequence(0), |header| header.proven));
    }
    proof
}

/// Whether a batch with this header may have been written to byte `at`. A checksum alone does not
/// show it: where the first page of a batch is torn, its other pages are read as headers, and a client
/// may have chosen bytes of them.
fn may_stand(segment: &SegmentHeader, header: &BatchHeader, at: usize, end: &Walk) -> bool {
    // All frames between the two are in the bytes between the two.
    let room = (at - to_usize(end.at)) / frame::SHORTEST;
    let highest = end.last.0.saturating_add(1 + room as u64);
    header.segment == segment.number
        && header.epoch == segment.epoch
        && to_usize(header.offset) == at
        && end.last.0 < header.first.0
        && header.first.0 <= highest
        && header.sequences_hold()
        && at + header.total() <= to_usize(segment.bytes)
        && header.hash != [0; 32]
}
