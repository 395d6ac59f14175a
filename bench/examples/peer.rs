//! The peer of `bench match --reference`: the order book library `matchcore` over a stream, in
//! bursts prepared before the clock starts, like the core.

use std::path::Path;

use foretell_bench::workloads::stream::{Action, Entry};
use foretell_bench::{Stream, process_nanos};
use matchcore::{
    CancelCmd, Command, CommandKind, CommandMeta, CommandOutcome, CommandReport, LimitOrder,
    NewOrder, OrderBook, OrderFlags, OrderId, OrderKind, Price, Quantity, QuantityPolicy,
    SequenceNumber, Side, SubmitCmd, TimeInForce, Timestamp,
};

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

/// Commands of a burst.
const BURST: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: peer STREAM")?;
    let stream = Stream::read(Path::new(&file))?;
    let mut markets: Vec<_> = (0..stream.markets()).map(|_| OrderBook::new("")).collect();
    let mut sequences = Sequences::of(&stream);
    let (mut nanos, mut trades) = (0, 0);
    for entries in stream.entries().chunks(BURST) {
        let burst: Vec<_> = entries
            .iter()
            .map(|entry| sequences.command(entry))
            .collect();
        let before = process_nanos();
        for (market, command) in &burst {
            trades += traded(&markets[*market].execute(command));
        }
        nanos += process_nanos() - before;
    }
    #[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
    let each = nanos as f64 / stream.entries().len() as f64;
    println!("matchcore 0.4: {each:.1} ns/op {trades} trades");
    Ok(())
}

/// Trades of one command.
fn traded(outcome: &CommandOutcome) -> usize {
    let CommandOutcome::Applied(CommandReport::Submit(effects)) = outcome else {
        return 0;
    };
    let result = effects.target_order().match_result();
    result.map_or(0, |result| result.trades().len())
}

/// The library numbers the commands of each book from 0; an order's number is its id.
struct Sequences {
    next: Vec<u64>,
    of_orders: Vec<u64>,
}

impl Sequences {
    fn of(stream: &Stream) -> Self {
        Self {
            next: vec![0; stream.markets() as usize],
            of_orders: vec![0; stream.orders() as usize + 1],
        }
    }

    /// The market and the command of an entry.
    fn command(&mut self, entry: &Entry) -> (usize, Command) {
        let (market, order) = (entry.book as usize, entry.id as usize);
        let sequence = self.next[market];
        self.next[market] += 1;
        let kind = match entry.action {
            Action::Cancel => CommandKind::Cancel(CancelCmd {
                order_id: OrderId(self.of_orders[order]),
                order_kind: OrderKind::Limit,
            }),
            Action::Buy => limit(entry, Side::Buy),
            Action::Sell => limit(entry, Side::Sell),
        };
        if entry.action != Action::Cancel {
            self.of_orders[order] = sequence;
        }
        let meta = CommandMeta {
            sequence_number: SequenceNumber(sequence),
            timestamp: Timestamp(sequence),
        };
        (market, Command { meta, kind })
    }
}

fn limit(entry: &Entry, side: Side) -> CommandKind {
    let quantity = Quantity(entry.quantity.into());
    CommandKind::Submit(SubmitCmd {
        order: NewOrder::Limit(LimitOrder::new(
            Price(entry.price.into()),
            QuantityPolicy::Standard { quantity },
            OrderFlags::new(side, false, TimeInForce::Gtc),
        )),
    })
}
