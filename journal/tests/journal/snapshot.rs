//! Snapshots are valid as a whole or ignored, for any fault of the file, the disk or the writer.
use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::disk::{Change, InjectedFault, RecordingDisk};
use foretell_journal::JournalError;
use foretell_journal::disk::RealDisk;
use foretell_journal::snapshot::{
    Chunk, ChunkEntry, HEADER_BYTES, Image, LogName, PROOF, Proof, SnapshotError, SnapshotStore,
    images, newest_image,
};
use foretell_model::Sequence;
use proptest::prelude::*;
use rstest::rstest;

const GENESIS: [u8; 32] = [0x47; 32];
const LAYOUT: u32 = 3;

fn store(dir: &Path) -> SnapshotStore {
    SnapshotStore::open(dir, Arc::new(RealDisk), GENESIS).unwrap()
}

fn proof(sequence: u64) -> Proof {
    let byte = u8::try_from(sequence % 251).unwrap();
    Proof {
        digest: [byte; 32],
        receipt: [!byte; 32],
    }
}

/// Writes an image of made-up sections; they differ with the sequence.
fn write_image(
    store: &SnapshotStore,
    sequence: u64,
    chunks: &[ChunkEntry],
) -> Result<(), JournalError> {
    let mut writer = store.begin_image(Sequence(sequence), LAYOUT, chunks)?;
    for (name, bytes) in parts(sequence) {
        writer.begin(name)?;
        for piece in bytes.chunks(1_000) {
            writer.write(piece)?;
        }
    }
    writer.begin(PROOF)?;
    writer.write(&proof(sequence).encode())?;
    writer.finish().map(drop)
}

fn parts(sequence: u64) -> [(&'static str, Vec<u8>); 3] {
    let byte = |index: usize| u8::try_from((index as u64 + sequence) % 253).unwrap();
    [
        ("state.v1", (0..10_007).map(byte).collect()),
        ("view.empty", Vec::new()),
        ("view.orders", (0..65).map(byte).collect()),
    ]
}

fn image_path(dir: &Path, sequence: u64) -> PathBuf {
    dir.join(format!("{sequence:020}.image"))
}

fn chunk(store: &SnapshotStore, number: u32) -> ChunkEntry {
    let log = LogName::new("trades").unwrap();
    let mask = u8::try_from(number).unwrap();
    let rows: Vec<u8> = (0..=255).map(|byte: u8| byte ^ mask).collect();
    store.write_chunk((log, number), LAYOUT, 4, &rows).unwrap()
}

/// Replaces a read-only file.
fn overwrite(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

fn file_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let chunks = [chunk(&store, 0), chunk(&store, 1)];
    write_image(&store, 70, &chunks).unwrap();
    let image = Image::open(dir.path(), Sequence(70), &GENESIS).unwrap();
    assert_eq!((image.sequence(), image.layout()), (Sequence(70), LAYOUT));
    assert_eq!(*image.proof(), proof(70));
    assert_eq!(image.chunks(), chunks);
    for (name, bytes) in parts(70) {
        assert_eq!(image.section(name).unwrap(), bytes, "{name}");
    }
    assert!(image.section("view").is_none());
    for (number, entry) in (0..=u8::MAX).zip(&chunks) {
        let open = Chunk::open(dir.path(), entry, &GENESIS).unwrap();
        open.snapshot.verify().unwrap();
        assert_eq!(open.snapshot.label().number, u32::from(number));
        let rows = open.rows();
        // A map outlives its file.
        fs::remove_file(entry.path(dir.path())).unwrap();
        assert_eq!(rows.as_ref()[..2], [number, 1 ^ number]);
        assert_eq!(rows.as_ref().len(), 256);
    }
    let mode = fs::metadata(image_path(dir.path(), 70))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o400);
}

/// Damage to a file, and the expected error.
#[rstest]
#[case::empty(|_: &[u8]| Vec::new(), "")]
#[case::half_a_header(|bytes: &[u8]| bytes[..60].to_vec(), "shorter than a header")]
#[case::cut(|bytes: &[u8]| bytes[..bytes.len() - 1].to_vec(), "length")]
#[case::cut_at_the_header(|bytes: &[u8]| bytes[..HEADER_BYTES].to_vec(), "length")]
#[case::longer(|bytes: &[u8]| [bytes, b"0"].concat(), "length")]
#[case::zeros(|bytes: &[u8]| vec![0; bytes.len()], "header")]
#[case::torn(|bytes: &[u8]| [&bytes[..4_096], &vec![0; bytes.len() - 4_096]].concat(), "table")]
#[case::newer(|bytes: &[u8]| sealed(bytes, 8, 2), "version 2")]
#[case::unknown_kind(|bytes: &[u8]| sealed(bytes, 10, 9), "version 1")]
#[case::a_chunk(|bytes: &[u8]| sealed(bytes, 10, 2), "match its name")]
#[case::another_sequence(|bytes: &[u8]| sealed(bytes, 16, 8), "match its name")]
#[case::another_journal(|bytes: &[u8]| sealed(bytes, 40, 1), "another journal")]
#[case::many_sections(|bytes: &[u8]| sealed(bytes, 74, 255), "table")]
#[case::table_elsewhere(|bytes: &[u8]| sealed(bytes, 70, 255), "table")]
#[case::another_hash(|bytes: &[u8]| sealed(bytes, 100, 1), "hash")]
fn a_file_that_is_not_what_was_written_is_passed_over_with_a_reason(
    #[case] change: fn(&[u8]) -> Vec<u8>,
    #[case] reason: &str,
) {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    write_image(&store, 7, &[]).unwrap();
    write_image(&store, 9, &[]).unwrap();
    let path = image_path(dir.path(), 9);
    let bytes = fs::read(&path).unwrap();
    overwrite(&path, &change(&bytes));
    let unfit = Image::open(dir.path(), Sequence(9), &GENESIS).unwrap_err();
    assert!(unfit.to_string().contains(reason), "{unfit}");
    let found = newest_image(dir.path(), &GENESIS, Sequence(100)).unwrap();
    assert_eq!(found.sequence(), Sequence(7));
    assert!(newest_image(dir.path(), &GENESIS, Sequence(6)).is_none());
    assert!(newest_image(dir.path(), &[1; 32], Sequence(100)).is_none());
}

/// The file with one byte of its header changed and the header's checksum recomputed.
fn sealed(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = value;
    bytes[92..96].fill(0);
    let crc = crc32c::crc32c(&bytes[..HEADER_BYTES]);
    bytes[92..96].copy_from_slice(&crc.to_le_bytes());
    bytes
}

#[test]
fn a_flipped_bit_anywhere_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let entry = chunk(&store, 5);
    let path = entry.path(dir.path());
    let bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 7] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            overwrite(&path, &flipped);
            let verified =
                Chunk::open(dir.path(), &entry, &GENESIS).and_then(|chunk| chunk.snapshot.verify());
            assert!(verified.is_err(), "byte {at}, bit {bit}");
        }
    }
    overwrite(&path, &bytes);
    let sound = Chunk::open(dir.path(), &entry, &GENESIS).unwrap();
    sound.snapshot.verify().unwrap();
}

#[test]
fn a_chunk_is_only_the_one_that_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let entry = chunk(&store, 5);
    let listed = |change: &dyn Fn(&mut ChunkEntry)| {
        let mut other = entry;
        change(&mut other);
        // Under the name in the list.
        if other.path(dir.path()) != entry.path(dir.path()) {
            fs::copy(entry.path(dir.path()), other.path(dir.path())).unwrap();
        }
        Chunk::open(dir.path(), &other, &GENESIS)
    };
    assert!(listed(&|_| {}).is_ok());
    let changes: [&dyn Fn(&mut ChunkEntry); 4] = [
        &|entry| entry.number = 6,
        &|entry| entry.rows += 1,
        &|entry| entry.hash[31] ^= 1,
        &|entry| entry.log = LogName::new("orders").unwrap(),
    ];
    for change in changes {
        assert!(matches!(listed(change), Err(SnapshotError::Misnamed)));
    }
}

#[test]
fn the_same_rows_are_the_same_file_and_others_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let first = chunk(&store, 5);
    assert_eq!(chunk(&store, 5), first);
    assert_eq!(file_names(dir.path()).len(), 1);
    let log = LogName::new("trades").unwrap();
    let other = store.write_chunk((log, 5), LAYOUT, 4, &[1; 256]).unwrap();
    assert_ne!(other.path(dir.path()), first.path(dir.path()));
}

#[rstest]
#[case("trades", true)]
#[case("a", true)]
#[case("points.1m", true)]
#[case("twenty-four.letters.long", true)]
#[case("twenty-five.letters.long.", false)]
#[case("", false)]
#[case("../trades", false)]
#[case("Trades", false)]
#[case("a_1", false)]
fn a_log_has_a_plain_name(#[case] name: &str, #[case] is_one: bool) {
    assert_eq!(LogName::new(name).is_some(), is_one);
    if let Some(log) = LogName::new(name) {
        assert_eq!(log.as_str(), name);
    }
}

#[rstest]
#[case::write(InjectedFault::FailWrite, false)]
#[case::full(InjectedFault::FullAt, false)]
#[case::sync(InjectedFault::FailSync, false)]
#[case::rename(InjectedFault::FailRename, false)]
#[case::short_writes(InjectedFault::FailWrite, true)]
fn a_disk_that_fails_leaves_the_old_image_and_nothing_else(
    #[case] trouble: fn(usize) -> InjectedFault,
    #[case] short: bool,
) {
    let mut failed = 0;
    for at in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let disk = RecordingDisk::default();
        let store = SnapshotStore::open(dir.path(), Arc::new(disk.clone()), GENESIS).unwrap();
        write_image(&store, 7, &[]).unwrap();
        if short {
            disk.write_short(3_000);
        }
        disk.inject(trouble(at));
        let written = write_image(&store, 9, &[]);
        if written.is_ok() {
            break;
        }
        failed += 1;
        assert_eq!(file_names(dir.path()).len(), 1, "trouble at {at}");
        assert_eq!(
            newest_image(dir.path(), &GENESIS, Sequence(9))
                .unwrap()
                .sequence(),
            Sequence(7)
        );
        // A later one can be written.
        write_image(&store, 10, &[]).unwrap();
        Image::open(dir.path(), Sequence(10), &GENESIS).unwrap();
    }
    assert!(failed >= 1);
}

#[test]
fn a_file_has_its_name_only_when_all_of_it_is_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RecordingDisk::default();
    let store = SnapshotStore::open(dir.path(), Arc::new(disk.clone()), GENESIS).unwrap();
    write_image(&store, 7, &[]).unwrap();
    let changes = disk.changes();
    let place = |is_it: &dyn Fn(&Change) -> bool| changes.iter().rposition(is_it).unwrap();
    let written = place(&|change| matches!(change, Change::Write(..)));
    let synced = place(&|change| matches!(change, Change::Sync(_)));
    let named = place(&|change| matches!(change, Change::Rename(..)));
    let kept = place(&|change| matches!(change, Change::SyncDir));
    assert!(
        written < synced && synced < named && named < kept,
        "{changes:?}"
    );
}

#[test]
fn what_a_crash_left_unfinished_is_removed_and_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path());
    let mut writer = first.begin_image(Sequence(7), LAYOUT, &[]).unwrap();
    writer.begin("state.v1").unwrap();
    writer.write(&[1; 1 << 20]).unwrap();
    std::mem::forget(writer);
    let left = file_names(dir.path());
    assert_eq!(left.len(), 1, "{left:?}");
    let mut read_only = fs::metadata(dir.path().join(&left[0]))
        .unwrap()
        .permissions();
    read_only.set_mode(0o400);
    fs::set_permissions(dir.path().join(&left[0]), read_only).unwrap();

    // Another image of the same journal, then another journal.
    write_image(&first, 8, &[]).unwrap();
    assert_eq!(file_names(dir.path()).len(), 1);
    std::mem::forget(first.begin_image(Sequence(9), LAYOUT, &[]).unwrap());
    store(dir.path());
    assert_eq!(images(dir.path()).unwrap(), [Sequence(8)]);
    assert_eq!(file_names(dir.path()).len(), 1);
}

#[test]
fn three_images_and_what_they_list_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let chunks: Vec<ChunkEntry> = (0..5).map(|number| chunk(&store, number)).collect();
    for (count, sequence) in [10, 20, 30, 40].into_iter().enumerate() {
        write_image(&store, sequence, &chunks[..=count]).unwrap();
    }
    // A damaged image is not counted, and its list is not used.
    overwrite(&image_path(dir.path(), 40), b"torn");
    store.tidy(3).unwrap();
    let kept = [40, 30, 20, 10].map(Sequence);
    assert_eq!(images(dir.path()).unwrap(), kept);
    let is_there = |number: usize| chunks[number].path(dir.path()).exists();
    assert_eq!(
        [0, 1, 2, 3, 4].map(is_there),
        [true, true, true, false, false]
    );

    write_image(&store, 50, &chunks[..1]).unwrap();
    store.tidy(3).unwrap();
    assert_eq!(images(dir.path()).unwrap(), [50, 40, 30, 20].map(Sequence));
    store.tidy(1).unwrap();
    assert_eq!(images(dir.path()).unwrap(), [Sequence(50)]);
    assert_eq!(file_names(dir.path()).len(), 2);
}

#[test]
fn images_beyond_the_journal_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    for sequence in [10, 20, 30] {
        write_image(&store, sequence, &[]).unwrap();
    }
    store.remove_images_beyond(Sequence(20)).unwrap();
    assert_eq!(images(dir.path()).unwrap(), [20, 10].map(Sequence));
    store.remove_images_beyond(Sequence(0)).unwrap();
    assert_eq!(images(dir.path()).unwrap(), []);
    assert_eq!(images(&dir.path().join("nowhere")).unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sections of any size and number, written in pieces of any size.
    #[test]
    fn any_sections_are_read_as_they_were_written(
        sections in prop::collection::vec(
            (prop_oneof![0_usize..300, 262_000_usize..263_000, Just(600_000)], 1_usize..400_000),
            0..6,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let mut writer = store.begin_image(Sequence(1), LAYOUT, &[]).unwrap();
        let content = |number: usize, length: usize| -> Vec<u8> {
            (0..length).map(|at| u8::try_from((at * 7 + number) % 256).unwrap()).collect()
        };
        for (number, (length, piece)) in sections.iter().enumerate() {
            writer.begin(&format!("part.{number}")).unwrap();
            for bytes in content(number, *length).chunks(*piece) {
                writer.write(bytes).unwrap();
            }
        }
        writer.begin(PROOF).unwrap();
        writer.write(&proof(1).encode()).unwrap();
        writer.finish().unwrap();
        let image = Image::open(dir.path(), Sequence(1), &GENESIS).unwrap();
        for (number, (length, _)) in sections.iter().enumerate() {
            let section = image.section(&format!("part.{number}")).unwrap();
            prop_assert_eq!(section.as_ptr().align_offset(64), 0);
            prop_assert!(section == content(number, *length));
        }
    }
}
