//! Totals of a run over a stream. Lanes with different totals did different work.

use serde::Serialize;

use crate::workloads::stream::Stream;

/// Sums over a whole stream.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Totals {
    /// Trades: one per maker.
    pub trades: u64,
    /// Lots traded.
    pub quantity: u64,
    /// Lots times maker's price in cents.
    pub notional: u64,
    /// Cancels that ended an order.
    pub cancelled: u64,
    /// Cancels of orders that had ended.
    pub refused: u64,
}

impl Totals {
    /// Counts a trade of `quantity` lots at `price` cents.
    pub(crate) fn trade(&mut self, price: u64, quantity: u64) {
        self.trades += 1;
        self.quantity += quantity;
        self.notional += price * quantity;
    }
}

/// Trades of the two streams of the goals, by (markets, commands, orders).
const KNOWN: &[((u32, usize, u32), u64)] = &[
    ((1, 5_000_000, 2_872_695), 984_106),
    ((1_000, 5_000_000, 2_961_910), 884_284),
];

/// Number of trades of a stream, if known in advance.
#[must_use]
pub fn known_trades(stream: &Stream) -> Option<u64> {
    let shape = (stream.markets(), stream.entries().len(), stream.orders());
    let known = KNOWN.iter().find(|(known, _)| *known == shape)?;
    Some(known.1)
}
