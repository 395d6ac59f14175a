//! Executing the journal's commands again and comparing what happens with what was recorded: by
//! recovery, and by the publisher while the engine runs.

use std::collections::BTreeSet;
use std::path::Path;

use foretell_journal::{JournalError, Scratch};
use foretell_matching::Exchange;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, Event, FrameRef, Sequence, Verdict};

/// How re-execution differs from the record, in words.
#[derive(Debug)]
pub(crate) enum Difference {
    /// The command is refused: no later sequence could be right.
    Refused(String),
    /// Other events. The state is that of the re-execution.
    Events(String),
}

/// An exchange that is taken from frame to frame.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) exchange: Exchange,
    events: Vec<Event>,
}

impl Replay {
    pub(crate) fn new(exchange: Exchange) -> Self {
        Self {
            exchange,
            events: Vec::with_capacity(MAX_EVENTS),
        }
    }

    /// Executes the command of the next frame.
    pub(crate) fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), Difference> {
        self.events.clear();
        let verdict = self
            .exchange
            .apply(frame.command, frame.time, &mut self.events);
        if !matches!(verdict, Verdict::Applied(_)) || self.exchange.sequence() != frame.sequence {
            return Err(Difference::Refused(format!("{verdict:?}")));
        }
        if self.events == frame.events {
            return Ok(());
        }
        Err(Difference::Events(difference(&self.events, frame.events)))
    }
}

/// Every divergence that a command journalled behind `after` accepts. A divergence is accepted
/// behind itself, so whoever replays from there needs no others.
pub(crate) fn accepted_in(
    journal: &Path,
    after: Sequence,
) -> Result<BTreeSet<Sequence>, JournalError> {
    let mut accepted = BTreeSet::new();
    let mut scratch = Scratch::default();
    foretell_journal::scan(journal, after, &mut |frame| {
        let frame = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())?;
        if let Command::AcceptDivergence { sequence } = frame.command {
            accepted.insert(*sequence);
        }
        Ok(())
    })?;
    Ok(accepted)
}

/// The first event that is not the same, in words.
fn difference(replayed: &[Event], recorded: &[Event]) -> String {
    let at = replayed
        .iter()
        .zip(recorded)
        .position(|(replayed, recorded)| replayed != recorded)
        .unwrap_or(replayed.len().min(recorded.len()));
    let or_none = |events: &[Event]| {
        events
            .get(at)
            .map_or("none".to_owned(), |it| format!("{it:?}"))
    };
    format!(
        "event {at} is recorded as {}, replayed as {}",
        or_none(recorded),
        or_none(replayed)
    )
}
