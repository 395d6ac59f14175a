//! State digests attested in the journal (`AttestState`), compared with those of re-execution.

use foretell_model::command::AttestState;
use foretell_model::{Command, Sequence};

use crate::finding::{Finding, Kind, Stop};
use crate::read::source::Source;

/// An attested state and the frame that attests it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttestedState {
    pub(crate) sequence: Sequence,
    state: [u8; 32],
    by: Sequence,
}

impl AttestedState {
    /// Reads the journal once: an attestation comes later than its state. Damage ends the list; the
    /// audit itself reports it.
    pub(crate) fn all(source: &Source) -> Vec<Self> {
        let mut all = Vec::new();
        let _damage = Self::collect(source, &mut all);
        all.sort_by_key(|attested| attested.sequence);
        all
    }

    fn collect(source: &Source, all: &mut Vec<Self>) -> Result<(), Stop> {
        let mut frames = source.frames()?;
        while let Some((_, frame)) = frames.next_decoded()? {
            if let Command::AttestState(AttestState {
                sequence, state, ..
            }) = *frame.command
            {
                let by = frame.sequence;
                all.push(Self {
                    sequence,
                    state,
                    by,
                });
            }
        }
        Ok(())
    }

    /// The finding if the re-executed state has another digest.
    pub(crate) fn difference(&self, digest: &[u8; 32]) -> Option<Finding> {
        let sequence = self.sequence;
        let text =
            || format!("the attested state after sequence {sequence} is not the re-executed one");
        (self.state != *digest).then(|| Finding::new(Kind::Contradiction, self.by, text()))
    }
}
