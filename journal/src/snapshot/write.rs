//! Writing a snapshot: under a temporary name until every byte is on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::{self, LogName};
use super::header::{
    ALIGN, ENTRY_BYTES, HEADER_BYTES, MAX_SECTIONS, SectionEntry, SnapshotHeader, SnapshotKind,
    SnapshotLabel, is_name,
};
use super::image;
use crate::bytes::to_u32;
use crate::disk::{Disk, DiskFile, write_all};
use crate::error::{Context, JournalError};

/// Bytes are hashed, written and synced in pieces of one aligned huge page. A file system that
/// stores such a piece contiguously lets readers map it as one huge page: random reads of a long
/// history then cause fewer TLB misses. A single sync of the whole file would delay the journal's
/// syncs.
const FLUSH_BYTES: usize = 2 << 20;
const ZEROS: [u8; 64] = [0; 64];
const _: () = assert!(ZEROS.len() as u64 == ALIGN);
/// The name of the file that is being written.
const UNFINISHED: &str = "unfinished.tmp";

/// A snapshot being written, section by section. If dropped before [`SnapshotWriter::finish`], it
/// removes its file.
#[derive(Debug)]
pub struct SnapshotWriter {
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    /// The temporary path.
    path: PathBuf,
    is_renamed: bool,
    label: SnapshotLabel,
    /// The log a chunk belongs to.
    log: LogName,
    /// Bytes that are not written yet, and their offset in the file.
    pending: Vec<u8>,
    at: u64,
    hasher: blake3::Hasher,
    sections: Vec<SectionEntry>,
}

impl SnapshotWriter {
    /// Begins a file in `dir`. There is one writer at a time: an existing unfinished file is left
    /// over from an earlier one.
    pub(super) fn create(
        disk: Arc<dyn Disk>,
        dir: &Path,
        label: SnapshotLabel,
        log: LogName,
    ) -> Result<Self, JournalError> {
        let path = dir.join(UNFINISHED);
        remove_if_there(&*disk, &path)?;
        let file = disk.create(&path).context("create", &path)?;
        Ok(Self {
            disk,
            file,
            path,
            is_renamed: false,
            label,
            log,
            pending: blank_header(),
            at: 0,
            hasher: blake3::Hasher::new(),
            sections: Vec::new(),
        })
    }

    /// Begins the next section; the following writes are its bytes.
    ///
    /// # Errors
    /// An I/O error.
    ///
    /// # Panics
    /// When the name is not 1 to 40 lower-case letters, digits, hyphens and dots, or was used
    /// before, or there are 4,096 sections: names are constants of the callers.
    pub fn begin(&mut self, name: &str) -> Result<(), JournalError> {
        assert!(is_name(name), "a section's name: {name:?}");
        let is_new = self.sections.iter().all(|section| section.name != name);
        assert!(
            is_new && self.sections.len() < MAX_SECTIONS as usize,
            "section {name:?}"
        );
        self.end_section()?;
        self.sections.push(SectionEntry {
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
    /// When no section was begun.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let section = self.sections.last_mut().expect("a section was begun");
        section.length += bytes.len() as u64;
        self.put(bytes)
    }

    /// Writes the rest, syncs the file, and renames it. Returns its hash, which names its content.
    ///
    /// # Errors
    /// An I/O error. No file has the final name then, unless only the sync of the directory failed.
    pub fn finish(mut self) -> Result<[u8; 32], JournalError> {
        let hash = self.write_end()?;
        let name = match self.label.kind {
            SnapshotKind::Image => image::file_name(self.label.sequence),
            SnapshotKind::Chunk => chunk::file_name(self.log, self.label.number, &hash),
        };
        let named = self.path.with_file_name(name);
        (self.disk.rename(&self.path, &named)).context("rename", &self.path)?;
        self.is_renamed = true;
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
        let mut header = SnapshotHeader {
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

    /// Pads with zeros up to the offset of the next section.
    fn end_section(&mut self) -> Result<(), JournalError> {
        let behind = self.position().next_multiple_of(ALIGN) - self.position();
        let behind = usize::try_from(behind).expect("it is below ALIGN");
        self.put(&ZEROS[..behind])
    }

    /// The offset of the next byte.
    fn position(&self) -> u64 {
        self.at + self.pending.len() as u64
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), JournalError> {
        while self.pending.len() + bytes.len() >= FLUSH_BYTES {
            let (now, later) = bytes.split_at(FLUSH_BYTES - self.pending.len());
            self.pending.extend_from_slice(now);
            self.flush()?;
            self.file.sync_data().context("sync", &self.path)?;
            bytes = later;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), JournalError> {
        // The placeholder of the header is not hashed.
        let hashed = if self.at == 0 { HEADER_BYTES } else { 0 };
        self.hasher.update(&self.pending[hashed..]);
        write_all(&mut *self.file, &self.pending, self.at).context("write", &self.path)?;
        self.at += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

/// The start of the first piece: room for the header, which is written last.
fn blank_header() -> Vec<u8> {
    let mut piece = Vec::with_capacity(FLUSH_BYTES);
    piece.resize(HEADER_BYTES, 0);
    piece
}

impl Drop for SnapshotWriter {
    fn drop(&mut self) {
        if !self.is_renamed
            && let Err(error) = remove_if_there(&*self.disk, &self.path)
        {
            tracing::warn!(%error, "cannot remove an unfinished snapshot; the next one replaces it");
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
