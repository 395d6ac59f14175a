//! The bytes of snapshots and chunks: another build either reads them or detects their version.

use crate::scene;

use std::sync::Arc;

use foretell_model::event::OrderKilled;
use foretell_model::{Event, MatchKind, OrderType, RejectionReason};
use foretell_view::{ChunkCopy, ChunkRef, Chunking, LogName, SeenChunks, VIEW_VERSION, View};
use scene::*;

/// The version, and the hash of all bytes of a small scene in this version.
const PINNED: (u32, &str) = (
    23,
    "5f5440553e143d8358905b32284a0a54873964ae8d518db641efd762db369b09",
);

/// Two trades, orders of every final state, account actions, chunks of two rows.
fn scene(segment: u32) -> Scene {
    let mut scene = Scene::trading_in(View::with_chunking(GENESIS, Chunking::Bits(1)));
    scene.segment = segment;
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
        &[Event::OrderKilled(OrderKilled {
            reason,
            details: [0; 2],
        })],
    );
    scene.rest(ALICE, YES, BUY, 10, 3_000);
    scene.merge(CAROL, MARKET, 5);
    scene.merge(CAROL, MARKET, 5);
    scene
}

#[test]
fn another_layout_has_another_version() {
    let view = scene(1).view;
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

#[test]
fn a_chunk_with_moved_frames_is_exchanged_and_a_changed_one_is_not() {
    let (mut view, moved) = (scene(1).view, scene(2).view);
    let bytes = |view: &View, chunk: ChunkRef| view.chunk_bytes(chunk.log, chunk.number).unwrap();
    let mut exchanged = Vec::new();
    for chunk in view.new_chunks(&mut SeenChunks::default()) {
        let (own, copy) = (bytes(&view, chunk), bytes(&moved, chunk));
        if own.as_ref().as_ref() != copy.as_ref().as_ref() {
            let same = ChunkCopy::new(chunk, own.clone(), copy).unwrap();
            assert!(view.adopt_chunk(same).is_some());
            exchanged.push(chunk.log);
        }
        let mut changed = own.as_ref().as_ref().to_vec();
        // The first row of each log begins with its content.
        changed[8] ^= 1;
        ChunkCopy::new(chunk, own, Arc::new(changed)).unwrap_err();
    }
    assert!(
        [LogName::Trades, LogName::FinishedOrders, LogName::Actions]
            .iter()
            .all(|log| exchanged.contains(log)),
        "{exchanged:?}"
    );
}
