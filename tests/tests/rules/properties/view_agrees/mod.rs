//! The view, folded from frames alone, agrees with the exchange after every frame of the walk.
//!
//! This is no further fold of frames: it compares the fields of the view with the records of the
//! exchange's state, which the naive model does not have (reserved amounts, queues, policies, work in
//! the background), after every frame, where lists and streams are compared at the end of a journal.

pub(crate) mod compare;
mod market_life;
pub(crate) mod price_history;

use foretell_model::event::OrderReleased;
use foretell_model::{Event, FrameRef, Verdict};
use foretell_view::View;

use crate::properties::twin_agrees::coverage::Counts;
use crate::properties::walk::observer::{Observer, Step};
use compare::{compare_answer, compare_states};

/// A view that follows.
pub(crate) struct Follower {
    view: View,
}

impl Follower {
    pub(crate) fn new() -> Self {
        Self {
            view: View::new([3; 32]),
        }
    }
}

impl Observer for Follower {
    fn name(&self) -> &'static str {
        "view"
    }

    fn see(&mut self, step: &Step<'_>, _counts: &mut Counts<&'static str>) -> Result<(), String> {
        let Some(frame) = step.frame else {
            return Ok(());
        };
        follow(&mut self.view, &frame.as_ref(), step.verdict)?;
        compare_states(&self.view, step.state)
    }
}

/// Folds the frame of a command that was answered so, and compares the answer that the view gives.
pub(crate) fn follow(
    view: &mut View,
    frame: &FrameRef<'_>,
    verdict: &Verdict,
) -> Result<(), String> {
    let released = frame.events.iter().find_map(|event| match event {
        Event::OrderReleased(OrderReleased { order, .. }) => view.orders().live(*order),
        _ => None,
    });
    let released = released.map(|order| order.id);
    view.apply(frame).map_err(|error| error.to_string())?;
    compare_answer(view, frame.sequence, frame.command, released, verdict)
}
