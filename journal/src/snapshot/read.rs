//! Reading a snapshot through a map, with checks.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::SnapshotError;
use super::header::{HEADER_BYTES, SectionEntry, SnapshotHeader, SnapshotLabel, read_table};
use crate::map::FileMap;

/// A snapshot with valid header, length and table. Only [`Snapshot::verify`] checks its sections.
#[derive(Clone, Debug)]
pub struct Snapshot {
    map: Arc<FileMap>,
    header: SnapshotHeader,
    sections: Arc<[SectionEntry]>,
}

impl Snapshot {
    /// Opens a snapshot of the journal with this genesis. Reads only the file's first and last
    /// bytes, whatever its size.
    ///
    /// # Errors
    /// As listed in [`SnapshotError`].
    pub fn open(path: &Path, genesis: &[u8; 32]) -> Result<Self, SnapshotError> {
        let map = FileMap::open(path)?;
        let header = SnapshotHeader::read(map.bytes())?;
        if header.label.genesis != *genesis {
            return Err(SnapshotError::Foreign);
        }
        if header.bytes != map.bytes().len() as u64 {
            return Err(SnapshotError::Damaged("its length differs from its header"));
        }
        let sections = read_table(&header, map.bytes())?.into();
        Ok(Self {
            map: Arc::new(map),
            header,
            sections,
        })
    }

    /// Reads every byte and compares the hash.
    ///
    /// # Errors
    /// [`SnapshotError::Damaged`].
    pub fn verify(&self) -> Result<(), SnapshotError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.map.bytes()[HEADER_BYTES..]);
        hasher.update(&self.header.blank());
        if *hasher.finalize().as_bytes() == self.header.hash {
            Ok(())
        } else {
            Err(SnapshotError::Damaged("its bytes do not match its hash"))
        }
    }

    /// Its label.
    #[must_use]
    pub const fn label(&self) -> &SnapshotLabel {
        &self.header.label
    }

    /// The size of the file in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.header.bytes
    }

    /// The hash of its content, from its header.
    #[must_use]
    pub const fn hash(&self) -> &[u8; 32] {
        &self.header.hash
    }

    /// The section with this name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        Some(&self.map.bytes()[self.range(name)?])
    }

    /// The section with this name, as an owned handle.
    #[must_use]
    pub fn shared_section(&self, name: &str) -> Option<Section> {
        Some(Section {
            range: self.range(name)?,
            map: Arc::clone(&self.map),
        })
    }

    fn range(&self, name: &str) -> Option<Range<usize>> {
        let entry = self.sections.iter().find(|entry| entry.name == name)?;
        let start = usize::try_from(entry.offset).ok()?;
        let length = usize::try_from(entry.length).ok()?;
        Some(start..start + length)
    }

    /// The names of its sections, in the order they were written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|entry| entry.name.as_str())
    }
}

/// The bytes of a section. They stay readable while this lives, also after the file is unlinked.
#[derive(Clone, Debug)]
pub struct Section {
    map: Arc<FileMap>,
    range: Range<usize>,
}

impl AsRef<[u8]> for Section {
    fn as_ref(&self) -> &[u8] {
        &self.map.bytes()[self.range.clone()]
    }
}
