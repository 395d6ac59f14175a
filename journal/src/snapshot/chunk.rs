//! History chunks (rows of a log that never change again), and their list in an image.

use std::path::{Path, PathBuf};

use super::error::SnapshotError;
use super::header::{SnapshotKind, is_name};
use super::read::{Section, Snapshot};
use crate::bytes::{all_zero, hash_at, put_u32, u32_at};

/// Size of one row of an image's list of chunks.
pub const CHUNK_ENTRY_BYTES: usize = 64;
/// Maximum size of a log's name.
const MAX_LOG_NAME: usize = 24;

/// The name of a log: 1 to 24 lower-case letters, digits, hyphens and dots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct LogName([u8; MAX_LOG_NAME]);

impl LogName {
    /// The name, if it is valid.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let mut bytes = [0; MAX_LOG_NAME];
        bytes
            .get_mut(..name.len())?
            .copy_from_slice(name.as_bytes());
        is_name(name).then_some(Self(bytes))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0);
        str::from_utf8(&self.0[..length.unwrap_or(MAX_LOG_NAME)]).expect("new saw ASCII")
    }

    fn read(bytes: &[u8; MAX_LOG_NAME]) -> Option<Self> {
        let length = bytes.iter().position(|byte| *byte == 0);
        let (name, zeros) = bytes.split_at(length.unwrap_or(MAX_LOG_NAME));
        Self::new(str::from_utf8(name).ok()?).filter(|_| all_zero(zeros))
    }
}

/// A chunk's entry in an image's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkEntry {
    /// The log it belongs to.
    pub log: LogName,
    /// Its index in the log, from 0.
    pub number: u32,
    /// Number of its rows.
    pub rows: u32,
    /// The hash of its file.
    pub hash: [u8; 32],
}

impl ChunkEntry {
    /// Its path in a directory of snapshots.
    #[must_use]
    pub fn path(&self, dir: &Path) -> PathBuf {
        dir.join(file_name(self.log, self.number, &self.hash))
    }

    /// The bytes of the entry in the list.
    #[must_use]
    pub fn encode(&self) -> [u8; CHUNK_ENTRY_BYTES] {
        let mut row = [0; CHUNK_ENTRY_BYTES];
        row[..MAX_LOG_NAME].copy_from_slice(&self.log.0);
        put_u32(&mut row, 24, self.number);
        put_u32(&mut row, 28, self.rows);
        row[32..].copy_from_slice(&self.hash);
        row
    }

    pub(super) fn decode(row: &[u8; CHUNK_ENTRY_BYTES]) -> Option<Self> {
        let (log, _) = row.split_first_chunk()?;
        Some(Self {
            log: LogName::read(log)?,
            number: u32_at(row, 24),
            rows: u32_at(row, 28),
            hash: hash_at(row, 32),
        })
    }
}

/// The name of a chunk's file: log, number, and the first 16 hexadecimal digits of its hash, so
/// that chunks with different content have different names.
pub(super) fn file_name(log: LogName, number: u32, hash: &[u8; 32]) -> String {
    let digits = u64::from_be_bytes(*hash.first_chunk().expect("32 bytes hold 8"));
    format!("{}-{number:06}-{digits:016x}.chunk", log.as_str())
}

/// An open chunk that matches its entry in an image.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The file.
    pub snapshot: Snapshot,
    log: LogName,
}

impl Chunk {
    /// Opens the chunk of an entry without reading its rows; `snapshot.verify()` reads them.
    ///
    /// # Errors
    /// As listed in [`SnapshotError`].
    pub fn open(dir: &Path, entry: &ChunkEntry, genesis: &[u8; 32]) -> Result<Self, SnapshotError> {
        let snapshot = Snapshot::open(&entry.path(dir), genesis)?;
        let label = snapshot.label();
        let says = (label.kind, label.number, label.rows, snapshot.hash());
        let is_listed = says == (SnapshotKind::Chunk, entry.number, entry.rows, &entry.hash);
        let log = entry.log;
        if !is_listed || snapshot.section(log.as_str()).is_none() {
            return Err(SnapshotError::Misnamed);
        }
        Ok(Self { snapshot, log })
    }

    /// The rows: the section that has the log's name.
    #[must_use]
    pub fn rows(&self) -> Section {
        (self.snapshot.shared_section(self.log.as_str())).expect("open saw the section")
    }
}
