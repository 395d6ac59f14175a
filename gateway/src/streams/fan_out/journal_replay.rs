//! Messages older than the ring: rendered again from the journal.
//!
//! A second view starts from the newest snapshot at or before the resume point, or from the first
//! frame, and folds up to the present. It is the view that rendered the messages the first time,
//! so they are the same but for `server_ts_ms`: sizes, trades of orders, owners of wallets and
//! links of chains are those of their frame. The shared view and its lock are not involved. The
//! price is the memory of a second live state for the duration, so replays take turns.

use std::time::Duration;

use foretell_journal::wall_clock;
use foretell_journal::{Follower, FrameError, JournalError, Next, Scratch};
use foretell_model::Sequence;
use foretell_view::{FoldError, FrameChanges};
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::descriptions::Descriptions;
use crate::policy::limits::MAX_REPLAYED_FRAMES;
use crate::streams::fan_out::ring::EncodedFrame;
use crate::streams::render::encoder::{EncodeLimits, Encoder};
use crate::streams::render::facts::FrameFacts;
use crate::streams::subscription::demand::Watched;
use crate::view::shared_view::ViewState;
use crate::view::view_bootstrap::{self, SuspectFiles, ViewSources};

/// Wait for a frame that is durable but not yet seen.
const WAIT: Duration = Duration::from_millis(10);

/// Why a replay ends early: the client gets a snapshot instead.
#[derive(Debug, Error)]
pub(crate) enum ReplayError {
    #[error("the resume point is more than {MAX_REPLAYED_FRAMES} frames away")]
    TooOld,
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error("the engine recovered to an earlier frame")]
    Rebuilt,
}

/// The frames of a replay, both ends included: those after `after`, up to `last`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplaySpan {
    /// What the client has.
    pub(crate) after: Sequence,
    /// The last frame to read, which is durable; the ring or the view has what follows.
    pub(crate) last: Sequence,
}

/// A replay in progress. Everything blocks: for a blocking thread.
pub(crate) struct JournalReplay<'a> {
    span: ReplaySpan,
    watched: Watched,
    state: ViewState,
    follower: Follower,
    scratch: Scratch,
    descriptions: &'a Descriptions,
    encoder: Encoder,
    changes: FrameChanges,
    _turn: OwnedSemaphorePermit,
}

impl<'a> JournalReplay<'a> {
    /// Loads the view from which the replay starts. `turn` is a permit of
    /// [`crate::app::App::stream_replays`].
    ///
    /// # Errors
    /// [`ReplayError::TooOld`] when it would fold more than [`MAX_REPLAYED_FRAMES`].
    pub(crate) fn open(
        sources: &ViewSources,
        descriptions: &'a Descriptions,
        span: ReplaySpan,
        watched: Watched,
        turn: OwnedSemaphorePermit,
    ) -> Result<Self, ReplayError> {
        let too_long = |from: Sequence| span.last.0.saturating_sub(from.0) > MAX_REPLAYED_FRAMES;
        if too_long(span.after) {
            return Err(ReplayError::TooOld);
        }
        let suspects = SuspectFiles::default();
        let started = view_bootstrap::bootstrap_until(sources, &suspects, span.after)?;
        let (state, follower) = (started.state, started.follower);
        if too_long(state.view.sequence()) {
            return Err(ReplayError::TooOld);
        }
        Ok(Self {
            span,
            watched,
            encoder: Encoder::new(EncodeLimits::default()),
            state,
            follower,
            scratch: Scratch::default(),
            descriptions,
            changes: FrameChanges::default(),
            _turn: turn,
        })
    }

    /// The last frame that it folded.
    pub(crate) fn sequence(&self) -> Sequence {
        self.state.view.sequence()
    }

    /// Folds up to `frames` further frames and returns the messages among them, oldest first;
    /// `None` after the last frame of the span. So a reader may stop in between, or pause until its
    /// client has read.
    ///
    /// # Errors
    /// When the journal cannot be followed up to the end of the span.
    pub(crate) fn next(&mut self, frames: usize) -> Result<Option<Vec<EncodedFrame>>, ReplayError> {
        if self.state.view.sequence() >= self.span.last {
            return Ok(None);
        }
        let mut encoded = Vec::new();
        for _ in 0..frames {
            if self.state.view.sequence() >= self.span.last {
                break;
            }
            encoded.extend(self.step()?);
        }
        Ok(Some(encoded))
    }

    /// Folds one frame, or waits for it: it is durable.
    fn step(&mut self) -> Result<Option<EncodedFrame>, ReplayError> {
        let frame = match self.follower.next_frame()? {
            Next::Frame(frame) => frame,
            Next::Rebuild { .. } => return Err(ReplayError::Rebuilt),
            Next::UpToDate | Next::NewEpoch { .. } => {
                self.follower.wait(WAIT);
                return Ok(None);
            }
        };
        let folded = frame.decode(&mut self.scratch)?;
        let view = &mut self.state.view;
        if folded.sequence <= self.span.after {
            view.apply(&folded)?;
            return Ok(None);
        }
        view.apply_observed(&folded, &mut self.changes)?;
        let receipt = || frame.receipt();
        let (watched, changes) = (&self.watched, &self.changes);
        let facts = FrameFacts::collect(view, self.descriptions, watched, changes, receipt);
        Ok(facts.map(|facts| self.encoder.encode(&facts, wall_clock::now().millis())))
    }
}
