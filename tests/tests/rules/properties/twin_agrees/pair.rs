//! The core and its twin: every command goes to both, with a full comparison after it. A pair with enough
//! capacity has a view that follows; the walk has its own observers.

use foretell_matching::{Capacity, Exchange as Core};
use foretell_model::state::StateRecord;
use foretell_model::{Command, CommandStamp, Event, FramePosition, FrameRef, Verdict};
use foretell_reference::Exchange as Twin;
use foretell_view::View;

use crate::properties::view_agrees::compare::compare_states;
use crate::properties::view_agrees::follow;

/// Both exchanges, in step.
pub(crate) struct Pair {
    pub(crate) core: Core,
    twin: Twin,
    view: Option<View>,
    core_events: Vec<Event>,
    twin_events: Vec<Event>,
    core_state: Vec<StateRecord>,
    twin_state: Vec<StateRecord>,
    /// The state whose digest and consistency were checked last.
    checked: Vec<StateRecord>,
    /// Number of states that were checked.
    pub(crate) changes: u64,
}

/// Minimal capacity, so that every structure of the core has to grow.
const CRAMPED: Capacity = Capacity {
    accounts: 1,
    keys: 1,
    markets: 1,
    events: 1,
    orders: 2,
    expiring_orders: 1,
    delayed_orders: 1,
    positions: 2,
    order_ids: 2,
    timestamp_seconds: 1,
    references: 1,
};

impl Pair {
    /// A pair whose core grows from minimal capacity; the key orders its index of ids.
    pub(crate) fn cramped(index_key: u64) -> Self {
        Self::with(CRAMPED, index_key)
    }

    /// A pair whose core has enough capacity.
    pub(crate) fn roomy() -> Self {
        Self {
            view: Some(View::new([3; 32])),
            ..Self::with(Capacity::default(), 7)
        }
    }

    fn with(capacity: Capacity, index_key: u64) -> Self {
        Self {
            core: Core::new(capacity, index_key),
            twin: Twin::new(),
            view: None,
            core_events: Vec::new(),
            twin_events: Vec::new(),
            core_state: Vec::new(),
            twin_state: Vec::new(),
            checked: Vec::new(),
            changes: 0,
        }
    }

    /// Applies a command to both and compares all visible results; `beside` begins with its tail.
    pub(crate) fn step(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
    ) -> Result<Verdict, String> {
        let verdict = self.step_quickly(command, beside, stamp)?;
        self.compare_states()?;
        Ok(verdict)
    }

    /// The same without comparing states, for states too long to compare every time.
    pub(crate) fn step_quickly(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
    ) -> Result<Verdict, String> {
        let stamp = stamp.into();
        self.core_events.clear();
        self.twin_events.clear();
        let events = &mut self.twin_events;
        let twin = self.twin.apply_with(command, beside, stamp, events);
        let events = &mut self.core_events;
        let core = self.core.apply_with(command, beside, stamp, events);
        same("verdict", &core, &twin)?;
        same_list("event", &self.core_events, &self.twin_events)?;
        same("sequence", &self.core.sequence(), &self.twin.sequence())?;
        same(
            "pending work",
            &self.core.has_pending_work(),
            &self.twin.has_pending_work(),
        )?;
        if let (Some(view), Verdict::Applied(_)) = (&mut self.view, &twin) {
            let frame = FrameRef {
                operator: stamp.operator,
                touched: stamp.touched,
                sequence: self.core.sequence(),
                time: stamp.time,
                command,
                events: &self.core_events,
                evidence: beside,
                place: FramePosition::default(),
            };
            follow(view, &frame, &twin)?;
        }
        Ok(twin)
    }

    /// Compares every record of the state and the next due time; of a state that has changed also the
    /// digest, and checks the internal consistency of both. What a command damages without a change
    /// stays damaged until there is one.
    pub(crate) fn compare_states(&mut self) -> Result<(), String> {
        self.core_state.clear();
        self.twin_state.clear();
        self.core
            .visit_state(&mut |record| self.core_state.push(*record));
        self.twin
            .visit_state(&mut |record| self.twin_state.push(*record));
        same_list("record", &self.core_state, &self.twin_state)?;
        same("next due", &self.core.next_due(), &self.twin.next_due())?;
        if let Some(view) = &self.view {
            compare_states(view, &self.twin_state)?;
        }
        if self.twin_state == self.checked {
            return Ok(());
        }
        self.checked.clone_from(&self.twin_state);
        self.changes += 1;
        same("digest", &self.core.digest(), &self.twin.digest())?;
        self.core
            .check_invariants()
            .map_err(|broken| format!("invariant of the core: {broken}"))?;
        self.twin
            .conservation()
            .map_err(|broken| format!("conservation: {broken}"))
    }

    /// The view of a pair with enough capacity.
    pub(crate) fn view(&self) -> &View {
        self.view.as_ref().expect("a roomy pair")
    }

    /// The state after the last compared command.
    pub(crate) fn state(&self) -> &[StateRecord] {
        &self.twin_state
    }

    /// The digest of the state, which both have.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.core.digest()
    }

    /// Events of the last command.
    pub(crate) fn events(&self) -> &[Event] {
        &self.twin_events
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, core: &T, twin: &T) -> Result<(), String> {
    if core == twin {
        Ok(())
    } else {
        Err(format!(
            "{what} differs\n  core: {core:?}\n  twin: {twin:?}"
        ))
    }
}

/// Names the first difference of two lists.
fn same_list<T: PartialEq + std::fmt::Debug>(
    what: &str,
    core: &[T],
    twin: &[T],
) -> Result<(), String> {
    if core == twin {
        return Ok(());
    }
    let first = core
        .iter()
        .zip(twin)
        .position(|(core, twin)| core != twin)
        .unwrap_or_else(|| core.len().min(twin.len()));
    Err(format!(
        "{what} {first} differs\n  core: {:?}\n  twin: {:?}",
        core.get(first),
        twin.get(first)
    ))
}
