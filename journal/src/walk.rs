//! Reading a segment batch by batch, believing nothing.

use foretell_model::{Sequence, TimeNs};

use crate::batch::{BatchHeader, Frames, HEADER_BYTES, HeaderError};
use crate::bytes::{all_zero, to_u32, to_usize};
use crate::frame::FrameError;
use crate::segment::{FIRST_BATCH, SegmentHeader};

/// What is wrong with a batch.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What a torn, lost or rotten write leaves. Above the proven watermark it is dropped.
    Torn(&'static str),
    /// Sound by its checksums and still wrong: no crash leaves that. Never dropped.
    Wrong(String),
    /// Sound, of a newer program.
    Newer(String),
}

/// A place between two batches, and what leads up to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) segment: u32,
    pub(crate) epoch: u64,
    /// Where the next batch stands.
    pub(crate) at: u32,
    /// The chain so far.
    pub(crate) hash: [u8; 32],
    /// The last sequence so far.
    pub(crate) last: Sequence,
    /// Its time; zero before the first frame of the walk.
    pub(crate) time: TimeNs,
}

impl Walk {
    /// The start of a segment.
    pub(crate) fn start(header: &SegmentHeader, time: TimeNs) -> Self {
        Self {
            segment: header.number,
            epoch: header.epoch,
            at: FIRST_BATCH,
            hash: header.previous_hash,
            last: Sequence(header.first.0 - 1),
            time,
        }
    }

    /// Verifies the batch here (place, epoch, sequences, checksums, padding, chain, frames), steps
    /// behind it and returns its header. `bytes` is the segment as far as batches may go.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<BatchHeader, Fault> {
        let here = bytes.get(to_usize(self.at)..).unwrap_or_default();
        let header = BatchHeader::read(here).map_err(|error| match error {
            HeaderError::Blank => Fault::Torn("nothing was written here"),
            HeaderError::Torn => Fault::Torn("the batch header's checksum fails"),
            HeaderError::Unknown(version) => Fault::Newer(format!("batch version {version}")),
        })?;
        let batch = here
            .get(..header.total())
            .ok_or(Fault::Torn("the file ends inside a batch"))?;
        let (payload, padding) = batch[HEADER_BYTES..].split_at(to_usize(header.payload));
        if crc32c::crc32c(payload) != header.payload_crc {
            return Err(Fault::Torn("the payload's checksum fails"));
        }
        if !all_zero(padding) {
            return Err(Fault::Torn("the padding behind a batch is not zero"));
        }
        self.check_header(&header)?;
        if header.expected_hash(&self.hash, payload) != header.hash {
            return Err(Fault::Wrong(
                "the batch does not follow the one before it (hash chain)".to_owned(),
            ));
        }
        let time = self.check_frames(&header, payload)?;
        self.at += to_u32(header.total());
        self.hash = header.hash;
        self.last = header.last;
        self.time = time;
        Ok(header)
    }

    fn check_header(&self, header: &BatchHeader) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::Wrong(what.to_owned()));
        if (header.segment, header.offset) != (self.segment, self.at) {
            return wrong("the batch was written to another place");
        }
        if header.epoch != self.epoch {
            return wrong("the batch is of another epoch than its segment");
        }
        if header.first != self.last.next() || header.proven >= header.first {
            return wrong("the batch does not follow the one before it (sequence)");
        }
        if !header.sequences_hold() {
            return wrong("the batch's number of frames does not fit its sequences");
        }
        Ok(())
    }

    /// Lengths, sequences and times of all frames; returns the last time.
    fn check_frames(&self, header: &BatchHeader, payload: &[u8]) -> Result<TimeNs, Fault> {
        let (mut last, mut time) = (self.last, self.time);
        for frame in Frames::new(header, payload) {
            let frame = frame.map_err(|error| match error {
                FrameError::Unknown { .. } => Fault::Newer(error.to_string()),
                _ => Fault::Wrong(error.to_string()),
            })?;
            if frame.sequence() != last.next() {
                return Err(Fault::Wrong(format!(
                    "frame {} stands where {} must",
                    frame.sequence(),
                    last.next()
                )));
            }
            if frame.time() < time {
                return Err(Fault::Wrong(format!(
                    "time goes back at frame {}",
                    frame.sequence()
                )));
            }
            (last, time) = (frame.sequence(), frame.time());
        }
        if last == header.last {
            Ok(time)
        } else {
            Err(Fault::Wrong(
                "the batch holds other sequences than it says".to_owned(),
            ))
        }
    }
}
