//! A sound journal's audit on several threads: one executes the commands, one folds the record, and
//! whoever is further verifies the next bytes. They share these, and nothing else.
//!
//! What is wrong is not told here: whoever learns that anything is reads the journal once more, frame
//! by frame ([`super::verify`]), so that a report never depends on which thread was further.

use std::thread;

use foretell_journal::ScanReport;
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::digest::StateDigest;
use foretell_model::{FrameRef, TimeNs};

use super::checkpoints::Vouched;
use super::counts::Counts;
use super::decoded::Decoded;
use super::line::{Line, Reader};
use super::record::Record;
use super::recorded::Recorded;
use super::signatures::Signatures;
use super::source::Source;

/// Blocks that one thread may be ahead of the other: enough that it seldom waits when a table of the other
/// grows, or the system lets the other wait. A hundred megabytes of the journal mostly, which the page cache
/// should hold.
const APART: usize = 512;
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
    let cores = thread::available_parallelism().map_or(1, usize::from);
    read_apart(APART, cores > 2, source, checkpoints, signatures)
}

/// Lets the threads be so many blocks apart, with another one that verifies bytes or without.
fn read_apart(
    blocks: usize,
    verify_ahead: bool,
    source: &Source,
    checkpoints: Vouched,
    signatures: Option<Signatures>,
) -> Option<Sound> {
    let line = Line::new(source.batches().ok()?, blocks);
    let (recorded, executed) = thread::scope(|scope| {
        let [to_execute, to_fold] = line.readers();
        if verify_ahead {
            scope.spawn(|| line.verify_ahead());
        }
        let execution = scope.spawn(|| execute(to_execute, checkpoints));
        (fold(to_fold, signatures), joined(execution))
    });
    let (journal, executed, recorded) = (line.report()?, executed.ok()?, recorded.ok()?);
    let Executed {
        exchange,
        checkpoints,
    } = executed;
    if exchange.sequence() != journal.last_sequence {
        return None;
    }
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

/// Decodes all frames for one reader, and hands them over part by part.
fn decode(
    blocks: Reader<'_>,
    mut part: impl FnMut(&Decoded<'_>) -> Result<(), Unsound>,
) -> Result<(), Unsound> {
    let mut room = Decoded::default();
    for block in blocks {
        let (mut coming, mut left) = (block.frames(), block.len());
        // Bytes are read anew here, which may be long after they were verified: a frame that is none any
        // more would be the last.
        while left > 0 {
            let mut frames = room;
            frames.fill(&mut coming).map_err(|_| Unsound)?;
            left = match frames.len() {
                0 => return Err(Unsound),
                read => left.checked_sub(read as u64).ok_or(Unsound)?,
            };
            part(&frames)?;
            room = frames.emptied();
        }
    }
    Ok(())
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

struct Executed {
    exchange: Exchange,
    checkpoints: Vouched,
}

/// Executes every command and compares its events. Divergences that were accepted count as wrong.
fn execute(blocks: Reader<'_>, mut checkpoints: Vouched) -> Result<Executed, Unsound> {
    // The key of its tables need not be a secret here: it changes no answer.
    let mut replay = Replay::new(Exchange::new(Capacity::NONE, 0));
    decode(blocks, |frames| {
        execute_frames(frames, &mut replay, &mut checkpoints)
    })?;
    Ok(Executed {
        exchange: replay.exchange,
        checkpoints,
    })
}

/// Stops at each checkpoint to see the state there.
fn execute_frames(
    frames: &Decoded<'_>,
    replay: &mut Replay,
    checkpoints: &mut Vouched,
) -> Result<(), Unsound> {
    let mut executed = 0;
    while let Some(awaited) = checkpoints.awaited() {
        let rest = frames.range(executed..frames.len());
        let up_to = rest.take_while(|frame| frame.sequence <= awaited).count();
        let Some(last) = frames.range(executed..executed + up_to).last() else {
            break;
        };
        let before = frames.range(executed..executed + up_to);
        replay.execute_all(before).map_err(|_| Unsound)?;
        let exchange = &replay.exchange;
        checkpoints.passed(last.sequence, last.place, || exchange.digest());
        executed += up_to;
    }
    let rest = frames.range(executed..frames.len());
    replay.execute_all(rest).map_err(|_| Unsound)
}

/// Folds every frame into a record that knows no core.
fn fold(blocks: Reader<'_>, signatures: Option<Signatures>) -> Result<Recorded, Unsound> {
    let mut recorded = Recorded::new(signatures);
    decode(blocks, |frames| {
        (0..frames.len()).step_by(AHEAD).try_for_each(|first| {
            let part = first..frames.len().min(first + AHEAD);
            take(&mut recorded, frames.range(part))
        })
    })?;
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
    use std::ops::ControlFlow;
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

    /// Blocks that threads may be apart in these tests: fewer than the journal has.
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
            for verify_ahead in [false, true] {
                let vouched = Vouched::new(source, &checkpoints);
                let sound = read_apart(FEW, verify_ahead, source, vouched, None);
                let sound = sound.expect("it is sound");
                assert_eq!(sound.counts.commands(), last);
                assert_eq!(sound.exchange.sequence(), Sequence(last));
                assert_eq!(sound.digest, sound.exchange.digest());
                let states = sound.checkpoints.digests();
                assert!(states.eq(digests.iter().map(|(_, digest)| *digest)));
            }
        });
    }
}
