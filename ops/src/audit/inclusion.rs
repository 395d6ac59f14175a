//! Position of a frame in the chain: its batch, and the hashes before and after the batch.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use foretell_journal::PAGE;
use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::segment::{self, FIRST_BATCH, SegmentHeader};
use foretell_model::{FramePlace, Sequence};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The batch that holds a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inclusion {
    batch: BatchHeader,
    /// Index of the batch in its segment.
    index: u32,
    /// Chain hash before the batch.
    previous_hash: [u8; 32],
}

impl Inclusion {
    /// Finds the batch of a frame by the place the frame was read from.
    ///
    /// # Errors
    /// The segment cannot be read again.
    pub(crate) fn find(directory: &Path, place: FramePlace) -> Result<Self, Failure> {
        let path = segment::path(directory, place.segment);
        let cannot =
            |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", path.display()));
        let file = File::open(&path).map_err(|error| cannot(&error))?;
        let page = read(&file, 0, PAGE).map_err(|error| cannot(&error))?;
        let header = SegmentHeader::read(&page).map_err(|error| cannot(&error))?;
        let (mut at, mut index, mut previous_hash) = (FIRST_BATCH, 0, header.previous_hash);
        loop {
            let bytes = read(&file, at, HEADER_BYTES).map_err(|error| cannot(&error))?;
            let batch = BatchHeader::read(&bytes).map_err(|error| cannot(&error))?;
            let end = u64::from(at) + u64::try_from(batch.total()).unwrap_or(u64::MAX);
            if u64::from(place.offset) < end {
                return Ok(Self {
                    batch,
                    index,
                    previous_hash,
                });
            }
            at = u32::try_from(end).map_err(|error| cannot(&error))?;
            previous_hash = batch.hash;
            index += 1;
        }
    }

    /// Chain hash up to and including the batch, if `sequence` is its last frame.
    pub(crate) fn chain_at(&self, sequence: Sequence) -> Option<[u8; 32]> {
        (self.batch.last == sequence).then_some(self.batch.hash)
    }

    pub(crate) fn json(&self) -> Value {
        let batch = &self.batch;
        json!({
            "segment": batch.segment,
            "batch": self.index,
            "batch_offset": batch.offset,
            "batch_payload_bytes": batch.payload,
            "first_sequence": batch.first.0,
            "last_sequence": batch.last.0,
            "epoch": batch.epoch,
            "previous_hash": hex::encode(self.previous_hash),
            "hash": hex::encode(batch.hash),
        })
    }
}

fn read(file: &File, at: u32, bytes: usize) -> io::Result<Vec<u8>> {
    let mut read = vec![0; bytes];
    file.read_exact_at(&mut read, at.into())?;
    Ok(read)
}
