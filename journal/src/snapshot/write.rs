//! Writing a snapshot: under another name until every byte of it is on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::{self, LogName};
use super::header::{
    ALIGN, ENTRY_BYTES, Entry, HEADER_BYTES, Header, Kind, Label, MAX_SECTIONS, is_name,
};
use super::image;
use crate::bytes::to_u32;
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};

/// Bytes are collected up to here before they are hashed, written and synced: one huge page, at a multiple
/// of its size. Where the file system keeps such pieces in one, readers who map the file do too, and a look
/// at a random place of a long history does not wait for the tables that say where its memory is. One sync
/// of a whole file would keep the disk from the journal's for as long.
const PIECE: usize = 2 << 20;
const ZEROS: [u8; 64] = [0; 64];
const _: () = assert!(ZEROS.len() as u64 == ALIGN);
/// The name of the file that is being written.
const UNFINISHED: &str = "unfinished.tmp";

/// A snapshot being written, section by section. Dropped before [`SnapshotWriter::finish`], it
/// leaves nothing behind.
#[derive(Debug)]
pub struct SnapshotWriter {
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    /// The name it has while it is unfinished.
    path: PathBuf,
    has_its_name: bool,
    label: Label,
    /// The log a chunk belongs to.
    log: LogName,
    /// Bytes that are not written yet, and where they belong.
    piece: Vec<u8>,
    at: u64,
    hasher: blake3::Hasher,
    sections: Vec<Entry>,
}

impl SnapshotWriter {
    /// Begins a file in `dir`. One writer at a time: an unfinished file that is there is another's
    /// remains.
    pub(super) fn create(
        disk: Arc<dyn Disk>,
        dir: &Path,
        label: Label,
        log: LogName,
    ) -> Result<Self, JournalError> {
        let path = dir.join(UNFINISHED);
        remove_if_there(&*disk, &path)?;
        let file = disk.create(&path).context("create", &path)?;
        Ok(Self {
            disk,
            file,
            path,
            has_its_name: false,
            label,
            log,
            piece: blank_header(),
            at: 0,
            hasher: blake3::Hasher::new(),
            sections: Vec::new(),
        })
    }

    /// Begins the next section; what is written from here on is its bytes.
    ///
    /// # Errors
    /// An I/O error.
    ///
    /// # Panics
    /// When the name is not 1 to 40 lower-case letters, digits, hyphens and dots, or was used before, or
    /// there are 4,096 sections: names are constants of those who write.
    pub fn begin(&mut self, name: &str) -> Result<(), JournalError> {
        assert!(is_name(name), "a section's name: {name:?}");
        let is_new = self.sections.iter().all(|section| section.name != name);
        assert!(
            is_new && self.sections.len() < MAX_SECTIONS as usize,
            "section {name:?}"
        );
        self.end_section()?;
        self.sections.push(Entry {
            name: name.to_owned(),
            offset: self.position(),
            length: 0,
        });
        Ok(())
    }

    /// Adds bytes to the section.
    ///
    /// # Errors
    /// An I/O error.
    ///
    /// # Panics
    /// Before the first section was begun.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let section = self.sections.last_mut().expect("a section was begun");
        section.length += bytes.len() as u64;
        self.put(bytes)
    }

    /// Writes the rest, syncs everything, and gives the file its name in the directory. Returns
    /// its hash, which names its content.
    ///
    /// # Errors
    /// An I/O error; then nothing has the name, unless the directory itself could not be synced.
    pub fn finish(mut self) -> Result<[u8; 32], JournalError> {
        let hash = self.write_end()?;
        let name = match self.label.kind {
            Kind::Image => image::file_name(self.label.sequence),
            Kind::Chunk => chunk::file_name(self.log, self.label.number, &hash),
        };
        let named = self.path.with_file_name(name);
        (self.disk.rename(&self.path, &named)).context("rename", &self.path)?;
        self.has_its_name = true;
        let dir = named.parent().expect("it lies in a directory");
        self.disk.sync_dir(dir).context("sync", dir)?;
        Ok(hash)
    }

    fn write_end(&mut self) -> Result<[u8; 32], JournalError> {
        self.end_section()?;
        let table_at = self.position();
        let mut table = Vec::with_capacity(self.sections.len() * ENTRY_BYTES);
        for section in &self.sections {
            section.write(&mut table);
        }
        self.put(&table)?;
        let mut header = Header {
            label: self.label,
            bytes: self.position(),
            table: table_at,
            sections: to_u32(self.sections.len()),
            table_crc: crc32c::crc32c(&table),
            hash: [0; 32],
        };
        self.flush()?;
        self.hasher.update(&header.blank());
        header.hash = *self.hasher.finalize().as_bytes();
        let path = &self.path;
        write_all(&mut *self.file, &header.close(), 0).context("write", path)?;
        self.file.sync_data().context("sync", path)?;
        self.file.make_read_only().context("seal", path)?;
        Ok(header.hash)
    }

    /// Fills up to where the next section may begin.
    fn end_section(&mut self) -> Result<(), JournalError> {
        let behind = self.position().next_multiple_of(ALIGN) - self.position();
        let behind = usize::try_from(behind).expect("it is below ALIGN");
        self.put(&ZEROS[..behind])
    }

    /// Where the next byte goes.
    fn position(&self) -> u64 {
        self.at + self.piece.len() as u64
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), JournalError> {
        while self.piece.len() + bytes.len() >= PIECE {
            let (now, later) = bytes.split_at(PIECE - self.piece.len());
            self.piece.extend_from_slice(now);
            self.flush()?;
            self.file.sync_data().context("sync", &self.path)?;
            bytes = later;
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), JournalError> {
        // What stands where the header goes is no header yet.
        let hashed = if self.at == 0 { HEADER_BYTES } else { 0 };
        self.hasher.update(&self.piece[hashed..]);
        write_all(&mut *self.file, &self.piece, self.at).context("write", &self.path)?;
        self.at += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }
}

/// The beginning of the first piece: the header is written last.
fn blank_header() -> Vec<u8> {
    let mut piece = Vec::with_capacity(PIECE);
    piece.resize(HEADER_BYTES, 0);
    piece
}

impl Drop for SnapshotWriter {
    fn drop(&mut self) {
        if !self.has_its_name
            && let Err(error) = remove_if_there(&*self.disk, &self.path)
        {
            tracing::warn!(%error, "an unfinished snapshot stays until the next one");
        }
    }
}

fn remove_if_there(disk: &dyn Disk, path: &Path) -> Result<(), JournalError> {
    match disk.remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(JournalError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}
