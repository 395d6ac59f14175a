//! Feeds the ring: what the follower does with each batch of frames.

use std::sync::Arc;

use foretell_journal::wall_clock;
use foretell_model::{FramePosition, FrameRef, Sequence};
use foretell_view::{FoldError, FrameChanges, View};

use crate::catalog::descriptions::Descriptions;
use crate::streams::fan_out::ring::StreamRing;
use crate::streams::render::encoder::{EncodeLimits, Encoder};
use crate::streams::render::facts::FrameFacts;
use crate::streams::subscription::demand::Watched;

/// Folds the frames of one view for the ring.
pub(crate) struct StreamFeed<'a> {
    ring: &'a StreamRing,
    descriptions: &'a Descriptions,
    encoder: Encoder,
    watched: Arc<Watched>,
    changes: FrameChanges,
    /// Of the batch.
    facts: Vec<FrameFacts>,
    head: Sequence,
    /// Location of the head's frame, once one was folded.
    place: Option<FramePosition>,
}

impl<'a> StreamFeed<'a> {
    /// Starts the ring over for a view that was just published.
    pub(crate) fn start(
        ring: &'a StreamRing,
        descriptions: &'a Descriptions,
        head: Sequence,
    ) -> Self {
        ring.restart(head);
        Self {
            ring,
            descriptions,
            encoder: Encoder::new(EncodeLimits::default()),
            watched: Arc::default(),
            changes: FrameChanges::default(),
            facts: Vec::new(),
            head,
            place: None,
        }
    }

    /// Begins a batch, under the view's write lock.
    pub(crate) fn begin_batch(&mut self, view: &View) {
        self.watched = self.ring.demand().begin_batch(view.sequence());
    }

    /// Folds a frame, under the view's write lock, and collects its facts if any are wanted.
    ///
    /// # Errors
    /// As [`View::apply`].
    pub(crate) fn apply(
        &mut self,
        view: &mut View,
        frame: &FrameRef<'_>,
        receipt: impl FnOnce() -> [u8; 32],
    ) -> Result<(), FoldError> {
        if self.watched.is_any() {
            view.apply_observed(frame, &mut self.changes)?;
            let (watched, changes) = (&*self.watched, &self.changes);
            let facts = FrameFacts::collect(view, self.descriptions, watched, changes, receipt);
            self.facts.extend(facts);
        } else {
            view.apply(frame)?;
        }
        self.head = frame.sequence;
        self.place = Some(frame.place);
        Ok(())
    }

    /// Renders the batch's messages and puts them into the ring, outside of the lock.
    pub(crate) fn publish(&mut self) {
        let written = wall_clock::now().millis();
        let facts = self.facts.drain(..);
        let frames = facts.map(|facts| self.encoder.encode(&facts, written));
        let frames: Vec<_> = frames.collect();
        if let Some(place) = self.place {
            self.ring.set_head_place(self.head, place);
        }
        self.ring.push(frames, self.head);
    }
}
