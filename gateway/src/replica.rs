//! The view as the threads of this process share it: whole states, and waits for later ones.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::{Follower, FrameReader, Frames};
use foretell_model::{FramePlace, Sequence};
use foretell_view::{ChunkCopy, View};
use foretell_wire::Failure;
use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::Semaphore;

use crate::answer::Place;
use crate::client_shares::Share;
use crate::limits::{MAX_FRAME_SEARCHES, MAX_SEQUENCE_AHEAD, SEQUENCE_WAIT};
use crate::receipts::Receipts;
use crate::waiters::Waiters;

/// The shared view. Only the follower thread writes.
pub(crate) struct Replica {
    state: RwLock<State>,
    journal: RwLock<Option<Journal>>,
    waiters: Waiters,
    receipts: Receipts,
    /// Raised when the view starts over: frames before and after may differ.
    history: AtomicU64,
    /// Once the view has caught up with the journal as it was when this process met it.
    ready: AtomicBool,
    /// The frame that the view cannot follow, while it is not ready for that; 0 otherwise. Then the
    /// state is good for names: keys, accounts and markets as they were before that frame. The
    /// engine judges every number that is made of them.
    stopped: AtomicU64,
    searching: Semaphore,
}

/// One whole state.
pub(crate) struct State {
    pub(crate) view: View,
    pub(crate) epoch: u64,
}

impl State {
    /// How an answer made from this names it.
    pub(crate) fn place(&self) -> Place {
        Place {
            sequence: self.view.sequence(),
            epoch: self.epoch,
        }
    }
}

/// What is asked of the journal beside its frames.
struct Journal {
    /// Tells the durable sequence; it never reads a frame.
    control: Follower,
    frames: FrameReader,
}

impl Replica {
    pub(crate) fn new() -> Self {
        Self {
            state: RwLock::new(State {
                view: View::new([0; 32]),
                epoch: 0,
            }),
            journal: RwLock::new(None),
            waiters: Waiters::default(),
            receipts: Receipts::default(),
            history: AtomicU64::new(0),
            ready: AtomicBool::new(false),
            stopped: AtomicU64::new(0),
            searching: Semaphore::new(MAX_FRAME_SEARCHES),
        }
    }

    /// The present state. The guard is short-lived: the follower waits for it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    /// The present state, if nothing has to be waited for: it shows `acknowledged`, which this
    /// process has told somebody.
    pub(crate) fn present(&self, acknowledged: Sequence) -> Option<RwLockReadGuard<'_, State>> {
        (self.is_ready() && self.waiters.reached() >= acknowledged).then(|| self.state.read())
    }

    /// Whether there is a state worth reading.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// The frame at which the view stopped.
    pub(crate) fn stopped(&self) -> Option<Sequence> {
        let at = self.stopped.load(Ordering::Acquire);
        (at > 0).then_some(Sequence(at))
    }

    /// Why there is no state worth reading.
    fn not_ready(&self) -> Failure {
        match self.stopped() {
            Some(at) => Failure::ViewStopped(at.0),
            None => Failure::Recovering,
        }
    }

    /// The last sequence that cannot be lost, as of now; `None` before the journal was met.
    pub(crate) fn durable(&self) -> Option<Sequence> {
        self.journal
            .read()
            .as_ref()
            .map(|journal| journal.control.durable())
    }

    /// The receipt of a frame: `0x` and 64 hex digits where it is shown.
    pub(crate) fn receipt(&self, place: FramePlace, sequence: Sequence) -> Option<[u8; 32]> {
        self.receipt_by(&mut None, place, sequence)
    }

    /// The same, for whoever shows many: with what reads frames one after the other, made when it is
    /// needed first.
    pub(crate) fn receipt_by(
        &self,
        frames: &mut Option<Frames>,
        place: FramePlace,
        sequence: Sequence,
    ) -> Option<[u8; 32]> {
        let history = self.history.load(Ordering::Acquire);
        if let Some(known) = self.receipts.get(history, sequence) {
            return Some(known);
        }
        let frames = match frames {
            Some(frames) => frames,
            None => frames.insert(self.journal.read().as_ref()?.frames.one_by_one()),
        };
        match frames.frame(place, sequence) {
            Ok(bytes) => {
                let receipt = foretell_journal::receipt(bytes);
                self.receipts.put(history, sequence, receipt);
                Some(receipt)
            }
            Err(error) => {
                tracing::error!(%error, sequence = sequence.0, "no frame to make a receipt of");
                None
            }
        }
    }

    /// The bytes of a frame and where they stand. Without a place they are searched for, off the
    /// thread that serves, a few searches at a time.
    pub(crate) async fn frame(
        &self,
        place: Option<FramePlace>,
        sequence: Sequence,
    ) -> Option<(FramePlace, Vec<u8>)> {
        let frames = self.journal.read().as_ref()?.frames.clone();
        let found = match place {
            Some(place) => frames.frame(place, sequence).map(|bytes| (place, bytes)),
            None => {
                let _place = self.searching.acquire().await.ok()?;
                tokio::task::spawn_blocking(move || frames.find(sequence))
                    .await
                    .ok()?
            }
        };
        found
            .inspect_err(|error| tracing::error!(%error, sequence = sequence.0, "no such frame"))
            .ok()
    }

    /// Waits until reads show `acknowledged`, which this process has told somebody.
    pub(crate) async fn fresh(&self, acknowledged: Sequence) -> Result<(), Failure> {
        if !self.is_ready() {
            return Err(self.not_ready());
        }
        self.until(acknowledged).await
    }

    /// Waits until reads show `minimum`, which a client asks for (protocol 11), holding the `place`
    /// it may wait in.
    pub(crate) async fn at_least(
        &self,
        minimum: Sequence,
        place: impl FnOnce() -> Option<Share>,
    ) -> Result<(), Failure> {
        if self.waiters.reached() >= minimum {
            return Ok(());
        }
        let durable = self.durable().unwrap_or_default();
        if minimum.0 > durable.0.saturating_add(MAX_SEQUENCE_AHEAD) {
            return Err(Failure::SequenceTooFarAhead {
                asked: minimum.0,
                durable: durable.0,
            });
        }
        let _place = place().ok_or(Failure::TooManyWaiters)?;
        self.until(minimum).await
    }

    /// Waits until the view has reached `sequence`.
    ///
    /// # Errors
    /// [`Failure::NotYetAtSequence`] after [`SEQUENCE_WAIT`], [`Failure::ViewStopped`] when the view
    /// will not reach it.
    pub(crate) async fn until(&self, sequence: Sequence) -> Result<(), Failure> {
        let is_reached = match self.stopped() {
            Some(_) => false,
            None => self.waiters.wait(sequence, SEQUENCE_WAIT).await,
        };
        match self.stopped() {
            Some(at) => Err(Failure::ViewStopped(at.0)),
            None if is_reached => Ok(()),
            None => Err(Failure::NotYetAtSequence(sequence.0)),
        }
    }

    /// Catches up with what is durable at this moment. True when the view was behind, so that what
    /// was not found may be there now: no refusal is derived from a view that lags.
    pub(crate) async fn caught_up(&self) -> Result<bool, Failure> {
        if !self.is_ready() {
            return Err(self.not_ready());
        }
        let durable = self.durable().unwrap_or_default();
        if self.waiters.reached() >= durable {
            return Ok(false);
        }
        self.until(durable).await.map(|()| true)
    }

    /// Puts a new state in place of the old one: at the start, and after a recovery of the engine.
    pub(crate) fn replace(&self, state: State, control: Follower, frames: FrameReader) {
        let sequence = state.view.sequence();
        self.put(state, control, frames);
        self.waiters.set(sequence);
        self.ready.store(true, Ordering::Release);
        self.stopped.store(0, Ordering::Release);
    }

    /// As [`Self::replace`], with a state that stopped before `at`: it is not for reads.
    pub(crate) fn replace_stopped(
        &self,
        at: Sequence,
        state: State,
        control: Follower,
        frames: FrameReader,
    ) {
        self.stop(at);
        self.put(state, control, frames);
    }

    fn put(&self, state: State, control: Follower, frames: FrameReader) {
        self.history.fetch_add(1, Ordering::AcqRel);
        self.renew(control, frames);
        let old = std::mem::replace(&mut *self.state.write(), state);
        drop(old);
    }

    /// The view cannot follow a frame: reads are refused from now on, names are still found.
    pub(crate) fn stop(&self, at: Sequence) {
        self.stopped.store(at.0, Ordering::Release);
        self.ready.store(false, Ordering::Release);
    }

    /// Takes what belongs to the present run of the engine: its control page is another one.
    pub(crate) fn renew(&self, control: Follower, frames: FrameReader) {
        *self.journal.write() = Some(Journal { control, frames });
    }

    /// The view cannot follow the journal: reads are refused until it can.
    pub(crate) fn lose(&self) {
        self.ready.store(false, Ordering::Release);
        self.stopped.store(0, Ordering::Release);
    }

    /// Lets the view read a chunk of its history from another copy. The one it had is freed outside
    /// of the lock.
    pub(crate) fn adopt(&self, copy: ChunkCopy) {
        let old = self.state.write().view.adopt_chunk(copy);
        drop(old);
    }

    /// Changes the state under the lock, then wakes whoever waited for what is now reached.
    pub(crate) fn advance<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.write();
        let result = change(&mut state);
        let sequence = state.view.sequence();
        drop(state);
        self.waiters.set(sequence);
        result
    }
}

/// Longest time one batch of frames may keep readers out.
pub(crate) const LOCK_HOLD: Duration = Duration::from_micros(200);
