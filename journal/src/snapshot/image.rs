//! Live images: the state right after one frame, its proof, and the list of its chunks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foretell_model::Sequence;

use super::chunk::{CHUNK_ENTRY_BYTES, ChunkEntry};
use super::error::SnapshotError;
use super::header::SnapshotKind;
use super::read::Snapshot;
use crate::bytes::hash_at;

/// The section with the [`Proof`].
pub const PROOF: &str = "proof";
/// The section with the list of chunks.
pub const CHUNKS: &str = "chunks";

const PROOF_BYTES: usize = 64;

/// Binds an image to its journal and to its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// Digest of the exchange's state.
    pub digest: [u8; 32],
    /// Receipt of the frame of this state.
    pub receipt: [u8; 32],
}

impl Proof {
    /// The bytes of the section: digest, receipt.
    #[must_use]
    pub fn encode(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..32].copy_from_slice(&self.digest);
        bytes[32..].copy_from_slice(&self.receipt);
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == PROOF_BYTES).then(|| Self {
            digest: hash_at(bytes, 0),
            receipt: hash_at(bytes, 32),
        })
    }
}

/// An image of which every byte was verified. Its chunks were not.
#[derive(Clone, Debug)]
pub struct Image {
    snapshot: Snapshot,
    proof: Proof,
    chunks: Vec<ChunkEntry>,
}

impl Image {
    /// Opens and verifies the image at `sequence`.
    ///
    /// # Errors
    /// As listed in [`SnapshotError`].
    pub fn open(dir: &Path, sequence: Sequence, genesis: &[u8; 32]) -> Result<Self, SnapshotError> {
        let image = Self::open_unverified(dir, sequence, genesis)?;
        image.snapshot.verify()?;
        Ok(image)
    }

    /// As [`Image::open`], without verifying the hash.
    pub(super) fn open_unverified(
        dir: &Path,
        sequence: Sequence,
        genesis: &[u8; 32],
    ) -> Result<Self, SnapshotError> {
        let snapshot = Snapshot::open(&path(dir, sequence), genesis)?;
        let label = snapshot.label();
        if (label.kind, label.sequence) != (SnapshotKind::Image, sequence) {
            return Err(SnapshotError::Misnamed);
        }
        let part = |name| snapshot.section(name);
        let proof = (part(PROOF).and_then(Proof::decode))
            .ok_or(SnapshotError::Damaged("it has no proof"))?;
        let chunks = (part(CHUNKS).and_then(decode_list))
            .ok_or(SnapshotError::Damaged("it has no list of chunks"))?;
        Ok(Self {
            snapshot,
            proof,
            chunks,
        })
    }

    /// The frame of its state.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.snapshot.label().sequence
    }

    /// The version of its sections' content.
    #[must_use]
    pub const fn layout(&self) -> u32 {
        self.snapshot.label().layout
    }

    /// The verified hash of its file.
    #[must_use]
    pub const fn hash(&self) -> &[u8; 32] {
        self.snapshot.hash()
    }

    /// Its proof.
    #[must_use]
    pub const fn proof(&self) -> &Proof {
        &self.proof
    }

    /// Its chunks, in the order of the list.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// Its chunks by log and number.
    #[must_use]
    pub fn chunks_by_log(&self) -> BTreeMap<(&str, u32), &ChunkEntry> {
        let chunks = self.chunks.iter();
        chunks
            .map(|entry| ((entry.log.as_str(), entry.number), entry))
            .collect()
    }

    /// The section with this name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        self.snapshot.section(name)
    }
}

fn decode_list(bytes: &[u8]) -> Option<Vec<ChunkEntry>> {
    let (rows, rest) = bytes.as_chunks::<CHUNK_ENTRY_BYTES>();
    let list = rows.iter().map(ChunkEntry::decode).collect();
    rest.is_empty().then_some(list)?
}

/// The name of an image's file.
pub(super) fn file_name(sequence: Sequence) -> String {
    format!("{:020}.image", sequence.0)
}

/// The file of an image.
pub(super) fn path(dir: &Path, sequence: Sequence) -> PathBuf {
    dir.join(file_name(sequence))
}

/// The sequence in an image's file name. There is no image of the state before the first frame.
pub(super) fn sequence_of(name: &str) -> Option<Sequence> {
    let digits = name.strip_suffix(".image")?;
    let sequence = Sequence(digits.parse().ok().filter(|sequence| *sequence > 0)?);
    (file_name(sequence) == name).then_some(sequence)
}
