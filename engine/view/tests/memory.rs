//! Memory per trade without the chunks, which are mapped and shared: nearly none.

mod scene;

use std::sync::Arc;

use foretell_model::{Event, MatchKind};
use foretell_view::{ChunkBytes, ChunkCopy, Chunking, SeenChunks, View};
use scene::*;

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

/// Far fewer rows than in real chunks, so that the cost per chunk weighs far more here.
const CHUNKS: Chunking = Chunking::Bits(8);
/// Bytes per trade, including both of its orders: a sixth of the limit with real chunks.
const ALLOWED: i64 = 8;

/// A scene with trades, and the bytes of its mapped chunks.
struct Market {
    scene: Scene,
    seen: SeenChunks,
    mapped: i64,
}

impl Market {
    /// One trade of two orders with builders; both are finished by it.
    fn trade(&mut self) {
        let no = limit(BOB, NO, BUY, 1, 4_000);
        let bob = (self.scene).place_with(no, &[rested(1, 4_000)], &evidence_of_builder(7));
        let met = fill((bob, BOB), MatchKind::Mint, 6_000, 1, 0);
        self.scene.place_with(
            limit(ALICE, YES, BUY, 1, 6_000),
            &[Event::Fill(met), Event::OrderCompleted],
            &evidence_of_builder(8),
        );
    }

    /// Trades, and replaces every new chunk by a copy that counts as mapped.
    fn trade_on(&mut self, trades: usize) {
        for trade in 0..trades {
            self.trade();
            if trade % 100 == 0 {
                self.map();
            }
        }
        self.map();
    }

    fn map(&mut self) {
        let view = &mut self.scene.view;
        for chunk in view.new_chunks(&mut self.seen) {
            let own = view.chunk_bytes(chunk.log, chunk.number);
            let own = own.expect("it is new");
            let bytes: Box<[u8]> = own.as_ref().as_ref().into();
            self.mapped += i64::try_from(bytes.len()).expect("chunks are small");
            let copy: ChunkBytes = Arc::new(bytes);
            let copy = ChunkCopy::new(chunk, own, copy).expect("they are alike");
            view.adopt_chunk(copy)
                .expect("it is what was compared with");
        }
    }

    /// Allocated bytes that are not mapped.
    fn held(&self) -> i64 {
        foretell_memory::allocated_bytes() - self.mapped
    }
}

#[test]
fn memory_follows_what_lives() {
    assert!(foretell_memory::is_counting());
    let mut market = Market {
        scene: Scene::trading_in(View::with_chunking(GENESIS, CHUNKS)),
        seen: SeenChunks::default(),
        mapped: 0,
    };
    // Until every buffer has its final size.
    market.trade_on(2_000);
    const TRADES: i64 = 20_000;
    let before = market.held();
    market.trade_on(usize::try_from(TRADES).unwrap());
    let grown = market.held() - before;
    assert!(
        grown <= ALLOWED * TRADES,
        "{} bytes a trade",
        grown as f64 / TRADES as f64
    );
    assert!(market.mapped > 400 * TRADES, "history went into chunks");

    // All of it can still be read.
    let view = &market.scene.view;
    assert_eq!(view.trades().of_account(BOB).len(), 22_000);
    let oldest = view.trades().of_account(BOB).get(0).unwrap();
    let trade = view.trade(oldest).unwrap();
    assert_eq!(view.trade_by_id(trade.id), Some(oldest));
    assert_eq!(
        view.orders().by_id(&trade.maker.order_id).unwrap().matched,
        trade.lots
    );
}
