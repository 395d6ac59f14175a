//! Executing every command again, and comparing what happens with what was recorded.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use foretell_journal::{JournalError, Scratch};
use foretell_matching::{Capacity, Difference, Exchange, Replay};
use foretell_model::{Command, FrameRef, Sequence};

use super::source::Source;

/// A second exchange that follows the record.
#[derive(Debug)]
pub(crate) struct Execution {
    replay: Replay,
    /// Divergences that journalled commands accept, once they were looked for.
    accepted: Option<BTreeSet<Sequence>>,
    /// Those of them that were met.
    met: Vec<Sequence>,
}

/// Why a frame does not follow from those before it.
#[derive(Debug)]
pub(crate) enum Differs {
    /// The record says something else.
    Record(String),
    /// So it does, and accepted divergences could not be looked for.
    Unjudged(String, JournalError),
}

impl Execution {
    /// An empty exchange. The key of its tables need not be a secret here: it changes no answer.
    pub(crate) fn new() -> Self {
        Self {
            replay: Replay::new(Exchange::new(Capacity::NONE, 0)),
            accepted: None,
            met: Vec::new(),
        }
    }

    pub(crate) const fn exchange(&self) -> &Exchange {
        &self.replay.exchange
    }

    /// Divergences that an operator accepted by a journalled command.
    pub(crate) fn accepted(&self) -> &[Sequence] {
        &self.met
    }

    /// Executes the command of a frame and compares its events.
    ///
    /// # Errors
    /// The exchange refuses it, or causes other events and nobody accepted that.
    pub(crate) fn follow(&mut self, frame: &FrameRef<'_>, source: &Source) -> Result<(), Differs> {
        let text = match self.replay.execute(frame) {
            Ok(()) => return Ok(()),
            Err(Difference::Refused(verdict)) => {
                return Err(Differs::Record(format!(
                    "{:?} is recorded, re-execution answers {verdict:?}",
                    frame.command
                )));
            }
            Err(Difference::Events(text)) => text,
        };
        let accepted = match self.accepted.take() {
            Some(accepted) => accepted,
            None => match accepted_in(source) {
                Ok(accepted) => accepted,
                Err(error) => return Err(Differs::Unjudged(text, error)),
            },
        };
        let is_accepted = accepted.contains(&frame.sequence);
        self.accepted = Some(accepted);
        if is_accepted {
            self.met.push(frame.sequence);
            return Ok(());
        }
        Err(Differs::Record(text))
    }
}

fn accepted_in(source: &Source) -> Result<BTreeSet<Sequence>, JournalError> {
    let mut accepted = BTreeSet::new();
    let mut scratch = Scratch::default();
    source.each(&mut |frame| {
        if let Ok(frame) = frame.decode(&mut scratch)
            && let Command::AcceptDivergence { sequence } = frame.command
        {
            accepted.insert(*sequence);
        }
        ControlFlow::Continue(())
    })?;
    Ok(accepted)
}
