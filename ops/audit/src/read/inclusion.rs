//! Position of a frame in the chain: its batch, and the hashes before and after the batch.

use std::path::Path;

use foretell_journal::{FrameInclusion, FrameReader};
use foretell_model::{FramePosition, Sequence};
use serde_json::{Value, json};

use crate::error::AuditError as Failure;

/// The batch that holds a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inclusion(FrameInclusion);

impl Inclusion {
    /// Finds the batch of a frame by the place the frame was read from.
    ///
    /// # Errors
    /// The segment cannot be read again.
    pub(crate) fn find(directory: &Path, place: FramePosition) -> Result<Self, Failure> {
        let inclusion = FrameReader::new(directory).inclusion(place);
        let cannot = |error| Failure::new(format!("{}: {error}", directory.display()));
        inclusion.map(Self).map_err(cannot)
    }

    /// Chain hash up to and including the batch, if `sequence` is its last frame.
    pub(crate) fn chain_at(&self, sequence: Sequence) -> Option<[u8; 32]> {
        (self.0.batch.last == sequence).then_some(self.0.batch.hash)
    }

    pub(crate) fn json(&self) -> Value {
        let batch = &self.0.batch;
        json!({
            "segment": batch.segment,
            "batch": self.0.index,
            "batch_offset": batch.offset,
            "batch_payload_bytes": batch.payload,
            "first_sequence": batch.first.0,
            "last_sequence": batch.last.0,
            "epoch": batch.epoch,
            "previous_hash": hex::encode(self.0.previous_hash),
            "hash": hex::encode(batch.hash),
        })
    }
}
