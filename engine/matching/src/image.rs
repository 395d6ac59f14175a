//! The image of an exchange: its state as bytes, and the restore from them.
//!
//! The bytes are those that the digest hashes: the records of [`Exchange::visit_state`] in order.
//! So [`foretell_model::digest::StateDigest::of_image`] of an image equals the digest of the
//! exchange that wrote it. The layout in memory is not part of it: a restored exchange has its own
//! layout and answers every command as the original would.

use foretell_model::digest::StateDigest;
use foretell_model::record::{RecordError, Vocabulary};
use foretell_model::state::StateRecord;

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::restore::Restorer;

/// Why an image is not restored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are not those of the attested state.
    #[error("the image has another digest than was attested")]
    OtherImage,
    /// The bytes are not a record.
    #[error("state record {record} cannot be decoded: {error}")]
    Unreadable {
        /// Index of the record, from 0.
        record: u64,
        /// The cause.
        error: RecordError,
    },
    /// A record names something that no record before it has, or is out of range, or a link of the list
    /// does not close.
    #[error("state record {record} cannot be restored: {what}")]
    Impossible {
        /// Index of the record, from 0; the number of records for a link.
        record: u64,
        /// The cause.
        what: &'static str,
    },
    /// The restored exchange has another state than the records say.
    #[error("the exchange restored from the image has another digest")]
    OtherState,
}

impl Exchange {
    /// Appends the image of the state to `out`. Allocates.
    pub fn write_image(&self, out: &mut Vec<u8>) {
        self.visit_state(&mut |record| record.append(out));
    }

    /// Restores the exchange from its image, whose digest was attested. The digest is the proof: the
    /// image has it, and so has the restored exchange when it lists its own state. Every later command
    /// gets the same verdict and events as on the original.
    ///
    /// `capacity` and `index_key` are as in [`Self::new`] and may differ from the original. The
    /// contents of the records count towards the capacity. When they need more, memory grows by
    /// doubling, and the next command may grow it again.
    ///
    /// # Errors
    /// See [`RestoreError`]. No bytes make it panic; only an image of a reachable state takes a time that
    /// is linear in its size.
    pub fn read_image(
        capacity: Capacity,
        index_key: u64,
        image: &[u8],
        attested: [u8; 32],
    ) -> Result<Self, RestoreError> {
        if StateDigest::of_image(image) != attested {
            return Err(RestoreError::OtherImage);
        }
        let exchange = Self::rebuild(Restorer::new(capacity, index_key), image)?;
        match exchange.digest() == attested {
            true => Ok(exchange),
            false => Err(RestoreError::OtherState),
        }
    }

    fn rebuild(mut restoring: Restorer, mut image: &[u8]) -> Result<Self, RestoreError> {
        let mut record = 0;
        while let Some(next) = StateRecord::take_next(&mut image)
            .map_err(|error| RestoreError::Unreadable { record, error })?
        {
            let put = restoring.put(&next);
            put.map_err(|what| RestoreError::Impossible { record, what })?;
            record += 1;
        }
        let whole = restoring.finish();
        whole.map_err(|what| RestoreError::Impossible { record, what })
    }
}
