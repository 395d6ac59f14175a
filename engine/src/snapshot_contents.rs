//! Writes and reads the contents of a snapshot: the state of the exchange, the view, and the list
//! of its chunks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use foretell_journal::JournalError;
use foretell_journal::snapshot::{
    Chunk, ChunkEntry, Image, LogName as ChunkLog, PROOF, Proof, SNAPSHOT_DIRECTORY, SnapshotError,
    SnapshotStore, oldest_attested_image,
};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::AttestState;
use foretell_model::digest::StateDigest;
use foretell_model::{Command, Sequence};
use foretell_view::{ChunkBytes, ChunkCopy, ChunkRef, VIEW_VERSION, View};

use crate::directory::JOURNAL_DIRECTORY;

/// The section with the exchange: the records covered by the digest. The name carries their
/// version.
const STATE: &str = "state.v2";
/// Snapshots to keep.
const SNAPSHOTS_KEPT: usize = 3;

/// The oldest snapshot in a data directory that an engine of this build starts from: the journal must
/// keep the frames from it on. `None` when there is none.
#[must_use]
pub fn oldest_usable_snapshot(data_directory: &Path, genesis: &[u8; 32]) -> Option<Sequence> {
    let snapshots = data_directory.join(SNAPSHOT_DIRECTORY);
    let journal = data_directory.join(JOURNAL_DIRECTORY);
    oldest_attested_image(&snapshots, &journal, genesis, &|image| {
        image.layout() == VIEW_VERSION && image.section(STATE).is_some()
    })
}

/// Restores the exchange of a snapshot, or returns the reason why it cannot.
pub(crate) fn exchange_of(
    image: &Image,
    capacity: Capacity,
    index_key: u64,
) -> Result<Exchange, String> {
    let state = (image.section(STATE)).ok_or("no state of a known layout")?;
    let exchange = Exchange::read_image(capacity, index_key, state, image.proof().digest)
        .map_err(|error| error.to_string())?;
    match exchange.sequence() == image.sequence() {
        true => Ok(exchange),
        false => Err("the exchange restored from it has another sequence".to_owned()),
    }
}

/// Chunks with a written file, as a snapshot lists them.
pub(crate) type WrittenChunks = BTreeMap<ChunkRef, ChunkEntry>;

/// Restores the view of a snapshot with its chunks and verifies every byte, or returns the reason
/// why it cannot.
pub(crate) fn view_of(
    image: &Image,
    snapshots: &Path,
    genesis: &[u8; 32],
) -> Result<(View, WrittenChunks), String> {
    let listed = image.chunks_by_log();
    let mut written = WrittenChunks::new();
    let open = |wanted: ChunkRef| -> Result<ChunkBytes, SnapshotError> {
        let entry = listed.get(&(wanted.log.text(), wanted.number));
        let entry = **entry.ok_or(SnapshotError::Unlisted)?;
        let chunk = Chunk::open(snapshots, &entry, genesis)?;
        chunk.snapshot.verify()?;
        written.insert(wanted, entry);
        Ok(Arc::new(chunk.rows()))
    };
    let section = |name: &str| image.section(name);
    let view = View::bootstrap(genesis, image.sequence(), section, open)?;
    Ok((view, written))
}

/// Writes a sealed chunk to a file; the view then reads the mapped file.
pub(crate) fn write_chunk(
    store: &SnapshotStore,
    view: &mut View,
    chunk: ChunkRef,
) -> Result<ChunkEntry, JournalError> {
    let own = (view.chunk_bytes(chunk.log, chunk.number)).expect("the view named this chunk");
    let place = (chunk_log(chunk), chunk.number);
    let entry = store.write_chunk(place, VIEW_VERSION, chunk.rows, own.as_ref().as_ref())?;
    let mapped = Chunk::open(store.dir(), &entry, store.genesis())
        .map_err(|reason| reason.to_string())
        .and_then(|file| {
            let rows: ChunkBytes = Arc::new(file.rows());
            ChunkCopy::new(chunk, own, rows).map_err(|other| other.to_string())
        });
    match mapped {
        Ok(copy) => drop(view.adopt_chunk(copy)),
        // The chunk stays in memory. Every reader of the file verifies it and finds the damage.
        Err(reason) => tracing::warn!(%chunk, reason, "cannot read the chunk just written"),
    }
    Ok(entry)
}

/// Writes the snapshot of exchange and view, both at the same sequence. `receipt` is that of the
/// frame at this sequence; `written` holds every sealed chunk of the view. Returns the command that
/// attests the snapshot, or `None` if `is_wanted` turned false meanwhile.
pub(crate) fn write_snapshot(
    store: &SnapshotStore,
    exchange: &Exchange,
    view: &View,
    written: &WrittenChunks,
    receipt: [u8; 32],
    is_wanted: &dyn Fn() -> bool,
) -> Result<Option<Command>, JournalError> {
    let image = view
        .snapshot()
        .expect("dropping a view that rejected a frame");
    let listed: Vec<ChunkEntry> = image.chunks.iter().map(|chunk| written[chunk]).collect();
    let mut writer = store.begin_image(exchange.sequence(), VIEW_VERSION, &listed)?;
    let mut state = Vec::new();
    exchange.write_image(&mut state);
    let digest = StateDigest::of_image(&state);
    writer.begin(STATE)?;
    writer.write(&state)?;
    drop(state);
    for (name, bytes) in &image.sections {
        if !is_wanted() {
            return Ok(None);
        }
        writer.begin(name)?;
        writer.write(bytes)?;
    }
    writer.begin(PROOF)?;
    writer.write(&Proof { digest, receipt }.encode())?;
    let snapshot = writer.finish()?;
    Ok(Some(Command::AttestState(AttestState {
        sequence: exchange.sequence(),
        state: digest,
        snapshot,
    })))
}

/// Removes all but the newest snapshots, once the newest is attested.
pub(crate) fn tidy(store: &SnapshotStore) {
    if let Err(error) = store.tidy(SNAPSHOTS_KEPT) {
        tracing::warn!(%error, "cannot remove old snapshots; retried after the next one");
    }
}

fn chunk_log(chunk: ChunkRef) -> ChunkLog {
    ChunkLog::new(chunk.log.text()).expect("the views' logs have plain, short names")
}
