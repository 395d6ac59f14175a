//! Preparation of the next segment while batches are written.
use crate::common;

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::disk::{Change, InjectedFault, RecordingDisk};
use common::small;
use foretell_journal::{JournalState, Options, Preallocator, SyncStep, Syncer, recover};
use foretell_model::{Durability, Sequence};
use rstest::rstest;

const PIECES: u32 = 4;

/// A journal whose preallocator is not running yet.
struct Idle {
    syncer: Syncer,
    state: JournalState,
    preallocator: Preallocator,
    appender: foretell_journal::Appender,
}

fn open(dir: &Path, disk: &RecordingDisk, durability: Durability) -> Idle {
    let options = Options {
        segment_bytes: PIECES << 20,
        disk: Arc::new(disk.clone()),
        durability,
        ..small()
    };
    let recovered = recover(dir, options, Sequence(0), &mut |_| Ok(())).unwrap();
    let (appender, syncer, state, preallocator) = recovered.open().unwrap();
    Idle {
        syncer,
        state,
        preallocator,
        appender,
    }
}

/// Changes of the segment in preparation: `w` for a write, `s` for a sync.
fn prepared(disk: &RecordingDisk) -> String {
    let is_it = |path: &Path| path.ends_with("prepared.tmp");
    let changes = disk.changes().into_iter();
    let letters = changes.filter_map(|change| match change {
        Change::Write(path, ..) if is_it(&path) => Some('w'),
        Change::Sync(path) if is_it(&path) => Some('s'),
        _ => None,
    });
    letters.collect()
}

fn until(mut is_so: impl FnMut() -> bool) {
    let gives_up = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < gives_up, "it never came");
        thread::yield_now();
    }
}

#[rstest]
#[case::beside_syncs(Durability::Disk, "wswswsws")]
#[case::beside_none(Durability::Process, "wwwws")]
fn a_segment_is_synced_piece_by_piece_where_batches_are_synced(
    #[case] durability: Durability,
    #[case] expected: &str,
) {
    let dir = tempfile::tempdir().unwrap();
    let disk = RecordingDisk::default();
    let mut idle = open(dir.path(), &disk, durability);
    let before = prepared(&disk).len();
    idle.syncer.start_preallocator(idle.preallocator).unwrap();
    until(|| prepared(&disk).len() - before == expected.len());
    assert_eq!(&prepared(&disk)[before..], expected);
}

#[test]
fn a_segment_that_is_waited_for_comes_in_one_go() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RecordingDisk::default();
    let mut idle = open(dir.path(), &disk, Durability::Disk);
    let before = prepared(&disk).len();
    loop {
        assert!(idle.appender.has_room_for_largest());
        let sequence = idle.appender.last_sequence().next();
        let (command, events, _) = common::content(sequence.0);
        let evidence = [7; 60_000];
        idle.appender.append(
            sequence,
            common::time(sequence.0),
            &command,
            &events,
            &evidence,
        );
        idle.appender.publish();
        match idle.syncer.step().unwrap() {
            SyncStep::Durable(_) => {}
            SyncStep::Waiting => break,
            other => panic!("{other:?}"),
        }
    }
    idle.syncer.start_preallocator(idle.preallocator).unwrap();
    until(|| matches!(idle.syncer.step().unwrap(), SyncStep::Durable(_)));
    assert!(prepared(&disk)[before..].starts_with("wwwws"));
}

#[test]
fn a_piece_that_cannot_be_synced_ends_the_journal() {
    for at in 0..PIECES as usize {
        let dir = tempfile::tempdir().unwrap();
        let disk = RecordingDisk::default();
        let mut idle = open(dir.path(), &disk, Durability::Disk);
        disk.inject(InjectedFault::FailSync(at));
        idle.syncer.start_preallocator(idle.preallocator).unwrap();
        until(|| idle.syncer.step().is_err());
        assert!(idle.state.is_poisoned(), "sync {at}");
        assert!(idle.state.failure().unwrap().contains("prepared"));
    }
}
