//! Core or twin, behind the same methods.

use foretell_matching::{Capacity, Exchange as Core};
use foretell_model::state::StateRecord;
use foretell_model::{Command, CommandStamp, Event, TimeNs, Verdict};
use foretell_reference::Exchange as Twin;

/// The exchange under test.
pub(crate) enum Exchange {
    Core(Box<Core>),
    Twin(Box<Twin>),
}

impl Exchange {
    pub(crate) fn core() -> Self {
        Self::Core(Box::new(Core::new(Capacity::default(), 1)))
    }

    pub(crate) fn twin() -> Self {
        Self::Twin(Box::new(Twin::new()))
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Core(_) => "core",
            Self::Twin(_) => "twin",
        }
    }

    /// Applies a command; the events it caused are returned.
    pub(crate) fn apply(
        &mut self,
        command: &Command,
        stamp: CommandStamp,
    ) -> (Verdict, Vec<Event>) {
        let mut events = Vec::new();
        let verdict = match self {
            Self::Core(core) => core.apply(command, stamp, &mut events),
            Self::Twin(twin) => twin.apply(command, stamp, &mut events),
        };
        (verdict, events)
    }

    /// Every record of the state.
    pub(crate) fn state(&self) -> Vec<StateRecord> {
        let mut records = Vec::new();
        match self {
            Self::Core(core) => core.visit_state(&mut |record| records.push(*record)),
            Self::Twin(twin) => twin.visit_state(&mut |record| records.push(*record)),
        }
        records
    }

    pub(crate) fn next_due(&self) -> Option<TimeNs> {
        match self {
            Self::Core(core) => core.next_due(),
            Self::Twin(twin) => twin.next_due(),
        }
    }

    /// Checks its internal consistency.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Core(core) => core.check_invariants(),
            Self::Twin(twin) => twin.conservation(),
        }
    }
}
