//! A journal's batches in line for several readers: whoever comes first verifies the next ones, so that
//! no core waits while there is anything to do, and bytes are read soon after they were verified.

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_journal::frame::Frame;
use foretell_journal::{Batch, JournalError, ScanReport};
use foretell_memory::near;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::source::BatchReader;

/// Frames from which on a block is full: enough that taking one costs nothing, and few enough that a block's
/// bytes are still near when they are read. A batch is never divided, so the last may bring many more.
const FRAMES: u64 = 512;
/// Bytes in the file from which on it is full, too.
const BYTES: usize = 1 << 20;
/// Bytes between the frame that is read and what is asked for.
const AHEAD: usize = 4096;
/// Blocks that should be ready for a reader: one that has fewer sees whether it can verify another. With
/// a second in reserve nobody waits for a reader that is just verifying.
const READY: usize = 2;
/// The same for a thread that does nothing else.
const READY_AHEAD: usize = 8;

/// Who reads: the execution and the record.
const READERS: usize = 2;

/// Verified batches that are handed over at once.
#[derive(Debug, Default)]
pub(super) struct Block {
    batches: Vec<Batch>,
    frames: u64,
    bytes: usize,
}

impl Block {
    /// The next one of a journal; one that is not full is the last.
    fn next(journal: &mut BatchReader) -> Result<Self, JournalError> {
        let mut block = Self::default();
        while !block.is_full()
            && let Some(batch) = journal.next_batch()?
        {
            block.frames += u64::from(batch.header().frames);
            block.bytes += batch.header().total();
            block.batches.push(batch);
        }
        Ok(block)
    }

    const fn is_full(&self) -> bool {
        self.frames >= FRAMES || self.bytes >= BYTES
    }

    /// How many frames it holds.
    pub(super) const fn len(&self) -> u64 {
        self.frames
    }

    /// Its frames, in their order; while one is looked at, those behind it come near.
    pub(super) fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        self.batches.iter().flat_map(frames_of)
    }
}

/// Frames are of all lengths, so the processor does not see by itself which lines of memory come next.
fn frames_of(batch: &Batch) -> impl Iterator<Item = Frame<'_>> {
    let payload = batch.payload();
    let (mut read, mut asked_for) = (0, 0);
    batch.frames().inspect(move |frame| {
        let near = payload.len().min(read + AHEAD);
        near::bring_all(&payload[asked_for..near]);
        read += frame.bytes().len();
        asked_for = near;
    })
}

/// The line. A reader that stops before the end stops the others.
///
/// Who holds the journal may ask for what waits; who holds what waits only tries to get the journal, and
/// waits for it without. So nobody waits in a circle.
#[derive(Debug)]
pub(super) struct Line {
    /// Blocks that a reader may be ahead of the other. One that has come so far waits until it is half as
    /// many, so that it does not wake for each.
    apart: usize,
    journal: Mutex<BatchReader>,
    waiting: Mutex<Waiting>,
    /// A reader took a block, or went.
    moved: Condvar,
}

/// Blocks that somebody has to take yet.
#[derive(Debug, Default)]
struct Waiting {
    blocks: VecDeque<Arc<Block>>,
    /// How many stood in line before them.
    gone: usize,
    /// How many each reader has taken.
    taken: [usize; READERS],
    /// Nothing is added any more.
    is_whole: bool,
    /// Somebody found something wrong, or went.
    is_broken: bool,
}

impl Line {
    /// Nothing of the journal is verified yet. Readers stay at most so many blocks apart.
    pub(super) fn new(journal: BatchReader, apart: usize) -> Self {
        Self {
            apart,
            journal: Mutex::new(journal),
            waiting: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    /// All [`READERS`].
    pub(super) fn readers(&self) -> [Reader<'_>; READERS] {
        std::array::from_fn(|number| Reader { line: self, number })
    }

    /// Verifies blocks before readers come to them, until there are no more: for a core that has nothing
    /// else to do.
    pub(super) fn verify_ahead(&self) {
        let is_needed = |waiting: &Waiting| waiting.ready_for_first() < READY_AHEAD;
        let mut waiting = self.waiting.lock();
        while !waiting.is_over() {
            if is_needed(&waiting) {
                let verify = || self.verify(self.journal.lock(), is_needed);
                MutexGuard::unlocked(&mut waiting, verify);
            } else {
                self.moved.wait(&mut waiting);
            }
        }
    }

    /// What the journal holds, once all of it was read and nothing was wrong.
    pub(super) fn report(self) -> Option<ScanReport> {
        let waiting = self.waiting.into_inner();
        let journal = self.journal.into_inner();
        journal.report().filter(|_| !waiting.is_broken).cloned()
    }

    fn next(&self, reader: usize) -> Option<Arc<Block>> {
        let mut waiting = self.waiting.lock();
        if waiting.lead(reader) >= self.apart {
            let is_far = |waiting: &mut Waiting| waiting.lead(reader) > self.apart / 2;
            self.moved.wait_while(&mut waiting, is_far);
        }
        let is_needed = |waiting: &Waiting| waiting.ready(reader) < READY;
        while is_needed(&waiting) && !waiting.is_over() {
            // Where somebody else is verifying, only who has nothing else waits for that.
            let journal = match waiting.ready(reader) {
                0 => MutexGuard::unlocked(&mut waiting, || Some(self.journal.lock())),
                _ => self.journal.try_lock(),
            };
            let Some(journal) = journal else { break };
            MutexGuard::unlocked(&mut waiting, || self.verify(journal, is_needed));
        }
        let block = waiting.take(reader);
        drop(waiting);
        self.moved.notify_all();
        block
    }

    /// Adds the next block, unless somebody has done enough meanwhile. Whoever waits for the journal gets it
    /// then. A reader that waits for the other need not be told: the other, whose next block this is, tells
    /// it when it takes that, or finds that something is wrong.
    fn verify(
        &self,
        mut journal: MutexGuard<'_, BatchReader>,
        is_needed: impl Fn(&Waiting) -> bool,
    ) {
        let is_done = |waiting: &Waiting| waiting.is_over() || !is_needed(waiting);
        if is_done(&self.waiting.lock()) {
            return;
        }
        let block = Block::next(&mut journal);
        let mut waiting = self.waiting.lock();
        match block {
            Ok(block) => {
                waiting.is_whole = !block.is_full();
                waiting.blocks.push_back(Arc::new(block));
            }
            Err(_) => waiting.is_broken = true,
        }
        drop(waiting);
        MutexGuard::unlock_fair(journal);
    }
}

impl Waiting {
    /// Nothing will be added.
    const fn is_over(&self) -> bool {
        self.is_whole || self.is_broken
    }

    /// Blocks that a reader could take.
    fn ready(&self, reader: usize) -> usize {
        self.gone + self.blocks.len() - self.taken[reader]
    }

    /// Of the reader that has taken most.
    fn ready_for_first(&self) -> usize {
        let ready = (0..READERS).map(|reader| self.ready(reader));
        ready.min().unwrap_or(0)
    }

    /// Blocks that a reader has taken and the other has not; none once something is wrong.
    fn lead(&self, reader: usize) -> usize {
        let least = self.taken.iter().copied().min().unwrap_or(0);
        if self.is_broken {
            0
        } else {
            self.taken[reader] - least
        }
    }

    fn take(&mut self, reader: usize) -> Option<Arc<Block>> {
        if self.is_broken {
            return None;
        }
        let block = self.blocks.get(self.taken[reader] - self.gone).cloned()?;
        self.taken[reader] += 1;
        while self.taken.iter().all(|taken| *taken > self.gone) {
            self.blocks.pop_front();
            self.gone += 1;
        }
        Some(block)
    }
}

/// Takes every block, in their order.
#[derive(Debug)]
pub(super) struct Reader<'l> {
    line: &'l Line,
    number: usize,
}

impl Iterator for Reader<'_> {
    type Item = Arc<Block>;

    fn next(&mut self) -> Option<Arc<Block>> {
        self.line.next(self.number)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting.lock();
        waiting.is_broken |= !waiting.is_whole || waiting.ready(self.number) > 0;
        drop(waiting);
        self.line.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, Permissions, set_permissions};
    use std::os::unix::fs::{FileExt, PermissionsExt};
    use std::path::Path;
    use std::thread;

    use foretell_bench::audited_journal::{Contents, with_journal};
    use foretell_journal::segment;
    use foretell_model::Sequence;

    use super::*;
    use crate::audit::source::Source;

    /// Some twenty blocks, one of which is not full.
    fn with_source(work: impl FnOnce(&Source)) {
        let run = |journal: &Path| work(&Source::open(journal, false).unwrap());
        with_journal(&std::env::temp_dir(), 10_000, Contents::Stream, run).unwrap();
    }

    fn line(source: &Source, apart: usize) -> Line {
        Line::new(source.batches().unwrap(), apart)
    }

    /// The last sequence of every batch that a reader takes. It must never be too far ahead.
    fn taken(reader: Reader<'_>) -> Vec<Sequence> {
        let (line, number) = (reader.line, reader.number);
        let blocks = reader.inspect(|_| {
            assert!(line.waiting.lock().lead(number) <= line.apart);
        });
        let blocks: Vec<_> = blocks.collect();
        let batches = blocks.iter().flat_map(|block| &block.batches);
        batches.map(|batch| batch.header().last).collect()
    }

    #[test]
    fn every_reader_takes_every_batch_in_its_order_whoever_verified_it() {
        with_source(|source| {
            let (mut alone, mut batches) = (Vec::new(), source.batches().unwrap());
            while let Some(batch) = batches.next_batch().unwrap() {
                alone.push(batch.header().last);
            }
            for (apart, verify_ahead) in [1, 2, 7, 1_000]
                .into_iter()
                .flat_map(|apart| [(apart, false), (apart, true)])
            {
                let line = line(source, apart);
                thread::scope(|scope| {
                    let readers = line.readers();
                    if verify_ahead {
                        scope.spawn(|| line.verify_ahead());
                    }
                    let readers = readers.map(|reader| scope.spawn(|| taken(reader)));
                    for reader in readers {
                        assert_eq!(reader.join().unwrap(), alone, "{apart} {verify_ahead}");
                    }
                });
                assert!(line.waiting.lock().blocks.is_empty(), "none is kept");
                assert_eq!(line.report().as_ref(), batches.report());
            }
        });
    }

    #[test]
    fn a_reader_that_goes_stops_the_other_also_one_that_waits() {
        with_source(|source| {
            for taken_before in [0, 1] {
                let line = line(source, 1);
                thread::scope(|scope| {
                    let [first, mut second] = line.readers();
                    let first = scope.spawn(|| first.count());
                    // Until it has come as far as it may, and somebody was told to look again.
                    while line.moved.notify_all() == 0 {
                        thread::yield_now();
                    }
                    scope.spawn(|| line.verify_ahead());
                    let blocks = second.by_ref().take(taken_before).count();
                    assert_eq!(blocks, taken_before);
                    drop(second);
                    assert!(first.join().unwrap() <= taken_before + 1);
                });
                assert_eq!(line.report(), None);
            }
        });
    }

    #[test]
    fn damage_ends_the_line_for_everybody() {
        with_source(|source| {
            let segment = segment::path(source.directory(), 1);
            set_permissions(&segment, Permissions::from_mode(0o600)).unwrap();
            let file = OpenOptions::new().write(true).open(&segment).unwrap();
            // In a payload, far behind the first block.
            file.write_all_at(&[0xA5; 8], 3_000_000).unwrap();
            for verify_ahead in [false, true] {
                let line = line(source, 5);
                thread::scope(|scope| {
                    let readers = line.readers();
                    if verify_ahead {
                        scope.spawn(|| line.verify_ahead());
                    }
                    let readers = readers.map(|reader| scope.spawn(|| taken(reader).len()));
                    let taken = readers.map(|reader| reader.join().unwrap());
                    assert!(taken.iter().sum::<usize>() > 0, "what is before it is read");
                });
                assert_eq!(line.report(), None);
            }
        });
    }
}
