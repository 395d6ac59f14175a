//! Segments that leave a journal for an archive, and journals made of copied segments.

use std::fs;
use std::path::Path;

use foretell_journal::archive::remove_archived;
use foretell_journal::control::JournalPosition;
use foretell_journal::disk::RealDisk;
use foretell_journal::restored::{complete_copy, forget_restored, leave_log, restored_from};
use foretell_journal::{
    Batches, Extent, Follower, FrameReader, JournalError, Piece, Segments, archived_through,
    recover, scan,
};
use foretell_model::{FramePosition, Sequence};

use crate::common::{Writer, drain, recovered, segment, small};

/// A journal of four segments with three frames each; the places of the first three.
fn journal(dir: &Path) -> Vec<FramePosition> {
    let mut first = Vec::new();
    for _ in 0..4 {
        let mut writer = Writer::open(dir);
        let places = writer.batch(3);
        writer.close();
        if first.is_empty() {
            first = places;
        }
    }
    first
}

/// The files of a journal, elsewhere.
fn copied() -> (tempfile::TempDir, Extent) {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    journal(dir.path());
    let extent = Extent::of(&Segments::of(dir.path())).unwrap();
    copy_to(&extent, copy.path());
    (copy, extent)
}

fn end_of(extent: &Extent) -> JournalPosition {
    JournalPosition {
        segment: extent.end().number,
        offset: extent.end().bytes,
    }
}

/// Copies the bytes of an extent, as an archive or a backup has them.
fn copy_to(extent: &Extent, to: &Path) {
    for piece in &extent.pieces {
        extent.verify(piece).unwrap();
        let bytes = fs::read(&piece.path).unwrap();
        let length = usize::try_from(piece.bytes).unwrap();
        fs::write(segment(to, piece.number), &bytes[..length]).unwrap();
    }
}

fn frames(segments: Segments) -> Result<u64, JournalError> {
    let mut batches = Batches::of(segments)?;
    let mut frames = 0;
    while let Some(batch) = batches.next_batch()? {
        frames += u64::from(batch.header().frames);
    }
    Ok(frames)
}

#[test]
fn a_segment_that_left_is_archived_and_one_that_is_lost_is_missing() {
    let (dir, archive) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dir, archive) = (dir.path(), archive.path());
    let places = journal(dir);
    let extent = Extent::of(&Segments::of(dir)).unwrap();
    assert_eq!(extent.pieces.len(), 4);
    copy_to(&extent, archive);
    for wrong in [2, 4, 9] {
        assert!(remove_archived(&RealDisk, dir, wrong).is_err(), "{wrong}");
    }
    for number in [1, 2] {
        assert!(remove_archived(&RealDisk, dir, number).unwrap());
    }
    assert_eq!(archived_through(dir).unwrap(), 2);

    let is_archived = |error: JournalError| {
        assert!(
            error.to_string().contains("up to 6 are archived"),
            "{error}"
        );
    };
    is_archived(scan(dir, Sequence(5), &mut |_| Ok(())).unwrap_err());
    is_archived(recovered(dir).unwrap_err());
    is_archived(
        FrameReader::new(dir)
            .frame(places[0], Sequence(1))
            .unwrap_err(),
    );
    is_archived(frames(Segments::of(dir)).unwrap_err());
    let mut seen = Vec::new();
    scan(dir, Sequence(6), &mut |frame| {
        seen.push(frame.sequence().0);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, (7..=12).collect::<Vec<u64>>());

    let both = Segments::with_archive(dir, archive).unwrap();
    assert_eq!(frames(both.clone()).unwrap(), 12);
    assert!(FrameReader::of(both).frame(places[0], Sequence(1)).is_ok());

    // An engine starts after what is archived, and so do followers.
    let after = recover(dir, small(), Sequence(6), &mut |_| Ok(())).unwrap();
    assert_eq!(after.report.last_sequence, Sequence(12));
    let (appender, syncer, _state) = after.start().unwrap();
    is_archived(Follower::open(dir, Sequence(5)).unwrap_err());
    assert_eq!(
        drain(&mut Follower::open(dir, Sequence(6)).unwrap()).len(),
        6
    );
    drop((appender, syncer));

    fs::remove_file(segment(dir, 3)).unwrap();
    let lost = scan(dir, Sequence(9), &mut |_| Ok(())).unwrap_err();
    assert!(matches!(lost, JournalError::Missing(3)), "{lost}");
}

#[test]
fn a_segment_stays_while_a_follower_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    journal(dir);
    let writer = Writer::open(dir);
    let mut follower = Follower::open(dir, Sequence(0)).unwrap();
    follower.next_frame().unwrap();
    assert!(!remove_archived(&RealDisk, dir, 1).unwrap());
    assert!(segment(dir, 1).exists() && archived_through(dir).unwrap() == 0);
    assert_eq!(drain(&mut follower).len(), 11, "it reads all the rest");
    assert!(remove_archived(&RealDisk, dir, 1).unwrap());
    writer.close();
}

#[test]
fn copied_segments_are_a_journal_that_says_what_it_may_lack() {
    for branch in [None, Some([7; 32])] {
        let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        journal(dir.path());
        let mut writer = Writer::open(dir.path());
        writer.batch(2);
        // The durable frames of a running engine, and not the staged one.
        writer.append();
        let extent = Extent::of(&Segments::of(dir.path())).unwrap();
        copy_to(&extent, copy.path());
        writer.commit();
        writer.close();
        complete_copy(&RealDisk, copy.path(), end_of(&extent), branch, false).unwrap();
        let read = restored_from(copy.path()).unwrap();
        assert_eq!(
            read.map(|it| (it.last, it.branch)),
            branch.map(|it| (Sequence(14), it))
        );
        forget_restored(&RealDisk, copy.path()).unwrap();
        assert_eq!(restored_from(copy.path()).unwrap(), None);
        let (seen, report) = recovered(copy.path()).unwrap();
        assert_eq!(seen, (1..=14).collect::<Vec<u64>>());
        assert_eq!(report.rewritten, 0, "all of it is proven");
    }
}

#[test]
fn a_copy_leaves_the_replicated_log_only_while_it_may_lack_frames() {
    for branch in [None, Some([7; 32])] {
        let (copy, extent) = copied();
        complete_copy(&RealDisk, copy.path(), end_of(&extent), branch, true).unwrap();
        let refused = recovered(copy.path());
        assert!(matches!(refused, Err(JournalError::Replica(_))));
        let left = leave_log(&RealDisk, copy.path());
        assert_eq!(left.is_ok(), branch.is_some());
        assert_eq!(recovered(copy.path()).is_ok(), branch.is_some());
        // Whether it is known to be a copy, too.
        assert_eq!(
            restored_from(copy.path()).unwrap().is_some(),
            branch.is_some()
        );
    }
}

#[test]
fn a_flipped_bit_of_a_copied_segment_is_found() {
    let (copy, extent) = copied();
    let read = || {
        let file = |it: &Piece| (it.number, segment(copy.path(), it.number));
        let files = extent.pieces.iter().map(file);
        let end = end_of(&extent);
        frames(Segments::of_copy(copy.path(), files.collect(), end))
    };
    assert_eq!(read().unwrap(), 12);
    for piece in &extent.pieces {
        let path = segment(copy.path(), piece.number);
        let sound = fs::read(&path).unwrap();
        // A prime step: every field and every bit of a byte has its turn.
        for at in (0..sound.len()).step_by(31) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).unwrap();
            assert!(read().is_err(), "segment {}, byte {at}", piece.number);
        }
        fs::write(&path, sound).unwrap();
    }
}
