//! The watermark: the position up to which the journal is known to be on the disk, in its own file.
//!
//! Two slots of a page each, written alternately, so that a torn write leaves the other intact:
//! ```text
//!  0 magic "FRTLMARK" | 8 version u16 | 10 zero, 6 bytes | 16 count u64 | 24 epoch u64
//! 32 sequence u64     | 40 segment u32 | 44 end u32 | 48 hash, 32 bytes | 80 genesis, 32 bytes
//! 112 zero up to 4092 | 4092 CRC32C of bytes 0 to 4091
//! ```
//! The slot is `count mod 2`; the valid slot with the higher count is the watermark. It trails the
//! journal by up to 50 ms. Every batch header contains the sequence known to be on the disk when
//! the batch was opened, so only the last batch remains unproven.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use foretell_model::Sequence;
use rustix::fs::OFlags;

use crate::bytes::{PAGE, hash_at, put_u16, put_u32, put_u64, u16_at, u32_at, u64_at};
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};
use crate::map::open_for_reading;
use crate::segment::MAX_COUNT;

/// First bytes of a slot.
pub const MAGIC: [u8; 8] = *b"FRTLMARK";
/// The newest version this build reads.
pub const VERSION: u16 = 1;

const CRC_AT: usize = PAGE - 4;
/// Bytes of the file.
const SLOTS: usize = 2 * PAGE;

/// A proven position of the journal: a boundary between batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watermark {
    /// Number of watermarks written before it.
    pub count: u64,
    /// The epoch of the engine that wrote it.
    pub epoch: u64,
    /// The last proven sequence; 0 for none.
    pub sequence: Sequence,
    /// The segment of the last proven batch.
    pub segment: u32,
    /// End offset of that batch.
    pub end: u32,
    /// Chain hash at that position.
    pub hash: [u8; 32],
    /// Genesis of its journal.
    pub genesis: [u8; 32],
}

impl Watermark {
    /// The slot as a page.
    #[must_use]
    pub fn page(&self) -> Box<[u8; PAGE]> {
        let mut page = Box::new([0; PAGE]);
        let out = page.as_mut_slice();
        out[..8].copy_from_slice(&MAGIC);
        put_u16(out, 8, VERSION);
        put_u64(out, 16, self.count);
        put_u64(out, 24, self.epoch);
        put_u64(out, 32, self.sequence.0);
        put_u32(out, 40, self.segment);
        put_u32(out, 44, self.end);
        out[48..80].copy_from_slice(&self.hash);
        out[80..112].copy_from_slice(&self.genesis);
        let crc = crc32c::crc32c(&out[..CRC_AT]);
        put_u32(out, CRC_AT, crc);
        page
    }

    /// A valid slot and its version. `None` if the slot is torn, was never written, or has a number
    /// out of range.
    fn read_slot(page: &[u8]) -> Option<(u16, Self)> {
        let (page, _) = page.split_first_chunk::<PAGE>()?;
        let sound = page[..8] == MAGIC && crc32c::crc32c(&page[..CRC_AT]) == u32_at(page, CRC_AT);
        let version = u16_at(page, 8);
        let is_in_range = [16, 24].iter().all(|at| u64_at(page, *at) <= MAX_COUNT);
        (sound && (version != VERSION || is_in_range)).then(|| {
            let mark = Self {
                count: u64_at(page, 16),
                epoch: u64_at(page, 24),
                sequence: Sequence(u64_at(page, 32)),
                segment: u32_at(page, 40),
                end: u32_at(page, 44),
                hash: hash_at(page, 48),
                genesis: hash_at(page, 80),
            };
            (version, mark)
        })
    }
}

/// The watermark's file.
#[must_use]
pub fn path(dir: &Path) -> PathBuf {
    dir.join("watermark")
}

/// Reads the watermark; `None` when there is no file.
///
/// # Errors
/// Both slots damaged, or a newer version.
pub fn read(dir: &Path) -> Result<Option<Watermark>, JournalError> {
    let path = path(dir);
    let mut bytes = Vec::new();
    let read = open_for_reading(&path, OFlags::empty())
        .and_then(|file| file.take(SLOTS as u64).read_to_end(&mut bytes));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(JournalError::io("read", &path, error)),
    }
    let newest = bytes
        .chunks(PAGE)
        .filter_map(Watermark::read_slot)
        .max_by_key(|(_, mark)| mark.count);
    match newest {
        Some((VERSION, mark)) => Ok(Some(mark)),
        Some((version, _)) => Err(JournalError::Newer {
            what: format!("watermark version {version}"),
        }),
        None => Err(JournalError::Watermark {
            path,
            why: "both slots are damaged".to_owned(),
        }),
    }
}

/// The watermark's file, open for writing.
#[derive(Debug)]
pub(crate) struct WatermarkFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
}

impl WatermarkFile {
    /// Creates the file with a first watermark; it gets its name when it is complete.
    pub(crate) fn create(
        disk: &dyn Disk,
        dir: &Path,
        mark: &Watermark,
    ) -> Result<Self, JournalError> {
        let path = path(dir);
        let fresh = dir.join("watermark.tmp");
        let file = disk.create(&fresh).context("create", &fresh)?;
        let mut made = Self { file, path };
        let blank = [0; SLOTS];
        write_all(&mut *made.file, &blank, 0).context("write", &fresh)?;
        made.record(mark)?;
        disk.rename(&fresh, &made.path).context("rename", &fresh)?;
        disk.sync_dir(dir).context("sync", dir)?;
        Ok(made)
    }

    pub(crate) fn open(disk: &dyn Disk, dir: &Path) -> Result<Self, JournalError> {
        let path = path(dir);
        let file = disk.open(&path).context("open", &path)?;
        Ok(Self { file, path })
    }

    /// Writes the slot of `mark.count` and syncs it.
    pub(crate) fn record(&mut self, mark: &Watermark) -> Result<(), JournalError> {
        let slot = (mark.count % 2) * PAGE as u64;
        write_all(&mut *self.file, mark.page().as_slice(), slot).context("write", &self.path)?;
        self.file.sync_data().context("sync", &self.path)
    }
}
