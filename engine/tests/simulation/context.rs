//! State shared by all parts of the simulation: the random source, the trace, the coverage counts,
//! and the first broken promise.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::checks::Promise;
use super::coverage::{Coverage, Situation};
use super::rng::Rng;

/// A handle; clones share the state.
#[derive(Clone)]
pub(super) struct SimContext(Arc<Mutex<Shared>>);

struct Shared {
    rng: Rng,
    /// Lines of the trace; `None` when it is not requested.
    trace: Option<Vec<String>>,
    coverage: Coverage,
    broken: Option<String>,
}

impl fmt::Debug for SimContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimContext")
    }
}

impl SimContext {
    pub(super) fn new(seed: u64, is_traced: bool) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            rng: Rng::new(seed),
            trace: is_traced.then(Vec::new),
            coverage: Coverage::default(),
            broken: None,
        })))
    }

    /// 64 random bits.
    pub(super) fn draw(&self) -> u64 {
        self.0.lock().rng.next()
    }

    /// 0 to `bound` − 1; `bound` is above 0.
    pub(super) fn below(&self, bound: u64) -> u64 {
        self.0.lock().rng.below(bound)
    }

    /// 0 to `bound` − 1, as an index.
    pub(super) fn index(&self, bound: usize) -> usize {
        self.0.lock().rng.index(bound)
    }

    /// True with this probability in percent.
    pub(super) fn percent(&self, chance: u64) -> bool {
        self.0.lock().rng.percent(chance)
    }

    /// A random element of a list.
    pub(super) fn pick<T: Copy>(&self, from: &[T]) -> T {
        self.0.lock().rng.pick(from)
    }

    /// Adds a line to the trace.
    pub(super) fn note(&self, line: impl FnOnce() -> String) {
        if self.0.lock().trace.is_some() {
            let line = line();
            if let Some(trace) = &mut self.0.lock().trace {
                trace.push(line);
            }
        }
    }

    /// Counts a situation.
    pub(super) fn count(&self, situation: Situation) {
        self.0.lock().coverage.count(situation);
    }

    /// Whether a situation has occurred in this run.
    pub(super) fn has_occurred(&self, situation: Situation) -> bool {
        self.0.lock().coverage.contains(situation)
    }

    /// Records a broken promise and ends the run. Only the first is kept.
    pub(super) fn broken(&self, promise: Promise, what: impl FnOnce() -> String) {
        if self.is_broken() {
            return;
        }
        let what = format!("{promise}: {}", what());
        self.note(|| format!("BROKEN {what}"));
        self.0.lock().broken = Some(what);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.0.lock().broken.is_some()
    }

    /// The coverage, the trace, and the broken promise, if any.
    pub(super) fn end(&self) -> (Coverage, Vec<String>, Option<String>) {
        let mut shared = self.0.lock();
        (
            std::mem::take(&mut shared.coverage),
            shared.trace.take().unwrap_or_default(),
            shared.broken.take(),
        )
    }
}
