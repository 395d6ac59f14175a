//! The state of the exchange from the journal: every command is executed again, and what happens
//! is compared with what was recorded.

use std::collections::BTreeSet;
use std::path::Path;

use foretell_journal::{JournalError, Recovered, Scratch};
use foretell_matching::Exchange;
use foretell_model::digest::StateRecord;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{AccountNumber, Command, Event, FrameRef, Sequence, SystemMode, Verdict};

use crate::config::EngineConfig;
use crate::error::EngineError;

/// The exchange as the journal left it.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) exchange: Exchange,
    pub(crate) journal: Recovered,
    /// The system's mode.
    pub(crate) mode: SystemMode,
    /// Owners whose heartbeat was on.
    pub(crate) heartbeats: Vec<AccountNumber>,
    /// An accepted divergence that the journal does not know of yet.
    pub(crate) newly_accepted: Option<Sequence>,
}

/// Recovers the journal in `directory` and executes it. `index_key` is random: it keys the layout
/// of the core, so that nobody outside can make entries collide.
///
/// # Errors
/// [`EngineError::Journal`] for damage, [`EngineError::Diverged`] and
/// [`EngineError::ReplayRefused`] when this build does not reproduce the record. No frame on disk
/// was changed then.
pub(crate) fn restore(
    config: &EngineConfig,
    directory: &Path,
    index_key: u64,
) -> Result<Restored, EngineError> {
    let diverged = match replay(config, directory, index_key, BTreeSet::new()) {
        Err(EngineError::Diverged { sequence, what }) => (sequence, what),
        other => return other,
    };
    // Rare enough to read everything once more: a later command may accept it.
    let by_record = accepted_in(directory).map_err(EngineError::Journal)?;
    if !by_record.contains(&diverged.0) {
        let (sequence, what) = diverged;
        return Err(EngineError::Diverged { sequence, what });
    }
    replay(config, directory, index_key, by_record)
}

fn replay(
    config: &EngineConfig,
    directory: &Path,
    index_key: u64,
    by_record: BTreeSet<Sequence>,
) -> Result<Restored, EngineError> {
    let mut replay = Replay {
        exchange: Exchange::new(config.capacity, index_key),
        events: Vec::with_capacity(MAX_EVENTS),
        by_option: config.accept_divergence,
        by_record,
        newly_accepted: None,
        failure: None,
    };
    let recovered = foretell_journal::recover(
        directory,
        config.journal.clone(),
        Sequence(0),
        &mut |frame| replay.frame(frame),
    );
    if let Some(failure) = replay.failure {
        return Err(failure);
    }
    let journal = recovered.map_err(EngineError::Journal)?;
    let (mode, heartbeats) = mode_and_heartbeats(&replay.exchange);
    Ok(Restored {
        exchange: replay.exchange,
        journal,
        mode,
        heartbeats,
        newly_accepted: replay.newly_accepted,
    })
}

struct Replay {
    exchange: Exchange,
    events: Vec<Event>,
    /// Accepted by the operator at this start.
    by_option: Option<Sequence>,
    /// Accepted by journalled commands.
    by_record: BTreeSet<Sequence>,
    newly_accepted: Option<Sequence>,
    failure: Option<EngineError>,
}

impl Replay {
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        self.execute(frame).map_err(|failure| {
            let text = failure.to_string();
            self.failure = Some(failure);
            text
        })
    }

    fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), EngineError> {
        let sequence = frame.sequence;
        self.events.clear();
        let verdict = self
            .exchange
            .apply(frame.command, frame.time, &mut self.events);
        if !matches!(verdict, Verdict::Applied(_)) || self.exchange.sequence() != sequence {
            return Err(EngineError::ReplayRefused {
                sequence,
                what: format!("{verdict:?}"),
            });
        }
        if self.events == frame.events || self.by_record.contains(&sequence) {
            return Ok(());
        }
        let what = difference(&self.events, frame.events);
        if self.by_option != Some(sequence) {
            return Err(EngineError::Diverged { sequence, what });
        }
        tracing::warn!(sequence = sequence.0, %what, "divergence accepted by the operator");
        self.newly_accepted = Some(sequence);
        Ok(())
    }
}

/// Every divergence that a journalled command accepts.
fn accepted_in(directory: &Path) -> Result<BTreeSet<Sequence>, JournalError> {
    let mut accepted = BTreeSet::new();
    let mut scratch = Scratch::default();
    foretell_journal::scan(directory, Sequence(0), &mut |frame| {
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

fn mode_and_heartbeats(exchange: &Exchange) -> (SystemMode, Vec<AccountNumber>) {
    let mut system_mode = SystemMode::Running;
    let mut owners = Vec::new();
    exchange.visit_state(&mut |record| match record {
        StateRecord::System { mode, .. } => system_mode = *mode,
        StateRecord::Account {
            account,
            heartbeat: true,
            ..
        } => owners.push(*account),
        _ => {}
    });
    (system_mode, owners)
}
