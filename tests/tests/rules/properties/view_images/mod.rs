//! A view restored from an image equals the original view: in every response, after every later
//! frame, and in its chunks, byte for byte. Both are compared with a plain fold that keeps every
//! trade and every ended order in one list each.
//!
//! The commands are those of the comparison of core and twin.

mod answers;
mod damaged;
mod journal;
mod plain;
mod store;

use foretell_view::{Chunking, View};

use crate::properties::rng::Rng;
use answers::same_answers;
use journal::{GENESIS, Journal};
use plain::Plain;
use store::SnapshotStore;

/// Journals of an ordinary run.
const JOURNALS: u64 = 1_000;

#[test]
fn a_view_of_an_image_is_the_view_itself() {
    let mut trades = 0;
    let mut chunks = 0;
    for seed in 0..JOURNALS {
        let journal = Journal::random(seed);
        let (of_journal, of_chunks) = follow(seed, &journal);
        trades += of_journal;
        chunks += of_chunks;
    }
    assert!(
        trades > 1_000 && chunks > 1_000,
        "{trades} trades, {chunks} chunks: too few to tell"
    );
}

/// One view folds the whole journal, another is restored from its image now and then.
fn follow(seed: u64, journal: &Journal) -> (usize, usize) {
    let mut rng = Rng::new(seed);
    let chunking = Chunking::Bits(u8::try_from(rng.below(4)).expect("below 4"));
    let mut whole = View::with_chunking(GENESIS, chunking);
    let mut standard = View::new(GENESIS);
    let mut renewed = View::with_chunking(GENESIS, chunking);
    let mut store = SnapshotStore::default();
    let mut plain = Plain::default();
    for (count, frame) in journal.frames.iter().enumerate() {
        for view in [&mut whole, &mut standard, &mut renewed] {
            view.apply(&frame.as_ref())
                .expect("the exchange wrote the frame");
        }
        plain.fold(frame);
        if rng.percent(5) || count + 1 == journal.frames.len() {
            renewed = store.renew(&renewed);
            let names = journal.names(count + 1);
            same_answers(&whole, &renewed, &names, &mut rng);
            same_answers(&standard, &renewed, &names, &mut rng);
            plain.compare(&renewed, &names);
            store.compare(&whole, &renewed);
        } else if rng.percent(20) {
            store.lend(&mut renewed);
        }
    }
    (plain.trades(), store.len())
}
