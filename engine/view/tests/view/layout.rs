//! The bytes of snapshots and chunks: another build either reads them or detects their version.

use crate::scene;

use foretell_model::{Event, MatchKind, OrderType, RejectionReason};
use foretell_view::{Chunking, VIEW_VERSION, View};
use scene::*;

/// The version, and the hash of all bytes of a small scene in this version.
const PINNED: (u32, &str) = (
    11,
    "f0a92d66f70e56886d8bfae14a81e68e3e6094d3c7caa8c2d50a47598f956af2",
);

/// Two trades, orders of every final state, account actions, chunks of two rows.
fn scene() -> Scene {
    let mut scene = Scene::trading_in(View::with_chunking(GENESIS, Chunking::Bits(1)));
    scene.split(CAROL, MARKET, 100);
    let bob = scene.rest(BOB, NO, BUY, 60, 4_000);
    let ask = limit(CAROL, YES, SELL, 50, 6_100);
    let carol = scene.place_with(ask, &[rested(50, 6_100)], &evidence_of_builder(7));
    scene.place(
        limit(ALICE, YES, BUY, 90, 6_200),
        &[
            Event::Fill(fill((bob, BOB), MatchKind::Mint, 6_000, 60, 0)),
            Event::Fill(fill(
                (carol, CAROL),
                MatchKind::Complementary,
                6_100,
                30,
                20,
            )),
            Event::OrderCompleted,
        ],
    );
    let mut killed = limit(ALICE, YES, BUY, 100, 5_000);
    killed.order_type = OrderType::Fok;
    let reason = RejectionReason::FokNotFilled;
    scene.place(
        killed,
        &[Event::OrderKilled {
            reason,
            details: [0; 2],
        }],
    );
    scene.rest(ALICE, YES, BUY, 10, 3_000);
    scene.merge(CAROL, MARKET, 5);
    scene.merge(CAROL, MARKET, 5);
    scene
}

#[test]
fn another_layout_has_another_version() {
    let view = scene().view;
    let image = view.snapshot().unwrap();
    let mut hasher = blake3::Hasher::new();
    for (name, bytes) in &image.sections {
        hasher.update(name.as_bytes());
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    assert!(image.chunks.len() > 4);
    for chunk in &image.chunks {
        let bytes = view.chunk_bytes(chunk.log, chunk.number).unwrap();
        hasher.update(chunk.log.text().as_bytes());
        hasher.update(bytes.as_ref().as_ref());
    }
    let hash = hasher.finalize().to_hex();
    assert_eq!(
        (VIEW_VERSION, hash.as_str()),
        PINNED,
        "the layout changed: raise VIEW_VERSION, or gateways misread the images of older engines"
    );
}
