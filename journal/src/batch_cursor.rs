//! Reads a segment batch by batch; every reader of batches uses it. Recovery, scan and audit verify
//! everything ([`BatchCursor::next`]). Followers leave the hash chain to the audit
//! ([`BatchCursor::next_durable`]). Searches read headers only ([`BatchCursor::peek`]). The caller
//! decides what a fault means.

use foretell_model::{Sequence, TimeNs};

use crate::batch::{BatchFrames, BatchHeader, HEADER_BYTES, HeaderError};
use crate::bytes::{all_zero, to_u32, to_usize};
use crate::error::JournalError;
use crate::frame::FrameError;
use crate::segment::{FIRST_BATCH, SegmentHeader};

/// A fault of a batch.
#[derive(Debug)]
pub(crate) enum BatchFault {
    /// A torn, lost or corrupted write. Dropped if above the proven position.
    Torn(&'static str),
    /// Valid checksums and wrong content: no crash causes that. Never dropped.
    Wrong(String),
    /// Valid, but of a newer format version.
    Newer(String),
}

/// A position between two batches, with the state of the checks up to there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchCursor {
    pub(crate) segment: u32,
    pub(crate) epoch: u64,
    /// Offset of the next batch.
    pub(crate) offset: u32,
    /// Chain hash of the last batch.
    pub(crate) hash: [u8; 32],
    /// The last sequence.
    pub(crate) last: Sequence,
    /// Its time; zero before the first frame read.
    pub(crate) time: TimeNs,
}

impl BatchCursor {
    /// The position before the first batch of a segment.
    pub(crate) fn start(header: &SegmentHeader, time: TimeNs) -> Self {
        Self {
            segment: header.number,
            epoch: header.epoch,
            offset: FIRST_BATCH,
            hash: header.previous_hash,
            last: Sequence(header.first.0 - 1),
            time,
        }
    }

    /// Verifies the batch here (position, epoch, sequences, checksums, padding, chain, frames),
    /// advances past it and returns its header. `bytes` is the readable part of the segment.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<BatchHeader, BatchFault> {
        self.next_here(bytes.get(to_usize(self.offset)..).unwrap_or_default())
    }

    /// As [`Self::next`] for the bytes from the batch on.
    pub(crate) fn next_here(&mut self, here: &[u8]) -> Result<BatchHeader, BatchFault> {
        let header = read_header(here)?;
        let (payload, padding) = sound_payload(&header, here)?;
        if !all_zero(padding) {
            return Err(BatchFault::Torn("the padding after a batch is not zero"));
        }
        self.check_header(&header)?;
        if header.expected_hash(&self.hash, payload) != header.hash {
            return Err(BatchFault::Wrong(
                "the batch does not follow the one before it (hash chain)".to_owned(),
            ));
        }
        self.time = self.check_frames(&header, payload)?;
        self.pass(&header);
        Ok(header)
    }

    /// As [`Self::next`] for a batch below the durable position: without chain, padding and frames.
    pub(crate) fn next_durable(&mut self, bytes: &[u8]) -> Result<BatchHeader, BatchFault> {
        let (header, here) = self.header_here(bytes)?;
        sound_payload(&header, here)?;
        self.check_header(&header)?;
        self.pass(&header);
        Ok(header)
    }

    /// The header of the batch here, with its position, epoch and sequences checked.
    pub(crate) fn peek(&self, bytes: &[u8]) -> Result<BatchHeader, BatchFault> {
        let (header, _) = self.header_here(bytes)?;
        self.check_header(&header)?;
        if u32::try_from(to_usize(self.offset) + header.total()).is_err() {
            return Err(BatchFault::Torn("the batch is larger than any segment"));
        }
        Ok(header)
    }

    /// Advances past the batch here, whose header is `header`.
    pub(crate) fn pass(&mut self, header: &BatchHeader) {
        self.offset += to_u32(header.total());
        self.hash = header.hash;
        self.last = header.last;
    }

    /// The header here, and the bytes from there on.
    fn header_here<'b>(&self, bytes: &'b [u8]) -> Result<(BatchHeader, &'b [u8]), BatchFault> {
        let here = bytes.get(to_usize(self.offset)..).unwrap_or_default();
        Ok((read_header(here)?, here))
    }

    /// The error for a fault here, in a range up to byte `to` and sequence `last` where every batch
    /// must be valid.
    pub(crate) fn damage(&self, fault: BatchFault, to: u32, last: Sequence) -> JournalError {
        let why = match fault {
            BatchFault::Torn(why) => why.to_owned(),
            BatchFault::Wrong(why) => why,
            BatchFault::Newer(what) => {
                return JournalError::Newer {
                    what: format!("segment {}, byte {}: {what}", self.segment, self.offset),
                };
            }
        };
        JournalError::Damaged {
            segment: self.segment,
            from: self.offset,
            to,
            first: self.last.next(),
            last,
            why,
        }
    }

    fn check_header(&self, header: &BatchHeader) -> Result<(), BatchFault> {
        let wrong = |what: &str| Err(BatchFault::Wrong(what.to_owned()));
        if (header.segment, header.offset) != (self.segment, self.offset) {
            return wrong("the batch was written for another position");
        }
        if header.epoch != self.epoch {
            return wrong("the batch's epoch differs from its segment's");
        }
        if header.first != self.last.next() || header.proven >= header.first {
            return wrong("the batch does not follow the one before it (sequence)");
        }
        if !header.has_consistent_sequences() {
            return wrong("the batch's number of frames does not match its sequences");
        }
        Ok(())
    }

    /// Checks lengths, sequences and times of all frames; returns the last time.
    fn check_frames(&self, header: &BatchHeader, payload: &[u8]) -> Result<TimeNs, BatchFault> {
        let (mut last, mut time) = (self.last, self.time);
        for frame in BatchFrames::new(header, payload) {
            let frame = frame.map_err(|error| match error {
                FrameError::Unknown { .. } => BatchFault::Newer(error.to_string()),
                _ => BatchFault::Wrong(error.to_string()),
            })?;
            if frame.sequence() != last.next() {
                return Err(BatchFault::Wrong(format!(
                    "frame {}, expected frame {}",
                    frame.sequence(),
                    last.next()
                )));
            }
            if frame.time() < time {
                return Err(BatchFault::Wrong(format!(
                    "time goes back at frame {}",
                    frame.sequence()
                )));
            }
            (last, time) = (frame.sequence(), frame.time());
        }
        if last == header.last {
            Ok(time)
        } else {
            Err(BatchFault::Wrong(
                "the frames' sequences differ from the batch header's".to_owned(),
            ))
        }
    }
}

fn read_header(here: &[u8]) -> Result<BatchHeader, BatchFault> {
    BatchHeader::read(here).map_err(|error| match error {
        HeaderError::Blank => BatchFault::Torn("no batch was written here"),
        HeaderError::Torn => BatchFault::Torn("the batch header's checksum fails"),
        HeaderError::Unknown(version) => BatchFault::Newer(format!("batch version {version}")),
    })
}

/// Payload and padding of the batch at the start of `here`, with the payload's checksum verified.
pub(crate) fn sound_payload<'b>(
    header: &BatchHeader,
    here: &'b [u8],
) -> Result<(&'b [u8], &'b [u8]), BatchFault> {
    let batch = here
        .get(..header.total())
        .ok_or(BatchFault::Torn("the file ends inside a batch"))?;
    let (payload, padding) = batch[HEADER_BYTES..].split_at(to_usize(header.payload));
    if crc32c::crc32c(payload) != header.payload_crc {
        return Err(BatchFault::Torn("the payload's checksum fails"));
    }
    Ok((payload, padding))
}
