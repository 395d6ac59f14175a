//! Executing every command again, and comparing what happens with what was recorded.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use foretell_journal::{JournalError, Scratch};
use foretell_matching::{Capacity, Exchange};
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, Event, FrameRef, Sequence, Verdict};

use super::source::Source;

/// A second exchange that follows the record.
#[derive(Debug)]
pub(crate) struct Execution {
    exchange: Exchange,
    events: Vec<Event>,
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
    /// Accepted divergences could not be looked for.
    Journal(JournalError),
}

impl Execution {
    /// An empty exchange. The key of its tables need not be a secret here: it changes no answer.
    pub(crate) fn new() -> Self {
        Self {
            exchange: Exchange::new(Capacity::default(), 0),
            events: Vec::with_capacity(MAX_EVENTS),
            accepted: None,
            met: Vec::new(),
        }
    }

    pub(crate) const fn exchange(&self) -> &Exchange {
        &self.exchange
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
        self.events.clear();
        let verdict = self
            .exchange
            .apply(frame.command, frame.time, &mut self.events);
        if !matches!(verdict, Verdict::Applied(_)) || self.exchange.sequence() != frame.sequence {
            return Err(Differs::Record(format!(
                "{:?} is recorded, re-execution answers {verdict:?}",
                frame.command
            )));
        }
        if self.events == frame.events {
            return Ok(());
        }
        if self.accepted.is_none() {
            self.accepted = Some(accepted_in(source).map_err(Differs::Journal)?);
        }
        let accepted = self.accepted.as_ref();
        if accepted.is_some_and(|accepted| accepted.contains(&frame.sequence)) {
            self.met.push(frame.sequence);
            return Ok(());
        }
        Err(Differs::Record(difference(&self.events, frame.events)))
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

/// The first event that is not the same, in words.
fn difference(executed: &[Event], recorded: &[Event]) -> String {
    let pairs = executed.iter().zip(recorded);
    let same = pairs
        .take_while(|(executed, recorded)| executed == recorded)
        .count();
    let at = |events: &[Event]| {
        events
            .get(same)
            .map_or_else(|| "nothing".to_owned(), |event| format!("{event:?}"))
    };
    format!(
        "event {same} is recorded as {}, re-executed as {}",
        at(recorded),
        at(executed)
    )
}
