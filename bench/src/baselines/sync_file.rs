//! Bare cost of durability: a write and `fdatasync` into a preallocated and synced file, as the
//! journal's segments are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Size of the file, used as a ring.
const FILE_BYTES: usize = 16 << 20;

pub(crate) struct SyncFile {
    file: File,
    offset: usize,
}

impl SyncFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create_new(path)?;
        file.write_all_at(&vec![0; FILE_BYTES], 0)?;
        file.sync_all()?;
        Ok(Self { file, offset: 0 })
    }

    /// Writes whole pages, at most as many as the file has.
    pub(crate) fn write_and_sync(&mut self, pages: &[u8]) -> io::Result<()> {
        if self.offset + pages.len() > FILE_BYTES {
            self.offset = 0;
        }
        self.file.write_all_at(pages, self.offset as u64)?;
        self.file.sync_data()?;
        self.offset += pages.len();
        Ok(())
    }
}
