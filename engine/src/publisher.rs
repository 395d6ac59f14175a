//! The publisher: follows the journal like any gateway, executes every command on an exchange of
//! its own, compares what happens with what was recorded, folds it into a view, and publishes.
//!
//! It reads what is durable and nothing else of the engine, so it can neither hold the matcher up
//! nor be ahead of what may be shown; where cores are few its thread yields to the others.
//!
//! A difference ends the engine, because then the record is wrong or the core is. What concerns the
//! read model alone ends nothing. A disk that does not take a snapshot is tried again. A view that
//! cannot follow, or panics, is given up: there are no more snapshots, and every command is still
//! executed a second time. Both are alarms in the engine's status.
//!
//! `begin.rs` is how it starts, `twin.rs` what it does with a frame, `schedule.rs` when an image is
//! due; what an image holds is in `images.rs`.

mod begin;
mod checkpoints;
mod schedule;
mod twin;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::snapshot::Shelf;
use foretell_journal::{Follower, JournalState, Next, Scratch, receipt};
use foretell_link::SnapshotResult;
use foretell_model::{Command, Sequence, TimeNs};
use foretell_view::{ChunkRef, Seen};

use self::checkpoints::{BatchEnd, Checkpoints};
use self::schedule::Schedule;
use self::twin::Twin;
use crate::clock::Clocks;
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::images::{self, Written};
use crate::published::{Asker, Published};
use crate::wait::Bell;

/// Frames between two looks at the clock, the requests and the view's new chunks.
const BURST: usize = 256;
/// The shortest: under load each sync would wake it for a few frames, at the price of many.
const SHORTEST_SLEEP: Duration = Duration::from_millis(2);
/// The longest sleep.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// Why nothing is written when the view was given up.
const NO_VIEW: &str = "the read model stopped";
/// How much nicer its thread is than the others (of 19).
const NICENESS: i32 = 10;

/// What the publisher is given.
#[derive(Debug)]
pub(crate) struct Setting<C> {
    pub(crate) config: EngineConfig,
    pub(crate) journal_directory: PathBuf,
    pub(crate) journal: JournalState,
    pub(crate) shelf: Shelf,
    pub(crate) board: Arc<Published>,
    /// Wakes ingress for an answer, and when the publisher failed.
    pub(crate) bell: Arc<Bell>,
    /// As in [`crate::recovery::Restored`].
    pub(crate) newly_accepted: Option<Sequence>,
    /// Random; as for the matcher's exchange.
    pub(crate) index_key: u64,
    pub(crate) clocks: C,
}

/// Works until the engine stops; an error ends the engine.
///
/// # Errors
/// [`EngineError::PublisherDiverged`], [`EngineError::Impossible`], or a journal that cannot be
/// read any more.
pub(crate) fn run<C: Clocks>(setting: Setting<C>) -> Result<(), EngineError> {
    yield_to_others();
    let (board, bell) = (Arc::clone(&setting.board), Arc::clone(&setting.bell));
    let ended =
        Publisher::begin(setting).and_then(|publisher| publisher.map_or(Ok(()), Publisher::work));
    if ended.is_err() {
        board.fail();
        bell.ring();
    }
    ended
}

/// On Linux a priority is a thread's own.
fn yield_to_others() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "the publisher keeps the priority of the others");
    }
}

/// The publisher at one sequence.
#[derive(Debug)]
pub(crate) struct Publisher<C> {
    setting: Setting<C>,
    follower: Follower,
    scratch: Scratch,
    twin: Twin,
    /// Which of the view's chunks are written or wait in `unwritten`.
    seen: Seen,
    unwritten: VecDeque<ChunkRef>,
    written: Written,
    /// The disk took something not; nothing is tried before the next image is.
    disk_failed: bool,
    schedule: Schedule,
    checkpoints: Option<Checkpoints>,
    /// Where the last frame taken in ends a batch.
    batch_end: Option<BatchEnd>,
    /// The image that was written and waits for the journal to attest it, and its engine time.
    attesting: Option<(Sequence, TimeNs)>,
    /// Who waits for the next image, and up to where it must reach.
    askers: Vec<Asker>,
    wanted: Sequence,
}

impl<C: Clocks> Publisher<C> {
    fn work(mut self) -> Result<(), EngineError> {
        while !self.setting.board.is_stopping() {
            if self.turn()? {
                self.sleep();
            }
        }
        Ok(())
    }

    /// Takes in a few frames and publishes what is due; whether it has read all there is.
    pub(crate) fn turn(&mut self) -> Result<bool, EngineError> {
        let is_up_to_date = self.burst()?;
        self.setting.board.show_folded(self.twin.sequence());
        self.note_new_chunks();
        self.take_askers();
        if self.is_due() {
            self.publish()?;
        }
        self.vouch();
        Ok(is_up_to_date)
    }

    /// Takes in a few frames; whether there are no more.
    fn burst(&mut self) -> Result<bool, EngineError> {
        for _ in 0..BURST {
            let next = self.follower.next_frame().map_err(EngineError::Journal)?;
            match next {
                Next::UpToDate => return Ok(true),
                Next::Frame(frame) => {
                    if frame.place().segment != self.twin.place.segment {
                        // The state is still the one at the end of a segment.
                        let now = self.setting.clocks.monotonic();
                        prepare(&mut self.checkpoints, self.batch_end, now, &self.twin);
                    }
                    self.twin.take(&frame, &mut self.scratch)?;
                    if let Some(image) = self.twin.attests {
                        self.note_attested(image);
                    }
                }
                Next::NewEpoch { .. } | Next::Rebuild { .. } => {
                    return Err(EngineError::Impossible {
                        sequence: self.twin.sequence(),
                        what: "another engine wrote to the journal this one holds".to_owned(),
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
        let (at, now) = (self.twin.sequence(), self.setting.clocks.monotonic());
        let checkpoints = self.checkpoints.as_ref();
        checkpoints.is_some_and(|checkpoints| checkpoints.is_due(at, now))
    }

    /// Prepares the checkpoint that is due, and signs the one that waits.
    fn vouch(&mut self) {
        let now = self.setting.clocks.monotonic();
        if self.is_checkpoint_due() {
            prepare(&mut self.checkpoints, self.batch_end, now, &self.twin);
        }
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.sign(&self.setting, now);
        }
    }

    fn sleep(&mut self) {
        std::thread::park_timeout(SHORTEST_SLEEP);
        let now = self.setting.clocks.monotonic();
        let until_due = self.schedule.until_due(self.twin.sequence(), now);
        let board = &self.setting.board;
        self.follower.wait_unless(
            until_due.map_or(LONGEST_SLEEP, |due| due.min(LONGEST_SLEEP)),
            || board.is_stopping() || board.has_asker(),
        );
    }

    /// Whoever asks now is answered with an image of all that is durable now.
    fn take_askers(&mut self) {
        if self.askers.is_empty() {
            self.askers.extend(self.setting.board.take_askers());
            self.wanted = self.setting.journal.durable();
        }
    }

    fn is_due(&self) -> bool {
        let (at, now) = (self.twin.sequence(), self.setting.clocks.monotonic());
        let is_asked_for = !self.askers.is_empty() && at >= self.wanted;
        self.attesting.is_none() && (is_asked_for || self.schedule.is_due(at, now))
    }

    /// Works on the view. A panic costs the view and nothing else.
    fn with_view<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.twin.view.is_none() {
            return Err(NO_VIEW.to_owned());
        }
        // What the panic left half done is dropped, or written anew by the next start.
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            let at = self.twin.sequence();
            self.twin.give_view_up(at, "it panicked");
            Err(NO_VIEW.to_owned())
        })
    }

    /// Writes chunks as they fill, so that memory holds few of them.
    fn note_new_chunks(&mut self) {
        let written = self.with_view(|publisher| {
            let view = publisher.twin.view.as_ref();
            let new = view.map(|view| view.new_chunks(&mut publisher.seen));
            publisher.unwritten.extend(new.unwrap_or_default());
            match publisher.disk_failed {
                true => Ok(()),
                false => publisher.write_chunks(),
            }
        });
        if let Err(reason) = written
            && self.twin.view.is_some()
        {
            tracing::error!(
                reason,
                "a history chunk is kept in memory until the next image"
            );
            self.note_disk(true);
        }
    }

    fn note_disk(&mut self, failed: bool) {
        self.disk_failed = failed;
        self.setting.board.show_unwritten(failed);
    }

    /// A chunk whose file somebody removed is written again: an image that lists it needs it.
    fn miss_chunks(&mut self) {
        let missed = self
            .written
            .extract_if(.., |_, entry| !self.setting.shelf.has_chunk(entry));
        self.unwritten.extend(missed.map(|(chunk, _)| chunk));
    }

    fn write_chunks(&mut self) -> Result<(), String> {
        while let Some(&chunk) = self.unwritten.front() {
            self.look_at_the_disk()?;
            let view = self.twin.view.as_mut().ok_or(NO_VIEW)?;
            let entry = images::write_chunk(&self.setting.shelf, view, chunk)
                .map_err(|error| error.to_string())?;
            self.written.insert(chunk, entry);
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// What is left on a nearly full disk is the journal's, for cancels.
    fn look_at_the_disk(&self) -> Result<(), String> {
        if self.setting.journal.disk_low() {
            return Err("the disk is nearly full".to_owned());
        }
        Ok(())
    }

    /// Writes an image of where it is and asks for its attestation, unless there is one. Whoever asked is
    /// answered when the journal attests it.
    fn publish(&mut self) -> Result<(), EngineError> {
        let sequence = self.twin.sequence();
        if self.schedule.is_reflected(sequence) {
            self.answer_askers(self.published());
            return Ok(());
        }
        let now = self.setting.clocks.monotonic();
        self.schedule.tried(sequence, now);
        if self.twin.view.is_none() {
            // The alarm of the view says it; the disk is not asked.
            self.answer_askers(SnapshotResult::Failed);
            return Ok(());
        }
        self.twin.check()?;
        let written = self.with_view(Self::write_image);
        self.note_disk(written.is_err());
        match written {
            Ok(None) => {}
            Ok(Some(attestation)) => {
                self.attesting = Some((sequence, self.time()));
                self.setting.board.attest(attestation);
                self.setting.bell.ring();
            }
            Err(reason) => {
                tracing::error!(sequence = sequence.0, reason, "no image: tried again later");
                self.answer_askers(SnapshotResult::Failed);
            }
        }
        Ok(())
    }

    /// The frame just taken in attests an image: if it is the one just written, that is published.
    fn note_attested(&mut self, image: Sequence) {
        if let Some((_, time)) = self.attesting.take_if(|(written, _)| *written == image) {
            self.schedule.published(image);
            self.setting.board.show_image(image, time);
            images::tidy(&self.setting.shelf);
            tracing::info!(sequence = image.0, "published an image");
        }
        self.schedule.skip_attestation(self.twin.sequence());
        // Who asked in between waits for the next.
        if self.schedule.is_reflected(self.wanted) {
            self.answer_askers(self.published());
        }
    }

    fn published(&self) -> SnapshotResult {
        let sequence = self.schedule.image();
        SnapshotResult::Published { sequence }
    }

    fn answer_askers(&mut self, result: SnapshotResult) {
        for asker in self.askers.drain(..) {
            self.setting.board.answer(asker, result);
        }
        self.setting.bell.ring();
    }

    /// `None` when the engine stops meanwhile.
    fn write_image(&mut self) -> Result<Option<Command>, String> {
        self.look_at_the_disk()?;
        self.miss_chunks();
        self.write_chunks()?;
        let (twin, board) = (&self.twin, &self.setting.board);
        let view = twin.view.as_ref().ok_or(NO_VIEW)?;
        let frame = (self.follower.reader()).frame(twin.place, twin.sequence());
        images::write_image(
            &self.setting.shelf,
            &twin.replay.exchange,
            view,
            &self.written,
            receipt(&frame.map_err(|error| error.to_string())?),
            &|| !board.is_stopping(),
        )
        .map_err(|error| error.to_string())
    }

    /// Engine time of the last frame taken in; 0 without a view.
    fn time(&self) -> TimeNs {
        let view = self.twin.view.as_ref();
        view.map(|view| view.system().time).unwrap_or_default()
    }
}

fn prepare(checkpoints: &mut Option<Checkpoints>, end: Option<BatchEnd>, now: u64, twin: &Twin) {
    if let Some(checkpoints) = checkpoints {
        checkpoints.prepare(end, now, || twin.replay.exchange.digest());
    }
}
