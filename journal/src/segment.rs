//! A segment file: one page of header, then batches, then zeros up to its fixed size. The space of
//! the zeros is released once another segment follows.
//!
//! ```text
//!   0 magic "FRTLSEGM"  |   8 version u16 | 10 zero u16 | 12 number u32
//!  16 epoch u64         |  24 first sequence u64
//!  32 bytes of the file u32 | 36 end of the previous segment u32
//!  40 hash before the first batch, 32 bytes | 72 genesis, 32 bytes
//! 104 zero up to 4092   | 4092 CRC32C of bytes 0 to 4091
//! ```
//! A segment ends at the `previous end` in the header of its successor. Later bytes are not part of
//! the journal: a torn tail that was dropped, or batches that were rewritten in the successor.

use std::path::{Path, PathBuf};

use foretell_model::Sequence;

use crate::bytes::{PAGE, hash_at, put_u16, put_u32, put_u64, u16_at, u32_at, u64_at};

/// First bytes of every segment.
pub const MAGIC: [u8; 8] = *b"FRTLSEGM";
/// The newest segment version this build reads.
pub const VERSION: u16 = 1;
/// Offset of the first batch of a segment.
pub const FIRST_BATCH: u32 = 4_096;

const CRC_AT: usize = PAGE - 4;
/// Upper limit of every sequence, epoch and count. At a billion a second it is reached after a
/// hundred years, and counting on from a valid number cannot overflow.
pub(crate) const MAX_COUNT: u64 = 1 << 62;

/// The header of a segment: its first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentHeader {
    /// Number of the segment; the first has 1.
    pub number: u32,
    /// Epoch of the engine start that created it. All its batches are of this epoch.
    pub epoch: u64,
    /// Sequence of its first frame, written or not yet.
    pub first: Sequence,
    /// Size of the file.
    pub bytes: u32,
    /// End offset of the previous segment; 0 in the first.
    pub previous_end: u32,
    /// Chain hash before its first batch.
    pub previous_hash: [u8; 32],
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
}

/// Why a page is not a segment header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SegmentHeaderError {
    /// Wrong magic, wrong checksum, or an epoch or first sequence out of range.
    #[error("no segment header with a valid checksum")]
    Damaged,
    /// Valid, but of a newer format version.
    #[error("segment version {0} is not supported by this build")]
    Unknown(u16),
}

impl SegmentHeader {
    /// The header as a page.
    #[must_use]
    pub fn page(&self) -> Box<[u8; PAGE]> {
        let mut page = Box::new([0; PAGE]);
        let out = page.as_mut_slice();
        out[..8].copy_from_slice(&MAGIC);
        put_u16(out, 8, VERSION);
        put_u32(out, 12, self.number);
        put_u64(out, 16, self.epoch);
        put_u64(out, 24, self.first.0);
        put_u32(out, 32, self.bytes);
        put_u32(out, 36, self.previous_end);
        out[40..72].copy_from_slice(&self.previous_hash);
        out[72..104].copy_from_slice(&self.genesis);
        let crc = crc32c::crc32c(&out[..CRC_AT]);
        put_u32(out, CRC_AT, crc);
        page
    }

    /// Reads a header whose checksum holds.
    ///
    /// # Errors
    /// What [`SegmentHeaderError`] names.
    pub fn read(page: &[u8]) -> Result<Self, SegmentHeaderError> {
        let (page, _) = page
            .split_first_chunk::<PAGE>()
            .ok_or(SegmentHeaderError::Damaged)?;
        if page[..8] != MAGIC || crc32c::crc32c(&page[..CRC_AT]) != u32_at(page, CRC_AT) {
            return Err(SegmentHeaderError::Damaged);
        }
        match u16_at(page, 8) {
            VERSION if ![16, 24].map(|at| u64_at(page, at)).iter().all(is_in_range) => {
                Err(SegmentHeaderError::Damaged)
            }
            VERSION => Ok(Self {
                number: u32_at(page, 12),
                epoch: u64_at(page, 16),
                first: Sequence(u64_at(page, 24)),
                bytes: u32_at(page, 32),
                previous_end: u32_at(page, 36),
                previous_hash: hash_at(page, 40),
                genesis: hash_at(page, 72),
            }),
            version => Err(SegmentHeaderError::Unknown(version)),
        }
    }
}

/// Whether an epoch or a sequence is in the range of a journal.
fn is_in_range(number: &u64) -> bool {
    (1..=MAX_COUNT).contains(number)
}

/// The file of a segment.
#[must_use]
pub fn path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.segment"))
}

/// The number in a segment's file name.
#[must_use]
pub fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".segment")?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    (format!("{number:08}") == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_and_first_sequence_are_ones_that_a_journal_can_come_to() {
        let header = |epoch, first| SegmentHeader {
            number: 1,
            epoch,
            first: Sequence(first),
            bytes: 1 << 20,
            previous_end: 0,
            previous_hash: [1; 32],
            genesis: [2; 32],
        };
        for number in [1, 2, MAX_COUNT] {
            for header in [header(1, number), header(number, 1)] {
                assert_eq!(SegmentHeader::read(&header.page()[..]), Ok(header));
            }
        }
        // The checksums are correct.
        for number in [0, MAX_COUNT + 1, u64::MAX] {
            for header in [header(1, number), header(number, 1)] {
                let read = SegmentHeader::read(&header.page()[..]);
                assert_eq!(read, Err(SegmentHeaderError::Damaged), "{number}");
            }
        }
    }
}
