//! A view that follows frames, those of the walk or of an exchange beside it.

use foretell_model::event::OrderReleased;
use foretell_model::state::StateRecord;
use foretell_model::{Command, CommandStamp, Event, FramePosition, FrameRef, Verdict};
use foretell_reference::Exchange;
use foretell_view::View;

use crate::properties::view_agrees::compare::{compare_answer, compare_states};

/// Both, in step.
pub(crate) struct Followed {
    exchange: Exchange,
    pub(crate) view: View,
    events: Vec<Event>,
    records: Vec<StateRecord>,
}

impl Followed {
    pub(crate) fn new() -> Self {
        Self {
            exchange: Exchange::new(),
            view: View::new([3; 32]),
            events: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Applies a command, folds its frame when there is one, and compares the states. `beside` begins with
    /// its tail.
    pub(crate) fn step(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
    ) -> Result<Verdict, String> {
        let verdict = self.step_quickly(command, beside, stamp)?;
        self.compare()?;
        Ok(verdict)
    }

    /// The same without comparing states, for states too long to compare every time.
    pub(crate) fn step_quickly(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
    ) -> Result<Verdict, String> {
        self.events.clear();
        let stamp = stamp.into();
        let events = &mut self.events;
        let verdict = self.exchange.apply_with(command, beside, stamp, events);
        if !matches!(verdict, Verdict::Applied(_)) {
            return Ok(verdict);
        }
        let frame = FrameRef {
            operator: stamp.operator,
            touched: stamp.touched,
            sequence: self.exchange.sequence(),
            time: stamp.time,
            command,
            events: &self.events,
            evidence: beside,
            place: FramePosition::default(),
        };
        follow(&mut self.view, &frame, &verdict)?;
        Ok(verdict)
    }

    /// Compares the whole state.
    pub(crate) fn compare(&mut self) -> Result<(), String> {
        self.records.clear();
        self.exchange
            .visit_state(&mut |record| self.records.push(*record));
        compare_states(&self.view, &self.records)
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
