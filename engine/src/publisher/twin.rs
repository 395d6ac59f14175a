//! The publisher's own exchange and view, taken from frame to frame. The exchange is what it answers
//! for; a view that cannot follow is given up, and the exchange goes on without it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use foretell_journal::{Frame, Scratch};
use foretell_matching::{Difference, Exchange, Replay};
use foretell_model::{Command, FramePlace, FrameRef, Sequence};
use foretell_view::View;

use super::Setting;
use crate::accepted::accepted_in;
use crate::error::EngineError;
use crate::published::Published;

/// Exchange and view right after one frame.
#[derive(Debug)]
pub(super) struct Twin {
    pub(super) replay: Replay,
    /// `None` when it could not follow.
    pub(super) view: Option<View>,
    /// Where the frame stands.
    pub(super) place: FramePlace,
    journal: PathBuf,
    /// Where it began.
    began: Sequence,
    newly_accepted: Option<Sequence>,
    /// The frame at [`Self::sequence`] attests the image at this sequence.
    pub(super) attests: Option<Sequence>,
    /// Divergences that commands behind its beginning accept; read when the first is met.
    accepted: Option<BTreeSet<Sequence>>,
    board: Arc<Published>,
}

impl Twin {
    pub(super) fn new<C>(
        exchange: Exchange,
        view: View,
        place: FramePlace,
        setting: &Setting<C>,
    ) -> Self {
        Self {
            began: exchange.sequence(),
            replay: Replay::new(exchange),
            view: Some(view),
            place,
            journal: setting.journal_directory.clone(),
            newly_accepted: setting.newly_accepted,
            attests: None,
            accepted: None,
            board: Arc::clone(&setting.board),
        }
    }

    /// The last frame taken in.
    pub(super) fn sequence(&self) -> Sequence {
        self.replay.exchange.sequence()
    }

    /// Executes and folds the next frame.
    pub(super) fn take(
        &mut self,
        frame: &Frame<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), EngineError> {
        let sequence = frame.sequence();
        let impossible = |what: String| EngineError::Impossible { sequence, what };
        let shown = frame
            .decode(scratch)
            .map_err(|error| impossible(error.to_string()))?;
        self.execute(&shown)?;
        self.place = shown.place;
        self.attests = match *shown.command {
            Command::AttestState { sequence, .. } => Some(sequence),
            _ => None,
        };
        if let Some(view) = &mut self.view
            && let Err(error) = view.apply(&shown)
        {
            self.give_view_up(sequence, &error.what.to_string());
        }
        Ok(())
    }

    /// Goes on without a view: the record is executed and compared as before, and nothing is published.
    pub(super) fn give_view_up(&mut self, at: Sequence, reason: &str) {
        tracing::error!(
            sequence = at.0,
            reason,
            "the read model cannot follow the journal: no more snapshots, the exchange goes on"
        );
        self.board.show_view_stopped(at);
        self.view = None;
    }

    fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), EngineError> {
        let sequence = frame.sequence;
        let what = match self.replay.execute(frame) {
            Ok(()) => return Ok(()),
            Err(Difference::Events(_)) if self.is_accepted(sequence)? => return Ok(()),
            Err(Difference::Events(what)) => what,
            Err(Difference::Refused(verdict)) => format!("the command is refused: {verdict:?}"),
        };
        Err(EngineError::PublisherDiverged { sequence, what })
    }

    fn is_accepted(&mut self, sequence: Sequence) -> Result<bool, EngineError> {
        if self.newly_accepted == Some(sequence) {
            return Ok(true);
        }
        let accepted = match &mut self.accepted {
            Some(accepted) => accepted,
            unread => {
                let read = accepted_in(&self.journal, self.began).map_err(EngineError::Journal)?;
                unread.insert(read)
            }
        };
        Ok(accepted.contains(&sequence))
    }

    /// Checks the whole state.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        let sequence = self.sequence();
        let checked = self.replay.exchange.check_invariants();
        checked.map_err(|what| EngineError::Impossible { sequence, what })
    }
}
