//! Disk space of a journal: sealed segments release their unused end.
use crate::common;

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Writer, drain, segment};
use foretell_journal::disk::{Disk, RealDisk};
use foretell_journal::{Batches, Follower, Options};
use foretell_model::Sequence;

/// Allocated bytes of a file; its length may be more.
fn taken(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

fn all_taken(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| taken(&entry.unwrap().path())).sum()
}

/// Whether the file system can punch holes.
fn can_release(dir: &Path) -> bool {
    const BYTES: usize = 1 << 20;
    let path = dir.join("probe");
    let mut file = RealDisk.create(&path).unwrap();
    assert_eq!(file.write_at(&vec![0; BYTES], 0).unwrap(), BYTES);
    file.sync_data().unwrap();
    let gives = file.release_from(0).is_ok() && taken(&path) < BYTES as u64;
    assert_eq!(fs::metadata(&path).unwrap().len(), BYTES as u64);
    fs::remove_file(&path).unwrap();
    if !gives {
        println!("skipped: this file system keeps all space of a file");
    }
    gives
}

#[test]
fn fifty_starts_with_a_frame_each_take_the_space_of_their_frames() {
    const STARTS: u32 = 50;
    let dir = tempfile::tempdir().unwrap();
    if !can_release(dir.path()) {
        return;
    }
    for _ in 0..STARTS {
        let mut writer = Writer::open(dir.path());
        writer.batch(1);
        writer.close();
    }
    // A header and a batch each, the last segment, a prepared one, and the other files.
    let used = u64::from(STARTS) * 4 * 4_096;
    let whole = 2 * u64::from(Options::MIN_SEGMENT_BYTES) + (64 << 10);
    let taken = all_taken(dir.path());
    assert!(taken <= used + whole, "{taken} bytes after {STARTS} starts");
    for number in 1..=STARTS {
        let length = fs::metadata(segment(dir.path(), number)).unwrap().len();
        assert_eq!(
            length,
            u64::from(Options::MIN_SEGMENT_BYTES),
            "its length stays"
        );
    }
    let writer = Writer::open(dir.path());
    assert_eq!(writer.report.last_sequence, Sequence(u64::from(STARTS)));
}

/// A reader that has the whole file mapped reads on to its end after the space was released; no
/// byte of the file changes.
#[test]
fn a_reader_of_the_segment_notices_nothing() {
    let dir = tempfile::tempdir().unwrap();
    if !can_release(dir.path()) {
        return;
    }
    let mut writer = Writer::open(dir.path());
    for _ in 0..3 {
        writer.batch(1);
    }
    writer.close();
    let path = segment(dir.path(), 1);
    let before = fs::read(&path).unwrap();
    let mut reader = Batches::open(dir.path()).unwrap();
    assert!(reader.next_batch().unwrap().is_some());

    let mut writer = Writer::open(dir.path());
    writer.batch(2);
    assert!(
        taken(&path) < u64::from(Options::MIN_SEGMENT_BYTES) / 4,
        "{}",
        taken(&path)
    );
    assert!(
        fs::read(&path).unwrap() == before,
        "the unused end is zeros, as ever"
    );
    let mut left = 0;
    while reader.next_batch().unwrap().is_some() {
        left += 1;
    }
    let last = reader.report().unwrap().last_sequence;
    assert_eq!((left, last), (2, Sequence(3)));
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    assert_eq!(drain(&mut follower).len(), 5);
}

/// A torn tail after the last batch is kept, also in its segment.
#[test]
fn a_torn_tail_keeps_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    if !can_release(dir.path()) {
        return;
    }
    let mut writer = Writer::open(dir.path());
    let end = writer.batch(3).last().unwrap().offset;
    writer.close();
    let path = segment(dir.path(), 1);
    let torn = u64::from(end).next_multiple_of(4_096) + 40_000;
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all_at(b"torn", torn)
        .unwrap();
    let before = fs::read(&path).unwrap();
    let writer = Writer::open(dir.path());
    assert!(writer.report.set_aside.is_some());
    assert!(
        taken(&path) < u64::from(Options::MIN_SEGMENT_BYTES) / 4,
        "{}",
        taken(&path)
    );
    assert!(fs::read(&path).unwrap() == before);
}

/// A segment is full when the next batch does not fit: its end is released while the engine runs.
#[test]
fn a_full_segment_gives_its_end_back() {
    let dir = tempfile::tempdir().unwrap();
    if !can_release(dir.path()) {
        return;
    }
    let mut writer = Writer::open(dir.path());
    let path = segment(dir.path(), 1);
    while !segment(dir.path(), 2).exists() {
        writer.batch(700);
    }
    let gives_up = Instant::now() + Duration::from_secs(20);
    while taken(&path) >= u64::from(Options::MIN_SEGMENT_BYTES) {
        assert!(
            Instant::now() < gives_up,
            "{} bytes stay taken",
            taken(&path)
        );
        std::thread::yield_now();
    }
    writer.close();
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    assert!(drain(&mut follower).len() >= 1_400);
}
