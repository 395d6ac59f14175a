//! Settings of a journal that is opened for writing.

use std::sync::Arc;
use std::time::Duration;

use foretell_model::Durability;

use crate::batch;
use crate::bytes::{PAGE, to_usize};
use crate::clock_and_random::{ClockAndRandom, SystemClockAndRandom};
use crate::disk::{Disk, RealDisk};
use crate::error::JournalError;
use crate::frame;
use crate::segment::FIRST_BATCH;

/// Options for opening a journal for writing.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size of new segments: whole pages, at least [`Options::MIN_SEGMENT_BYTES`].
    pub segment_bytes: u32,
    /// Size of each of the two staging buffers: whole pages, at least one batch with the largest
    /// frame.
    pub staging_bytes: usize,
    /// The durability that an acknowledgement guarantees.
    pub durability: Durability,
    /// Maximum delay until the watermark covers a durable batch.
    pub watermark_after: Duration,
    /// With less free space than this, `disk_low` is raised: the engine rejects new orders and
    /// keeps the rest of the disk for cancels.
    pub disk_reserve_bytes: u64,
    /// Open a journal whose last engine ended on an I/O error; read it past the page cache.
    pub after_io_error: bool,
    /// The file system.
    pub disk: Arc<dyn Disk>,
    /// Clock and random bytes.
    pub host: Arc<dyn ClockAndRandom>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            staging_bytes: 4 << 20,
            durability: Durability::Disk,
            watermark_after: Duration::from_millis(50),
            disk_reserve_bytes: 512 << 20,
            after_io_error: false,
            disk: Arc::new(RealDisk),
            host: Arc::new(SystemClockAndRandom::default()),
        }
    }
}

/// Maximum size of a batch that holds one frame.
pub(crate) const MAX_SINGLE_FRAME_BATCH: usize =
    (batch::HEADER_BYTES + frame::MAX_BYTES).next_multiple_of(PAGE);

impl Options {
    /// The minimum size of a segment: its header and two batches with the largest frame.
    pub const MIN_SEGMENT_BYTES: u32 = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), JournalError> {
        if self.segment_bytes < Self::MIN_SEGMENT_BYTES
            || !to_usize(self.segment_bytes).is_multiple_of(PAGE)
        {
            return Err(JournalError::Options(
                "a segment must be a multiple of 4096 bytes, at least 1 MiB",
            ));
        }
        if self.staging_bytes < MAX_SINGLE_FRAME_BATCH || !self.staging_bytes.is_multiple_of(PAGE) {
            return Err(JournalError::Options(
                "a staging buffer must be a multiple of 4096 bytes with room for the largest frame (at least 512 KiB)",
            ));
        }
        Ok(())
    }
}

const _: () = assert!(
    2 * MAX_SINGLE_FRAME_BATCH + FIRST_BATCH as usize <= Options::MIN_SEGMENT_BYTES as usize
);
