//! Helpers that compare snapshots with a replay of the whole journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_engine::{JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};
use foretell_journal::disk::RealDisk;
use foretell_journal::snapshot::{
    Chunk, ChunkEntry, Image, LogName, PROOF, Proof, SnapshotStore, images,
};
use foretell_journal::{Scratch, recover, scan, watermark};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::AttestState;
use foretell_model::{Command, Event, FrameRef, Sequence, TimeNs};
use foretell_view::{ChunkBytes, ChunkRef, Chunking, VIEW_VERSION, View};

use crate::harness::config;

pub(crate) fn journal(directory: &Path) -> PathBuf {
    directory.join(JOURNAL_DIRECTORY)
}

pub(crate) fn snapshots(directory: &Path) -> PathBuf {
    directory.join(SNAPSHOT_DIRECTORY)
}

pub(crate) fn genesis(directory: &Path) -> [u8; 32] {
    let mark = watermark::read(&journal(directory)).unwrap();
    mark.expect("there is a journal").genesis
}

/// The sequences of all snapshots, newest first.
pub(crate) fn published(directory: &Path) -> Vec<Sequence> {
    images(&snapshots(directory)).unwrap()
}

/// The file of a snapshot.
pub(crate) fn image_file(directory: &Path, sequence: Sequence) -> PathBuf {
    snapshots(directory).join(format!("{:020}.image", sequence.0))
}

/// All file names in the snapshot directory, sorted.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(snapshots(directory)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Executes and folds the whole journal; passes exchange and view after each frame to the callback,
/// with the frame and its receipt.
pub(crate) fn replay(
    directory: &Path,
    chunking: Chunking,
    mut show: impl FnMut(&FrameRef<'_>, [u8; 32], &Exchange, &View),
) {
    let mut exchange = Exchange::new(Capacity::default(), 7);
    let mut view = View::with_chunking(genesis(directory), chunking);
    let mut scratch = Scratch::default();
    let mut events = Vec::new();
    scan(&journal(directory), Sequence(0), &mut |frame| {
        let receipt = frame.receipt();
        let frame = frame.decode(&mut scratch).map_err(|e| e.to_string())?;
        events.clear();
        exchange.apply(frame.command, frame.stamp(), &mut events);
        view.apply(&frame).map_err(|error| error.to_string())?;
        show(&frame, receipt, &exchange, &view);
        Ok(())
    })
    .expect("the journal is whole");
}

/// Compares the snapshots at `sequences` in `kept` with the whole journal.
pub(crate) fn assert_images_are_the_journal(
    directory: &Path,
    kept: &Path,
    sequences: &[Sequence],
    chunking: Chunking,
) {
    compare_images(directory, kept, sequences, chunking, assert_same_view);
}

/// The same after a kill. Frames not proven durable are then rewritten, so views from before and
/// after give different places to them, both readable.
pub(crate) fn assert_states_are_the_journal(
    directory: &Path,
    kept: &Path,
    sequences: &[Sequence],
    chunking: Chunking,
) {
    let orders = |view: &View| (view.sequence(), view.orders().live_count());
    compare_images(directory, kept, sequences, chunking, |one, other| {
        assert_eq!(orders(one), orders(other));
    });
}

fn compare_images(
    directory: &Path,
    kept: &Path,
    sequences: &[Sequence],
    chunking: Chunking,
    compare: impl Fn(&View, &View),
) {
    let genesis = genesis(directory);
    let mut compared = 0;
    replay(directory, chunking, |frame, receipt, exchange, view| {
        if !sequences.contains(&frame.sequence) {
            return;
        }
        compared += 1;
        let image = Image::open(kept, frame.sequence, &genesis).unwrap();
        let digest = exchange.digest();
        assert_eq!(
            *image.proof(),
            Proof { digest, receipt },
            "at {:?}",
            frame.sequence
        );
        compare(&view_of(&image, kept, &genesis), view);
    });
    assert_eq!(compared, sequences.len());
}

/// The view of a snapshot, every chunk verified.
pub(crate) fn view_of(image: &Image, kept: &Path, genesis: &[u8; 32]) -> View {
    let chunk = |wanted: ChunkRef| -> Option<ChunkBytes> {
        let is_it = |entry: &&ChunkEntry| {
            (entry.log.as_str(), entry.number) == (wanted.log.text(), wanted.number)
        };
        let entry = image.chunks().iter().find(is_it)?;
        let chunk = Chunk::open(kept, entry, genesis).unwrap();
        chunk.snapshot.verify().unwrap();
        Some(Arc::new(chunk.rows()))
    };
    View::from_snapshot(|name| image.section(name), chunk).unwrap()
}

/// Compares two views byte by byte, history included.
pub(crate) fn assert_same_view(one: &View, other: &View) {
    assert_eq!(one.sequence(), other.sequence());
    let (ones, others) = (one.snapshot().unwrap(), other.snapshot().unwrap());
    assert_eq!(ones.chunks, others.chunks);
    for (one, other) in ones.sections.iter().zip(&others.sections) {
        assert_eq!(one.0, other.0);
        assert!(one.1 == other.1, "section {}", one.0);
    }
    for chunk in ones.chunks {
        let bytes = |view: &View| view.chunk_bytes(chunk.log, chunk.number).unwrap();
        let (one, other) = (bytes(one), bytes(other));
        assert!(one.as_ref().as_ref() == other.as_ref().as_ref(), "{chunk}");
    }
}

/// Writes a snapshot as described in `journal/FORMAT.md`; without `view`, one with a valid state
/// and a view of an unknown version. Returns the command that attests it.
pub(crate) fn write_image(
    directory: &Path,
    exchange: &Exchange,
    view: Option<&View>,
    receipt: [u8; 32],
) -> Command {
    write_image_of(directory, exchange, view, receipt, VIEW_VERSION)
}

/// The same with another version of the view's layout.
pub(crate) fn write_image_of(
    directory: &Path,
    exchange: &Exchange,
    view: Option<&View>,
    receipt: [u8; 32],
    version: u32,
) -> Command {
    let store = SnapshotStore::open(
        &snapshots(directory),
        Arc::new(RealDisk),
        genesis(directory),
    )
    .unwrap();
    let mut chunks = Vec::new();
    for chunk in view.iter().flat_map(|view| view.snapshot().unwrap().chunks) {
        let bytes = view.unwrap().chunk_bytes(chunk.log, chunk.number).unwrap();
        let log = LogName::new(chunk.log.text()).unwrap();
        let rows = bytes.as_ref().as_ref();
        let entry = store.write_chunk((log, chunk.number), version, chunk.rows, rows);
        chunks.push(entry.unwrap());
    }
    let mut writer = store
        .begin_image(exchange.sequence(), version, &chunks)
        .unwrap();
    let mut state = Vec::new();
    exchange.write_image(&mut state);
    writer.begin("state.v2").unwrap();
    writer.write(&state).unwrap();
    for (name, mut bytes) in view
        .iter()
        .flat_map(|view| view.snapshot().unwrap().sections)
    {
        if name == "view" {
            bytes[..4].copy_from_slice(&version.to_le_bytes());
        }
        writer.begin(name).unwrap();
        writer.write(&bytes).unwrap();
    }
    let digest = exchange.digest();
    writer.begin(PROOF).unwrap();
    writer.write(&Proof { digest, receipt }.encode()).unwrap();
    Command::AttestState(AttestState {
        sequence: exchange.sequence(),
        state: digest,
        snapshot: writer.finish().unwrap(),
    })
}

/// Journals an attestation after the last frame of a stopped engine.
pub(crate) fn attest(directory: &Path, attestation: &Command) {
    let (options, journal) = (config(directory).journal, journal(directory));
    let mut last = (Sequence(0), TimeNs(0));
    let recovered = recover(&journal, options, Sequence(0), &mut |frame| {
        last = (frame.sequence, frame.time);
        Ok(())
    });
    let (mut appender, syncer, _state) = recovered.unwrap().start().unwrap();
    assert!(appender.has_room_for_largest());
    let (sequence, time) = (last.0.next(), last.1);
    appender.append(sequence, time, attestation, &[Event::StateAttested], &[]);
    drop(appender);
    syncer.run(|_| {}).unwrap();
}

/// Copies or links everything of one directory into another.
pub(crate) fn link_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if !target.exists() {
            fs::hard_link(entry.path(), target).unwrap();
        }
    }
}

/// Copies a data directory's journal into another data directory.
pub(crate) fn copy_journal(from: &Path, to: &Path) {
    fs::create_dir_all(journal(to)).unwrap();
    for entry in fs::read_dir(journal(from)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), journal(to).join(entry.file_name())).unwrap();
    }
}
