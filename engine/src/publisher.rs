//! The publisher: follows the journal, executes every command on its own exchange, compares the
//! events with the recorded ones, folds the frame into a view, and publishes snapshots.
//!
//! It reads only durable frames, so it neither delays the matcher nor runs ahead of visible state.
//! Its thread has a low priority.
//!
//! A difference ends the engine, because either the journal or the core is wrong. Failures of the
//! read model alone do not end it. A snapshot that the disk does not take is tried again. A view
//! that cannot follow, or panics, is dropped: no more snapshots are written, and every command is
//! still executed a second time. Both failures are alarms in the engine's status.
//!
//! `begin.rs` starts it, `replayed.rs` processes a frame, `schedule.rs` says when a snapshot is
//! due, `snapshot_contents.rs` reads and writes the contents of a snapshot.

mod begin;
mod checkpoints;
mod replayed;
mod schedule;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::snapshot::SnapshotStore;
use foretell_journal::{Follower, FrameReader, JournalState, Next, Scratch, receipt};
use foretell_link::SnapshotResult;
use foretell_model::{Command, Sequence, TimeNs};
use foretell_view::{ChunkRef, SeenChunks};

pub(crate) use self::begin::Beginning;
use self::checkpoints::{BatchEnd, CheckpointSigner};
use self::replayed::ReplayedState;
use self::schedule::SnapshotSchedule;
use crate::clock::Clocks;
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::publisher_mailbox::{PublisherMailbox, SnapshotRequest};
use crate::snapshot_contents::{self, WrittenChunks};
use crate::wait::PollWaker;

/// Frames between two checks of the clock, the requests and the view's new chunks.
const FRAMES_PER_STEP: usize = 256;
/// The shortest sleep. Under load each sync would otherwise wake the thread for a few frames.
const SHORTEST_SLEEP: Duration = Duration::from_millis(2);
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// The error of view operations after the view was dropped.
const NO_VIEW: &str = "the read model stopped";
/// Added nice value of its thread (at most 19).
const NICENESS: i32 = 10;

/// The arguments of the publisher.
#[derive(Debug)]
pub(crate) struct PublisherArgs<C> {
    pub(crate) config: EngineConfig,
    pub(crate) journal_directory: PathBuf,
    pub(crate) journal: JournalState,
    pub(crate) store: SnapshotStore,
    pub(crate) mailbox: Arc<PublisherMailbox>,
    /// Wakes ingress for an answer, and when the publisher has failed.
    pub(crate) waker: Arc<PollWaker>,
    /// As in [`crate::recovery::Restored`].
    pub(crate) newly_accepted: Option<Sequence>,
    /// A random key, as for the matcher's exchange.
    pub(crate) index_key: u64,
    pub(crate) clocks: C,
}

/// Runs until the engine stops; an error ends the engine.
///
/// # Errors
/// [`EngineError::PublisherDiverged`], [`EngineError::Impossible`], or an unreadable journal.
pub(crate) fn run<C: Clocks>(args: PublisherArgs<C>) -> Result<(), EngineError> {
    yield_to_others();
    let (mailbox, waker) = (Arc::clone(&args.mailbox), Arc::clone(&args.waker));
    let ended =
        Publisher::begin(args).and_then(|publisher| publisher.map_or(Ok(()), Publisher::work));
    if ended.is_err() {
        mailbox.fail();
        waker.wake();
    }
    ended
}

/// On Linux the priority belongs to the thread.
fn yield_to_others() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "cannot lower the priority of the publisher");
    }
}

/// The publisher at one sequence.
#[derive(Debug)]
pub(crate) struct Publisher<C> {
    args: PublisherArgs<C>,
    follower: Follower,
    scratch: Scratch,
    replayed: ReplayedState,
    /// The view's chunks that are written or wait in `unwritten`.
    seen: SeenChunks,
    unwritten: VecDeque<ChunkRef>,
    written: WrittenChunks,
    /// A write failed; nothing is written before the next snapshot is due.
    disk_failed: bool,
    schedule: SnapshotSchedule,
    checkpoints: Option<CheckpointSigner>,
    /// Set if the last frame ends a batch.
    batch_end: Option<BatchEnd>,
    /// Sequence and engine time of the written snapshot that is not attested yet.
    attesting: Option<(Sequence, TimeNs)>,
    /// The requests for the next snapshot, and the sequence that it must reach.
    requests: Vec<SnapshotRequest>,
    wanted: Sequence,
}

impl<C: Clocks> Publisher<C> {
    fn work(mut self) -> Result<(), EngineError> {
        while !self.args.mailbox.is_stopping() {
            if self.step()? {
                self.sleep();
            }
        }
        Ok(())
    }

    /// Processes a burst of frames and publishes what is due. Returns whether it has read the whole
    /// journal.
    pub(crate) fn step(&mut self) -> Result<bool, EngineError> {
        let is_up_to_date = self.burst()?;
        self.args.mailbox.set_folded(self.replayed.sequence());
        self.write_new_chunks();
        self.take_requests();
        if self.is_due() {
            self.publish()?;
        }
        self.sign_checkpoint();
        Ok(is_up_to_date)
    }

    /// Processes a burst of frames; returns whether there are no more.
    fn burst(&mut self) -> Result<bool, EngineError> {
        for _ in 0..FRAMES_PER_STEP {
            let next = self.follower.next_frame().map_err(EngineError::Journal)?;
            match next {
                Next::UpToDate => return Ok(true),
                Next::Frame(frame) => {
                    if frame.place().segment != self.replayed.place.segment {
                        // The state is still that of the end of a segment.
                        let now = self.args.clocks.monotonic();
                        prepare(&mut self.checkpoints, self.batch_end, now, &self.replayed);
                    }
                    self.replayed.advance(&frame, &mut self.scratch)?;
                    let (at, time) = (frame.sequence(), frame.time());
                    if let Some(image) = self.replayed.attests {
                        self.note_attested(image);
                    }
                    if self.schedule.note_frame(at, time) {
                        self.batch_end = self.follower.batch_end();
                        return Ok(false);
                    }
                }
                Next::NewEpoch { .. } if self.args.config.cluster.is_some() => {}
                Next::NewEpoch { .. } | Next::Rebuild { .. } => {
                    return Err(EngineError::Impossible {
                        sequence: self.replayed.sequence(),
                        what: "another engine wrote to the journal of this one".to_owned(),
                    });
                }
            }
            self.batch_end = self.follower.batch_end();
            if self.batch_end.is_some() && self.is_checkpoint_due() {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn is_checkpoint_due(&self) -> bool {
        let (at, now) = (self.replayed.sequence(), self.args.clocks.monotonic());
        let checkpoints = self.checkpoints.as_ref();
        checkpoints.is_some_and(|checkpoints| checkpoints.is_due(at, now))
    }

    /// Prepares a due checkpoint and signs the waiting one.
    fn sign_checkpoint(&mut self) {
        let now = self.args.clocks.monotonic();
        if self.is_checkpoint_due() {
            prepare(&mut self.checkpoints, self.batch_end, now, &self.replayed);
        }
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.sign(&self.args, now);
        }
    }

    fn sleep(&mut self) {
        std::thread::park_timeout(SHORTEST_SLEEP);
        let now = self.args.clocks.monotonic();
        let until_due = self.schedule.until_due(self.replayed.sequence(), now);
        let mailbox = &self.args.mailbox;
        self.follower.wait_unless(
            until_due.map_or(LONGEST_SLEEP, |due| due.min(LONGEST_SLEEP)),
            || mailbox.is_stopping() || mailbox.has_request(),
        );
    }

    /// Requests that arrive now get a snapshot of everything durable now.
    fn take_requests(&mut self) {
        if self.requests.is_empty() {
            self.requests.extend(self.args.mailbox.take_requests());
            self.wanted = self.args.journal.durable();
        }
    }

    fn is_due(&self) -> bool {
        let (at, now) = (self.replayed.sequence(), self.args.clocks.monotonic());
        let is_asked_for = !self.requests.is_empty() && at >= self.wanted;
        // In a cluster the leader attests, or an earlier leader did not.
        let may_write = self.attesting.is_none() || self.schedule.is_aligned();
        may_write && (is_asked_for || self.schedule.is_due(at, now))
    }

    /// Runs `work` on the view. A panic drops the view and affects nothing else.
    fn with_view<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.replayed.view.is_none() {
            return Err(NO_VIEW.to_owned());
        }
        // Partial results of the panic are dropped, or written again by the next start.
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            let at = self.replayed.sequence();
            self.replayed.drop_view(at, "it panicked");
            Err(NO_VIEW.to_owned())
        })
    }

    /// Writes chunks as soon as they are full, so that few stay in memory.
    fn write_new_chunks(&mut self) {
        let written = self.with_view(|publisher| {
            let view = publisher.replayed.view.as_ref();
            let new = view.map(|view| view.new_chunks(&mut publisher.seen));
            publisher.unwritten.extend(new.unwrap_or_default());
            match publisher.disk_failed {
                true => Ok(()),
                false => publisher.write_chunks(),
            }
        });
        if let Err(reason) = written
            && self.replayed.view.is_some()
        {
            tracing::error!(
                reason,
                "history chunk not written; kept in memory until the next snapshot"
            );
            self.set_disk_failed(true);
        }
    }

    fn set_disk_failed(&mut self, failed: bool) {
        self.disk_failed = failed;
        self.args.mailbox.set_unwritten(failed);
    }

    /// Queues chunks whose file was removed: a snapshot that lists them needs them.
    fn requeue_missing_chunks(&mut self) {
        let missed = self
            .written
            .extract_if(.., |_, entry| !self.args.store.has_chunk(entry));
        self.unwritten.extend(missed.map(|(chunk, _)| chunk));
    }

    fn write_chunks(&mut self) -> Result<(), String> {
        while let Some(&chunk) = self.unwritten.front() {
            self.check_disk_space()?;
            let view = self.replayed.view.as_mut().ok_or(NO_VIEW)?;
            let entry = snapshot_contents::write_chunk(&self.args.store, view, chunk)
                .map_err(|error| error.to_string())?;
            self.written.insert(chunk, entry);
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// The rest of a nearly full disk is reserved for the journal, so that cancels continue.
    fn check_disk_space(&self) -> Result<(), String> {
        if self.args.journal.disk_low() {
            return Err("the disk is nearly full".to_owned());
        }
        Ok(())
    }

    /// Writes a snapshot of the current state and requests its attestation, unless one exists.
    /// Requests are answered when the journal attests it.
    fn publish(&mut self) -> Result<(), EngineError> {
        let sequence = self.replayed.sequence();
        if self.schedule.is_reflected(sequence) {
            self.answer_requests(self.published());
            return Ok(());
        }
        let now = self.args.clocks.monotonic();
        self.schedule.tried(sequence, now);
        if self.replayed.view.is_none() {
            // The status shows the alarm of the view; no write is tried.
            self.answer_requests(SnapshotResult::Failed);
            return Ok(());
        }
        self.replayed.check()?;
        let written = self.with_view(Self::write_snapshot);
        self.set_disk_failed(written.is_err());
        match written {
            Ok(None) => {}
            Ok(Some(attestation)) => {
                self.attesting = Some((sequence, self.time()));
                self.args.mailbox.attest(attestation);
                self.args.waker.wake();
            }
            Err(reason) => {
                tracing::error!(
                    sequence = sequence.0,
                    reason,
                    "no snapshot written; retrying"
                );
                self.answer_requests(SnapshotResult::Failed);
            }
        }
        Ok(())
    }

    /// The last frame attests a snapshot: if it is the one just written, that one is published.
    fn note_attested(&mut self, image: Sequence) {
        if let Some((_, time)) = self.attesting.take_if(|(written, _)| *written == image) {
            self.schedule.published(image);
            self.args.mailbox.set_newest(image, time);
            snapshot_contents::tidy(&self.args.store);
            tracing::info!(sequence = image.0, "snapshot published");
        }
        self.schedule.skip_attestation(self.replayed.sequence());
        // Requests that arrived meanwhile wait for the next snapshot.
        if self.schedule.is_reflected(self.wanted) {
            self.answer_requests(self.published());
        }
    }

    fn published(&self) -> SnapshotResult {
        let sequence = self.schedule.newest();
        SnapshotResult::Published { sequence }
    }

    fn answer_requests(&mut self, result: SnapshotResult) {
        for request in self.requests.drain(..) {
            self.args.mailbox.answer(request, result);
        }
        self.args.waker.wake();
    }

    /// `None` when the engine stops meanwhile.
    fn write_snapshot(&mut self) -> Result<Option<Command>, String> {
        self.check_disk_space()?;
        self.requeue_missing_chunks();
        self.write_chunks()?;
        let (replayed, mailbox) = (&self.replayed, &self.args.mailbox);
        let view = replayed.view.as_ref().ok_or(NO_VIEW)?;
        let reader = FrameReader::new(&self.args.journal_directory);
        let frame = reader.frame(replayed.place, replayed.sequence());
        snapshot_contents::write_snapshot(
            &self.args.store,
            &replayed.replay.exchange,
            view,
            &self.written,
            receipt(&frame.map_err(|error| error.to_string())?),
            &|| !mailbox.is_stopping(),
        )
        .map_err(|error| error.to_string())
    }

    /// Engine time of the last frame; 0 without a view.
    fn time(&self) -> TimeNs {
        let view = self.replayed.view.as_ref();
        view.map(|view| view.system().time).unwrap_or_default()
    }
}

fn prepare(
    checkpoints: &mut Option<CheckpointSigner>,
    end: Option<BatchEnd>,
    now: u64,
    replayed: &ReplayedState,
) {
    if let Some(checkpoints) = checkpoints {
        checkpoints.prepare(end, now, || replayed.replay.exchange.digest());
    }
}
