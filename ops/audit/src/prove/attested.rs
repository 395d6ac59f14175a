//! State digests attested in the journal (`AttestState`), compared with those of re-execution.

use std::ops::ControlFlow;

use foretell_journal::Scratch;
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::AttestState;
use foretell_model::{Command, Sequence};

use crate::finding::{Finding, Kind};
use crate::read::source::Source;

/// An attested state and the frame that attests it.
#[derive(Clone, Copy, Debug)]
struct Attested {
    sequence: Sequence,
    state: [u8; 32],
    by: Sequence,
}

/// The attested states and the findings about those that differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttestedStates {
    /// Ordered by sequence.
    states: Vec<Attested>,
    compared: usize,
    wrong: Vec<Finding>,
}

impl AttestedStates {
    /// Reads the journal once to collect the sequences that need a digest: the attestation comes
    /// later than the state. Damage ends the list; the audit itself reports it.
    pub(crate) fn find(source: &Source) -> Self {
        let mut found = Self::default();
        let mut scratch = Scratch::default();
        let _damage = source.each(&mut |frame| {
            if let Ok(frame) = frame.decode(&mut scratch)
                && let Command::AttestState(AttestState {
                    sequence, state, ..
                }) = *frame.command
            {
                let by = frame.sequence;
                found.states.push(Attested {
                    sequence,
                    state,
                    by,
                });
            }
            ControlFlow::Continue(())
        });
        found.states.sort_by_key(|attested| attested.sequence);
        let empty = Exchange::new(Capacity::NONE, 0).digest();
        found.passed(Sequence(0), &empty);
        found
    }

    /// Sequence of the first state not yet compared.
    pub(crate) fn awaited(&self) -> Option<Sequence> {
        let next = self.states.get(self.compared);
        next.map(|attested| attested.sequence)
    }

    /// Records that a frame was executed; `digest` is the digest of the state after it.
    pub(crate) fn passed(&mut self, sequence: Sequence, digest: &[u8; 32]) {
        while let Some(attested) = self.states.get(self.compared)
            && attested.sequence == sequence
        {
            if attested.state != *digest {
                let text = format!(
                    "the attested state after sequence {sequence} is not the re-executed one"
                );
                let finding = Finding::new(Kind::Contradiction, attested.by, text);
                self.wrong.push(finding);
            }
            self.compared += 1;
        }
    }

    /// Attested states that differ from re-execution.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.wrong
    }

    pub(crate) const fn compared(&self) -> usize {
        self.compared
    }
}
