//! A part of the view, as the view and its snapshots treat every part.

use foretell_model::codec::{CodecError, Stored};

use crate::storage::chunk::Chunking;

/// A part of the view. Its live state is a section of a snapshot; its logs have sections of their own
/// ([`crate::LogName`]).
pub(crate) trait Part {
    /// The part before the first frame.
    fn new(chunking: Chunking) -> Self
    where
        Self: Sized;

    /// Appends the bytes of its live state.
    fn put_live(&self, _: &mut Vec<u8>) {}

    /// Reads its live state.
    fn take_live(&mut self, _: &mut &[u8]) -> Result<(), CodecError> {
        Ok(())
    }
}

/// A part without logs.
impl<T: Stored + Default> Part for T {
    fn new(_: Chunking) -> Self {
        Self::default()
    }

    fn put_live(&self, out: &mut Vec<u8>) {
        self.put(out);
    }

    fn take_live(&mut self, from: &mut &[u8]) -> Result<(), CodecError> {
        *self = Self::take(from)?;
        Ok(())
    }
}
