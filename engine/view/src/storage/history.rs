//! What logs are to snapshots and chunk files: bytes, whatever their rows mean.

use foretell_model::codec::{CodecError, Stored, take_bytes};

use crate::storage::chunk::{ChunkBytes, Chunks};
use crate::storage::id_log::IdLog;
use crate::storage::list::{Lists, Summary};
use crate::storage::log::Log;
use crate::storage::row::LogRow;

/// A log, with what is in memory beside its rows.
pub(crate) trait History {
    fn chunks(&self) -> &Chunks;

    fn chunks_mut(&mut self) -> &mut Chunks;

    /// Appends all that is not in sealed chunks.
    fn put_open(&self, out: &mut Vec<u8>) {
        self.chunks().put_tail(out);
    }

    /// Restores an empty log from its sealed chunks and the bytes of [`Self::put_open`] after their number.
    fn restore(&mut self, sealed: Vec<ChunkBytes>, open: &mut &[u8]) -> Result<(), CodecError> {
        let restored = self.chunks_mut().restore(sealed, take_bytes(open)?);
        restored.ok_or(CodecError::Inconsistent("length of a log"))
    }
}

impl<R: LogRow> History for Log<R> {
    fn chunks(&self) -> &Chunks {
        self.chunks()
    }

    fn chunks_mut(&mut self) -> &mut Chunks {
        self.chunks_mut()
    }
}

impl<R: LogRow> History for IdLog<R> {
    fn chunks(&self) -> &Chunks {
        self.log().chunks()
    }

    fn chunks_mut(&mut self) -> &mut Chunks {
        self.log_mut().chunks_mut()
    }

    fn restore(&mut self, sealed: Vec<ChunkBytes>, open: &mut &[u8]) -> Result<(), CodecError> {
        self.log_mut().restore(sealed, open)?;
        self.index_tail();
        Ok(())
    }
}

impl<S: Summary> History for Lists<S> {
    fn chunks(&self) -> &Chunks {
        self.nodes.chunks()
    }

    fn chunks_mut(&mut self) -> &mut Chunks {
        self.nodes.chunks_mut()
    }

    fn put_open(&self, out: &mut Vec<u8>) {
        self.nodes.put_open(out);
        self.ends.put(out);
    }

    fn restore(&mut self, sealed: Vec<ChunkBytes>, open: &mut &[u8]) -> Result<(), CodecError> {
        self.nodes.restore(sealed, open)?;
        self.ends = Stored::take(open)?;
        Ok(())
    }
}
