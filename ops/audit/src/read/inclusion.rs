//! Position of a frame in the chain: its batch, and the hashes before and after the batch.

use super::source::Source;
use crate::error::AuditError;
use foretell_journal::FrameReader;
use foretell_model::{FramePosition, Sequence};
use serde::Serialize;

use crate::digits::hex;

/// The batch that holds a frame.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Inclusion {
    segment: u32,
    /// Index of the batch in its segment, from 0.
    batch: u32,
    batch_offset: u32,
    batch_payload_bytes: u32,
    first_sequence: Sequence,
    last_sequence: Sequence,
    epoch: u64,
    /// Chain hash before the batch.
    #[serde(serialize_with = "hex")]
    previous_hash: [u8; 32],
    #[serde(serialize_with = "hex")]
    hash: [u8; 32],
}

impl Inclusion {
    /// Finds the batch of a frame by the place the frame was read from.
    ///
    /// # Errors
    /// The segment cannot be read again.
    pub(crate) fn find(source: &Source, place: FramePosition) -> Result<Self, AuditError> {
        let inclusion = FrameReader::of(source.segments().clone()).inclusion(place);
        let cannot = |error| AuditError::new(format!("{}: {error}", source.directory().display()));
        let inclusion = inclusion.map_err(cannot)?;
        let batch = inclusion.batch;
        Ok(Self {
            segment: batch.segment,
            batch: inclusion.index,
            batch_offset: batch.offset,
            batch_payload_bytes: batch.payload,
            first_sequence: batch.first,
            last_sequence: batch.last,
            epoch: batch.epoch,
            previous_hash: inclusion.previous_hash,
            hash: batch.hash,
        })
    }

    /// Chain hash up to and including the batch, if `sequence` is its last frame.
    pub(crate) fn chain_at(&self, sequence: Sequence) -> Option<[u8; 32]> {
        (self.last_sequence == sequence).then_some(self.hash)
    }
}
