//! The bytes of a snapshot's file: accepted only with the right hash. Under a right hash they
//! restore to the state and view that they describe, or to none.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use foretell_journal::snapshot::{
    Chunk, ChunkEntry, HEADER_BYTES, Image, LogName, PROOF, Proof, SnapshotError, SnapshotStore,
    images,
};
use foretell_model::digest::StateDigest;
use foretell_model::{Outcome, Sequence, TimeNs};
use foretell_view::{ChunkBytes, ChunkRef, VIEW_VERSION, View};
use tempfile::TempDir;

use crate::edits::{self, EDITED, InputMode, RAW, SEALED};
use crate::journal::in_memory;
use crate::seal::GENESIS;
use crate::{Seed, state, world};

/// The name of the section with the exchange's state.
const STATE: &str = "state.v2";
/// Larger files cost more time than they are worth.
const MAX_FILE_BYTES: usize = 256 << 10;

/// A directory of snapshots of an engine: an image, and the chunks it lists.
struct ValidSnapshots {
    sequence: Sequence,
    image: Vec<u8>,
    chunks: Vec<(PathBuf, Vec<u8>)>,
}

static SOUND: LazyLock<ValidSnapshots> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let disk = Arc::new(foretell_journal::disk::RealDisk);
    let store = SnapshotStore::open(dir.path(), disk, GENESIS).expect("a store");
    // Before the last cancels: orders rest on both sides.
    let count = world::site().frames.len() - 8;
    publish(&store, count);
    let sequence = images(dir.path()).expect("a directory")[0];
    let entries = fs::read_dir(dir.path()).expect("a directory");
    let mut files: Vec<(PathBuf, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let bytes = fs::read(&path).expect("a file");
            (path.file_name().expect("a name").into(), bytes)
        })
        .collect();
    files.sort();
    let is_image = |(path, _): &(PathBuf, Vec<u8>)| *path == image_name(sequence);
    let image = files.iter().position(is_image).expect("it is listed");
    ValidSnapshots {
        sequence,
        image: files.remove(image).1,
        chunks: files,
    }
});

/// Writes the image after the first `count` frames, as the engine's publisher does.
fn publish(store: &SnapshotStore, count: usize) {
    const WRITTEN: &str = "a small file is written";
    let site = world::site();
    let (exchange, view) = (site.exchange(count), site.view(count));
    let image = view.snapshot().expect("nothing was refused");
    let listed: Vec<ChunkEntry> = image
        .chunks
        .iter()
        .map(|chunk| {
            let bytes = view.chunk_bytes(chunk.log, chunk.number).expect("listed");
            let place = (log_name(*chunk), chunk.number);
            let rows = bytes.as_ref().as_ref();
            let written = store.write_chunk(place, VIEW_VERSION, chunk.rows, rows);
            written.expect(WRITTEN)
        })
        .collect();
    let writer = store.begin_image(exchange.sequence(), VIEW_VERSION, &listed);
    let mut writer = writer.expect(WRITTEN);
    let mut section = |name: &str, bytes: &[u8]| {
        writer.begin(name).expect(WRITTEN);
        writer.write(bytes).expect(WRITTEN);
    };
    let state = site.state(count);
    section(STATE, &state);
    for (name, bytes) in &image.sections {
        section(name, bytes);
    }
    let proof = Proof {
        digest: StateDigest::of_image(&state),
        receipt: [3; 32],
    };
    section(PROOF, &proof.encode());
    writer.finish().expect(WRITTEN);
}

fn image_name(sequence: Sequence) -> PathBuf {
    format!("{:020}.image", sequence.0).into()
}

fn log_name(chunk: ChunkRef) -> LogName {
    LogName::new(chunk.log.text()).expect("the views' logs have plain, short names")
}

pub(crate) fn run(bytes: &[u8]) {
    let sound = &*SOUND;
    if bytes.len() > MAX_FILE_BYTES {
        return;
    }
    let (mode, mut file) = edits::decode_input(bytes, &sound.image);
    if mode == InputMode::Sealed {
        reseal(&mut file);
    }
    let dir = put(&file);
    let image = match Image::open(&dir, sound.sequence, &GENESIS) {
        Ok(image) => image,
        Err(SnapshotError::Io(_)) if file.is_empty() => return,
        Err(SnapshotError::Io(error)) => panic!("a file that is there: {error}"),
        Err(unfit) => return assert!(!unfit.to_string().is_empty()),
    };
    assert_eq!(hash_of(&file), file[96..128], "another hash than its own");
    if mode == InputMode::Edited {
        assert_eq!(file, sound.image, "a change that nobody noticed");
    }
    if let Some(state) = image.section(STATE) {
        _ = state::restored(state);
    }
    let listed: BTreeMap<_, _> = image
        .chunks()
        .iter()
        .map(|entry| ((entry.log, entry.number), *entry))
        .collect();
    let chunk = |wanted: ChunkRef| -> Option<ChunkBytes> {
        let entry = listed.get(&(log_name(wanted), wanted.number))?;
        let chunk = Chunk::open(&dir, entry, &GENESIS).ok()?;
        chunk.snapshot.verify().ok()?;
        Some(Arc::new(chunk.rows()))
    };
    match View::from_snapshot(|name| image.section(name), chunk) {
        Ok(view) => check_view_round_trip(view, chunk),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The view restored from a view's bytes equals it, and answers all queries.
fn check_view_round_trip(view: View, chunk: impl FnMut(ChunkRef) -> Option<ChunkBytes>) {
    let written = view.snapshot().expect("no frame was refused");
    let section = |name: &str| {
        let found = written.sections.iter().find(|(known, _)| *known == name);
        found.map(|(_, bytes)| bytes.as_slice())
    };
    let again = View::from_snapshot(section, chunk).expect("what was written is read");
    let twice = again.snapshot().expect("no frame was refused");
    assert_eq!(twice.sections, written.sections);
    assert_eq!(twice.chunks, written.chunks);
    query_everything(&view);
    apply_later_frames(view);
}

/// The answers are not checked, only that they return.
fn query_everything(view: &View) {
    let mut asked = 0;
    for (account, _) in view.accounts().iter() {
        asked += view.holdings().balances(account).count();
        for (market, ..) in view.holdings().tokens_of(account, None) {
            asked += view
                .trades_of_account_in(account, market)
                .newest_first()
                .take(100)
                .count();
        }
        let ever = TimeNs(0)..TimeNs(u64::MAX);
        for slot in view.trades_of_owner(account, ever, None).take(100) {
            asked += usize::from(view.trade(slot).is_some());
        }
        for order in view.live_orders_of_owner(account) {
            asked += view.trades_of_order(order, 100).len();
        }
    }
    for (market, _) in view.markets().iter() {
        asked += view.trades().of_market(market).newest_first().count();
        let book = view.books().get(market);
        asked += book.map_or(0, |book| book.of(Outcome::No).bids().count());
    }
    let ended = view.orders();
    for ended in ended.ended_between(Sequence(0), Sequence(u64::MAX)) {
        asked += usize::from(view.orders().by_id(&ended.order.id).is_some());
    }
    std::hint::black_box(asked);
}

/// Later frames are applied or refused.
fn apply_later_frames(mut view: View) {
    let last = view.sequence().0;
    let rest = world::site().frames.iter();
    for frame in rest.skip_while(|frame| frame.sequence <= last) {
        if view.apply(&world::frame_ref(frame)).is_err() {
            return;
        }
    }
}

/// Recomputes the checksums and the hash of a file.
fn reseal(file: &mut [u8]) {
    if file.len() < HEADER_BYTES {
        return;
    }
    let length = file.len() as u64;
    file[24..32].copy_from_slice(&length.to_le_bytes());
    let table = u64::from_le_bytes(file[64..72].try_into().expect("eight bytes"));
    let table = usize::try_from(table).unwrap_or(usize::MAX);
    let crc = crc32c::crc32c(file.get(table..).unwrap_or_default());
    file[76..80].copy_from_slice(&crc.to_le_bytes());
    let hash = hash_of(file);
    file[96..128].copy_from_slice(&hash);
    file[92..96].fill(0);
    let crc = crc32c::crc32c(&file[..HEADER_BYTES]);
    file[92..96].copy_from_slice(&crc.to_le_bytes());
}

/// The hash of a file (`journal/FORMAT.md`): of the bytes after the header, then of the header
/// without checksum and hash.
fn hash_of(file: &[u8]) -> [u8; 32] {
    let (head, rest) = file.split_at(HEADER_BYTES);
    let mut blank = [0; HEADER_BYTES];
    blank[..92].copy_from_slice(&head[..92]);
    let mut hasher = blake3::Hasher::new();
    hasher.update(rest);
    hasher.update(&blank);
    *hasher.finalize().as_bytes()
}

/// A directory that lives as long as its thread, with the valid chunks and this image.
fn put(image: &[u8]) -> PathBuf {
    thread_local! {
        static DIRECTORY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let sound = &*SOUND;
    let dir = DIRECTORY.with_borrow_mut(|directory| {
        let directory = directory.get_or_insert_with(|| {
            let directory = in_memory("snapshot");
            for (name, bytes) in &sound.chunks {
                fs::write(directory.path().join(name), bytes).expect("a small file");
            }
            directory
        });
        directory.path().to_owned()
    });
    replace(&dir.join(image_name(sound.sequence)), image);
    dir
}

/// Creates a new file under the name: the old one may still be mapped.
fn replace(path: &Path, bytes: &[u8]) {
    if path.exists() {
        fs::remove_file(path).expect("the last input's file is ours");
    }
    fs::write(path, bytes).expect("a small file");
}

pub(crate) fn seeds() -> Vec<Seed> {
    let sound = &*SOUND;
    let table = u64::from_le_bytes(sound.image[64..72].try_into().expect("eight bytes"));
    let table = u32::try_from(table).expect("a small file");
    vec![
        ("whole", [vec![RAW], sound.image.clone()].concat()),
        ("sound", vec![EDITED]),
        ("flipped", edits::input(EDITED, &[(1, 600, 1)])),
        ("sealed", vec![SEALED]),
        ("sealed-head", edits::input(SEALED, &[(1, 12, 1)])),
        ("sealed-table", edits::input(SEALED, &[(2, table + 40, 64)])),
        ("sealed-name", edits::input(SEALED, &[(1, table + 64, 1)])),
        ("sealed-state", edits::input(SEALED, &[(2, 640, 1)])),
        ("sealed-view", edits::input(SEALED, &[(2, table - 700, 1)])),
        ("sealed-cut", edits::input(SEALED, &[(4, table, 0)])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sound_image_opens_has_chunks_and_can_be_made_right_again() {
        let sound = &*SOUND;
        assert!(!sound.chunks.is_empty());
        let mut file = sound.image.clone();
        reseal(&mut file);
        assert_eq!(file, sound.image);
        // Another digest under a right hash: the file opens, and restores no state.
        let table = usize::try_from(u64::from_le_bytes(file[64..72].try_into().unwrap())).unwrap();
        file[table - 64] ^= 1;
        assert!(open(&file).is_err());
        reseal(&mut file);
        let image = open(&file).expect("its hash is right");
        assert_ne!(image.proof(), open(&sound.image).unwrap().proof());
    }

    fn open(file: &[u8]) -> Result<Image, SnapshotError> {
        Image::open(&put(file), SOUND.sequence, &GENESIS)
    }
}
