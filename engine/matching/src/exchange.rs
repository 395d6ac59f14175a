//! The one door of the exchange.

use foretell_model::digest::{StateDigest, StateRecord};
use foretell_model::{Command, Event, RefusalReason, Sequence, TimeNs, Verdict};

use crate::capacity::Capacity;

/// The state of the exchange.
#[derive(Debug)]
pub struct Exchange {
    sequence: Sequence,
}

impl Exchange {
    /// An empty exchange. `index_key` should be random: it keys the hash tables, so that nobody
    /// outside can make their keys collide; it changes no answer and no digest.
    #[must_use]
    pub fn new(_capacity: Capacity, _index_key: u64) -> Self {
        Self {
            sequence: Sequence(0),
        }
    }

    /// Applies one command at `time` and appends what happened to `events` (the caller clears it,
    /// and reserves [`foretell_model::limits::MAX_EVENTS`]).
    pub fn apply(
        &mut self,
        _command: &Command,
        _time: TimeNs,
        _events: &mut Vec<Event>,
    ) -> Verdict {
        Verdict::Refused(RefusalReason::Busy.into())
    }

    /// Sequence of the last applied command; 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Whether `Continue` must be the next command.
    #[must_use]
    pub fn has_pending_work(&self) -> bool {
        false
    }

    /// When the next resting order expires: from then on `AdvanceTime` has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        None
    }

    /// Lists the state in the order of [`foretell_model::digest`].
    pub fn visit_state(&self, _visit: &mut dyn FnMut(&StateRecord)) {}

    /// The digest of the state.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.visit_state(&mut |record| digest.push(record));
        digest.finish()
    }

    /// Checks the whole state.
    ///
    /// # Errors
    /// The first contradiction found, in words.
    pub fn check_invariants(&self) -> Result<(), String> {
        Ok(())
    }

    /// Orders that rest.
    #[must_use]
    pub fn live_orders(&self) -> usize {
        0
    }

    /// Markets registered.
    #[must_use]
    pub fn markets(&self) -> usize {
        0
    }

    /// Accounts opened.
    #[must_use]
    pub fn accounts(&self) -> usize {
        0
    }
}
