//! A view restored from an image equals the original view: in every response, after every later
//! frame, and in its chunks, byte for byte. Both are compared with the naive model, which keeps every
//! trade and every ended order in one list each.
//!
//! The walk shows it journals of a part of its sequences.

mod answers;
mod damaged;
mod history;
mod store;

use foretell_view::{Chunking, View};

use crate::naive::Naive;
use crate::properties::journal::Journal;
use crate::properties::rng::Rng;
use crate::properties::twin_agrees::coverage::Counts;
use crate::properties::walk::observer::Observer;
use answers::same_answers;
use history::compare;
use store::SnapshotStore;

const GENESIS: [u8; 32] = [5; 32];
/// What journals show.
const TRADES: &str = "trades of images";
const CHUNKS: &str = "chunks of images";
/// What a whole run shows at least.
pub(crate) const LEAST: &[(&str, u64)] = &[(TRADES, 1_000), (CHUNKS, 1_000)];

/// Views restored from images, of the journal of a seed.
pub(crate) struct Images {
    pub(crate) seed: u64,
}

impl Observer for Images {
    fn name(&self) -> &'static str {
        "images of views"
    }

    fn end(&mut self, journal: &Journal, counts: &mut Counts<&'static str>) -> Result<(), String> {
        let (trades, chunks) = follow(self.seed, journal);
        *counts.entry(TRADES).or_default() += trades as u64;
        *counts.entry(CHUNKS).or_default() += chunks as u64;
        Ok(())
    }
}

/// One view folds the whole journal, another is restored from its image now and then.
fn follow(seed: u64, journal: &Journal) -> (usize, usize) {
    let mut rng = Rng::new(seed);
    let chunking = Chunking::Bits(u8::try_from(rng.below(4)).expect("below 4"));
    let mut whole = View::with_chunking(GENESIS, chunking);
    let mut standard = View::new(GENESIS);
    let mut renewed = View::with_chunking(GENESIS, chunking);
    let mut store = SnapshotStore::default();
    let mut naive = Naive::new(GENESIS);
    for (count, frame) in journal.frames.iter().enumerate() {
        for view in [&mut whole, &mut standard, &mut renewed] {
            view.apply(&frame.as_ref())
                .expect("the exchange wrote the frame");
        }
        naive.fold(frame);
        if rng.percent(5) || count + 1 == journal.frames.len() {
            renewed = store.renew(&renewed);
            let names = journal.names(count + 1);
            same_answers(&whole, &renewed, &names, &mut rng);
            same_answers(&standard, &renewed, &names, &mut rng);
            compare(&naive, &renewed, &names);
            store.compare(&whole, &renewed);
        } else if rng.percent(20) {
            store.lend(&mut renewed);
        }
    }
    (naive.fills.len(), store.len())
}
