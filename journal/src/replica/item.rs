//! A message of the replicated log.

use crate::batch::{self, BatchFrames, BatchHeader, HEADER_BYTES};
use crate::bytes::{PAGE, to_usize};
use crate::segment::{self, SegmentHeader};

/// Maximum bytes of an item that a leader writes: below the 1 MiB that a server of the log accepts
/// with its headers.
pub const MAX_ITEM_BYTES: usize = 960 << 10;

/// An item of a journal, with its own checksums verified. Whether it follows the item before is
/// checked where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item<'m> {
    /// The header of a segment.
    Segment(SegmentHeader),
    /// A batch: header and payload.
    Batch(BatchHeader, &'m [u8]),
}

impl<'m> Item<'m> {
    /// Reads a message.
    ///
    /// # Errors
    /// Neither a header nor a batch with valid checksums, or of a newer format version.
    pub fn read(message: &'m [u8]) -> Result<Self, String> {
        if message.starts_with(&segment::MAGIC) {
            let header = SegmentHeader::read(message).map_err(|error| error.to_string())?;
            return match message.len() {
                PAGE => Ok(Self::Segment(header)),
                other => Err(format!("a segment header of {other} bytes")),
            };
        }
        let header = BatchHeader::read(message).map_err(|error| error.to_string())?;
        let payload = &message[batch::HEADER_BYTES..];
        if payload.len() != to_usize(header.payload) {
            return Err(format!(
                "a batch with {} bytes of frames, its header says {}",
                payload.len(),
                header.payload
            ));
        }
        if crc32c::crc32c(payload) != header.payload_crc {
            return Err("the payload's checksum fails".to_owned());
        }
        Ok(Self::Batch(header, payload))
    }

    /// Segment and offset of the item. They rise from item to item.
    #[must_use]
    pub const fn position(&self) -> (u32, u32) {
        match self {
            Self::Segment(header) => (header.number, 0),
            Self::Batch(header, _) => (header.segment, header.offset),
        }
    }

    /// The term of the leader that wrote it.
    #[must_use]
    pub const fn term(&self) -> u64 {
        match self {
            Self::Segment(header) => header.epoch,
            Self::Batch(header, _) => header.epoch,
        }
    }

    /// The frames of a batch; none of a header.
    #[must_use]
    pub fn frames(&self) -> BatchFrames<'m> {
        match self {
            Self::Segment(_) => BatchFrames::empty(),
            Self::Batch(header, payload) => BatchFrames::new(header, payload),
        }
    }
}

/// The message of a batch at the start of `bytes`, which may go on with padding.
pub(crate) fn batch_message<'b>(header: &BatchHeader, bytes: &'b [u8]) -> &'b [u8] {
    &bytes[..HEADER_BYTES + to_usize(header.payload)]
}
