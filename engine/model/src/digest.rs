//! Digests: of the state, of slugs, of references and of what registrations say. That of the state hashes the bytes of
//! the canonical list of records in order. The same bytes are the image of the exchange in a snapshot.

use crate::id::{ContentDigest, Reference, SlugDigest};
use crate::record::Vocabulary;
use crate::state::StateRecord;

/// BLAKE3 key-derivation context of the digest.
const CONTEXT: &str = "foretell state digest v1";

/// Hashes records into the digest of the state.
pub struct StateDigest {
    hasher: blake3::Hasher,
    scratch: Vec<u8>,
}

impl SlugDigest {
    /// The digest of a slug; zeros of an empty one, which names nothing.
    #[must_use]
    pub fn of(slug: &str) -> Self {
        match slug {
            "" => Self::ZERO,
            slug => Self(half_hash(slug.as_bytes())),
        }
    }
}

impl Reference {
    /// The reference that a text is; the text itself is the command's evidence.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

impl ContentDigest {
    /// The digest of what a registration says.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(half_hash(content))
    }
}

/// The first 16 bytes of BLAKE3.
fn half_hash(bytes: &[u8]) -> [u8; 16] {
    let hash = blake3::hash(bytes);
    std::array::from_fn(|index| hash.as_bytes()[index])
}

/// Bytes per hash call: sixteen BLAKE3 chunks, the width of the widest SIMD vectors.
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
        record.append(&mut self.scratch);
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

    /// The digest of the state whose records `image` contains.
    #[must_use]
    pub fn of_image(image: &[u8]) -> [u8; 32] {
        blake3::derive_key(CONTEXT, image)
    }
}
