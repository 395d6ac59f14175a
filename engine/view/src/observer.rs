//! Watching the fold: hooks before and after each event of a frame.

use foretell_model::{Event, FrameRef};

use crate::rows::order::Order;
use crate::view::View;

/// Watches how a frame changes the view. Each method does nothing unless it is implemented, so that
/// folding with `()` costs nothing.
///
/// `placed` is the frame's own order until its ending is folded.
pub trait Observer {
    /// A frame begins; the view is that before it.
    fn begin(&mut self, _view: &View, _frame: &FrameRef<'_>, _placed: Option<&Order>) {}

    /// An event is folded next.
    fn before(&mut self, _view: &View, _placed: Option<&Order>, _event: &Event) {}

    /// The event was folded.
    fn after(&mut self, _view: &View, _placed: Option<&Order>, _event: &Event) {}

    /// The frame was folded whole.
    fn end(&mut self, _view: &View) {}
}

/// No observer.
impl Observer for () {}
