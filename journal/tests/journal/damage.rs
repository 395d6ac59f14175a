//! All kinds of damage to a file. Acknowledged frames are never dropped silently; a torn tail is
//! dropped.
use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use common::{Writer, copy, recovered, segment, small};
use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::frame;
use foretell_journal::segment::{FIRST_BATCH, SegmentHeader};
use foretell_journal::watermark::{self, Watermark};
use foretell_journal::{Batch, Batches, Follower, JournalError, Options, PAGE, scan};
use foretell_model::{Command, Sequence, TimeNs};
use rstest::rstest;
use tempfile::TempDir;

/// A kind of damage.
type Change = fn(&mut Vec<u8>);

/// Batches of the base journal: (first byte, byte after the last, first sequence, last sequence).
const BATCHES: [(usize, usize, u64, u64); 4] = [
    (4_096, 8_192, 1, 2),
    (8_192, 12_288, 3, 5),
    (12_288, 16_384, 6, 6),
    (16_384, 24_576, 7, 26),
];
const END: usize = 24_576;

/// Four batches, the last of two pages; killed before the first watermark.
fn base() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    for (start, end, first, last) in BATCHES {
        let frames = usize::try_from(last - first + 1).unwrap();
        let places = writer.batch(frames);
        assert_eq!(
            usize::try_from(places[0].offset).unwrap(),
            start + HEADER_BYTES
        );
        let tail = &places[frames - 1];
        let used = usize::try_from(tail.offset + tail.length).unwrap();
        assert_eq!(used.next_multiple_of(PAGE), end);
    }
    copy(dir.path())
}

/// The same journal, ended in order: the watermark covers the last batch.
fn marked() -> TempDir {
    let dir = base();
    let mut mark = watermark::read(dir.path()).unwrap().unwrap();
    let bytes = fs::read(segment(dir.path(), 1)).unwrap();
    let last = BatchHeader::read(&bytes[BATCHES[3].0..]).unwrap();
    mark = Watermark {
        count: mark.count + 1,
        sequence: last.last,
        end: u32::try_from(END).unwrap(),
        hash: last.hash,
        ..mark
    };
    write_mark(dir.path(), &mark);
    dir
}

fn write_mark(dir: &Path, mark: &Watermark) {
    let path = watermark::path(dir);
    let mut bytes = fs::read(&path).unwrap();
    let slot = usize::try_from(mark.count % 2).unwrap() * PAGE;
    bytes[slot..slot + PAGE].copy_from_slice(mark.page().as_slice());
    fs::write(&path, bytes).unwrap();
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(path, bytes).unwrap();
}

fn batch_at(byte: usize) -> Option<usize> {
    BATCHES
        .iter()
        .position(|(start, end, ..)| (*start..*end).contains(&byte))
}

/// Checks a recovery after damage to batch `hit` alone.
fn check_recovery(dir: &Path, hit: usize, is_marked: bool, what: &str) {
    let files_before = fs::read(segment(dir, 1)).unwrap();
    let result = recovered(dir);
    let (_, _, first, _) = BATCHES[hit];
    if hit == 3 && !is_marked {
        let (seen, report) = result.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(seen, (1..=6).collect::<Vec<_>>(), "{what}");
        assert_eq!(report.last_sequence, Sequence(6), "{what}");
        return;
    }
    match result {
        Err(JournalError::Damaged {
            segment: 1,
            from,
            first: lost,
            last,
            ..
        }) => {
            assert_eq!(usize::try_from(from).unwrap(), BATCHES[hit].0, "{what}");
            assert_eq!(lost, Sequence(first), "{what}");
            assert!(last >= Sequence(BATCHES[hit.min(2)].3), "{what}: {last}");
        }
        other => panic!("{what}: {other:?}"),
    }
    assert_eq!(
        fs::read(segment(dir, 1)).unwrap(),
        files_before,
        "{what}: a refusal changes nothing"
    );
    assert!(!segment(dir, 2).exists(), "{what}");
}

#[rstest]
#[case::unmarked(false)]
#[case::marked(true)]
fn a_flipped_byte_anywhere_in_a_batch_is_found(#[case] is_marked: bool) {
    let dir = if is_marked { marked() } else { base() };
    let path = segment(dir.path(), 1);
    for (hit, (start, end, ..)) in BATCHES.iter().enumerate() {
        // Every byte of the header, then frames and padding in steps that hit every field.
        let header = *start..start + HEADER_BYTES;
        let rest = (start + HEADER_BYTES..*end).step_by(if hit == 3 { 577 } else { 211 });
        let step = if hit == 3 && !is_marked { 7 } else { 1 };
        for at in header.step_by(step).chain(rest).chain([end - 1]) {
            let image;
            let target = if hit == 3 && !is_marked {
                image = copy(dir.path());
                image.path()
            } else {
                dir.path()
            };
            change(&segment(target, 1), |bytes| bytes[at] ^= 0x20);
            check_recovery(target, hit, is_marked, &format!("byte {at}"));
            if target == dir.path() {
                change(&path, |bytes| bytes[at] ^= 0x20);
            }
        }
    }
    assert_eq!(
        recovered(dir.path()).unwrap().0.len(),
        26,
        "undamaged again"
    );
}

#[test]
fn a_flipped_byte_in_a_segment_header_is_found() {
    let dir = marked();
    let path = segment(dir.path(), 1);
    for at in (0..112).chain([500, 4_091, 4_092, 4_095]) {
        change(&path, |bytes| bytes[at] ^= 1);
        assert!(
            matches!(
                recovered(dir.path()),
                Err(JournalError::Damaged {
                    segment: 1,
                    from: 0,
                    ..
                })
            ),
            "byte {at}"
        );
        change(&path, |bytes| bytes[at] ^= 1);
    }
}

#[rstest]
#[case::unmarked(base())]
#[case::marked(marked())]
fn a_cut_file_is_refused_wherever_it_is_cut(#[case] dir: TempDir) {
    let pages = (FIRST_BATCH as usize..=END).step_by(PAGE);
    let odd = [
        4_097, 8_000, 12_289, 12_416, 16_383, 16_385, 20_000, 24_575, 24_577, 30_001, 1_048_575,
    ];
    for cut in pages.chain(odd) {
        let image = copy(dir.path());
        change(&segment(image.path(), 1), |bytes| bytes.truncate(cut));
        let (start, first) =
            batch_at(cut).map_or((END, 27), |hit| (BATCHES[hit].0, BATCHES[hit].2));
        match recovered(image.path()) {
            Err(JournalError::Damaged {
                from, first: lost, ..
            }) => {
                assert_eq!(usize::try_from(from).unwrap(), start, "cut at {cut}");
                assert_eq!(lost, Sequence(first), "cut at {cut}");
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
        assert_eq!(
            fs::metadata(segment(image.path(), 1)).unwrap().len(),
            cut as u64
        );
    }
    for cut in [0, 1, 4_095] {
        let image = copy(dir.path());
        change(&segment(image.path(), 1), |bytes| bytes.truncate(cut));
        assert!(matches!(
            recovered(image.path()),
            Err(JournalError::Damaged {
                segment: 1,
                from: 0,
                ..
            })
        ));
    }
}

#[rstest]
#[case::unmarked(false)]
#[case::marked(true)]
fn a_zeroed_page_is_found(#[case] is_marked: bool) {
    let dir = if is_marked { marked() } else { base() };
    for page in (FIRST_BATCH as usize..END).step_by(PAGE) {
        let image = copy(dir.path());
        change(&segment(image.path(), 1), |bytes| {
            bytes[page..page + PAGE].fill(0);
        });
        let hit = batch_at(page).unwrap();
        check_recovery(image.path(), hit, is_marked, &format!("page {page}"));
    }
}

#[test]
fn a_torn_tail_is_kept_in_a_file_of_its_own() {
    let dir = base();
    let before = fs::read(segment(dir.path(), 1)).unwrap();
    change(&segment(dir.path(), 1), |bytes| bytes[20_000] ^= 1);
    let (_, report) = recovered(dir.path()).unwrap();
    let kept = fs::read(report.set_aside.unwrap()).unwrap();
    assert_eq!(kept.len(), END - BATCHES[3].0);
    let mut expected = before[BATCHES[3].0..END].to_vec();
    expected[20_000 - BATCHES[3].0] ^= 1;
    assert_eq!(kept, expected);
    // The next engine continues after the kept frames.
    let mut writer = Writer::open(dir.path());
    assert_eq!(writer.report.last_sequence, Sequence(6));
    writer.batch(2);
    writer.close();
    assert_eq!(recovered(dir.path()).unwrap().0.len(), 8);
}

/// Offsets of fields in a batch header, little-endian (`FORMAT.md`).
const FRAMES: usize = 12;
const PAYLOAD: usize = 16;
const OFFSET: usize = 24;
const FIRST: usize = 40;
const LAST: usize = 48;
const PROVEN: usize = 56;
const HASH: usize = 96;

/// A power cut lost the first page of the last batch and left the second one. That page begins with
/// a batch header of one frame, sequence 9, proven 8, with `changes` (offset, byte) applied.
fn torn_before_a_header(changes: &[(usize, u8)]) -> TempDir {
    let dir = base();
    let (start, end) = (BATCHES[3].0, BATCHES[3].1);
    let inner = start + PAGE;
    change(&segment(dir.path(), 1), |bytes| {
        let mut header = bytes[start..start + HEADER_BYTES].to_vec();
        let mut put = |at: usize, field: &[u8]| header[at..at + field.len()].copy_from_slice(field);
        put(FRAMES, &1_u32.to_le_bytes());
        put(PAYLOAD, &200_u32.to_le_bytes());
        put(OFFSET, &u32::try_from(inner).unwrap().to_le_bytes());
        put(FIRST, &9_u64.to_le_bytes());
        put(LAST, &9_u64.to_le_bytes());
        put(PROVEN, &8_u64.to_le_bytes());
        put(HASH, &[0; 32]);
        put(HASH, &[1]);
        changes.iter().for_each(|(at, byte)| put(*at, &[*byte]));
        reseal(&mut header);
        bytes[start..end].fill(0);
        bytes[inner..inner + HEADER_BYTES].copy_from_slice(&header);
    });
    dir
}

#[rstest]
#[case::proves_its_own_frame(&[(PROVEN, 9)])]
#[case::proves_what_nothing_reached(&[(PROVEN + 7, 1)])]
#[case::begins_above_what_fits(&[(FIRST + 1, 1), (LAST + 1, 1), (PROVEN + 1, 1)])]
#[case::counts_other_frames(&[(FRAMES, 2)])]
#[case::leaves_the_segment(&[(PAYLOAD + 3, 1)])]
#[case::continues_no_chain(&[(HASH, 0)])]
fn bytes_of_a_client_in_a_torn_tail_are_no_later_batch(#[case] changes: &[(usize, u8)]) {
    let dir = torn_before_a_header(changes);
    let (seen, report) = recovered(dir.path()).unwrap();
    assert_eq!(seen, (1..=6).collect::<Vec<_>>());
    assert!(report.set_aside.is_some());
}

#[test]
fn a_later_batch_still_tells_a_hole_from_a_torn_tail() {
    let dir = torn_before_a_header(&[]);
    match recovered(dir.path()) {
        Err(JournalError::Damaged { first, last, .. }) => {
            assert_eq!((first, last), (Sequence(7), Sequence(8)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dropped_swapped_and_repeated_batches_are_found() {
    let ways: [(&str, Change); 4] = [
        ("the second batch taken out", |bytes| {
            bytes.copy_within(12_288..END, 8_192);
            bytes[END - PAGE..END].fill(0);
        }),
        ("two batches swapped", |bytes| {
            let second = bytes[8_192..12_288].to_vec();
            bytes.copy_within(12_288..16_384, 8_192);
            bytes[12_288..16_384].copy_from_slice(&second);
        }),
        ("a batch written over by the one before", |bytes| {
            bytes.copy_within(4_096..8_192, 8_192);
        }),
        ("the last batch again behind itself", |bytes| {
            bytes.copy_within(16_384..END, END);
        }),
    ];
    for (what, way) in ways {
        for dir in [base(), marked()] {
            change(&segment(dir.path(), 1), way);
            assert!(
                matches!(recovered(dir.path()), Err(JournalError::Damaged { .. })),
                "{what}"
            );
        }
    }
}

#[test]
fn a_batch_of_another_history_does_not_fit() {
    // The same journal with another second batch, each valid by itself.
    let dir = base();
    change(&segment(dir.path(), 1), |bytes| {
        let header = BatchHeader::read(&bytes[8_192..]).unwrap();
        let used = HEADER_BYTES + usize::try_from(header.payload).unwrap();
        let _ = BatchHeader::close(header, &[7; 32], &mut bytes[8_192..8_192 + used]);
    });
    match recovered(dir.path()) {
        Err(JournalError::Damaged {
            from: 8_192, why, ..
        }) => {
            assert!(why.contains("hash chain"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    // A last batch of another epoch, chained to this one.
    let dir = base();
    change(&segment(dir.path(), 1), |bytes| {
        let before = BatchHeader::read(&bytes[BATCHES[2].0..]).unwrap();
        let start = BATCHES[3].0;
        let header = BatchHeader {
            epoch: 9,
            ..BatchHeader::read(&bytes[start..]).unwrap()
        };
        let used = HEADER_BYTES + usize::try_from(header.payload).unwrap();
        let _ = BatchHeader::close(header, &before.hash, &mut bytes[start..start + used]);
    });
    match recovered(dir.path()) {
        Err(JournalError::Damaged { why, .. }) => assert!(why.contains("epoch"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// A journal of three segments, killed.
fn long() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        watermark_after: Duration::ZERO,
        ..small()
    };
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    while writer.batch(40)[0].segment < 3 {}
    copy(dir.path())
}

#[test]
fn missing_and_replaced_segments_are_found() {
    let dir = long();
    for number in 1..=3 {
        let image = copy(dir.path());
        fs::remove_file(segment(image.path(), number)).unwrap();
        assert!(
            matches!(recovered(image.path()), Err(JournalError::Missing(missing)) if missing == number)
        );
    }
    let other = long();
    for number in 1..=3 {
        let image = copy(dir.path());
        fs::copy(segment(other.path(), number), segment(image.path(), number)).unwrap();
        assert!(
            matches!(recovered(image.path()), Err(JournalError::Foreign(found)) if found == number)
        );
    }
    let image = copy(dir.path());
    fs::copy(segment(dir.path(), 1), segment(image.path(), 2)).unwrap();
    assert!(matches!(
        recovered(image.path()),
        Err(JournalError::Foreign(2))
    ));
    // Damage in a segment with a successor is never a torn tail, at any offset.
    for at in [4_100, 200_000, 400_000] {
        let image = copy(dir.path());
        change(&segment(image.path(), 2), |bytes| bytes[at] ^= 1);
        assert!(matches!(
            recovered(image.path()),
            Err(JournalError::Damaged { segment: 2, .. })
        ));
        assert!(scan(image.path(), Sequence(0), &mut |_| Ok(())).is_err());
    }
}

#[test]
fn before_a_damaged_header_everything_is_shown_and_what_is_behind_is_named() {
    let dir = long();
    let bytes = |number| fs::read(segment(dir.path(), number)).unwrap();
    let first_of = |number| SegmentHeader::read(&bytes(number)).unwrap().first;
    let end = watermark::read(dir.path()).unwrap().unwrap().sequence;
    let changes: [Change; 2] = [|bytes| bytes[100] ^= 1, Vec::clear];
    for number in 1..=3 {
        for damage in changes {
            let image = copy(dir.path());
            change(&segment(image.path(), number), damage);
            let mut shown = Sequence(0);
            let scanned = scan(image.path(), Sequence(0), &mut |frame| {
                assert_eq!(frame.sequence(), shown.next());
                shown = frame.sequence();
                Ok(())
            });
            assert_eq!(shown.next(), first_of(number));
            let said = scanned.unwrap_err().to_string();
            let lost = format!("frames {} to {end} were acknowledged", shown.next());
            assert!(said.contains(&lost), "{said}");
            fs::remove_file(watermark::path(image.path())).unwrap();
            let said = scan(image.path(), Sequence(0), &mut |_| Ok(())).unwrap_err();
            let lost = match number {
                3 => format!("frames from {} on, if there were any", shown.next()),
                // The last segment begins after them.
                _ => format!("frames {} to {} were ackn", shown.next(), first_of(3).0 - 1),
            };
            assert!(said.to_string().contains(&lost), "{said}");
        }
    }
}

/// [`Batches`] returns the same batches and errors as a scan, and nothing after an error.
#[test]
fn batches_are_those_of_a_scan_and_there_are_none_behind_an_error() {
    let mut images = vec![base(), marked(), long()];
    let long = long();
    for number in 1..=3 {
        for at in [100, 6_000, 30_000] {
            let image = copy(long.path());
            change(&segment(image.path(), number), |bytes| bytes[at] ^= 1);
            images.push(image);
        }
    }
    let torn = base();
    change(&segment(torn.path(), 1), |bytes| bytes[END - PAGE] ^= 1);
    images.push(torn);
    let mut wrong = 0;
    for image in images {
        let mut shown = Vec::new();
        let scanned = scan(image.path(), Sequence(0), &mut |frame| {
            shown.push((frame.sequence(), frame.bytes().to_vec()));
            Ok(())
        });
        let mut taken = Vec::new();
        let mut batches = Batches::open(image.path()).unwrap();
        let ended = loop {
            match batches.next_batch() {
                Ok(Some(batch)) => taken.push(batch),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        assert!(batches.next_batch().unwrap().is_none());
        assert_eq!(batches.report(), scanned.as_ref().ok());
        wrong += usize::from(ended.is_some());
        assert_eq!(ended, scanned.err().map(|error| error.to_string()));
        drop(batches);
        // A batch stays readable while it is held.
        let frames = taken.iter().flat_map(Batch::frames);
        let frames = frames.map(|frame| (frame.sequence(), frame.bytes().to_vec()));
        assert_eq!(frames.collect::<Vec<_>>(), shown);
    }
    assert!(wrong > 8, "{wrong}");
}

/// A start rewrites unproven batches: the old bytes remain, under another chain.
#[test]
fn what_a_start_wrote_anew_is_not_shown_as_it_was_before() {
    let dir = base();
    let mut writer = Writer::open(dir.path());
    writer.batch(3);
    writer.close();
    let second = fs::read(segment(dir.path(), 2)).unwrap();
    let header = SegmentHeader::read(&second).unwrap();
    let end = usize::try_from(header.previous_end).unwrap();
    assert!(end < END, "the first segment goes on behind its end");
    change(&segment(dir.path(), 2), |bytes| bytes[100] ^= 1);
    let mut shown = Sequence(0);
    let scanned = scan(dir.path(), Sequence(0), &mut |frame| {
        shown = frame.sequence();
        Ok(())
    });
    assert_eq!(shown.next(), header.first);
    let lost = format!("frames {} to ", header.first);
    assert!(scanned.unwrap_err().to_string().contains(&lost));
}

#[test]
fn a_copy_without_the_room_behind_its_end_is_told_from_one_that_lost_frames() {
    let dir = marked();
    change(&segment(dir.path(), 1), |bytes| bytes.truncate(END));
    let said = recovered(dir.path()).unwrap_err().to_string();
    assert!(said.contains("shorter than its header says"), "{said}");
    assert!(
        said.contains("frames from 27 on, if there were any"),
        "{said}"
    );
    change(&segment(dir.path(), 1), |bytes| bytes.truncate(END - PAGE));
    let said = recovered(dir.path()).unwrap_err().to_string();
    assert!(said.contains("frames 7 to 26 were acknowledged"), "{said}");
}

#[test]
fn a_rehashed_history_is_caught_by_the_watermark() {
    // Two continuations of one journal with the same lengths; only the watermark distinguishes
    // them.
    let common = base();
    let (one, two) = (copy(common.path()), copy(common.path()));
    change(&segment(two.path(), 1), |bytes| {
        let mut previous = [0; 32];
        for (start, ..) in BATCHES {
            let header = BatchHeader::read(&bytes[start..]).unwrap();
            let used = HEADER_BYTES + usize::try_from(header.payload).unwrap();
            if start == BATCHES[0].0 {
                previous = SegmentHeader::read(bytes).unwrap().previous_hash;
            }
            if start == BATCHES[1].0 {
                // Change the time of the third frame.
                bytes[start + HEADER_BYTES + 16] ^= 1;
            }
            let batch = &mut bytes[start..start + used];
            previous = BatchHeader::close(header, &previous, batch).hash;
        }
    });
    assert_eq!(
        scan(two.path(), Sequence(0), &mut |_| Ok(()))
            .unwrap()
            .last_sequence,
        Sequence(26),
        "a sound journal by itself"
    );
    drop(one);
    let genuine = marked();
    let bytes = fs::read(segment(two.path(), 1)).unwrap();
    // The genesis differs between two bases, so use the watermark of the same journal.
    let mark = watermark::read(two.path()).unwrap().unwrap();
    let original = fs::read(segment(common.path(), 1)).unwrap();
    let last = BatchHeader::read(&original[BATCHES[3].0..]).unwrap();
    write_mark(
        two.path(),
        &Watermark {
            count: mark.count + 1,
            sequence: last.last,
            end: u32::try_from(END).unwrap(),
            hash: last.hash,
            ..mark
        },
    );
    match recovered(two.path()) {
        Err(JournalError::Damaged { why, .. }) => assert!(why.contains("watermark"), "{why}"),
        other => panic!("{other:?}"),
    }
    // A watermark of another journal is refused, too.
    fs::write(segment(genuine.path(), 1), bytes).unwrap();
    assert!(matches!(
        recovered(genuine.path()),
        Err(JournalError::Foreign(1))
    ));
}

#[test]
fn one_watermark_slot_may_be_torn_but_not_both() {
    let dir = marked();
    let path = watermark::path(dir.path());
    let mark = watermark::read(dir.path()).unwrap().unwrap();
    let newer = usize::try_from(mark.count % 2).unwrap() * PAGE;
    let image = copy(dir.path());
    change(&watermark::path(image.path()), |bytes| {
        bytes[newer + 40] ^= 1
    });
    let (seen, report) = recovered(image.path()).unwrap();
    assert_eq!(seen.len(), 26);
    assert_eq!(report.rewritten, 20, "only the last batch is unproven now");

    let image = copy(dir.path());
    change(&watermark::path(image.path()), |bytes| {
        bytes[40] ^= 1;
        bytes[PAGE + 40] ^= 1;
    });
    assert!(matches!(
        recovered(image.path()),
        Err(JournalError::Watermark { .. })
    ));

    fs::remove_file(&path).unwrap();
    assert!(matches!(
        recovered(dir.path()),
        Err(JournalError::Watermark { .. })
    ));
}

#[test]
fn a_watermark_alone_is_a_lost_journal() {
    let dir = marked();
    fs::remove_file(segment(dir.path(), 1)).unwrap();
    assert!(matches!(
        recovered(dir.path()),
        Err(JournalError::Missing(1))
    ));
}

/// Recomputes the checksum of a batch header that was changed by hand.
fn reseal(header: &mut [u8]) {
    header[64..68].fill(0);
    let crc = crc32c::crc32c(&header[..HEADER_BYTES]);
    header[64..68].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn newer_formats_are_refused_and_not_taken_for_damage() {
    let is_newer = |dir: &Path, what: &str| match recovered(dir) {
        Err(JournalError::Newer { .. }) => {}
        other => panic!("{what}: {other:?}"),
    };
    for (start, ..) in BATCHES {
        let dir = base();
        change(&segment(dir.path(), 1), |bytes| {
            bytes[start + 8] = 2;
            reseal(&mut bytes[start..start + HEADER_BYTES]);
        });
        is_newer(dir.path(), "batch");
    }
    let dir = base();
    change(&segment(dir.path(), 1), |bytes| {
        bytes[8] = 2;
        let crc = crc32c::crc32c(&bytes[..4_092]);
        bytes[4_092..4_096].copy_from_slice(&crc.to_le_bytes());
    });
    is_newer(dir.path(), "segment");
    let dir = base();
    change(&watermark::path(dir.path()), |bytes| {
        bytes[8] = 2;
        let crc = crc32c::crc32c(&bytes[..4_092]);
        bytes[4_092..4_096].copy_from_slice(&crc.to_le_bytes());
    });
    is_newer(dir.path(), "watermark");
    let dir = base();
    append_batch(dir.path(), |payload| payload[6] = 4);
    is_newer(dir.path(), "frame");
}

/// Appends a batch of one frame to the base journal; its payload is changed before it is closed.
fn append_batch(dir: &Path, change_payload: impl FnOnce(&mut Vec<u8>)) {
    change(&segment(dir, 1), |bytes| {
        let last = BatchHeader::read(&bytes[BATCHES[3].0..]).unwrap();
        let mut batch = vec![0; HEADER_BYTES + frame::length(0, 3)];
        frame::encode(
            &mut batch[HEADER_BYTES..],
            Sequence(27),
            TimeNs(u64::MAX),
            &Command::AdvanceTime,
            &[],
            b"abc",
        );
        let mut payload = batch.split_off(HEADER_BYTES);
        change_payload(&mut payload);
        batch.extend(payload);
        let header = BatchHeader {
            frames: 1,
            offset: u32::try_from(END).unwrap(),
            first: Sequence(27),
            last: Sequence(27),
            proven: Sequence(26),
            ..last
        };
        let _ = BatchHeader::close(header, &last.hash, &mut batch);
        bytes[END..END + batch.len()].copy_from_slice(&batch);
    });
}

#[test]
fn a_sound_batch_that_says_nonsense_is_refused_even_at_the_end() {
    let ways: [(&str, Change); 6] = [
        ("unknown command", |payload| payload[24] = 250),
        ("padding in the command", |payload| payload[60] = 1),
        ("another sequence", |payload| payload[8] = 28),
        ("time goes back", |payload| payload[16..24].fill(0)),
        ("a length too long", |payload| payload[0] = 0xf8),
        ("more events than there are", |payload| payload[152] = 1),
    ];
    for (what, way) in ways {
        let dir = base();
        append_batch(dir.path(), way);
        assert!(
            matches!(recovered(dir.path()), Err(JournalError::Damaged { .. })),
            "{what}"
        );
    }
}

#[test]
fn a_control_page_of_another_boot_proves_nothing() {
    let dir = base();
    let path = foretell_journal::control::path(dir.path());
    assert!(
        Follower::open(dir.path(), Sequence(0)).is_ok(),
        "the same boot"
    );
    for at in [0, 64, 79] {
        let image = copy(dir.path());
        change(&foretell_journal::control::path(image.path()), |bytes| {
            bytes[at] ^= 1;
        });
        assert!(matches!(
            Follower::open(image.path(), Sequence(0)),
            Err(JournalError::NoEngine(_))
        ));
    }
    let image = copy(dir.path());
    change(&foretell_journal::control::path(image.path()), |bytes| {
        bytes[8] = 9;
    });
    assert!(matches!(
        Follower::open(image.path(), Sequence(0)),
        Err(JournalError::Newer { .. })
    ));
    fs::remove_file(path).unwrap();
    assert!(matches!(
        Follower::open(dir.path(), Sequence(0)),
        Err(JournalError::NoEngine(_))
    ));
}

#[test]
fn a_follower_notices_damage_below_the_durable_position() {
    let dir = base();
    change(&segment(dir.path(), 1), |bytes| bytes[12_500] ^= 1);
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    let mut seen = 0;
    let error = loop {
        match follower.next_frame() {
            Ok(foretell_journal::Next::Frame(_)) => seen += 1,
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!(seen, 5);
    assert!(matches!(error, JournalError::Damaged { segment: 1, .. }));
}
