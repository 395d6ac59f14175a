//! The durable end of a journal that an engine writes.

use std::path::Path;

use foretell_model::Sequence;

use crate::control::ControlView;
use crate::error::JournalError;

/// The end as another process sees it. It reads no frame, and keeps no segment in the journal.
#[derive(Debug)]
pub struct DurableEnd(ControlView);

impl DurableEnd {
    /// Opens the page of the engine that runs in `dir`, or was the last to run since the machine
    /// started.
    ///
    /// # Errors
    /// There was none, or its page cannot be read.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        ControlView::open(dir).map(Self)
    }

    /// The last sequence that is durable.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.0.durable()
    }

    /// The random bytes that name the journal.
    #[must_use]
    pub const fn genesis(&self) -> [u8; 32] {
        self.0.start.genesis
    }
}
