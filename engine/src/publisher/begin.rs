//! The start of the publisher: at the newest valid snapshot with valid chunks, or at the first
//! frame.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use foretell_journal::snapshot::newest_attested_image;
use foretell_journal::{Follower, JournalError, Scratch};
use foretell_matching::Exchange;
use foretell_model::{FramePosition, Sequence};
use foretell_view::{SeenChunks, View};

use super::checkpoints::CheckpointSigner;
use super::replayed::ReplayedState;
use super::schedule::SnapshotSchedule;
use super::{Publisher, PublisherArgs};
use crate::clock::Clocks;
use crate::error::EngineError;
use crate::snapshot_contents::{self, WrittenChunks};

/// The initial exchange and view, the written chunks, and the receipt of the frame they stand
/// after; `None` before the first frame.
struct InitialState {
    exchange: Exchange,
    view: View,
    written: WrittenChunks,
    receipt: Option<[u8; 32]>,
}

impl<C: Clocks> Publisher<C> {
    /// A publisher at its start; `None` when the engine stops before it is ready.
    pub(crate) fn begin(args: PublisherArgs<C>) -> Result<Option<Self>, EngineError> {
        let mut limit = args.journal.durable();
        while !args.mailbox.is_stopping() {
            let base = InitialState::find(&args, limit);
            let sequence = base.exchange.sequence();
            let followed = follow(&args, sequence, base.receipt).map_err(EngineError::Journal)?;
            if let Some((follower, place)) = followed {
                return Self::at(args, base, follower, place).map(Some);
            }
            tracing::warn!(
                image = sequence.0,
                "snapshot skipped: it belongs to another journal"
            );
            limit = Sequence(sequence.0 - 1);
        }
        Ok(None)
    }

    fn at(
        args: PublisherArgs<C>,
        base: InitialState,
        follower: Follower,
        place: FramePosition,
    ) -> Result<Self, EngineError> {
        let checkpoints = CheckpointSigner::begin(&args)?;
        let mut seen = SeenChunks::default();
        // The snapshot listed these chunks, so they are written.
        base.view.new_chunks(&mut seen);
        let replayed = ReplayedState::new(base.exchange, base.view, place, &args);
        let now = args.clocks.monotonic();
        let schedule = SnapshotSchedule::new(&args.config.publishing, replayed.sequence(), now);
        let publisher = Self {
            follower,
            scratch: Scratch::default(),
            seen,
            unwritten: VecDeque::new(),
            written: base.written,
            disk_failed: false,
            checkpoints,
            batch_end: None,
            schedule: match args.config.cluster {
                None => schedule,
                Some(_) => schedule.aligned(),
            },
            attesting: None,
            requests: Vec::new(),
            wanted: Sequence(0),
            replayed,
            args,
        };
        let mailbox = &publisher.args.mailbox;
        mailbox.set_newest(publisher.schedule.newest(), publisher.time());
        Ok(publisher)
    }
}

impl InitialState {
    fn find<C>(args: &PublisherArgs<C>, mut limit: Sequence) -> Self {
        let (dir, genesis) = (args.store.dir(), args.store.genesis());
        let journal = &args.journal_directory;
        let (config, key) = (&args.config, args.index_key);
        while !config.ignore_snapshots
            && let Some(image) = newest_attested_image(dir, journal, genesis, limit)
        {
            // A file that makes the view panic is skipped like an invalid one.
            let view = || snapshot_contents::view_of(&image, &args.store);
            let view = || {
                catch_unwind(AssertUnwindSafe(view))
                    .unwrap_or_else(|_| Err("reading its view panicked".to_owned()))
            };
            let restored = snapshot_contents::exchange_of(&image, config.capacity, key)
                .and_then(|exchange| Ok((exchange, view()?)));
            match restored {
                Ok((exchange, (view, written))) => {
                    return Self {
                        exchange,
                        view,
                        written,
                        receipt: Some(image.proof().receipt),
                    };
                }
                Err(reason) => {
                    tracing::warn!(image = image.sequence().0, reason, "snapshot skipped");
                    limit = Sequence(image.sequence().0 - 1);
                }
            }
        }
        Self {
            exchange: Exchange::new(config.capacity, key),
            view: View::with_chunking(*genesis, config.publishing.chunking),
            written: WrittenChunks::new(),
            receipt: None,
        }
    }
}

/// A follower after `sequence`, and the place of that frame; `None` when that frame has another
/// receipt.
fn follow<C>(
    args: &PublisherArgs<C>,
    sequence: Sequence,
    receipt: Option<[u8; 32]>,
) -> Result<Option<(Follower, FramePosition)>, JournalError> {
    let dir = &args.journal_directory;
    let Some(receipt) = receipt else {
        return Ok(Some((
            Follower::open(dir, sequence)?,
            FramePosition::default(),
        )));
    };
    Follower::open_after_frame(dir, sequence, &receipt)
}
