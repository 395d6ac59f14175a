//! The model checker's primitives for the journal.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, fence};

#[path = "../../../tests/loom/stand_ins.rs"]
mod stand_ins;

pub(crate) use stand_ins::{ArrayQueue, Parker, Unparker, check};

use loom::sync::Mutex;

/// `crossbeam_utils::atomic::AtomicCell` of what must be dropped: every access is an exchange.
#[derive(Debug)]
pub(crate) struct AtomicCell<T>(Mutex<T>);

impl<T: Default> AtomicCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn store(&self, value: T) {
        drop(self.swap(value));
    }

    pub(crate) fn take(&self) -> T {
        self.swap(T::default())
    }

    fn swap(&self, value: T) -> T {
        let mut held = self.0.lock().expect("no thread panics with it");
        std::mem::replace(&mut held, value)
    }
}
