//! The start of the publisher: at the newest valid snapshot with valid chunks, or at the first
//! frame.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use foretell_journal::snapshot::newest_attested_image;
use foretell_journal::{Batches, Follower, JournalError, Scratch};
use foretell_matching::Exchange;
use foretell_model::{FramePosition, Sequence};
use foretell_view::{SeenChunks, View};

use super::checkpoints::CheckpointSigner;
use super::replayed::ReplayedState;
use super::schedule::SnapshotSchedule;
use super::{Publisher, PublisherArgs};
use crate::clock::Clocks;
use crate::config::EngineConfig;
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
            let base = args.beginning().find(limit);
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

/// Where the publisher's initial state is looked for.
pub(crate) struct Beginning<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) journal: &'a Path,
    pub(crate) snapshots: &'a Path,
    pub(crate) genesis: &'a [u8; 32],
    pub(crate) index_key: u64,
}

impl<C> PublisherArgs<C> {
    fn beginning(&self) -> Beginning<'_> {
        Beginning {
            config: &self.config,
            journal: &self.journal_directory,
            snapshots: self.store.dir(),
            genesis: self.store.genesis(),
            index_key: self.index_key,
        }
    }
}

impl Beginning<'_> {
    /// Checks that a publisher can start in a journal that ends at `last`. Changes nothing.
    ///
    /// # Errors
    /// No snapshot can be used, and the first frames cannot be read.
    pub(crate) fn check(&self, last: Sequence) -> Result<(), JournalError> {
        match self.find(last).receipt {
            Some(_) => Ok(()),
            None => Batches::open(self.journal).map(drop),
        }
    }

    fn find(&self, mut limit: Sequence) -> InitialState {
        let (config, key) = (self.config, self.index_key);
        while !config.ignore_snapshots
            && let Some(image) =
                newest_attested_image(self.snapshots, self.journal, self.genesis, limit)
        {
            // A file that makes the view panic is skipped like an invalid one.
            let view = || snapshot_contents::view_of(&image, self.snapshots, self.genesis);
            let view = || {
                catch_unwind(AssertUnwindSafe(view))
                    .unwrap_or_else(|_| Err("reading its view panicked".to_owned()))
            };
            let restored = snapshot_contents::exchange_of(&image, config.capacity, key)
                .and_then(|exchange| Ok((exchange, view()?)));
            match restored {
                Ok((exchange, (view, written))) => {
                    return InitialState {
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
        InitialState {
            exchange: Exchange::new(config.capacity, key),
            view: View::with_chunking(*self.genesis, config.publishing.chunking),
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
