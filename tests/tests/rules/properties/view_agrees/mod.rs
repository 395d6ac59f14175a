//! The view, folded from frames alone, agrees with the exchange after every frame of the walk.
//!
//! This is no further fold of frames: it compares the fields of the view with the records of the
//! exchange's state, which the naive model does not have (reserved amounts, queues, policies, work in
//! the background), after every frame, where lists and streams are compared at the end of a journal.

mod beyond_the_bound;
mod compare;
mod followed;
mod market_life;
pub(crate) mod price_history;

use foretell_view::View;

use crate::properties::twin_agrees::coverage::Counts;
use crate::properties::walk::observer::{Observer, Step};
use compare::compare_states;
use followed::follow;

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
