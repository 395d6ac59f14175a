//! The newest acts of operators, in memory. The journal has all of them.

use std::collections::VecDeque;

use foretell_model::{OperatorRole, TimeNs};
use foretell_wire::written;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

/// Acts kept.
const MAX_ACTS: usize = 1_000;

/// The newest acts, newest first.
#[derive(Default)]
pub(crate) struct ActLog(Mutex<VecDeque<Act>>);

/// A command of an operator.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct Act {
    /// Sequence of the command.
    pub(crate) sequence: u64,
    /// When the gateway got its answer.
    #[serde(with = "written::Iso")]
    pub(crate) time: TimeNs,
    /// Number of the operator.
    pub(crate) operator: u16,
    #[serde(with = "written::Role")]
    pub(crate) role: OperatorRole,
    /// Path of the request.
    pub(crate) path: String,
    /// The beginning of the body as sent.
    pub(crate) request: String,
    /// Reason in the body, empty without one.
    pub(crate) reason: String,
}

impl ActLog {
    /// Adds an act; the oldest makes room.
    pub(crate) fn push(&self, act: Act) {
        let mut acts = self.0.lock();
        acts.truncate(MAX_ACTS - 1);
        acts.push_front(act);
    }

    /// All acts, newest first.
    pub(crate) fn newest(&self) -> Vec<Act> {
        self.0.lock().iter().cloned().collect()
    }
}
