//! The newest acts of operators, in memory. The journal has all of them.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde::Serialize;

/// Acts kept.
const MAX_ACTS: usize = 1_000;

/// The newest acts, newest first.
#[derive(Default)]
pub(crate) struct ActLog(Mutex<VecDeque<Act>>);

#[derive(Clone, Serialize)]
pub(crate) struct Act {
    pub(crate) sequence: u64,
    pub(crate) time: String,
    /// Number of the operator.
    pub(crate) operator: u16,
    pub(crate) role: &'static str,
    pub(crate) path: String,
    /// The beginning of the body as sent.
    pub(crate) request: String,
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
