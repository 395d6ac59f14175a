//! A sound journal's audit on several threads: one reads and verifies bytes, one executes the
//! commands, one folds the record. They share nothing but copies of the frames.
//!
//! What is wrong is not told here: whoever learns that anything is reads the journal once more, frame
//! by frame ([`super::verify`]), so that a report never depends on which thread was further.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use foretell_journal::frame::Frame;
use foretell_journal::{ScanReport, Scratch};
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::{FramePlace, FrameRef, TimeNs};

use super::checkpoints::Vouched;
use super::counts::Counts;
use super::record::Record;
use super::signatures::{Job, Signatures};
use super::source::Source;

/// Bytes of frames handed over at once.
const BLOCK_BYTES: usize = 256 * 1024;
/// Blocks that may wait for a thread: the reader waits when it is further ahead.
const WAITING: usize = 8;

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

/// Frames, one behind the other.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    places: Vec<FramePlace>,
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
        let sound = exchange.check_invariants().is_ok();
        let digest = exchange.digest();
        (joined(same) && sound).then_some(digest)
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

/// Verifies the journal's bytes and hands copies of its frames to all; `None` when they do not hold,
/// or when somebody takes no more.
fn hand_out(source: &Source, to: &[SyncSender<Arc<Block>>]) -> Option<ScanReport> {
    let mut block = Block::default();
    let hand_over = |block: &mut Block| {
        let block = Arc::new(std::mem::take(block));
        to.iter().all(|to| to.send(Arc::clone(&block)).is_ok())
    };
    let scanned = source.each(&mut |frame| {
        block.bytes.extend_from_slice(frame.bytes());
        block.places.push(frame.place());
        if block.bytes.len() < BLOCK_BYTES || hand_over(&mut block) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let journal = scanned.ok().flatten()?;
    hand_over(&mut block).then_some(journal)
}

/// Shows every frame until nobody hands over any more.
fn each(
    blocks: &Receiver<Arc<Block>>,
    mut visit: impl FnMut(&FrameRef<'_>) -> Result<(), Unsound>,
) -> Result<(), Unsound> {
    let mut scratch = Scratch::default();
    for block in blocks {
        let mut rest = &block.bytes[..];
        for place in &block.places {
            let frame = Frame::parse(rest, place.segment, place.offset).map_err(|_| Unsound)?;
            rest = &rest[frame.bytes().len()..];
            visit(&frame.decode(&mut scratch).map_err(|_| Unsound)?)?;
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
    each(&blocks, |frame| {
        let claim = recorded.record.apply(frame).map_err(|_| Unsound)?;
        recorded.counts.count(frame);
        recorded.time = frame.time;
        if let (Some(signatures), Some(claim)) = (&mut recorded.signatures, claim)
            && let Some(job) = Job::of(frame, &claim, &recorded.record)
        {
            signatures.push(job);
        }
        Ok(())
    })?;
    Ok(recorded)
}
