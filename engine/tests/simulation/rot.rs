//! Bits that flip while nothing runs: below the watermark they must be found before anything is
//! served and the files left as they are; elsewhere they must do no harm.

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
use super::faults::Trouble;
use super::world::World;
use crate::error::EngineError;

/// Now and then a bit flips somewhere.
pub(super) fn between_lives(world: &World) {
    if !world.fate.percent(25) {
        return;
    }
    let journal = world.journal_directory();
    let Ok(Some(mark)) = watermark::read(&journal) else {
        return;
    };
    if mark.sequence == Sequence(0) {
        return;
    }
    // A marker refuses the start before anything is read.
    if foretell_journal::marker_path(&journal).exists() {
        return;
    }
    match world.fate.below(6) {
        0 | 1 => below_watermark(world, &mark),
        2 => in_watermark(world, &mark),
        3 | 4 => in_snapshot(world),
        _ => behind_the_end(world, &mark),
    }
}

/// Flips one bit of a file; doing it again undoes it.
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

/// The journal's files that hold frames.
fn segments(journal: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(journal).expect("it is there");
    entries
        .map(|entry| entry.expect("it is there").path())
        .filter(|path| path.extension().is_some_and(|it| it == "segment"))
        .map(|path| (path.clone(), fs::read(path).expect("it is there")))
        .collect()
}

/// A byte of proven frames, anywhere in the journal.
fn below_watermark(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let number = 1 + u32::try_from(world.fate.below(u64::from(mark.segment))).expect("a segment");
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
        world.fate.below(u64::from(end)),
    );
    let bit = u8::try_from(world.fate.below(8)).expect("a bit");
    world
        .fate
        .note(|| format!("rot in segment {number} at {at}, below {:?}", mark.sequence));
    flip(&path, at, bit);
    let before = segments(&journal);
    world.disk.begin_life(Trouble::default());
    // Followers would find it, too; what they say of it is not looked at here.
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
            world.fate.count(Situation::RotBelowWatermarkRefused);
            // It may have begun an epoch, in a segment of its own, before it came to the damage: an
            // image it tried first was ahead of the journal.
            if before
                .iter()
                .any(|(path, bytes)| fs::read(path).ok().as_ref() != Some(bytes))
            {
                let what = || "a start that refused changed the journal".to_owned();
                world.fate.broken(Promise::DamageIsFound, what);
            }
        }
        Err(error) => {
            let what = || format!("damage is called {error}");
            world.fate.broken(Promise::DamageIsFound, what);
        }
        // Recovery reads from the newest image on; an audit of all of it finds older damage.
        Ok(_) => {
            let found = foretell_journal::scan(&journal, Sequence(0), &mut |_| Ok(()));
            world.engine.vanish(world);
            let is_older = is_before_the_image(world, mark, number);
            if is_older && matches!(found, Err(JournalError::Damaged { .. })) {
                world.fate.count(Situation::RotInOldSegmentFoundByScan);
            } else {
                let what = || format!("damage in segment {number} at {at} is served");
                world.fate.broken(Promise::DamageIsFound, what);
            }
        }
    }
    flip(&path, at, bit);
}

/// Whether recovery from an image did not have to read this segment.
fn is_before_the_image(world: &World, mark: &Watermark, number: u32) -> bool {
    if world.config.borrow().ignore_images {
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

/// One of the two slots: the other is there, or both are and the start says so.
fn in_watermark(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let path = watermark::path(&journal);
    let slot = world.fate.pick(&[mark.count % 2, 1 - mark.count % 2]);
    let at = slot * PAGE as u64 + world.fate.below(PAGE as u64);
    world.fate.note(|| format!("rot in the watermark at {at}"));
    flip(&path, at, 0);
    if watermark::read(&journal).is_err() {
        // Both are gone: the first slot was never written.
        flip(&path, at, 0);
        return;
    }
    world.fate.count(Situation::RotInWatermarkSlot);
}

/// A snapshot can be made anew: damage in it is passed over.
fn in_snapshot(world: &World) {
    let Ok(entries) = fs::read_dir(world.snapshot_directory()) else {
        return;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.expect("listed").path()).collect();
    files.sort();
    if files.is_empty() {
        return;
    }
    let path = &files[world.fate.index(files.len())];
    let length = fs::metadata(path).expect("it is there").len();
    if length > 0 {
        let at = world.fate.below(length);
        world
            .fate
            .note(|| format!("rot in {:?} at {at}", path.file_name()));
        world.fate.count(Situation::RotInSnapshot);
        flip(path, at, 3);
    }
}

/// Zeros behind the last batch that are none any more: set aside like any torn tail.
fn behind_the_end(world: &World, mark: &Watermark) {
    let journal = world.journal_directory();
    let path = segment::path(&journal, mark.segment);
    let is_last = !segment::path(&journal, mark.segment + 1).exists();
    let Some(length) = fs::metadata(&path).ok().map(|meta| meta.len()) else {
        return;
    };
    // The last pages are far from any batch.
    if is_last && length >= u64::from(mark.end) + 200 * PAGE as u64 {
        world.fate.count(Situation::RotBehindTheEnd);
        world.fate.note(|| "rot behind the end".to_owned());
        flip(&path, length - 1 - world.fate.below(PAGE as u64), 5);
    }
}
