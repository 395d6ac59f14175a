//! The view shared by the threads of this process, and waiting for later states of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use foretell_journal::{DurableEnd, FrameInclusion, FrameReader, Frames, JournalError};
use foretell_model::{FramePosition, SandboxClock, Sequence};
use foretell_view::{ChunkCopy, View};
use foretell_wire::{ApiError, ErrorCode};
use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::Semaphore;

use crate::http::answer::StatePosition;
use crate::http::connections::client_quotas::Reservation;
use crate::http::connections::slot_cache::SlotCache;
use crate::policy::limits::{MAX_FRAME_SEARCHES, MAX_SEQUENCE_AHEAD, SEQUENCE_WAIT};
use crate::policy::work;
use crate::view::waiters::Waiters;

/// Cached receipts, in 8 MB; sequences a multiple of this apart evict each other. It covers the ten
/// thousand newest fills of a wallet that takes part in every fifth.
const RECEIPTS: usize = 1 << 17;

/// The shared view. Only the follower thread writes.
pub(crate) struct SharedView {
    state: RwLock<ViewState>,
    journal: RwLock<Option<Journal>>,
    waiters: Waiters,
    /// Receipts by history and sequence: each costs a file read and a hash, and lists of trades show
    /// the same ones repeatedly.
    receipts: SlotCache<(u64, Sequence), [u8; 32]>,
    /// Incremented when the view is rebuilt: frames before and after may differ.
    history: AtomicU64,
    /// Set once the view has caught up with the journal's end at the first open.
    ready: AtomicBool,
    /// The frame that the view cannot follow; 0 otherwise. Meanwhile the state resolves names only
    /// (keys, accounts and markets before that frame); the engine checks every number derived from
    /// them.
    stopped: AtomicU64,
    searching: Semaphore,
}

pub(crate) struct ViewState {
    pub(crate) view: View,
    pub(crate) epoch: u64,
}

impl ViewState {
    /// The sequence and epoch of an answer made from this state.
    pub(crate) fn position(&self) -> StatePosition {
        StatePosition {
            sequence: self.view.sequence(),
            epoch: self.epoch,
        }
    }
}

/// The answer when frames cannot be read. Archived ones are an operator's decision.
fn unreadable(error: &JournalError) -> ApiError {
    match error {
        JournalError::Archived { through, .. } => ErrorCode::FramesArchived.with([&through.0]),
        error => {
            tracing::error!(%error, "cannot read frames of the journal");
            ErrorCode::Internal.into()
        }
    }
}

/// Access to the journal in addition to following its frames.
struct Journal {
    control: DurableEnd,
    frames: FrameReader,
}

impl SharedView {
    pub(crate) fn new() -> Self {
        Self {
            state: RwLock::new(ViewState {
                view: View::new([0; 32]),
                epoch: 0,
            }),
            journal: RwLock::new(None),
            waiters: Waiters::default(),
            receipts: SlotCache::with_slots(RECEIPTS),
            history: AtomicU64::new(0),
            ready: AtomicBool::new(false),
            stopped: AtomicU64::new(0),
            searching: Semaphore::new(MAX_FRAME_SEARCHES),
        }
    }

    /// The current state. Guards must be short-lived, because the follower waits for them.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, ViewState> {
        self.state.read()
    }

    /// The clock of a sandbox; wall time on other exchanges. Also while the caller reads the state.
    pub(crate) fn sandbox_clock(&self) -> SandboxClock {
        self.state.read_recursive().view.system().clock
    }

    /// Whether the view serves reads.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// The frame that the view cannot follow.
    pub(crate) fn stopped(&self) -> Option<Sequence> {
        let at = self.stopped.load(Ordering::Acquire);
        (at > 0).then_some(Sequence(at))
    }

    /// The failure while the view serves no reads.
    fn not_ready_error(&self) -> ApiError {
        match self.stopped() {
            Some(at) => ErrorCode::ViewStopped.with([&at.0]),
            None => ErrorCode::Recovering.into(),
        }
    }

    /// The highest sequence that cannot be lost, as of now; `None` before the journal is open.
    pub(crate) fn durable(&self) -> Option<Sequence> {
        self.journal
            .read()
            .as_ref()
            .map(|journal| journal.control.sequence())
    }

    /// Number of durable frames that the view has not applied yet; 0 before the journal is open.
    pub(crate) fn lag(&self) -> u64 {
        let durable = self.durable().unwrap_or_default();
        durable.0.saturating_sub(self.waiters.reached().0)
    }

    /// The receipt of a frame, displayed as `0x` and 64 hex digits.
    pub(crate) fn receipt(&self, place: FramePosition, sequence: Sequence) -> Option<[u8; 32]> {
        self.receipt_by(&mut None, place, sequence)
    }

    /// As [`Self::receipt`], for many frames: the caller keeps `frames`, a sequential reader that
    /// is created when first needed.
    pub(crate) fn receipt_by(
        &self,
        frames: &mut Option<Frames>,
        place: FramePosition,
        sequence: Sequence,
    ) -> Option<[u8; 32]> {
        let key = (self.history.load(Ordering::Acquire), sequence);
        let slot = usize::try_from(sequence.0 % RECEIPTS as u64).expect("below the slots");
        if let Some(known) = self.receipts.get(slot, &key) {
            return Some(known);
        }
        let frames = match frames {
            Some(frames) => frames,
            None => frames.insert(self.journal.read().as_ref()?.frames.one_by_one()),
        };
        match frames.frame(place, sequence) {
            Ok(bytes) => {
                let receipt = foretell_journal::receipt(bytes);
                self.receipts.put(slot, key, receipt);
                Some(receipt)
            }
            // An operator's decision, and lists have many such rows.
            Err(JournalError::Archived { .. }) => None,
            Err(error) => {
                tracing::error!(%error, sequence = sequence.0, "cannot read frame for receipt");
                None
            }
        }
    }

    /// The bytes of a frame and its location. Without a location it searches the journal on a
    /// blocking thread, with at most [`MAX_FRAME_SEARCHES`] searches at a time.
    pub(crate) async fn frame(
        &self,
        place: Option<FramePosition>,
        sequence: Sequence,
    ) -> Result<(FramePosition, Vec<u8>), ApiError> {
        let Some(place) = place else {
            return self.search(move |frames| frames.find(sequence)).await;
        };
        let found = self.frames()?.frame(place, sequence);
        found
            .map(|bytes| (place, bytes))
            .map_err(|error| unreadable(&error))
    }

    /// What `read` finds in the journal, on a blocking thread, with at most [`MAX_FRAME_SEARCHES`]
    /// searches at a time.
    ///
    /// # Errors
    /// The frames are archived, or the journal cannot be read.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        read: impl FnOnce(&FrameReader) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let frames = self.frames()?;
        let permit = self.searching.acquire().await;
        let _permit = permit.map_err(|_| ErrorCode::Internal)?;
        let found = work::blocking(move || read(&frames)).await;
        let found = found.map_err(|_| ErrorCode::Internal)?;
        found.map_err(|error| unreadable(&error))
    }

    fn frames(&self) -> Result<FrameReader, ErrorCode> {
        let journal = self.journal.read();
        let journal = journal.as_ref().ok_or(ErrorCode::Internal)?;
        Ok(journal.frames.clone())
    }

    /// The batch of a frame, and the chain hashes around it; `None` when the segment cannot be read.
    /// It reads the headers of the segment's batches, as a search does.
    pub(crate) async fn inclusion(&self, place: FramePosition) -> Option<FrameInclusion> {
        self.search(move |frames| frames.inclusion(place))
            .await
            .ok()
    }

    /// Waits until the view covers `acknowledged`, a sequence that this process has acknowledged.
    pub(crate) async fn wait_acknowledged(&self, acknowledged: Sequence) -> Result<(), ApiError> {
        if !self.is_ready() {
            return Err(self.not_ready_error());
        }
        self.wait_for(acknowledged).await
    }

    /// Waits until the view covers `minimum`, requested by a client (docs/api/overview.md §3);
    /// takes a `place` among the waiting requests if it has to wait.
    pub(crate) async fn wait_requested(
        &self,
        minimum: Sequence,
        waiter: impl FnOnce() -> Option<Reservation>,
    ) -> Result<(), ApiError> {
        if self.waiters.reached() >= minimum {
            return Ok(());
        }
        let durable = self.durable().unwrap_or_default();
        if minimum.0 > durable.0.saturating_add(MAX_SEQUENCE_AHEAD) {
            return Err(ErrorCode::SequenceTooFarAhead.with([&minimum.0, &durable.0]));
        }
        let _waiter = waiter().ok_or(ErrorCode::TooManyWaiters)?;
        self.wait_for(minimum).await
    }

    /// Waits until the view has reached `sequence`.
    ///
    /// # Errors
    /// [`ErrorCode::SequenceNotReached`](foretell_wire::ErrorCode::SequenceNotReached) after [`SEQUENCE_WAIT`], [`ErrorCode::ViewStopped`](foretell_wire::ErrorCode::ViewStopped) when the
    /// view cannot reach it.
    pub(crate) async fn wait_for(&self, sequence: Sequence) -> Result<(), ApiError> {
        let is_reached = match self.stopped() {
            Some(_) => false,
            None => self.waiters.wait(sequence, SEQUENCE_WAIT).await,
        };
        match self.stopped() {
            Some(at) => Err(ErrorCode::ViewStopped.with([&at.0])),
            None if is_reached => Ok(()),
            None => Err(ErrorCode::SequenceNotReached.with([&sequence.0])),
        }
    }

    /// Waits for the sequence that is durable now. True when the view lagged, so that a repeated
    /// lookup may succeed: no rejection is derived from a lagging view.
    pub(crate) async fn catch_up(&self) -> Result<bool, ApiError> {
        if !self.is_ready() {
            return Err(self.not_ready_error());
        }
        let durable = self.durable().unwrap_or_default();
        if self.waiters.reached() >= durable {
            return Ok(false);
        }
        self.wait_for(durable).await.map(|()| true)
    }

    /// Replaces the state, at the start and after a recovery of the engine.
    pub(crate) fn replace(&self, state: ViewState, control: DurableEnd, frames: FrameReader) {
        let sequence = state.view.sequence();
        self.put(state, control, frames);
        self.waiters.set(sequence);
        self.ready.store(true, Ordering::Release);
        self.stopped.store(0, Ordering::Release);
    }

    /// As [`Self::replace`], with a state that stopped before `at` and serves no reads.
    pub(crate) fn replace_stopped(
        &self,
        at: Sequence,
        state: ViewState,
        control: DurableEnd,
        frames: FrameReader,
    ) {
        self.stop(at);
        self.put(state, control, frames);
    }

    fn put(&self, state: ViewState, control: DurableEnd, frames: FrameReader) {
        self.history.fetch_add(1, Ordering::AcqRel);
        self.set_journal(control, frames);
        let old = std::mem::replace(&mut *self.state.write(), state);
        drop(old);
    }

    /// The view cannot follow frame `at`: reads are rejected from now on, names still resolve.
    pub(crate) fn stop(&self, at: Sequence) {
        self.stopped.store(at.0, Ordering::Release);
        self.ready.store(false, Ordering::Release);
    }

    /// Opens the control page of the engine's current run.
    pub(crate) fn set_journal(&self, control: DurableEnd, frames: FrameReader) {
        *self.journal.write() = Some(Journal { control, frames });
    }

    /// The view cannot follow the journal: reads are rejected until it can.
    pub(crate) fn mark_unavailable(&self) {
        self.ready.store(false, Ordering::Release);
        self.stopped.store(0, Ordering::Release);
    }

    /// Replaces the memory of a history chunk by another copy. The old one is freed outside of the
    /// lock.
    pub(crate) fn adopt_chunk(&self, copy: ChunkCopy) {
        let old = self.state.write().view.adopt_chunk(copy);
        drop(old);
    }

    /// Changes the state under the lock, then wakes the waiters whose sequence is reached.
    pub(crate) fn advance<T>(&self, change: impl FnOnce(&mut ViewState) -> T) -> T {
        let mut state = self.state.write();
        let result = change(&mut state);
        let sequence = state.view.sequence();
        drop(state);
        self.waiters.set(sequence);
        result
    }
}

/// Longest time that one batch of frames may block readers.
pub(crate) const LOCK_HOLD: Duration = Duration::from_micros(200);
