//! The fields of a control page for the model checker: the same offsets, and a futex.

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::sync::{Condvar, Mutex};
use memmap2::MmapRaw;

use super::{POSITION_AT, SEQUENCE_AT, STATUS_AT, WAKE_AT};

#[derive(Debug)]
struct Page {
    status: AtomicU32,
    sequence: AtomicU64,
    position: AtomicU64,
    wake: AtomicU32,
    /// The kernel's lock: a sleeper has checked the word while holding it.
    futex: Mutex<()>,
    sleepers: Condvar,
}

/// A page shared by several threads, in place of several processes.
#[derive(Clone, Debug)]
pub(crate) struct SharedAtomics(Arc<Page>);

impl SharedAtomics {
    pub(super) fn new(_: MmapRaw) -> Self {
        unreachable!("nothing is mapped in a model")
    }

    /// The page of an engine that has just started.
    pub(crate) fn blank() -> Self {
        Self(Arc::new(Page {
            status: AtomicU32::new(1),
            sequence: AtomicU64::new(0),
            position: AtomicU64::new(0),
            wake: AtomicU32::new(0),
            futex: Mutex::new(()),
            sleepers: Condvar::new(),
        }))
    }

    pub(super) fn u32(&self, at: usize) -> &AtomicU32 {
        match at {
            STATUS_AT => &self.0.status,
            WAKE_AT => &self.0.wake,
            _ => unreachable!("no word of four bytes changes there"),
        }
    }

    pub(super) fn u64(&self, at: usize) -> &AtomicU64 {
        match at {
            SEQUENCE_AT => &self.0.sequence,
            POSITION_AT => &self.0.position,
            _ => unreachable!("no word of eight bytes changes there"),
        }
    }

    pub(super) fn sleep(&self, seen: u32, _timeout: Duration) {
        let page = &*self.0;
        let asleep = page.futex.lock().expect("no thread panics with it");
        if page.wake.load(Ordering::Relaxed) == seen {
            drop(
                page.sleepers
                    .wait(asleep)
                    .expect("no thread panics with it"),
            );
        }
    }

    pub(super) fn wake_all(&self) {
        drop(self.0.futex.lock().expect("no thread panics with it"));
        self.0.sleepers.notify_all();
    }
}
