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

    /// Applies a command; the events it caused are returned. Only an applied command leaves a trace.
    pub(crate) fn apply(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: CommandStamp,
    ) -> (Verdict, Vec<Event>) {
        let mut events = Vec::new();
        let verdict = match self {
            Self::Core(core) => {
                let before = core.digest();
                let verdict = core.apply_with(command, beside, stamp, &mut events);
                let is_applied = matches!(verdict, Verdict::Applied(_));
                let is_same = core.digest() == before && events.is_empty();
                assert!(is_applied || is_same, "{command:?} left a trace");
                verdict
            }
            Self::Twin(twin) => twin.apply_with(command, beside, stamp, &mut events),
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

    /// Checks its internal consistency; the core also survives its image.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Core(core) => core.check_invariants().and_then(|()| survives_image(core)),
            Self::Twin(twin) => twin.conservation(),
        }
    }
}

fn survives_image(core: &Core) -> Result<(), String> {
    let mut image = Vec::new();
    core.write_image(&mut image);
    let restored = Core::read_image(Capacity::NONE, 7, &image, core.digest());
    let restored = restored.map_err(|error| error.to_string())?;
    if restored.next_due() != core.next_due() {
        return Err("the restored core has another due time".to_owned());
    }
    restored.check_invariants()
}
