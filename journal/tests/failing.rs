//! Disks that fail, fill up, or write in pieces.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::disk::{Change, Trouble, Watched};
use common::{Writer, recovered, recovered_with, small};
use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use foretell_journal::{JournalError, Options, Step, marker_path};
use foretell_model::Sequence;
use rstest::rstest;

fn watched() -> (Watched, Options) {
    let disk = Watched::default();
    let options = Options {
        watermark_after: Duration::ZERO,
        disk: Arc::new(disk.clone()),
        ..small()
    };
    (disk, options)
}

/// Writes batches until one fails, at most 30; the error, and what was acknowledged before it.
fn write_until_trouble(writer: &mut Writer) -> (Option<JournalError>, u64) {
    for frames in 1..=30 {
        for _ in 0..frames {
            writer.append();
        }
        let before = writer.state.durable();
        if let Err(error) = writer.try_commit() {
            // The batch may have been acknowledged before its watermark failed.
            assert!(writer.state.durable() >= before);
            return (Some(error), writer.state.durable().0);
        }
    }
    (None, writer.state.durable().0)
}

#[rstest]
#[case::write(Trouble::FailWrite)]
#[case::full(Trouble::FullAt)]
#[case::sync(Trouble::FailSync)]
fn the_first_io_error_stops_everything_for_ever(#[case] trouble: fn(usize) -> Trouble) {
    let mut stopped = 0;
    for at in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        let (disk, options) = watched();
        let mut writer = Writer::open_with(dir.path(), options.clone()).unwrap();
        disk.set_trouble(trouble(at));
        let (error, acknowledged) = write_until_trouble(&mut writer);
        let Some(error) = error else {
            // The trouble never came: all of it is there.
            drop(writer);
            let kept = recovered(dir.path()).unwrap().0.len() as u64;
            assert_eq!(kept, acknowledged, "trouble at {at} was passed over");
            continue;
        };
        stopped += 1;
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        assert!(writer.state.is_poisoned());
        let failure = writer.state.failure().unwrap();
        let files = ["segment", "watermark", "prepared"];
        assert!(files.iter().any(|file| failure.contains(file)), "{failure}");

        // Nothing more is acknowledged, and no sync is tried again.
        let changes = disk.changes().len();
        assert!(!writer.appender.as_mut().unwrap().has_room_for_largest());
        for _ in 0..3 {
            assert!(matches!(
                writer.syncer.step(),
                Err(JournalError::Poisoned(_))
            ));
        }
        assert_eq!(writer.state.durable(), Sequence(acknowledged));
        assert!(
            !writer
                .state
                .wait_durable(Sequence(acknowledged + 1), Duration::from_secs(9))
        );
        let segment_path = common::segment(dir.path(), 1);
        assert!(
            !disk.changes()[changes..].iter().any(
                |change| matches!(change, Change::Sync(path) | Change::Write(path, ..) if *path == segment_path)
            )
        );
        drop(writer);

        // The next engine needs to be told.
        let text = fs::read_to_string(marker_path(dir.path())).unwrap();
        assert_eq!(text, error.to_string());
        match recovered(dir.path()) {
            Err(JournalError::AfterIoError(said)) => assert_eq!(said, text),
            other => panic!("{other:?}"),
        }
        let told = Options {
            after_io_error: true,
            ..small()
        };
        let (seen, _) = recovered_with(dir.path(), told).unwrap();
        assert!(seen.len() as u64 >= acknowledged, "trouble at {at}");
        assert!(!marker_path(dir.path()).exists());
        assert_eq!(recovered(dir.path()).unwrap().0, seen);
    }
    assert!(stopped > 20, "only {stopped} of 40 places failed");
}

#[rstest]
#[case::write(Trouble::FailWrite)]
#[case::sync(Trouble::FailSync)]
#[case::rename(Trouble::FailRename)]
fn a_recovery_that_fails_can_be_tried_again(#[case] trouble: fn(usize) -> Trouble) {
    let (disk, options) = watched();
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open_with(
        dir.path(),
        Options {
            watermark_after: Duration::from_secs(3_600),
            ..options.clone()
        },
    )
    .unwrap();
    writer.batch(3);
    writer.batch(40);
    drop(writer);
    let mut failed = 0;
    for at in 0.. {
        disk.set_trouble(trouble(at));
        let result = recovered_with(dir.path(), options.clone());
        match result {
            Err(JournalError::Io { .. }) => failed += 1,
            Ok((seen, _)) => {
                assert_eq!(seen.len(), 43);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(failed >= 1);
}

/// A disk on which no segment can be prepared ahead.
#[derive(Debug)]
struct NothingAhead;

impl Disk for NothingAhead {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        if path.ends_with("prepared.tmp") {
            return Err(io::Error::other("the disk is on fire"));
        }
        RealDisk.create(path)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        RealDisk.open(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

#[test]
fn an_io_error_of_the_helper_stops_the_journal_before_its_segment_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        disk: Arc::new(NothingAhead),
        ..small()
    };
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    let gives_up = Instant::now() + Duration::from_secs(60);
    let error = loop {
        assert!(Instant::now() < gives_up, "nobody noticed");
        match writer.syncer.step() {
            Ok(step) => assert_eq!(step, Step::Idle),
            Err(error) => break error,
        }
        thread::yield_now();
    };
    assert!(error.to_string().contains("on fire"), "{error}");
    assert!(writer.state.is_poisoned());
    assert!(marker_path(dir.path()).exists());
}

#[test]
fn writes_in_pieces_are_completed() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, options) = watched();
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    disk.write_short(1_000);
    let (error, acknowledged) = write_until_trouble(&mut writer);
    assert!(error.is_none());
    assert_eq!(
        recovered(common::copy(dir.path()).path()).unwrap().0.len() as u64,
        acknowledged
    );
}

#[test]
fn a_full_disk_delays_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, options) = watched();
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    disk.set_full(true);
    // What was prepared before is still used; then the writer waits, alive.
    let waiting = loop {
        while writer.appender.as_mut().unwrap().has_room_for_largest() {
            writer.append();
        }
        match writer.syncer.step().unwrap() {
            Step::Durable(_) => {}
            Step::Waiting => break writer.state.durable(),
            other => panic!("{other:?}"),
        }
    };
    assert!(!writer.state.is_poisoned());
    assert_eq!(writer.syncer.step().unwrap(), Step::Waiting);
    assert_eq!(writer.state.durable(), waiting);
    disk.set_full(false);
    let appended = writer.appender.as_ref().unwrap().last_sequence();
    while writer.state.durable() < appended {
        match writer.syncer.step().unwrap() {
            Step::Waiting | Step::Idle => thread::yield_now(),
            Step::Durable(_) => {}
            Step::Ended => panic!("the appender is there"),
        }
    }
    writer.close();
    assert_eq!(recovered(dir.path()).unwrap().0.len() as u64, appended.0);
}

#[test]
fn little_room_on_the_disk_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, options) = watched();
    disk.set_free(1_000);
    let writer = Writer::open_with(dir.path(), options).unwrap();
    assert!(writer.state.disk_low(), "from the start");
}

#[test]
fn a_sync_thread_that_dies_leaves_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let (_, options) = watched();
    let Writer { syncer, state, .. } = Writer::open_with(dir.path(), options).unwrap();
    let waiter = {
        let state = state.clone();
        thread::spawn(move || state.wait_durable(Sequence(1), Duration::from_secs(60)))
    };
    drop(syncer);
    assert!(!waiter.join().unwrap());
    assert!(state.is_poisoned());
    assert!(!marker_path(dir.path()).exists(), "it was no I/O error");
}

#[test]
fn sealed_and_open_segments_read_the_same_past_the_page_cache() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    while writer.batch(200)[0].segment < 3 {}
    let last = writer.state.durable().0;
    drop(writer);
    let told = Options {
        after_io_error: true,
        ..small()
    };
    assert_eq!(
        recovered_with(dir.path(), told).unwrap().0.len() as u64,
        last
    );
}
