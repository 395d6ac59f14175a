//! Writing, rotation, following and recovery without faults.
use crate::common;

use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Writer, content, copy, drain, process_durability, recovered, segment, small, time};
use foretell_journal::{
    Follower, FrameReader, JournalError, Next, Options, receipt, recover, scan,
};
use foretell_model::{Durability, Sequence};

const SOON: Duration = Duration::from_secs(30);

#[test]
fn what_is_staged_while_a_sync_runs_is_one_batch_and_places_are_known_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let first = writer.append();
    let second = writer.append();
    assert_eq!(writer.state.durable(), Sequence(0), "nothing is synced yet");
    assert_eq!(writer.commit(), Sequence(2));
    assert_eq!(writer.state.durable(), Sequence(2));
    let third = writer.append();
    writer.commit();
    assert_eq!(first.offset, 4_096 + 128);
    assert_eq!(second.offset, first.offset + first.length);
    assert_eq!(third.offset, 2 * 4_096 + 128, "a batch starts on a page");

    let reader = FrameReader::new(dir.path());
    for (sequence, place) in [(1, first), (2, second), (3, third)] {
        let bytes = reader.frame(place, Sequence(sequence)).unwrap();
        let found = scan_receipts(dir.path());
        assert_eq!(
            receipt(&bytes),
            found[usize::try_from(sequence - 1).unwrap()]
        );
        assert!(reader.frame(place, Sequence(sequence + 1)).is_err());
        assert_eq!(reader.find(Sequence(sequence)).unwrap(), (place, bytes));
    }
    let mut nowhere = first;
    nowhere.offset += 8;
    assert!(matches!(
        reader.frame(nowhere, Sequence(1)),
        Err(JournalError::NoFrame { .. })
    ));
}

fn scan_receipts(dir: &std::path::Path) -> Vec<[u8; 32]> {
    let mut receipts = Vec::new();
    scan(dir, Sequence(0), &mut |frame| {
        receipts.push(frame.receipt());
        Ok(())
    })
    .unwrap();
    receipts
}

#[test]
fn a_follower_sees_what_is_durable_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    assert_eq!(drain(&mut follower), Vec::<u64>::new());
    writer.append();
    assert_eq!(drain(&mut follower), Vec::<u64>::new());
    writer.commit();
    assert_eq!(drain(&mut follower), [1]);
    writer.batch(3);
    writer.batch(2);
    assert_eq!(drain(&mut follower), [2, 3, 4, 5, 6]);
    let mut late = Follower::open(dir.path(), Sequence(3)).unwrap();
    assert_eq!(drain(&mut late), [4, 5, 6]);
    assert!(matches!(
        Follower::open(dir.path(), Sequence(7)),
        Err(JournalError::Ahead { .. })
    ));
    assert_eq!(follower.genesis(), writer.report.genesis);
}

#[test]
fn segments_follow_each_other_sealed_and_no_frame_spans_two() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    let mut places = Vec::new();
    while places
        .last()
        .is_none_or(|place: &foretell_model::FramePosition| place.segment < 4)
    {
        places.extend(writer.batch(7));
    }
    for place in &places {
        assert!(place.offset + place.length <= Options::MIN_SEGMENT_BYTES);
    }
    let all: Vec<u64> = (1..=places.len() as u64).collect();
    assert_eq!(drain(&mut follower), all);
    for number in 1..4 {
        let meta = std::fs::metadata(segment(dir.path(), number)).unwrap();
        assert_eq!(meta.permissions().mode() & 0o777, 0o400);
        assert_eq!(meta.len(), u64::from(Options::MIN_SEGMENT_BYTES));
    }
    for after in [0, 1, 700, all.len() as u64 - 1] {
        let mut from = Follower::open(dir.path(), Sequence(after)).unwrap();
        let expected: Vec<u64> = (after + 1..=all.len() as u64).collect();
        assert_eq!(drain(&mut from), expected);
    }
    writer.close();
    let (seen, report) = recovered(dir.path()).unwrap();
    assert_eq!(seen, all);
    assert_eq!(report.epoch, 2);
    assert_eq!(report.rewritten, 0, "the watermark was written at the end");
}

#[test]
fn a_full_staging_buffer_says_so_and_is_given_away_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let evidence = vec![7; 64 * 1_024];
    let mut staged = 0;
    let appender = writer.appender.as_mut().unwrap();
    while appender.has_room_for_largest() {
        let sequence = appender.last_sequence().next();
        let (command, events, _) = content(1);
        appender.append(sequence, time(sequence.0), &command, &events, &evidence);
        staged += 1;
    }
    assert!(
        staged >= 3,
        "768 KiB hold some frames of 64 KiB and a largest one"
    );
    assert!(!appender.has_room_for_largest());
    assert_eq!(
        writer.syncer.step().unwrap(),
        foretell_journal::SyncStep::Durable(Sequence(staged))
    );
    assert!(writer.appender.as_mut().unwrap().has_room_for_largest());
}

#[test]
fn threads_write_and_follow_without_polling() {
    let dir = tempfile::tempdir().unwrap();
    let Writer {
        appender,
        syncer,
        state,
        ..
    } = Writer::open(dir.path());
    let mut appender = appender.unwrap();
    let total = 3_000;
    let (raised, rises) = mpsc::channel();
    let sync = thread::spawn(move || syncer.run(|sequence| raised.send(sequence).unwrap()));
    let path = dir.path().to_owned();
    let reader = thread::spawn(move || {
        let mut follower = Follower::open(&path, Sequence(0)).unwrap();
        let mut seen = 0;
        while seen < total {
            match follower.next_frame().unwrap() {
                Next::Frame(frame) => {
                    seen += 1;
                    assert_eq!(frame.sequence(), Sequence(seen));
                }
                Next::UpToDate => follower.wait(SOON),
                other => panic!("{other:?}"),
            }
        }
    });
    for sequence in 1..=total {
        while !appender.has_room_for_largest() {
            let last = appender.last_sequence();
            assert!(state.wait_durable(last, SOON));
        }
        let (command, events, evidence) = content(sequence);
        appender.append(
            Sequence(sequence),
            time(sequence),
            &command,
            &events,
            &evidence,
        );
        appender.publish();
    }
    assert!(state.wait_durable(Sequence(total), SOON));
    reader.join().unwrap();
    drop(appender);
    sync.join().unwrap().unwrap();
    let rises: Vec<Sequence> = rises.iter().collect();
    assert!(rises.is_sorted(), "durable never falls");
    assert_eq!(rises.last(), Some(&Sequence(total)));
    assert!(
        rises.len() < usize::try_from(total).unwrap(),
        "syncs are shared"
    );
    assert_eq!(recovered(dir.path()).unwrap().0.len() as u64, total);
}

#[test]
fn a_second_engine_is_refused_and_the_first_unharmed() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    assert!(matches!(
        recovered(dir.path()),
        Err(JournalError::Locked(_))
    ));
    writer.batch(1);
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    assert_eq!(drain(&mut follower), [1]);
}

#[test]
fn the_directory_is_private_and_links_are_refused() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("journal");
    Writer::open(&dir).close();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&dir) & 0o777, 0o700);
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
    let target = outer.path().join("elsewhere");
    std::fs::rename(segment(&dir, 1), &target).unwrap();
    std::os::unix::fs::symlink(&target, segment(&dir, 1)).unwrap();
    assert!(matches!(recovered(&dir), Err(JournalError::Unsafe { .. })));
    let link = outer.path().join("link");
    std::os::unix::fs::symlink(&dir, &link).unwrap();
    assert!(matches!(recovered(&link), Err(JournalError::Unsafe { .. })));
}

#[test]
fn starting_often_without_writing_keeps_one_segment() {
    let dir = tempfile::tempdir().unwrap();
    for epoch in 1..=5 {
        let writer = Writer::open(dir.path());
        assert_eq!(writer.report.epoch, epoch);
        writer.close();
    }
    assert!(segment(dir.path(), 1).exists());
    assert!(!segment(dir.path(), 2).exists());
}

#[test]
fn recovery_from_a_snapshot_shows_only_what_follows_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    while writer.batch(50)[0].segment < 3 {}
    let last = writer.state.durable().0;
    writer.close();
    for after in [1, last / 2, last - 1, last] {
        let copy = copy(dir.path());
        let mut seen = Vec::new();
        let recovered = recover(copy.path(), small(), Sequence(after), &mut |frame| {
            seen.push(frame.sequence.0);
            Ok(())
        })
        .unwrap();
        assert_eq!(recovered.report.last_time, time(last));
        assert_eq!(seen, (after + 1..=last).collect::<Vec<_>>());
    }
    assert!(matches!(
        recover(dir.path(), small(), Sequence(last + 1), &mut |_| Ok(())),
        Err(JournalError::Ahead { .. })
    ));
}

#[test]
fn a_reader_that_stops_changes_nothing_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    writer.batch(3);
    let image = copy(dir.path());
    let stop = |frame: &foretell_model::FrameRef<'_>| {
        if frame.sequence == Sequence(2) {
            Err("differs".to_owned())
        } else {
            Ok(())
        }
    };
    let before = std::fs::read(segment(image.path(), 1)).unwrap();
    let refused = recover(image.path(), small(), Sequence(0), &mut { stop }).unwrap_err();
    assert!(matches!(
        refused,
        JournalError::Stopped { sequence: Sequence(2), ref reason } if reason == "differs"
    ));
    assert_eq!(std::fs::read(segment(image.path(), 1)).unwrap(), before);
    assert!(!segment(image.path(), 2).exists());
}

#[test]
fn kept_batches_are_written_anew_with_the_same_frame_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    writer.batch(4);
    let places = writer.batch(3);
    let before = scan_receipts(dir.path());
    let image = copy(dir.path());
    let (seen, report) = recovered(image.path()).unwrap();
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((report.epoch, report.rewritten), (2, 3));
    assert_eq!(scan_receipts(image.path()), before);
    // Places of the first epoch still name the same bytes.
    let reader = FrameReader::new(image.path());
    for (index, place) in places.iter().enumerate() {
        let bytes = reader.frame(*place, Sequence(5 + index as u64)).unwrap();
        assert_eq!(receipt(&bytes), before[4 + index]);
    }
    // And again, from the recovered journal.
    let (seen, report) = recovered(image.path()).unwrap();
    assert_eq!(seen.len(), 7);
    assert_eq!((report.epoch, report.rewritten), (3, 0));
}

#[test]
fn every_durability_survives_the_end_of_the_process() {
    for durability in [Durability::Disk, Durability::Process, Durability::None] {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            durability,
            ..small()
        };
        let mut writer = Writer::open_with(dir.path(), options).unwrap();
        while writer.batch(20)[0].segment < 3 {}
        let last = writer.state.durable().0;
        assert_eq!(writer.state.durability(), durability);
        let killed = copy(dir.path());
        assert_eq!(recovered(killed.path()).unwrap().0.len() as u64, last);
        writer.close();
        assert_eq!(recovered(dir.path()).unwrap().0.len() as u64, last);
    }
}

#[test]
fn process_durability_keeps_all_unsynced_batches() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open_with(dir.path(), process_durability()).unwrap();
    for _ in 0..5 {
        writer.batch(2);
    }
    let image = copy(dir.path());
    let (seen, report) = recovered(image.path()).unwrap();
    assert_eq!(seen.len(), 10);
    assert_eq!(report.rewritten, 10, "nothing was synced");
}

#[test]
fn the_watermark_is_recorded_once_it_is_due() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        watermark_after: Duration::ZERO,
        ..small()
    };
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    writer.batch(2);
    let mark = foretell_journal::watermark::read(dir.path())
        .unwrap()
        .unwrap();
    assert_eq!(mark.sequence, Sequence(2));
    let (_, report) = recovered(copy(dir.path()).path()).unwrap();
    assert_eq!(report.rewritten, 0);
}

#[test]
#[should_panic(expected = "time never falls")]
fn a_frame_that_recovery_would_refuse_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    writer.append();
    let (command, events, evidence) = content(2);
    let appender = writer.appender.as_mut().unwrap();
    appender.append(Sequence(2), time(0), &command, &events, &evidence);
}
