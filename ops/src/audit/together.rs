//! A sound journal's audit on several threads: one reads and verifies bytes, one executes the
//! commands, one folds the record. They share the decoded frames, and nothing else.
//!
//! What is wrong is not told here: whoever learns that anything is reads the journal once more, frame
//! by frame ([`super::verify`]), so that a report never depends on which thread was further.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use foretell_journal::ScanReport;
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::digest::StateDigest;
use foretell_model::{FrameRef, TimeNs};

use super::block::Block;
use super::checkpoints::Vouched;
use super::counts::Counts;
use super::record::Record;
use super::recorded::Recorded;
use super::signatures::Signatures;
use super::source::Source;

/// Blocks that may wait for a thread: the reader waits when it is further ahead. Enough that a thread is
/// seldom idle while another grows a table; tens of megabytes, when so many wait.
const WAITING: usize = 96;
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

/// Reads a journal; `None` when anything in it is not as it must be.
pub(super) fn read(
    source: &Source,
    checkpoints: Vouched,
    signatures: Option<Signatures>,
) -> Option<Sound> {
    read_ahead(WAITING, source, checkpoints, signatures)
}

/// Reads it so many blocks ahead.
fn read_ahead(
    waiting: usize,
    source: &Source,
    checkpoints: Vouched,
    signatures: Option<Signatures>,
) -> Option<Sound> {
    let (to_execution, to_execute) = sync_channel(waiting);
    let (to_record, to_fold) = sync_channel(waiting);
    let (journal, executed, recorded) = thread::scope(|scope| {
        let execution = scope.spawn(|| execute(to_execute, checkpoints));
        let record = scope.spawn(|| fold(to_fold, signatures));
        let journal = hand_out(source, &[to_execution, to_record]);
        (journal, joined(execution), joined(record))
    });
    let (journal, executed, recorded) = (journal?, executed.ok()?, recorded.ok()?);
    let Executed {
        exchange,
        checkpoints,
    } = executed;
    let digest = thread::scope(|scope| {
        let sound = scope.spawn(|| exchange.check_invariants().is_ok());
        let digest = same_state(&recorded.record, &exchange);
        digest.filter(|_| joined(sound))
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

/// The digest of a state that is the record's.
fn same_state(record: &Record, exchange: &Exchange) -> Option<[u8; 32]> {
    let (mut comparison, mut digest) = (record.comparison(), StateDigest::default());
    exchange.visit_state(&mut |record| {
        comparison.take(record);
        digest.push(record);
    });
    comparison.finish().ok().map(|()| digest.finish())
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Verifies the journal's bytes and hands its decoded frames to all; `None` when something does not
/// hold, or when somebody takes no more.
fn hand_out(source: &Source, to: &[SyncSender<Arc<Block>>]) -> Option<ScanReport> {
    let mut blocks = Blocks::default();
    let scanned = source.each(&mut |frame| {
        let is_decoded = blocks.filling.push(frame).is_ok();
        if is_decoded && (!blocks.filling.is_full() || blocks.hand_over(to)) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let journal = scanned.ok().flatten()?;
    blocks.hand_over(to).then_some(journal)
}

/// A block that is filled and handed over, and those that were: filled again once everybody has read
/// them, because fresh memory would have to be made zero.
#[derive(Default)]
struct Blocks {
    filling: Block,
    given: VecDeque<Arc<Block>>,
}

impl Blocks {
    /// Whether everybody took it.
    fn hand_over(&mut self, to: &[SyncSender<Arc<Block>>]) -> bool {
        let block = Arc::new(std::mem::take(&mut self.filling));
        let taken = to.iter().all(|to| to.send(Arc::clone(&block)).is_ok());
        self.given.push_back(block);
        if let Some(oldest) = self.given.pop_front() {
            match Arc::try_unwrap(oldest) {
                Ok(read) => {
                    self.filling = read;
                    self.filling.clear();
                }
                Err(oldest) => self.given.push_front(oldest),
            }
        }
        taken
    }
}

struct Executed {
    exchange: Exchange,
    checkpoints: Vouched,
}

/// Executes every command and compares its events. Divergences that were accepted count as wrong.
fn execute(blocks: Receiver<Arc<Block>>, mut checkpoints: Vouched) -> Result<Executed, Unsound> {
    // The key of its tables need not be a secret here: it changes no answer.
    let mut replay = Replay::new(Exchange::new(Capacity::NONE, 0));
    for block in blocks {
        execute_block(&block, &mut replay, &mut checkpoints)?;
    }
    Ok(Executed {
        exchange: replay.exchange,
        checkpoints,
    })
}

/// Stops at each checkpoint to see the state there.
fn execute_block(
    block: &Block,
    replay: &mut Replay,
    checkpoints: &mut Vouched,
) -> Result<(), Unsound> {
    let mut executed = 0;
    while let Some(awaited) = checkpoints.awaited() {
        let rest = block.range(executed..block.len());
        let up_to = rest.take_while(|frame| frame.sequence <= awaited).count();
        let Some(last) = block.range(executed..executed + up_to).last() else {
            break;
        };
        let before = block.range(executed..executed + up_to);
        replay.execute_all(before).map_err(|_| Unsound)?;
        let exchange = &replay.exchange;
        checkpoints.passed(last.sequence, last.place, || exchange.digest());
        executed += up_to;
    }
    let rest = block.range(executed..block.len());
    replay.execute_all(rest).map_err(|_| Unsound)
}

/// Folds every frame into a record that knows no core.
fn fold(blocks: Receiver<Arc<Block>>, signatures: Option<Signatures>) -> Result<Recorded, Unsound> {
    let mut recorded = Recorded::new(signatures);
    for block in blocks {
        let part = |first: usize| first.min(block.len())..block.len().min(first + AHEAD);
        for first in (0..block.len()).step_by(AHEAD) {
            block.bring_frames(part(first + 2 * AHEAD));
            block.bring_contents(part(first + AHEAD));
            take(&mut recorded, block.range(part(first)))?;
        }
    }
    Ok(recorded)
}

/// Takes frames in one after the other, once what they ask for is on its way from memory.
fn take<'f>(
    recorded: &mut Recorded,
    mut frames: impl Iterator<Item = FrameRef<'f>> + Clone,
) -> Result<(), Unsound> {
    recorded.record.foresee(frames.clone());
    frames.try_for_each(|frame| recorded.apply(&frame).map_err(|_| Unsound))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use foretell_bench::audited_journal::{Contents, with_journal};
    use foretell_checkpoint::{Checkpoint, Signer};
    use foretell_journal::Scratch;
    use foretell_model::{Sequence, TimeMs};

    use super::*;
    use crate::audit::Kept;

    /// Sequences at and beside the ends of blocks, and one in them.
    const VOUCHED: [u64; 7] = [1, 2, 511, 512, 513, 1_024, 20_001];

    /// The digest behind each of those frames, one frame after the other, and the last sequence.
    fn followed(source: &Source) -> (Vec<(u64, [u8; 32])>, u64) {
        let mut replay = Replay::new(Exchange::new(Capacity::default(), 1));
        let (mut scratch, mut digests) = (Scratch::default(), Vec::new());
        let read = source.each(&mut |frame| {
            replay
                .execute(&frame.decode(&mut scratch).unwrap())
                .unwrap();
            if VOUCHED.contains(&frame.sequence().0) {
                digests.push((frame.sequence().0, replay.exchange.digest()));
            }
            ControlFlow::Continue(())
        });
        (digests, read.unwrap().unwrap().last_sequence.0)
    }

    fn kept(source: &Source, sequence: u64, digest: [u8; 32]) -> Kept {
        let checkpoint = Checkpoint {
            sequence: Sequence(sequence),
            chain: [0; 32],
            digest,
            time: TimeMs(1),
        };
        Kept {
            signed: Signer::from_secret(&[7; 32]).sign(&source.genesis().unwrap(), checkpoint),
            genesis: None,
        }
    }

    /// Blocks that may wait in these tests: fewer than the journal has.
    const FEW: usize = 8;

    /// Some fifty blocks, one of which is not full.
    fn with_source(work: impl FnOnce(&Source)) {
        let run = |journal: &Path| work(&Source::open(journal, false).unwrap());
        with_journal(&std::env::temp_dir(), 25_000, Contents::Stream, run).unwrap();
    }

    #[test]
    fn a_long_journal_is_read_together_and_comes_to_the_same() {
        with_source(|source| {
            let (digests, last) = followed(source);
            assert!(last > 4 * FEW as u64 * 512, "{last}");
            let checkpoints: Vec<_> = digests
                .iter()
                .map(|(at, digest)| kept(source, *at, *digest))
                .collect();
            assert_eq!(checkpoints.len(), VOUCHED.len());
            let vouched = Vouched::new(source, &checkpoints);
            let sound = read_ahead(FEW, source, vouched, None).expect("it is sound");
            assert_eq!(sound.counts.commands(), last);
            assert_eq!(sound.exchange.sequence(), Sequence(last));
            assert_eq!(sound.digest, sound.exchange.digest());
            let states = sound.checkpoints.digests();
            assert!(states.eq(digests.iter().map(|(_, digest)| *digest)));
        });
    }

    #[test]
    fn whoever_stops_stops_the_others() {
        with_source(|source| {
            let (to_somebody, taken) = sync_channel(1_000);
            let (to_nobody, gone) = sync_channel(FEW);
            drop(gone);
            assert!(hand_out(source, &[to_somebody, to_nobody]).is_none());
            assert_eq!(taken.iter().count(), 1, "nothing more is read");
        });
    }
}
