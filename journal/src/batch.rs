//! A batch: the unit of one sync. A header of 128 bytes, then its frames, then zero bytes up to the
//! end of the page.
//!
//! ```text
//!  0 magic "FRTLBTCH"       | 8 version u16 | 10 zero u16 | 12 frames u32
//! 16 payload bytes u32      | 20 segment u32 | 24 offset u32 | 28 zero u32
//! 32 epoch u64              | 40 first sequence u64
//! 48 last sequence u64      | 56 proven sequence u64
//! 64 CRC32C of the header u32 | 68 CRC32C of the payload u32 | 72 zero, 24 bytes
//! 96 hash, 32 bytes
//! ```

use std::sync::Arc;

use foretell_model::Sequence;

use crate::bytes::{
    all_zero, hash_at, put_u16, put_u32, put_u64, to_u32, to_usize, u16_at, u32_at, u64_at,
    whole_pages,
};
use crate::chain;
use crate::frame::{Frame, FrameError};
use crate::map::SegmentMap;

/// First bytes of every batch.
pub const MAGIC: [u8; 8] = *b"FRTLBTCH";
/// The newest batch version this build reads.
pub const VERSION: u16 = 1;
/// Bytes of a batch's header.
pub const HEADER_BYTES: usize = 128;

/// Bytes on the disk of a batch with one frame of this length.
#[must_use]
pub const fn batch_bytes(frame: usize) -> usize {
    whole_pages(HEADER_BYTES + frame)
}

const HEADER_CRC_AT: usize = 64;
const PAYLOAD_CRC_AT: usize = 68;
const HASH_AT: usize = 96;

/// The header of a batch. The cursor that reads the journal compares segment, offset, epoch and
/// sequences with the actual position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchHeader {
    /// Number of frames.
    pub frames: u32,
    /// Bytes of all frames.
    pub payload: u32,
    /// Number of the segment it was written to.
    pub segment: u32,
    /// Its offset in that segment, a multiple of the page size.
    pub offset: u32,
    /// Epoch of the engine start that wrote it.
    pub epoch: u64,
    /// Sequence of its first frame.
    pub first: Sequence,
    /// Sequence of its last frame.
    pub last: Sequence,
    /// The last sequence known to be on the disk when the batch was opened; 0 for none.
    pub proven: Sequence,
    /// CRC32C of the payload.
    pub payload_crc: u32,
    /// Chain hash that includes this batch.
    pub hash: [u8; 32],
}

/// Why bytes are not a batch header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HeaderError {
    /// All zero: never written.
    #[error("blank")]
    Blank,
    /// Wrong magic, wrong checksum, or non-zero padding.
    #[error("no batch header with a valid checksum")]
    Torn,
    /// Valid, but of a newer format version.
    #[error("batch version {0} is not supported by this build")]
    Unknown(u16),
}

impl BatchHeader {
    /// Bytes the batch takes in the segment: whole pages.
    #[must_use]
    pub fn total(&self) -> usize {
        whole_pages(HEADER_BYTES + to_usize(self.payload))
    }

    /// Whether the sequences match the number of frames, and the proven sequence precedes the
    /// first.
    pub(crate) fn has_consistent_sequences(&self) -> bool {
        self.proven < self.first
            && self.last.0.checked_sub(self.first.0) == u64::from(self.frames).checked_sub(1)
    }

    /// Completes a batch in place: `batch` has room for the header, then the payload. Computes the
    /// checksums and the hash, writes the header, and returns it.
    ///
    /// The values of `header.payload`, `payload_crc` and `hash` are ignored and overwritten.
    #[must_use]
    pub fn close(mut header: Self, previous_hash: &[u8; 32], batch: &mut [u8]) -> Self {
        let (head, payload) = batch.split_at_mut(HEADER_BYTES);
        header.payload = to_u32(payload.len());
        header.payload_crc = 0;
        header.hash = [0; 32];
        header.write(head);
        header.hash = chain::link(previous_hash, head, payload);
        header.payload_crc = crc32c::crc32c(payload);
        header.write(head);
        let crc = crc32c::crc32c(head);
        put_u32(head, HEADER_CRC_AT, crc);
        header
    }

    /// Writes every byte of the header, with zero as the header's own checksum.
    fn write(&self, out: &mut [u8]) {
        out[..HEADER_BYTES].fill(0);
        out[..8].copy_from_slice(&MAGIC);
        put_u16(out, 8, VERSION);
        put_u32(out, 12, self.frames);
        put_u32(out, 16, self.payload);
        put_u32(out, 20, self.segment);
        put_u32(out, 24, self.offset);
        put_u64(out, 32, self.epoch);
        put_u64(out, 40, self.first.0);
        put_u64(out, 48, self.last.0);
        put_u64(out, 56, self.proven.0);
        put_u32(out, PAYLOAD_CRC_AT, self.payload_crc);
        out[HASH_AT..HEADER_BYTES].copy_from_slice(&self.hash);
    }

    /// Reads a header and checks its checksum.
    ///
    /// # Errors
    /// As listed in [`HeaderError`].
    pub fn read(bytes: &[u8]) -> Result<Self, HeaderError> {
        let (head, _) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(HeaderError::Torn)?;
        if all_zero(head) {
            return Err(HeaderError::Blank);
        }
        let mut blank = *head;
        put_u32(&mut blank, HEADER_CRC_AT, 0);
        if head[..8] != MAGIC || crc32c::crc32c(&blank) != u32_at(head, HEADER_CRC_AT) {
            return Err(HeaderError::Torn);
        }
        let version = u16_at(head, 8);
        if version != VERSION {
            return Err(HeaderError::Unknown(version));
        }
        if u16_at(head, 10) != 0 || u32_at(head, 28) != 0 || !all_zero(&head[72..HASH_AT]) {
            return Err(HeaderError::Torn);
        }
        Ok(Self {
            frames: u32_at(head, 12),
            payload: u32_at(head, 16),
            segment: u32_at(head, 20),
            offset: u32_at(head, 24),
            epoch: u64_at(head, 32),
            first: Sequence(u64_at(head, 40)),
            last: Sequence(u64_at(head, 48)),
            proven: Sequence(u64_at(head, 56)),
            payload_crc: u32_at(head, PAYLOAD_CRC_AT),
            hash: hash_at(head, HASH_AT),
        })
    }

    /// The hash that this batch must have after `previous_hash`.
    #[must_use]
    pub fn expected_hash(&self, previous_hash: &[u8; 32], payload: &[u8]) -> [u8; 32] {
        let mut head = [0; HEADER_BYTES];
        let blank = Self {
            payload_crc: 0,
            hash: [0; 32],
            ..*self
        };
        blank.write(&mut head);
        chain::link(previous_hash, &head, payload)
    }
}

/// A verified batch. Its segment stays mapped while the batch or a clone of it lives.
#[derive(Clone, Debug)]
pub struct Batch {
    segment: Arc<SegmentMap>,
    header: BatchHeader,
}

impl Batch {
    /// `header` was read from `segment` and verified there.
    pub(crate) const fn new(segment: Arc<SegmentMap>, header: BatchHeader) -> Self {
        Self { segment, header }
    }

    /// Its header.
    #[must_use]
    pub const fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The bytes of all its frames.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let start = to_usize(self.header.offset) + HEADER_BYTES;
        &self.segment.bytes()[start..start + to_usize(self.header.payload)]
    }

    /// Its bytes from the header on, up to the readable end of its segment.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.segment.bytes()[to_usize(self.header.offset)..]
    }

    /// Its frames, in order. All of them parse: the scan verified that.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        BatchFrames::new(&self.header, self.payload()).map_while(Result::ok)
    }

    /// Its frames above sequence `after`.
    pub(crate) fn frames_after(&self, after: Sequence) -> impl Iterator<Item = Frame<'_>> {
        self.frames()
            .skip_while(move |frame| frame.sequence() <= after)
    }
}

/// Iterator over the frames of a batch's payload; ends after the first invalid frame.
#[derive(Clone, Debug)]
pub struct BatchFrames<'a> {
    payload: &'a [u8],
    segment: u32,
    offset: u32,
}

impl<'a> BatchFrames<'a> {
    /// No frames.
    pub(crate) const fn empty() -> Self {
        Self {
            payload: &[],
            segment: 0,
            offset: 0,
        }
    }

    /// The frames of `payload`, which belongs to the batch with this header.
    #[must_use]
    pub fn new(header: &BatchHeader, payload: &'a [u8]) -> Self {
        Self {
            payload,
            segment: header.segment,
            offset: header.offset + to_u32(HEADER_BYTES),
        }
    }
}

impl<'a> Iterator for BatchFrames<'a> {
    type Item = Result<Frame<'a>, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.payload.is_empty() {
            return None;
        }
        let frame = Frame::parse(self.payload, self.segment, self.offset);
        match &frame {
            Ok(frame) => {
                self.payload = &self.payload[frame.bytes().len()..];
                self.offset += frame.place().length;
            }
            Err(_) => self.payload = &[],
        }
        Some(frame)
    }
}
