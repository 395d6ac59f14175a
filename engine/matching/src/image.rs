//! The image of an exchange: its state as bytes, and the restore from them.
//!
//! The bytes are those that the digest hashes: the records of [`Exchange::visit_state`] in order.
//! So [`foretell_model::digest::StateDigest::of_image`] of an image equals the digest of the
//! exchange that wrote it. The layout in memory is not part of it: a restored exchange has its own
//! layout and answers every command as the original would.

use foretell_model::record::{RecordError, Vocabulary};
use foretell_model::state::StateRecord;

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::restore::Restorer;

/// Why no exchange can be rebuilt from the records.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are not a record.
    #[error("state record {record} cannot be decoded: {error}")]
    Unreadable {
        /// Index of the record, from 0.
        record: u64,
        /// The cause.
        error: RecordError,
    },
    /// A record that cannot follow the records before it.
    #[error("state record {record} is invalid: {what}")]
    Impossible {
        /// Index of the record, from 0; the number of records when one is missing at the end.
        record: u64,
        /// The cause.
        what: &'static str,
    },
    /// The records together describe a state that no commands lead to.
    #[error("the state records are inconsistent: {0}")]
    Contradiction(String),
}

impl Exchange {
    /// Appends the image of the state to `out`. Allocates.
    pub fn write_image(&self, out: &mut Vec<u8>) {
        self.visit_state(&mut |record| record.append(out));
    }

    /// Restores the exchange from the image `image`; see [`Self::restore`].
    ///
    /// # Errors
    /// The bytes are not exactly one image.
    pub fn read_image(
        capacity: Capacity,
        index_key: u64,
        mut image: &[u8],
    ) -> Result<Self, RestoreError> {
        let mut restoring = Restorer::new(capacity, index_key);
        loop {
            let record = restoring.count();
            match StateRecord::take_next(&mut image) {
                Ok(Some(record)) => restoring.take(&record)?,
                Ok(None) => return restoring.finish(),
                Err(error) => return Err(RestoreError::Unreadable { record, error }),
            }
        }
    }

    /// Restores the exchange from its state records. The digest equals that of the records. Every
    /// later command gets the same verdict and events as on the original.
    ///
    /// `capacity` and `index_key` are as in [`Self::new`] and may differ from the original. The
    /// contents of the records count towards the capacity. When they need more, memory grows by
    /// doubling, and the next command may grow it again.
    ///
    /// Ends with [`Self::check_invariants`] on the whole state, which takes as long as the rebuild.
    ///
    /// # Errors
    /// The records, in their order, are not the list of a reachable state.
    pub fn restore(
        capacity: Capacity,
        index_key: u64,
        records: impl IntoIterator<Item = StateRecord>,
    ) -> Result<Self, RestoreError> {
        let mut restoring = Restorer::new(capacity, index_key);
        for record in records {
            restoring.take(&record)?;
        }
        restoring.finish()
    }
}
