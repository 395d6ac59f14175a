//! The start of a view: from the newest usable snapshot and the mapped files of its history, or
//! from the journal's first frame.
//!
//! A snapshot's hash is verified whole, the journal must attest the snapshot, and its frame must
//! match the journal's. For the history files, header, length and table are checked here. Their
//! rows are checked here only in small histories: reading gigabytes would dominate the start, so
//! rows of larger ones are checked after it (`chunk_adopter.rs`).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use foretell_journal::snapshot::{
    Chunk, Image, Snapshot, SnapshotError, images, newest_attested_image,
};
use foretell_journal::{DurableEnd, Follower, JournalError};
use foretell_model::Sequence;
use foretell_view::{ChunkBytes, ChunkRef, Chunking, VIEW_VERSION, View};

use crate::view::shared_view::ViewState;

/// Files from which views are built.
#[derive(Clone, Debug)]
pub(crate) struct ViewSources {
    pub(crate) journal: PathBuf,
    pub(crate) snapshots: PathBuf,
    /// Histories up to this many bytes are verified before reads.
    pub(crate) checked_at_start: u64,
    /// Chunk sizes of a view that starts from the first frame.
    pub(crate) chunking: Chunking,
}

/// Files whose rows failed verification in an earlier view. They are verified before reuse, because
/// the publisher may have rewritten them.
pub(crate) type SuspectFiles = BTreeSet<PathBuf>;

/// A state, and the follower that continues from it.
pub(crate) struct BootstrappedView {
    pub(crate) state: ViewState,
    pub(crate) follower: Follower,
    pub(crate) history: HistoryFiles,
}

/// The history files of a view's start.
#[derive(Default)]
pub(crate) struct HistoryFiles {
    /// The newest snapshot present, usable or not; 0 without any.
    pub(crate) newest: Sequence,
    pub(crate) files: Vec<HistoryFile>,
    /// Whether all rows were verified.
    pub(crate) is_checked: bool,
}

/// The file of one chunk.
pub(crate) struct HistoryFile {
    pub(crate) chunk: ChunkRef,
    pub(crate) path: PathBuf,
    snapshot: Snapshot,
}

impl HistoryFile {
    /// Verifies the whole file.
    pub(crate) fn verify(&self) -> Result<(), SnapshotError> {
        self.snapshot.verify()
    }
}

/// The state of the newest usable snapshot, or the empty state before the first frame.
///
/// # Errors
/// The journal is missing or cannot be read.
pub(crate) fn bootstrap(
    sources: &ViewSources,
    suspects: &SuspectFiles,
) -> Result<BootstrappedView, JournalError> {
    bootstrap_until(sources, suspects, Sequence(u64::MAX))
}

/// As [`bootstrap`], with a state at or before `limit`.
///
/// # Errors
/// As [`bootstrap`].
pub(crate) fn bootstrap_until(
    sources: &ViewSources,
    suspects: &SuspectFiles,
    mut limit: Sequence,
) -> Result<BootstrappedView, JournalError> {
    let end = DurableEnd::open(&sources.journal)?;
    let genesis = end.genesis();
    let listed = images(&sources.snapshots).unwrap_or_default();
    let newest = listed.first().copied().unwrap_or_default();
    while let Some(image) =
        newest_attested_image(&sources.snapshots, &sources.journal, &genesis, limit)
    {
        let sequence = image.sequence();
        match from_snapshot(sources, suspects, &image, end.sequence()) {
            Ok(mut bootstrapped) => {
                bootstrapped.history.newest = newest;
                tracing::info!(
                    image = sequence.0,
                    chunks = bootstrapped.history.files.len(),
                    "view started from snapshot"
                );
                return Ok(bootstrapped);
            }
            Err(reason) => {
                tracing::warn!(image = sequence.0, reason, "unusable snapshot skipped");
            }
        }
        // No snapshot has sequence 0, because the empty state needs none.
        limit = Sequence(sequence.0.saturating_sub(1));
    }
    tracing::info!("no usable snapshot: reading the whole journal");
    let follower = Follower::open(&sources.journal, Sequence(0))?;
    Ok(BootstrappedView {
        state: ViewState {
            view: View::with_chunking(genesis, sources.chunking),
            epoch: follower.epoch(),
        },
        follower,
        history: HistoryFiles {
            newest,
            ..HistoryFiles::default()
        },
    })
}

/// The state of a snapshot and a follower after it, or why the snapshot is unusable.
fn from_snapshot(
    sources: &ViewSources,
    suspects: &SuspectFiles,
    image: &Image,
    durable: Sequence,
) -> Result<BootstrappedView, String> {
    if image.layout() != VIEW_VERSION {
        let version = image.layout();
        return Err(format!("view version {version}, expected {VIEW_VERSION}"));
    }
    if image.sequence() > durable {
        let end = durable.0;
        return Err(format!("beyond the journal's end at {end}"));
    }
    let followed =
        Follower::open_after_frame(&sources.journal, image.sequence(), &image.proof().receipt)
            .map_err(|error| error.to_string())?;
    let (follower, _) = followed.ok_or("the journal has a different frame at this sequence")?;
    let (view, files) = map_view(sources, image, &follower.genesis())?;
    let bytes = files.iter().map(|file| file.snapshot.bytes()).sum::<u64>();
    let is_checked = bytes <= sources.checked_at_start;
    for file in &files {
        if is_checked || suspects.contains(&file.path) {
            let checked = file.verify();
            checked.map_err(|reason| format!("{}: {reason}", file.chunk))?;
        }
    }
    Ok(BootstrappedView {
        state: ViewState {
            view,
            epoch: follower.epoch(),
        },
        follower,
        history: HistoryFiles {
            files,
            is_checked,
            ..HistoryFiles::default()
        },
    })
}

/// The view of a snapshot, and the files from which its history is mapped.
fn map_view(
    sources: &ViewSources,
    image: &Image,
    genesis: &[u8; 32],
) -> Result<(View, Vec<HistoryFile>), String> {
    let listed = image.chunks_by_log();
    let mut files = Vec::with_capacity(image.chunks().len());
    let open = |chunk: ChunkRef| -> Result<ChunkBytes, SnapshotError> {
        let entry = listed.get(&(chunk.log.text(), chunk.number));
        let entry = entry.ok_or(SnapshotError::Unlisted)?;
        let opened = Chunk::open(&sources.snapshots, entry, genesis)?;
        let rows = opened.rows();
        files.push(HistoryFile {
            chunk,
            path: entry.path(&sources.snapshots),
            snapshot: opened.snapshot,
        });
        Ok(Arc::new(rows))
    };
    let view = View::bootstrap(genesis, image.sequence(), |name| image.section(name), open)?;
    Ok((view, files))
}
