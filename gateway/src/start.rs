//! How a view begins: with the newest image that can be used and the files of its history, mapped;
//! without one, with the first frame of the journal.
//!
//! An image is read whole and checked against its hash, the journal must attest it, and the frame it
//! says it is right after must be the journal's. Of the files of its history header, length and table are checked here.
//! Their rows are too while they are few; to read gigabytes would be most of a start, so the rows
//! of a longer history are checked behind the start (`keeper.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use foretell_journal::snapshot::{Chunk, Image, Snapshot, Unfit, images, newest_attested_image};
use foretell_journal::{Follower, JournalError, Next};
use foretell_model::Sequence;
use foretell_view::{ChunkBytes, ChunkRef, Chunking, VIEW_VERSION, View};

use crate::replica::State;

/// Where views come from.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) journal: PathBuf,
    pub(crate) snapshots: PathBuf,
    /// A history of so many bytes at most is checked before it is shown.
    pub(crate) checked_at_start: u64,
    /// Of a view that begins with the first frame.
    pub(crate) chunking: Chunking,
}

/// Files whose rows were not what was written when a view used them. They are read before they are
/// believed again: the publisher may have written them anew.
pub(crate) type Doubted = BTreeSet<PathBuf>;

/// A state, and who goes on from it.
pub(crate) struct Begun {
    pub(crate) state: State,
    pub(crate) follower: Follower,
    pub(crate) history: History,
}

/// The files a view began on.
#[derive(Default)]
pub(crate) struct History {
    /// The newest image there was, whether it could be used or not; 0 when there was none.
    pub(crate) newest: Sequence,
    pub(crate) files: Vec<HistoryFile>,
    /// Whether all of their rows are what was written.
    pub(crate) is_checked: bool,
}

/// The file of one chunk.
pub(crate) struct HistoryFile {
    pub(crate) chunk: ChunkRef,
    pub(crate) path: PathBuf,
    snapshot: Snapshot,
}

impl HistoryFile {
    /// Reads all of it.
    pub(crate) fn check(&self) -> Result<(), Unfit> {
        self.snapshot.verify()
    }
}

/// The newest state that needs no reading of the whole journal, or the one before the first frame.
///
/// # Errors
/// The journal is not there or cannot be read.
pub(crate) fn begin(sources: &Sources, doubted: &Doubted) -> Result<Begun, JournalError> {
    let follower = Follower::open(&sources.journal, Sequence(0))?;
    let genesis = follower.genesis();
    let listed = images(&sources.snapshots).unwrap_or_default();
    let newest = listed.first().copied().unwrap_or_default();
    let mut limit = Sequence(u64::MAX);
    while let Some(image) =
        newest_attested_image(&sources.snapshots, &sources.journal, &genesis, limit)
    {
        let sequence = image.sequence();
        match on_image(sources, doubted, &image, follower.durable()) {
            Ok(mut begun) => {
                begun.history.newest = newest;
                tracing::info!(
                    image = sequence.0,
                    chunks = begun.history.files.len(),
                    "the view begins with an image"
                );
                return Ok(begun);
            }
            Err(reason) => {
                tracing::warn!(image = sequence.0, reason, "an image is passed over");
            }
        }
        // No image has sequence 0: of the state before the first frame there is none.
        limit = Sequence(sequence.0.saturating_sub(1));
    }
    tracing::info!("no image to begin with: the whole journal is read");
    Ok(Begun {
        state: State {
            view: View::with_chunking(genesis, sources.chunking),
            epoch: follower.epoch(),
        },
        follower,
        history: History {
            newest,
            ..History::default()
        },
    })
}

/// The state of an image and a follower behind it, or why there is none.
fn on_image(
    sources: &Sources,
    doubted: &Doubted,
    image: &Image,
    durable: Sequence,
) -> Result<Begun, String> {
    if image.layout() != VIEW_VERSION {
        let version = image.layout();
        return Err(format!("it has view version {version}, not {VIEW_VERSION}"));
    }
    if image.sequence() > durable {
        let end = durable.0;
        return Err(format!("it is ahead of the journal, which ends at {end}"));
    }
    let follower = behind(sources, image)?;
    let (view, files) = view_of(sources, image, &follower.genesis())?;
    let bytes = files.iter().map(|file| file.snapshot.bytes()).sum::<u64>();
    let is_checked = bytes <= sources.checked_at_start;
    for file in &files {
        if is_checked || doubted.contains(&file.path) {
            let checked = file.check();
            checked.map_err(|reason| format!("{}: {reason}", file.chunk))?;
        }
    }
    Ok(Begun {
        state: State {
            view,
            epoch: follower.epoch(),
        },
        follower,
        history: History {
            files,
            is_checked,
            ..History::default()
        },
    })
}

/// A follower that has read the frame the image is right after, which must be the image's.
fn behind(sources: &Sources, image: &Image) -> Result<Follower, String> {
    let before = Sequence(image.sequence().0.saturating_sub(1));
    let text = |error: JournalError| error.to_string();
    let mut follower = Follower::open(&sources.journal, before).map_err(text)?;
    let is_its_frame = match follower.next_frame().map_err(text)? {
        Next::Frame(frame) => frame.receipt() == image.proof().receipt,
        Next::UpToDate | Next::NewEpoch { .. } | Next::Rebuild { .. } => false,
    };
    if is_its_frame {
        Ok(follower)
    } else {
        Err("the journal has another command at its sequence".to_owned())
    }
}

/// The view of an image, and the files its history is mapped from.
fn view_of(
    sources: &Sources,
    image: &Image,
    genesis: &[u8; 32],
) -> Result<(View, Vec<HistoryFile>), String> {
    let listed: BTreeMap<_, _> = image
        .chunks()
        .iter()
        .map(|entry| ((entry.log.as_str(), entry.number), entry))
        .collect();
    let mut files = Vec::with_capacity(image.chunks().len());
    let mut unfit = None;
    let open = |chunk: ChunkRef| -> Option<ChunkBytes> {
        let entry = listed.get(&(chunk.log.text(), chunk.number))?;
        let opened = Chunk::open(&sources.snapshots, entry, genesis)
            .inspect_err(|reason| unfit = Some(format!("{chunk}: {reason}")));
        let opened = opened.ok()?;
        let rows = opened.rows();
        files.push(HistoryFile {
            chunk,
            path: entry.path(&sources.snapshots),
            snapshot: opened.snapshot,
        });
        Some(Arc::new(rows))
    };
    let view = View::from_image(|name| image.section(name), open);
    let view = view.map_err(|error| unfit.unwrap_or(error.to_string()))?;
    if view.genesis() != genesis || view.sequence() != image.sequence() {
        return Err("the view restored from it is another".to_owned());
    }
    Ok((view, files))
}
