//! What an audit folds of every frame, whoever reads the journal: the record, what proves the commands, and
//! the signatures that are to be checked.

use foretell_model::{FrameRef, TimeNs};

use super::counts::Counts;
use super::record::{Broken, Record};
use super::signatures::Signatures;

/// The journal so far, without the core.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) record: Record,
    /// When they are checked.
    pub(super) signatures: Option<Signatures>,
    pub(super) counts: Counts,
    /// Of the last frame.
    pub(super) time: TimeNs,
}

impl Recorded {
    pub(super) fn new(signatures: Option<Signatures>) -> Self {
        Self {
            record: Record::default(),
            signatures,
            counts: Counts::default(),
            time: TimeNs(0),
        }
    }

    /// Takes in the next frame.
    ///
    /// # Errors
    /// The first thing in it that cannot be.
    pub(super) fn apply(&mut self, frame: &FrameRef<'_>) -> Result<(), Broken> {
        self.time = frame.time;
        let claim = self.record.apply(frame)?;
        self.counts.count(frame);
        match (&mut self.signatures, claim) {
            (Some(signatures), Some(claim)) => {
                signatures.take(frame, &claim, &self.record.registry)
            }
            _ => Ok(()),
        }
    }
}
