//! The digest of the state, and the bytes it hashes: the canonical list of records, one after the
//! other. Those bytes are also the image of the exchange in a snapshot.

pub use crate::state_codec::RecordError;
pub use crate::state_record::{Fate, PendingWork, StateRecord};

/// What BLAKE3 derives the key of the digest from.
const CONTEXT: &str = "foretell state digest v1";

/// Collects records into the digest of the state.
pub struct StateDigest {
    hasher: blake3::Hasher,
    scratch: Vec<u8>,
}

/// What is hashed at once: sixteen of BLAKE3's chunks, as many as the widest vectors take.
pub const WIDE: usize = 16 * 1024;

impl Default for StateDigest {
    fn default() -> Self {
        Self {
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
            scratch: Vec::with_capacity(WIDE + 512),
        }
    }
}

impl StateDigest {
    /// Adds the next record.
    pub fn push(&mut self, record: &StateRecord) {
        record.write(&mut self.scratch);
        if self.scratch.len() >= WIDE {
            self.hasher.update(&self.scratch[..WIDE]);
            self.scratch.drain(..WIDE);
        }
    }

    /// The digest of all records pushed.
    #[must_use]
    pub fn finish(&self) -> [u8; 32] {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.scratch);
        *hasher.finalize().as_bytes()
    }

    /// The digest of the state whose records were written one after the other into `image`.
    #[must_use]
    pub fn of_image(image: &[u8]) -> [u8; 32] {
        blake3::derive_key(CONTEXT, image)
    }
}
