//! The peer of `foretell-bench match --reference`: the order book library `lobster` over a stream, in bursts
//! prepared before the clock starts, like the core.

use std::path::Path;

use foretell_bench::workloads::stream::{Action, Entry};
use foretell_bench::{Stream, process_nanos};
use lobster::{OrderBook, OrderEvent, OrderType, Side};

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

/// Commands of a burst.
const BURST: usize = 256;
/// Orders of a market and of a price level that need no allocation.
const CAPACITY: (usize, usize) = (1 << 10, 1 << 4);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: peer STREAM")?;
    let stream = Stream::read(Path::new(&file))?;
    let (orders, of_level) = CAPACITY;
    let market = |_| OrderBook::new(orders, of_level, false);
    let mut markets: Vec<_> = (0..stream.markets()).map(market).collect();
    let (mut nanos, mut trades) = (0, 0);
    for entries in stream.entries().chunks(BURST) {
        let burst: Vec<_> = entries.iter().map(command).collect();
        let before = process_nanos();
        for (market, command) in burst {
            trades += traded(&markets[market].execute(command));
        }
        nanos += process_nanos() - before;
    }
    #[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
    let each = nanos as f64 / stream.entries().len() as f64;
    println!("lobster 0.7: {each:.1} ns/op {trades} trades");
    Ok(())
}

/// The market and the command of an entry.
fn command(entry: &Entry) -> (usize, OrderType) {
    let id = entry.id.into();
    let limit = |side| OrderType::Limit {
        id,
        side,
        qty: entry.quantity.into(),
        price: entry.price.into(),
    };
    let command = match entry.action {
        Action::Buy => limit(Side::Bid),
        Action::Sell => limit(Side::Ask),
        Action::Cancel => OrderType::Cancel { id },
    };
    (entry.book as usize, command)
}

fn traded(event: &OrderEvent) -> usize {
    match event {
        OrderEvent::Filled { fills, .. } | OrderEvent::PartiallyFilled { fills, .. } => fills.len(),
        _ => 0,
    }
}
