//! What an operator may choose.

use std::sync::Arc;
use std::time::Duration;

use crate::batch;
use crate::bytes::{PAGE, to_usize};
use crate::disk::{Disk, RealDisk};
use crate::error::JournalError;
use crate::frame;
use crate::host::{Host, RealHost};
use crate::segment::FIRST_BATCH;

/// What an acknowledgement means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// On the disk: after `fdatasync`. Survives a power cut.
    #[default]
    Disk,
    /// In the kernel: after the write. Survives kill -9 of any process; synced when idle and when a
    /// segment is full.
    Process,
    /// As `Process`, and never synced before the end. For benchmarks only.
    None,
}

impl Durability {
    /// The name in configuration and on health endpoints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Process => "process",
            Self::None => "none",
        }
    }
}

/// How a journal is opened for writing.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size of new segments: whole pages, at least [`Options::SMALLEST_SEGMENT`].
    pub segment_bytes: u32,
    /// Size of each of the two staging buffers: whole pages, room for the largest frame.
    pub staging_bytes: usize,
    /// What an acknowledgement means.
    pub durability: Durability,
    /// The watermark names a durable batch at most this long after it.
    pub watermark_after: Duration,
    /// With less than this free on the disk, `disk_low` is raised: new orders are to be refused,
    /// and what is left is for cancels.
    pub disk_reserve_bytes: u64,
    /// Open although the last engine ended on an I/O error, and read past the page cache.
    pub after_io_error: bool,
    /// The file system.
    pub disk: Arc<dyn Disk>,
    /// Time and randomness.
    pub host: Arc<dyn Host>,
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
            host: Arc::new(RealHost::default()),
        }
    }
}

/// What a batch with the largest frame takes at most.
pub(crate) const LARGEST_BATCH_OF_ONE: usize =
    (batch::HEADER_BYTES + frame::LARGEST).next_multiple_of(PAGE);

impl Options {
    /// The smallest segment: its header and one largest frame, and as much again.
    pub const SMALLEST_SEGMENT: u32 = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), JournalError> {
        if self.segment_bytes < Self::SMALLEST_SEGMENT
            || !to_usize(self.segment_bytes).is_multiple_of(PAGE)
        {
            return Err(JournalError::Options(
                "segments are whole pages, at least 1 MiB",
            ));
        }
        if self.staging_bytes < LARGEST_BATCH_OF_ONE || !self.staging_bytes.is_multiple_of(PAGE) {
            return Err(JournalError::Options(
                "staging buffers are whole pages with room for the largest frame (at least 512 KiB)",
            ));
        }
        Ok(())
    }
}

const _: () =
    assert!(2 * LARGEST_BATCH_OF_ONE + FIRST_BATCH as usize <= Options::SMALLEST_SEGMENT as usize);
