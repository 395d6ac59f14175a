//! The publisher's own exchange and view, advanced frame by frame. The exchange must match the
//! journal; a view that cannot follow is dropped, and the exchange continues without it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use foretell_journal::{Frame, Scratch};
use foretell_matching::{Difference, Exchange, Replay};
use foretell_model::command::AttestState;
use foretell_model::{Command, FramePosition, FrameRef, Sequence};
use foretell_view::View;

use super::PublisherArgs;
use crate::divergence_overrides::accepted_divergences;
use crate::error::EngineError;
use crate::publisher_mailbox::PublisherMailbox;

/// Exchange and view after the same frame.
#[derive(Debug)]
pub(super) struct ReplayedState {
    pub(super) replay: Replay,
    /// `None` after it could not follow.
    pub(super) view: Option<View>,
    /// The place of the frame.
    pub(super) place: FramePosition,
    journal: PathBuf,
    /// The sequence it started at.
    began: Sequence,
    newly_accepted: Option<Sequence>,
    /// The snapshot that the frame at [`Self::sequence`] attests.
    pub(super) attests: Option<Sequence>,
    /// Divergences accepted by commands after the start; read at the first divergence.
    accepted: Option<BTreeSet<Sequence>>,
    mailbox: Arc<PublisherMailbox>,
}

impl ReplayedState {
    pub(super) fn new<C>(
        exchange: Exchange,
        view: View,
        place: FramePosition,
        args: &PublisherArgs<C>,
    ) -> Self {
        Self {
            began: exchange.sequence(),
            replay: Replay::new(exchange),
            view: Some(view),
            place,
            journal: args.journal_directory.clone(),
            newly_accepted: args.newly_accepted,
            attests: None,
            accepted: None,
            mailbox: Arc::clone(&args.mailbox),
        }
    }

    /// The last processed frame.
    pub(super) fn sequence(&self) -> Sequence {
        self.replay.exchange.sequence()
    }

    /// Executes and folds the next frame.
    pub(super) fn advance(
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
            Command::AttestState(AttestState { sequence, .. }) => Some(sequence),
            _ => None,
        };
        if let Some(view) = &mut self.view
            && let Err(error) = view.apply(&shown)
        {
            self.drop_view(sequence, &error.what.to_string());
        }
        Ok(())
    }

    /// Drops the view: commands are still executed and compared, but no snapshot is published.
    pub(super) fn drop_view(&mut self, at: Sequence, reason: &str) {
        tracing::error!(
            sequence = at.0,
            reason,
            "the read model cannot follow the journal: no more snapshots, trading continues"
        );
        self.mailbox.set_view_stopped(at);
        self.view = None;
    }

    fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), EngineError> {
        let sequence = frame.sequence;
        let what = match self.replay.execute(frame) {
            Ok(()) => return Ok(()),
            Err(Difference::Events(_)) if self.is_accepted(sequence)? => return Ok(()),
            Err(Difference::Events(what)) => what,
            Err(Difference::Rejected(verdict)) => format!("command rejected: {verdict:?}"),
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
                let read = accepted_divergences(&self.journal, self.began)
                    .map_err(EngineError::Journal)?;
                unread.insert(read)
            }
        };
        Ok(accepted.contains(&sequence))
    }

    /// Checks the invariants of the whole state.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        let sequence = self.sequence();
        let checked = self.replay.exchange.check_invariants();
        checked.map_err(|what| EngineError::Impossible { sequence, what })
    }
}
