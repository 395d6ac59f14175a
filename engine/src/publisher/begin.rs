//! Where the publisher begins: behind the newest image that is sound, chunks and all, or with the
//! first frame.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use foretell_journal::snapshot::newest_attested_image;
use foretell_journal::{Follower, JournalError, Next, Scratch};
use foretell_matching::Exchange;
use foretell_model::{FramePlace, Sequence};
use foretell_view::{Seen, View};

use super::checkpoints::Checkpoints;
use super::schedule::Schedule;
use super::twin::Twin;
use super::{Publisher, Setting};
use crate::clock::Clocks;
use crate::error::EngineError;
use crate::images::{self, Written};

/// Exchange and view to begin with, the chunks that are there, and the receipt of the frame both
/// are right after; `None` before the first.
struct Base {
    exchange: Exchange,
    view: View,
    written: Written,
    receipt: Option<[u8; 32]>,
}

impl<C: Clocks> Publisher<C> {
    /// A publisher that has taken in nothing yet; `None` when the engine stops before it is ready.
    pub(crate) fn begin(setting: Setting<C>) -> Result<Option<Self>, EngineError> {
        let mut limit = setting.journal.durable();
        while !setting.board.is_stopping() {
            let base = Base::find(&setting, limit);
            let sequence = base.exchange.sequence();
            let followed =
                follow(&setting, sequence, base.receipt).map_err(EngineError::Journal)?;
            if let Some((follower, place)) = followed {
                return Self::at(setting, base, follower, place).map(Some);
            }
            tracing::warn!(
                image = sequence.0,
                "an image is passed over: it is of another journal"
            );
            limit = Sequence(sequence.0 - 1);
        }
        Ok(None)
    }

    fn at(
        setting: Setting<C>,
        base: Base,
        follower: Follower,
        place: FramePlace,
    ) -> Result<Self, EngineError> {
        let checkpoints = Checkpoints::begin(&setting)?;
        let mut seen = Seen::default();
        // Those are written: the image listed them.
        base.view.new_chunks(&mut seen);
        let twin = Twin::new(base.exchange, base.view, place, &setting);
        let now = setting.clocks.monotonic();
        let publisher = Self {
            follower,
            scratch: Scratch::default(),
            seen,
            unwritten: VecDeque::new(),
            written: base.written,
            disk_failed: false,
            checkpoints,
            batch_end: None,
            schedule: Schedule::new(&setting.config.publishing, twin.sequence(), now),
            attesting: None,
            askers: Vec::new(),
            wanted: Sequence(0),
            twin,
            setting,
        };
        let board = &publisher.setting.board;
        board.show_image(publisher.schedule.image(), publisher.time());
        Ok(publisher)
    }
}

impl Base {
    fn find<C>(setting: &Setting<C>, mut limit: Sequence) -> Self {
        let (dir, genesis) = (setting.shelf.dir(), setting.shelf.genesis());
        let journal = &setting.journal_directory;
        let (config, key) = (&setting.config, setting.index_key);
        while !config.ignore_images
            && let Some(image) = newest_attested_image(dir, journal, genesis, limit)
        {
            // A file that makes the view panic is passed over like one that is no view.
            let view = || images::view_of(&image, &setting.shelf);
            let view = || {
                catch_unwind(AssertUnwindSafe(view))
                    .unwrap_or_else(|_| Err("reading its view panicked".to_owned()))
            };
            let restored = images::exchange_of(&image, config.capacity, key)
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
                    tracing::warn!(
                        image = image.sequence().0,
                        reason,
                        "an image is passed over"
                    );
                    limit = Sequence(image.sequence().0 - 1);
                }
            }
        }
        Self {
            exchange: Exchange::new(config.capacity, key),
            view: View::with_chunking(*genesis, config.publishing.chunking),
            written: Written::new(),
            receipt: None,
        }
    }
}

/// A follower behind `sequence`, and the place of that frame; `None` when it is not the frame with
/// this receipt.
fn follow<C>(
    setting: &Setting<C>,
    sequence: Sequence,
    receipt: Option<[u8; 32]>,
) -> Result<Option<(Follower, FramePlace)>, JournalError> {
    let dir = &setting.journal_directory;
    let Some(receipt) = receipt else {
        return Ok(Some((
            Follower::open(dir, sequence)?,
            FramePlace::default(),
        )));
    };
    let mut follower = Follower::open(dir, Sequence(sequence.0 - 1))?;
    let place = match follower.next_frame()? {
        Next::Frame(frame) if frame.receipt() == receipt => frame.place(),
        _ => return Ok(None),
    };
    Ok(Some((follower, place)))
}
