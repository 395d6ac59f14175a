//! Items of a leader on their way to the replicated log, and the boundary up to which both the
//! local disk and the log have them.
//!
//! The sync thread submits an item before it writes it locally, so disk and log work side by side.
//! Frames become durable, that is visible and acknowledged, when both have them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use foretell_model::Sequence;
use parking_lot::{Mutex, MutexGuard};

use crate::control::JournalPosition;
use crate::primitives::Unparker;
use crate::state::JournalState;

/// Maximum number of items that the log has not confirmed: one on its way while the log writes the one
/// before. Further frames wait for a larger item, which costs the log as much as a small one.
pub const MAX_IN_FLIGHT: usize = 2;

/// The end of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boundary {
    pub(crate) last: Sequence,
    pub(crate) position: JournalPosition,
    pub(crate) hash: [u8; 32],
}

/// A handle for the sync thread and for the thread that publishes; clones share the queue.
#[derive(Clone)]
pub struct LogQueue(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    state: JournalState,
    sync_thread: Unparker,
}

struct Inner {
    /// Submitted and not taken by the publishing thread.
    outgoing: VecDeque<Vec<u8>>,
    /// Items that the disk or the log still lacks, oldest first; of these `on_disk` and `in_log`
    /// are confirmed.
    open: VecDeque<Boundary>,
    on_disk: usize,
    in_log: usize,
    confirmed: Boundary,
    wake: Option<Box<dyn Fn() + Send>>,
}

impl fmt::Debug for LogQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogQueue").finish_non_exhaustive()
    }
}

impl LogQueue {
    /// An empty queue after `confirmed`, which disk and log have.
    pub(crate) fn new(confirmed: Boundary, state: JournalState, sync_thread: Unparker) -> Self {
        Self(Arc::new(Shared {
            inner: Mutex::new(Inner {
                outgoing: VecDeque::new(),
                open: VecDeque::new(),
                on_disk: 0,
                in_log: 0,
                confirmed,
                wake: None,
            }),
            state,
            sync_thread,
        }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock()
    }

    /// Sets the function that the sync thread calls after it has submitted an item.
    pub fn set_waker(&self, wake: impl Fn() + Send + 'static) {
        self.inner().wake = Some(Box::new(wake));
    }

    /// The next item to publish.
    #[must_use]
    pub fn take(&self) -> Option<Vec<u8>> {
        self.inner().outgoing.pop_front()
    }

    /// The log has the next item. Returns the durable sequence if it rose.
    pub fn confirm(&self) -> Option<Sequence> {
        let mut inner = self.inner();
        inner.in_log += 1;
        let raised = self.advance(&mut inner);
        drop(inner);
        // It may wait for room.
        self.0.sync_thread.unpark();
        raised
    }

    /// The last sequence that disk and log have.
    #[must_use]
    pub fn confirmed_sequence(&self) -> Sequence {
        self.confirmed().last
    }

    /// Ends the journal: another host leads. Wakes the sync thread, which ends then.
    pub fn supersede(&self, text: &str) {
        self.0.state.supersede(text);
        self.0.sync_thread.unpark();
    }

    /// Items that the log has not confirmed.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let inner = self.inner();
        inner.open.len() - inner.in_log
    }

    pub(crate) fn has_room(&self) -> bool {
        self.in_flight() < MAX_IN_FLIGHT
    }

    pub(crate) fn confirmed(&self) -> Boundary {
        self.inner().confirmed
    }

    pub(crate) fn submit(&self, message: Vec<u8>, end: Boundary) {
        let mut inner = self.inner();
        inner.outgoing.push_back(message);
        inner.open.push_back(end);
        if let Some(wake) = &inner.wake {
            wake();
        }
    }

    /// The disk has the next item. Returns the durable sequence if it rose.
    pub(crate) fn on_disk(&self) -> Option<Sequence> {
        let mut inner = self.inner();
        inner.on_disk += 1;
        self.advance(&mut inner)
    }

    fn advance(&self, inner: &mut Inner) -> Option<Sequence> {
        let both = inner.on_disk.min(inner.in_log);
        let end = inner.open.drain(..both).next_back()?;
        inner.on_disk -= both;
        inner.in_log -= both;
        let before = std::mem::replace(&mut inner.confirmed, end);
        self.0.state.raise(end.last, end.position);
        (end.last > before.last).then_some(end.last)
    }
}
