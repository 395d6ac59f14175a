//! Replacements for primitives that the model checker does not support, with no stronger ordering.
//! The journal and the engine include this file in their model-checker builds (`tests/loom/run`).
//!
//! Waits have no timeout here: a thread that only a timeout would wake is reported as a deadlock.

use std::sync::Arc;
use std::sync::Mutex as Plain;
use std::time::Duration;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Condvar, Mutex};

/// A bounded queue of one producer and one consumer: `crossbeam_queue::ArrayQueue` with only the
/// guarantees its users rely on. A push happens before its pop; a pop happens before the reuse of
/// its slot. Nothing else is ordered.
#[derive(Debug)]
pub(crate) struct ArrayQueue<T> {
    /// Two threads never access the same slot at the same time.
    places: Box<[Plain<Option<T>>]>,
    taken: AtomicUsize,
    pushed: AtomicUsize,
}

impl<T> ArrayQueue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            places: (0..capacity).map(|_| Plain::new(None)).collect(),
            taken: AtomicUsize::new(0),
            pushed: AtomicUsize::new(0),
        }
    }

    pub(crate) fn push(&self, value: T) -> Result<(), T> {
        let pushed = self.pushed.load(Ordering::Relaxed);
        if pushed - self.taken.load(Ordering::Acquire) == self.places.len() {
            return Err(value);
        }
        let mut place = self.place(pushed);
        assert!(place.replace(value).is_none(), "a place was used twice");
        drop(place);
        self.pushed.store(pushed + 1, Ordering::Release);
        Ok(())
    }

    pub(crate) fn pop(&self) -> Option<T> {
        let taken = self.taken.load(Ordering::Relaxed);
        if self.pushed.load(Ordering::Acquire) == taken {
            return None;
        }
        let value = self.place(taken).take();
        self.taken.store(taken + 1, Ordering::Release);
        Some(value.expect("it was pushed"))
    }

    fn place(&self, number: usize) -> std::sync::MutexGuard<'_, Option<T>> {
        let place = &self.places[number % self.places.len()];
        place
            .try_lock()
            .expect("pusher and taker are never at one place together")
    }

    #[allow(dead_code, reason = "the journal asks for none of these")]
    pub(crate) fn len(&self) -> usize {
        let taken = self.taken.load(Ordering::Acquire);
        self.pushed.load(Ordering::Acquire).saturating_sub(taken)
    }

    #[allow(dead_code, reason = "the journal asks for none of these")]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.places.len()
    }

    #[allow(dead_code, reason = "the journal asks for none of these")]
    pub(crate) fn capacity(&self) -> usize {
        self.places.len()
    }
}

/// `crossbeam_utils::sync::Parker`: one permit, which a thread waits for.
#[derive(Debug)]
pub(crate) struct Parker(Unparker);

#[derive(Clone, Debug)]
pub(crate) struct Unparker(Arc<(Mutex<bool>, Condvar)>);

impl Parker {
    pub(crate) fn new() -> Self {
        Self(Unparker(Arc::new((Mutex::new(false), Condvar::new()))))
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    pub(crate) fn park(&self) {
        let (permit, waiting) = &*self.0.0;
        let mut permit = permit.lock().expect("no thread panics with it");
        while !*permit {
            permit = waiting.wait(permit).expect("no thread panics with it");
        }
        *permit = false;
    }

    pub(crate) fn park_timeout(&self, _limit: Duration) {
        self.park();
    }
}

impl Unparker {
    pub(crate) fn unpark(&self) {
        let (permit, waiting) = &*self.0;
        *permit.lock().expect("no thread panics with it") = true;
        waiting.notify_one();
    }
}

/// Runs `model` in every order that threads and memory permit, with up to `preemptions`
/// preemptions; `LOOM_MAX_PREEMPTIONS` overrides that.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(model);
}
