//! Disks that fail, run full, or write in pieces.
use crate::common;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::disk::{Change, InjectedFault, RecordingDisk};
use common::{Writer, recovered, recovered_with, small};
use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use foretell_journal::{JournalError, Options, SyncStep, marker_path};
use foretell_model::Sequence;
use rstest::rstest;

fn watched() -> (RecordingDisk, Options) {
    let disk = RecordingDisk::default();
    let options = Options {
        watermark_after: Duration::ZERO,
        disk: Arc::new(disk.clone()),
        ..small()
    };
    (disk, options)
}

/// Writes batches until one fails, at most 30. Returns the error and the last sequence acknowledged
/// before it.
fn write_until_error(writer: &mut Writer) -> (Option<JournalError>, u64) {
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
#[case::write(InjectedFault::FailWrite)]
#[case::full(InjectedFault::FullAt)]
#[case::sync(InjectedFault::FailSync)]
fn the_first_io_error_stops_everything_for_ever(#[case] trouble: fn(usize) -> InjectedFault) {
    let mut stopped = 0;
    for at in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        let (disk, options) = watched();
        let mut writer = Writer::open_with(dir.path(), options.clone()).unwrap();
        disk.inject(trouble(at));
        let (error, acknowledged) = write_until_error(&mut writer);
        let Some(error) = error else {
            // The fault did not occur: all frames are there.
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

        // Nothing more is acknowledged, and no sync is retried.
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

        // The next engine needs `after_io_error`.
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
#[case::write(InjectedFault::FailWrite)]
#[case::sync(InjectedFault::FailSync)]
#[case::rename(InjectedFault::FailRename)]
fn a_recovery_that_fails_can_be_tried_again(#[case] trouble: fn(usize) -> InjectedFault) {
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
        disk.inject(trouble(at));
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

/// A disk on which no segment can be prepared.
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
            Ok(step) => assert_eq!(step, SyncStep::Idle),
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
    let (error, acknowledged) = write_until_error(&mut writer);
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
    // The segment that is already prepared is used; then the writer waits and stays alive.
    let waiting = loop {
        while writer.appender.as_mut().unwrap().has_room_for_largest() {
            writer.append();
        }
        match writer.syncer.step().unwrap() {
            SyncStep::Durable(_) => {}
            SyncStep::Waiting => break writer.state.durable(),
            other => panic!("{other:?}"),
        }
    };
    assert!(!writer.state.is_poisoned());
    assert_eq!(writer.syncer.step().unwrap(), SyncStep::Waiting);
    assert_eq!(writer.state.durable(), waiting);
    disk.set_full(false);
    let appended = writer.appender.as_ref().unwrap().last_sequence();
    while writer.state.durable() < appended {
        match writer.syncer.step().unwrap() {
            SyncStep::Waiting | SyncStep::Idle => thread::yield_now(),
            SyncStep::Durable(_) | SyncStep::Written => {}
            SyncStep::Ended => panic!("the appender is there"),
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
