//! Reading a snapshot: mapped, and believed only as far as it was checked.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::header::{Entry, HEADER_BYTES, Header, Label, read_table};
use crate::map::FileMap;

/// Why a snapshot is passed over.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It cannot be opened or mapped.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what was written.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// Written by a newer program.
    #[error("snapshot version {0} is not known to this build")]
    Newer(u16),
    /// Of another journal.
    #[error("it belongs to another journal")]
    Foreign,
    /// It is sound and not what its name, or the image that lists it, says.
    #[error("it holds something else than its name says")]
    Misnamed,
}

/// A snapshot whose header, length and table are sound; its sections are checked by
/// [`Snapshot::verify`] alone.
#[derive(Clone, Debug)]
pub struct Snapshot {
    map: Arc<FileMap>,
    header: Header,
    sections: Arc<[Entry]>,
}

impl Snapshot {
    /// Opens a snapshot of the journal with this genesis. It touches the file's first and last
    /// bytes, whatever its size.
    ///
    /// # Errors
    /// What [`Unfit`] names.
    pub fn open(path: &Path, genesis: &[u8; 32]) -> Result<Self, Unfit> {
        let map = FileMap::open(path)?;
        let header = Header::read(map.bytes())?;
        if header.label.genesis != *genesis {
            return Err(Unfit::Foreign);
        }
        if header.bytes != map.bytes().len() as u64 {
            return Err(Unfit::Damaged("it has not the length it was written with"));
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
    /// [`Unfit::Damaged`].
    pub fn verify(&self) -> Result<(), Unfit> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.map.bytes()[HEADER_BYTES..]);
        hasher.update(&self.header.blank());
        if *hasher.finalize().as_bytes() == self.header.hash {
            Ok(())
        } else {
            Err(Unfit::Damaged("its bytes do not give its hash"))
        }
    }

    /// What it says about itself.
    #[must_use]
    pub const fn label(&self) -> &Label {
        &self.header.label
    }

    /// The size of the file in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.header.bytes
    }

    /// The hash it was written with: names its content.
    #[must_use]
    pub const fn hash(&self) -> &[u8; 32] {
        &self.header.hash
    }

    /// The section with this name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        Some(&self.map.bytes()[self.range(name)?])
    }

    /// The section with this name, to be kept.
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

/// The bytes of a section. They stay readable as long as this lives, whatever becomes of the file.
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
