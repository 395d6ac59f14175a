//! The image of an exchange: its state as bytes, and an exchange rebuilt from them.
//!
//! The bytes are exactly those the digest hashes, the records of [`Exchange::visit_state`] one
//! after the other, so [`foretell_model::digest::StateDigest::of_image`] of an image is the digest
//! of the exchange it was written from. Where things lie in memory is no part of it: the rebuilt
//! exchange has a layout of its own and answers every command as the original would.

use foretell_model::digest::{RecordError, StateRecord};

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::restore::Restoring;

/// Records from which no exchange can be rebuilt.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are no record.
    #[error("record {record} of the image cannot be read: {error}")]
    Unreadable {
        /// Which, from 0.
        record: u64,
        /// Why.
        error: RecordError,
    },
    /// A record that cannot follow those before it.
    #[error("record {record} of the image cannot be: {what}")]
    Impossible {
        /// Which, from 0; as many as there are when one is missing at the end.
        record: u64,
        /// Why.
        what: &'static str,
    },
    /// All records together are no state that commands lead to.
    #[error("the records of the image contradict each other: {0}")]
    Contradiction(String),
}

impl Exchange {
    /// Appends the image of the state to `out`. Allocates.
    pub fn write_image(&self, out: &mut Vec<u8>) {
        self.visit_state(&mut |record| record.write(out));
    }

    /// The exchange whose state was written as `image`; see [`Self::restore`].
    ///
    /// # Errors
    /// The bytes are not exactly such an image, whatever else they are.
    pub fn read_image(
        capacity: Capacity,
        index_key: u64,
        mut image: &[u8],
    ) -> Result<Self, RestoreError> {
        let mut restoring = Restoring::new(capacity, index_key);
        loop {
            let record = restoring.count();
            match StateRecord::read(&mut image) {
                Ok(Some(record)) => restoring.take(&record)?,
                Ok(None) => return restoring.finish(),
                Err(error) => return Err(RestoreError::Unreadable { record, error }),
            }
        }
    }

    /// The exchange whose state these records list: its digest is theirs, and every later command
    /// has the verdict and the events that it would have had on the original.
    ///
    /// `capacity` and `index_key` are as in [`Self::new`] and need not be those of the original.
    /// What the records hold counts towards the capacity: where they need more, the room grows to
    /// what they need by doubling, and the next growth may come with the next command.
    ///
    /// At the end the whole state is checked as by [`Self::check_invariants`]; that takes as long
    /// as the rebuilding itself.
    ///
    /// # Errors
    /// The records are not, in their order, the list of a state that commands lead to.
    pub fn restore(
        capacity: Capacity,
        index_key: u64,
        records: impl IntoIterator<Item = StateRecord>,
    ) -> Result<Self, RestoreError> {
        let mut restoring = Restoring::new(capacity, index_key);
        for record in records {
            restoring.take(&record)?;
        }
        restoring.finish()
    }
}
