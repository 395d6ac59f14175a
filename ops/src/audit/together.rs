//! A sound journal's audit on several threads: one reads and verifies bytes, one executes the
//! commands, one folds the record. They share nothing but copies of the frames.
//!
//! What is wrong is not told here: whoever learns that anything is reads the journal once more, frame
//! by frame ([`super::verify`]), so that a report never depends on which thread was further.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use foretell_journal::batch::{BatchHeader, Frames};
use foretell_journal::frame::Frame;
use foretell_journal::{ScanReport, Scratch};
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::{FrameRef, TimeNs};

use super::checkpoints::Vouched;
use super::counts::Counts;
use super::record::Record;
use super::signatures::{Job, Signatures};
use super::source::Source;

/// Bytes of batches handed over at once, and what is left of the last batch.
const BLOCK_BYTES: usize = 128 * 1024;
/// Batches handed over at once, at most: they may be empty.
const BLOCK_BATCHES: usize = 1_024;
/// A longer batch is one that no engine writes, and read frame by frame.
const LONGEST_BATCH: usize = 8 << 20;
/// Blocks that may wait for a thread: the reader waits when it is further ahead.
const WAITING: usize = 8;
/// Frames the record looks at together before it takes them in.
const AHEAD: usize = 16;

/// What a sound journal comes to.
pub(super) struct Sound {
    pub(super) journal: ScanReport,
    pub(super) exchange: Exchange,
    pub(super) digest: [u8; 32],
    pub(super) checkpoints: Vouched,
    pub(super) signatures: Option<Signatures>,
    pub(super) counts: Counts,
    /// Of the last frame.
    pub(super) time: TimeNs,
}

/// Something is wrong somewhere.
#[derive(Debug)]
struct Unsound;

/// Batches, one behind the other.
#[derive(Default)]
struct Block {
    payloads: Vec<u8>,
    headers: Vec<BatchHeader>,
}

impl Block {
    fn is_full(&self) -> bool {
        self.payloads.len() >= BLOCK_BYTES || self.headers.len() >= BLOCK_BATCHES
    }

    fn frames(&self) -> impl Iterator<Item = Result<Frame<'_>, Unsound>> {
        let mut rest = &self.payloads[..];
        self.headers.iter().flat_map(move |header| {
            let (payload, others) = rest.split_at(header.payload as usize);
            rest = others;
            Frames::new(header, payload).map(|frame| frame.map_err(|_| Unsound))
        })
    }
}

/// Reads a journal; `None` when anything in it is not as it must be.
pub(super) fn read(
    source: &Source,
    checkpoints: Vouched,
    signatures: Option<Signatures>,
) -> Option<Sound> {
    let (to_execution, blocks) = sync_channel(WAITING);
    let (to_record, copies) = sync_channel(WAITING);
    let (journal, executed, recorded) = thread::scope(|scope| {
        let execution = scope.spawn(|| execute(blocks, checkpoints));
        let record = scope.spawn(|| fold(copies, signatures));
        let journal = hand_out(source, &[to_execution, to_record]);
        (journal, joined(execution), joined(record))
    });
    let (journal, executed, recorded) = (journal?, executed.ok()?, recorded.ok()?);
    let Executed {
        exchange,
        checkpoints,
    } = executed;
    let digest = thread::scope(|scope| {
        let same = scope.spawn(|| recorded.record.compare(&exchange).is_ok());
        let digest = scope.spawn(|| exchange.digest());
        let sound = exchange.check_invariants().is_ok();
        (joined(same) && sound).then_some(joined(digest))
    })?;
    Some(Sound {
        journal,
        exchange,
        digest,
        checkpoints,
        signatures: recorded.signatures,
        counts: recorded.counts,
        time: recorded.time,
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Verifies the journal's bytes and hands copies of its batches to all; `None` when they do not hold,
/// or when somebody takes no more.
fn hand_out(source: &Source, to: &[SyncSender<Arc<Block>>]) -> Option<ScanReport> {
    let mut blocks = Blocks::default();
    let scanned = source.each_batch(&mut |header, payload| {
        if payload.len() > LONGEST_BATCH {
            return ControlFlow::Break(());
        }
        let block = blocks.current();
        block.headers.push(*header);
        block.payloads.extend_from_slice(payload);
        if !block.is_full() || blocks.hand_over(to) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let journal = scanned.ok().flatten()?;
    blocks.hand_over(to).then_some(journal)
}

/// Blocks that are filled, handed over and filled again once everybody has read them: memory that is
/// near already.
#[derive(Default)]
struct Blocks {
    ring: [Arc<Block>; WAITING + 3],
    at: usize,
}

impl Blocks {
    /// The one to fill. Somebody who reads it still keeps it, and another takes its place.
    fn current(&mut self) -> &mut Block {
        let block = &mut self.ring[self.at];
        if Arc::get_mut(block).is_none() {
            *block = Arc::default();
        }
        Arc::get_mut(block).expect("nobody else has a block just made")
    }

    /// Whether everybody took it.
    fn hand_over(&mut self, to: &[SyncSender<Arc<Block>>]) -> bool {
        let block = &self.ring[self.at];
        let taken = to.iter().all(|to| to.send(Arc::clone(block)).is_ok());
        self.at = (self.at + 1) % self.ring.len();
        let next = self.current();
        next.headers.clear();
        next.payloads.clear();
        taken
    }
}

/// Shows every frame until nobody hands over any more.
fn each(
    blocks: &Receiver<Arc<Block>>,
    mut visit: impl FnMut(&FrameRef<'_>) -> Result<(), Unsound>,
) -> Result<(), Unsound> {
    let mut scratch = Scratch::default();
    for block in blocks {
        for frame in block.frames() {
            visit(&frame?.decode(&mut scratch).map_err(|_| Unsound)?)?;
        }
    }
    Ok(())
}

struct Executed {
    exchange: Exchange,
    checkpoints: Vouched,
}

/// Executes every command and compares its events. Divergences that were accepted count as wrong.
fn execute(blocks: Receiver<Arc<Block>>, mut checkpoints: Vouched) -> Result<Executed, Unsound> {
    // The key of its tables need not be a secret here: it changes no answer.
    let mut replay = Replay::new(Exchange::new(Capacity::default(), 0));
    each(&blocks, |frame| {
        if !checkpoints.awaits_more() {
            return replay.take(frame).map_err(|_| Unsound);
        }
        replay.execute(frame).map_err(|_| Unsound)?;
        let exchange = &replay.exchange;
        checkpoints.passed(frame.sequence, frame.place, || exchange.digest());
        Ok(())
    })?;
    while let Some(executed) = replay.execute_next() {
        executed.map_err(|_| Unsound)?;
    }
    Ok(Executed {
        exchange: replay.exchange,
        checkpoints,
    })
}

struct Recorded {
    record: Record,
    signatures: Option<Signatures>,
    counts: Counts,
    time: TimeNs,
}

/// Folds every frame into a record that knows no core.
fn fold(blocks: Receiver<Arc<Block>>, signatures: Option<Signatures>) -> Result<Recorded, Unsound> {
    let mut recorded = Recorded {
        record: Record::default(),
        signatures,
        counts: Counts::default(),
        time: TimeNs(0),
    };
    let mut coming: [Scratch; AHEAD] = Default::default();
    for block in blocks {
        let frames: Vec<_> = block.frames().collect::<Result<_, _>>()?;
        for frames in frames.chunks(AHEAD) {
            recorded.take(frames, &mut coming)?;
        }
    }
    Ok(recorded)
}

impl Recorded {
    /// Takes frames in one after the other, once what they ask for is on its way from memory.
    fn take(&mut self, frames: &[Frame<'_>], coming: &mut [Scratch; AHEAD]) -> Result<(), Unsound> {
        for (frame, scratch) in frames.iter().zip(&mut *coming) {
            frame.decode(scratch).map_err(|_| Unsound)?;
        }
        let decoded = || {
            let pairs = frames.iter().zip(&*coming);
            pairs.map(|(frame, scratch)| frame.decoded(scratch))
        };
        decoded().for_each(|frame| self.record.foresee(&frame));
        decoded().for_each(|frame| self.record.foresee_makers(&frame));
        decoded().try_for_each(|frame| self.apply(&frame))
    }

    fn apply(&mut self, frame: &FrameRef<'_>) -> Result<(), Unsound> {
        let claim = self.record.apply(frame).map_err(|_| Unsound)?;
        self.counts.count(frame);
        self.time = frame.time;
        if let (Some(signatures), Some(claim)) = (&mut self.signatures, claim)
            && let Some(job) = Job::of(frame, &claim, &self.record)
        {
            signatures.push(job);
        }
        Ok(())
    }
}
