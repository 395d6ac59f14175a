//! Bits that flip while no engine runs. Below the watermark the next start must find them, serve
//! nothing and change no file; elsewhere they must have no effect.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use foretell_journal::segment::{self, SegmentHeader};
use foretell_journal::snapshot::newest_image;
use foretell_journal::watermark::{self, Watermark};
use foretell_journal::{JournalError, PAGE};
use foretell_model::Sequence;

use super::checks::Promise;
use super::coverage::Situation;
use super::faults::FaultPlan;
use super::world::World;
use crate::error::EngineError;

/// Sometimes flips a bit of some file.
pub(super) fn between_lives(world: &World) {
    if !world.context.percent(25) {
        return;
    }
    let journal = world.journal_directory();
    let Ok(Some(mark)) = watermark::read(&journal) else {
        return;
    };
    if mark.sequence == Sequence(0) {
        return;
    }
    // A marker makes the start fail before anything is read.
    if foretell_journal::marker_path(&journal).exists() {
        return;
    }
    match world.context.below(6) {
        0 | 1 => below_watermark(world, &mark),
        2 => in_watermark(world, &mark),
        3 | 4 => in_snapshot(world),
        _ => behind_the_end(world, &mark),
    }
}

/// Flips one bit of a file; a second call restores it.
fn flip(path: &Path, at: u64, bit: u8) {
    let options = fs::OpenOptions::new().read(true).write(true).open(path);
    let file = options.expect("the file is there");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("within the file");
    byte[0] ^= 1 << bit;
    file.write_all_at(&byte, at).expect("memory holds files");
}

fn header(journal: &Path, number: u32) -> Option<SegmentHeader> {
    let bytes = fs::read(segment::path(journal, number)).ok()?;
    SegmentHeader::read(&bytes).ok()
}

/// The segments of the journal.
fn segments(journal: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(journal).expect("it is there");
    entries
        .map(|entry| entry.expect("it is there").path())
        .filter(|path| path.extension().is_some_and(|it| it == "segment"))
        .map(|path| (path.clone(), fs::read(path).expect("it is there")))
        .collect()
}

/// Flips a bit of a durable frame, anywhere in the journal.
fn below_watermark(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let number =
        1 + u32::try_from(world.context.below(u64::from(mark.segment))).expect("a segment");
    let end = if number == mark.segment {
        mark.end
    } else {
        header(&journal, number + 1).map_or(0, |next| next.previous_end)
    };
    if end == 0 {
        return;
    }
    let (path, at) = (
        segment::path(&journal, number),
        world.context.below(u64::from(end)),
    );
    let bit = u8::try_from(world.context.below(8)).expect("a bit");
    world
        .context
        .note(|| format!("rot in segment {number} at {at}, below {:?}", mark.sequence));
    flip(&path, at, bit);
    let before = segments(&journal);
    world.disk.begin_life(FaultPlan::default());
    // Followers would find it, too; their errors are not checked here.
    let readers: Vec<_> = world
        .readers
        .borrow_mut()
        .iter_mut()
        .map(Option::take)
        .collect();
    let started = world.engine.start(world);
    *world.readers.borrow_mut() = readers;
    match started {
        Err(EngineError::Journal(JournalError::Damaged { .. })) => {
            world.context.count(Situation::RotBelowWatermarkRefused);
            // Recovery may have begun an epoch in a new segment before it read the damage: the
            // snapshot it tried first was ahead of the journal.
            if before
                .iter()
                .any(|(path, bytes)| fs::read(path).ok().as_ref() != Some(bytes))
            {
                let what = || "a start that refused changed the journal".to_owned();
                world.context.broken(Promise::DamageIsFound, what);
            }
        }
        Err(error) => {
            let what = || format!("damage is called {error}");
            world.context.broken(Promise::DamageIsFound, what);
        }
        // Recovery reads from the newest snapshot on; a scan of the whole journal finds older
        // damage.
        Ok(_) => {
            let found = foretell_journal::scan(&journal, Sequence(0), &mut |_| Ok(()));
            world.engine.drop_process(world);
            let is_older = is_before_the_image(world, mark, number);
            if is_older && matches!(found, Err(JournalError::Damaged { .. })) {
                world.context.count(Situation::RotInOldSegmentFoundByScan);
            } else {
                let what = || format!("damage in segment {number} at {at} is served");
                world.context.broken(Promise::DamageIsFound, what);
            }
        }
    }
    flip(&path, at, bit);
}

/// Whether recovery started at a snapshot after this segment and did not read it.
fn is_before_the_image(world: &World, mark: &Watermark, number: u32) -> bool {
    if world.config.borrow().ignore_snapshots {
        return false;
    }
    let directory = world.snapshot_directory();
    let image = newest_image(&directory, &mark.genesis, Sequence(u64::MAX));
    let next = header(&world.journal_directory(), number + 1);
    match (image, next) {
        (Some(image), Some(next)) => next.first < image.sequence(),
        _ => false,
    }
}

/// Flips a bit in one of the two slots: the other one is used, or both are invalid and the start
/// fails.
fn in_watermark(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let path = watermark::path(&journal);
    let slot = world.context.pick(&[mark.count % 2, 1 - mark.count % 2]);
    let at = slot * PAGE as u64 + world.context.below(PAGE as u64);
    world
        .context
        .note(|| format!("rot in the watermark at {at}"));
    flip(&path, at, 0);
    if watermark::read(&journal).is_err() {
        // Both are invalid: the first slot was never written.
        flip(&path, at, 0);
        return;
    }
    world.context.count(Situation::RotInWatermarkSlot);
}

/// Damaged snapshots are skipped, because they can be written again.
fn in_snapshot(world: &World) {
    let Ok(entries) = fs::read_dir(world.snapshot_directory()) else {
        return;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.expect("listed").path()).collect();
    files.sort();
    if files.is_empty() {
        return;
    }
    let path = &files[world.context.index(files.len())];
    let length = fs::metadata(path).expect("it is there").len();
    if length > 0 {
        let at = world.context.below(length);
        world
            .context
            .note(|| format!("rot in {:?} at {at}", path.file_name()));
        world.context.count(Situation::RotInSnapshot);
        flip(path, at, 3);
    }
}

/// Flips a bit of the zeros after the last batch: it is set aside like a torn tail.
fn behind_the_end(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let path = segment::path(&journal, mark.segment);
    let is_last = !segment::path(&journal, mark.segment + 1).exists();
    let Some(length) = fs::metadata(&path).ok().map(|meta| meta.len()) else {
        return;
    };
    // The last pages are far from any batch.
    if is_last && length >= u64::from(mark.end) + 200 * PAGE as u64 {
        world.context.count(Situation::RotBehindTheEnd);
        world.context.note(|| "rot behind the end".to_owned());
        flip(&path, length - 1 - world.context.below(PAGE as u64), 5);
    }
}
