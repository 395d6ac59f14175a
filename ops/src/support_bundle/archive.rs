//! A compressed archive, which only its owner can read.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The folder of every file in the archive.
const FOLDER: &str = "foretell-support";

/// An archive that is being written.
pub(super) struct Archive(tar::Builder<GzEncoder<File>>);

impl Archive {
    /// Creates the file, which must not exist.
    pub(super) fn create(file: &Path) -> io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)?;
        let packed = GzEncoder::new(file, Compression::default());
        Ok(Self(tar::Builder::new(packed)))
    }

    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        self.0
            .append_data(&mut header, Path::new(FOLDER).join(name), content)
    }

    /// Ends the archive and syncs it.
    pub(super) fn finish(self) -> io::Result<()> {
        self.0.into_inner()?.finish()?.sync_all()
    }
}
