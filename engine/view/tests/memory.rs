//! What a trade costs in memory beside the chunks, which are mapped and shared: nearly nothing.

mod scene;

use std::sync::Arc;

use foretell_model::{Event, MatchKind};
use foretell_view::{ChunkBytes, ChunkCopy, Chunking, Seen, View};
use scene::*;

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

/// Far below the rows of real chunks, so that what a chunk costs by itself weighs far more here.
const CHUNKS: Chunking = Chunking::Bits(8);
/// Bytes a trade, with both of its orders: a sixth of what is allowed with real chunks.
const ALLOWED: i64 = 8;

/// A scene that trades, and the mappings it was lent.
struct Market {
    scene: Scene,
    seen: Seen,
    mapped: i64,
}

impl Market {
    /// One trade by two orders that name builders, both finished by it.
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

    /// Trades, and exchanges every new chunk for a copy that counts as mapped.
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

    /// Bytes held that are not mapped.
    fn held(&self) -> i64 {
        foretell_memory::held() - self.mapped
    }
}

#[test]
fn memory_follows_what_lives() {
    assert!(foretell_memory::are_counted());
    let mut market = Market {
        scene: Scene::trading_in(View::with_chunking(GENESIS, CHUNKS)),
        seen: Seen::default(),
        mapped: 0,
    };
    // Until every buffer has its size.
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
    assert!(market.mapped > 500 * TRADES, "history went into chunks");

    // Nothing of it is out of reach.
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
