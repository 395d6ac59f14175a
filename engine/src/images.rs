//! What a live image holds, written and read: the state of the exchange, the view, and the list of
//! the chunks that belong to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_journal::JournalError;
use foretell_journal::snapshot::{
    Chunk, ChunkEntry, Image, LogName as ChunkLog, PROOF, Proof, Shelf,
};
use foretell_matching::{Capacity, Exchange};
use foretell_model::Command;
use foretell_model::digest::StateDigest;
use foretell_view::{ChunkBytes, ChunkCopy, ChunkRef, VIEW_VERSION, View};

/// The section with the exchange: the records its digest covers. The name carries their version.
const STATE: &str = "state.v2";
/// Images kept.
const KEPT: usize = 3;

/// The exchange of an image, or why it gives none.
pub(crate) fn exchange_of(
    image: &Image,
    capacity: Capacity,
    index_key: u64,
) -> Result<Exchange, String> {
    let state = (image.section(STATE)).ok_or("it has no state of a layout known to this build")?;
    let digest = image.proof().digest;
    if StateDigest::of_image(state) != digest {
        return Err("its state does not give its digest".to_owned());
    }
    let exchange =
        Exchange::read_image(capacity, index_key, state).map_err(|error| error.to_string())?;
    if exchange.digest() != digest || exchange.sequence() != image.sequence() {
        return Err("the exchange restored from it is another".to_owned());
    }
    Ok(exchange)
}

/// Chunks whose files are written, as an image lists them.
pub(crate) type Written = BTreeMap<ChunkRef, ChunkEntry>;

/// The view of an image and its chunks, every byte of them verified; or why it gives none.
pub(crate) fn view_of(image: &Image, shelf: &Shelf) -> Result<(View, Written), String> {
    let listed: BTreeMap<_, _> = image
        .chunks()
        .iter()
        .map(|entry| ((entry.log, entry.number), entry))
        .collect();
    let mut written = Written::new();
    let mut unfit = None;
    let mut open = |wanted: ChunkRef| -> Option<ChunkBytes> {
        let entry = **listed.get(&(chunk_log(wanted), wanted.number))?;
        let chunk = Chunk::open(shelf.dir(), &entry, shelf.genesis())
            .and_then(|chunk| chunk.snapshot.verify().map(|()| chunk))
            .inspect_err(|reason| unfit = Some(format!("{wanted}: {reason}")));
        written.insert(wanted, entry);
        Some(Arc::new(chunk.ok()?.rows()))
    };
    let view = View::from_image(|name| image.section(name), &mut open);
    let view = view.map_err(|error| unfit.unwrap_or(error.to_string()))?;
    if view.genesis() != shelf.genesis() || view.sequence() != image.sequence() {
        return Err("the view restored from it is another".to_owned());
    }
    Ok((view, written))
}

/// Writes a sealed chunk, and lets the view read it from the file from now on.
pub(crate) fn write_chunk(
    shelf: &Shelf,
    view: &mut View,
    chunk: ChunkRef,
) -> Result<ChunkEntry, JournalError> {
    let own = (view.chunk_bytes(chunk.log, chunk.number)).expect("the view named this chunk");
    let place = (chunk_log(chunk), chunk.number);
    let entry = shelf.write_chunk(place, VIEW_VERSION, chunk.rows, own.as_ref().as_ref())?;
    let mapped = Chunk::open(shelf.dir(), &entry, shelf.genesis())
        .map_err(|reason| reason.to_string())
        .and_then(|file| {
            let rows: ChunkBytes = Arc::new(file.rows());
            ChunkCopy::new(chunk, own, rows).map_err(|other| other.to_string())
        });
    match mapped {
        Ok(copy) => drop(view.adopt_chunk(copy)),
        // It stays in memory; whoever opens the file will see for himself.
        Err(reason) => tracing::warn!(%chunk, reason, "a chunk just written cannot be read"),
    }
    Ok(entry)
}

/// Writes the image of exchange and view, which are at one sequence. `receipt` is that of the frame at this sequence; every sealed chunk of the view is
/// `written`. Returns the command that attests it. `is_wanted` is asked now and then; when it is not
/// any more, nothing is written and the answer is `None`.
pub(crate) fn write_image(
    shelf: &Shelf,
    exchange: &Exchange,
    view: &View,
    written: &Written,
    receipt: [u8; 32],
    is_wanted: &dyn Fn() -> bool,
) -> Result<Option<Command>, JournalError> {
    let image = view
        .image()
        .expect("a view that refused a frame is given up");
    let listed: Vec<ChunkEntry> = image.chunks.iter().map(|chunk| written[chunk]).collect();
    let mut writer = shelf.begin_image(exchange.sequence(), VIEW_VERSION, &listed)?;
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
    Ok(Some(Command::AttestState {
        sequence: exchange.sequence(),
        state: digest,
        snapshot,
    }))
}

/// Removes what is older than the kept images, once the newest is attested.
pub(crate) fn tidy(shelf: &Shelf) {
    if let Err(error) = shelf.tidy(KEPT) {
        tracing::warn!(%error, "old snapshots stay until the next one");
    }
}

fn chunk_log(chunk: ChunkRef) -> ChunkLog {
    ChunkLog::new(chunk.log.text()).expect("the views' logs have plain, short names")
}
