//! Makes a view from a snapshot: the one way, for the engine and the gateways.

use core::fmt::Display;

use foretell_model::Sequence;

use crate::history::ChunkRef;
use crate::storage::chunk::ChunkBytes;
use crate::view::View;

impl View {
    /// The view of a snapshot of the journal with this genesis after frame `sequence`. `section`
    /// returns a section by name; `chunk` opens a sealed chunk, or returns why it cannot be used.
    ///
    /// # Errors
    /// The reason why the snapshot gives no such view. Damaged bytes may also give a view with wrong
    /// content, so the caller must verify them.
    pub fn bootstrap<'a, E: Display>(
        genesis: &[u8; 32],
        sequence: Sequence,
        section: impl Fn(&str) -> Option<&'a [u8]>,
        mut chunk: impl FnMut(ChunkRef) -> Result<ChunkBytes, E>,
    ) -> Result<Self, String> {
        let mut unusable = None;
        let open = |wanted| {
            let opened = chunk(wanted);
            opened
                .map_err(|reason| unusable = Some(format!("{wanted}: {reason}")))
                .ok()
        };
        let view = Self::from_snapshot(section, open);
        let view = view.map_err(|error| unusable.unwrap_or_else(|| error.to_string()))?;
        if view.genesis() != genesis || view.sequence() != sequence {
            return Err("the restored view has another journal or sequence".to_owned());
        }
        Ok(view)
    }
}
