//! An order stream: commands over markets, whose orders have dense ids that count up from 1.

/// Highest price in cents; the lowest is 1.
pub(crate) const HIGHEST_PRICE: u8 = 99;

/// Kind of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Buy, good till cancelled.
    Buy,
    /// Sell, good till cancelled.
    Sell,
    /// Cancel.
    Cancel,
}

/// One command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Kind of the command.
    pub(crate) action: Action,
    /// Limit in cents, 1 to 99; 0 for a cancel.
    pub(crate) price: u8,
    /// Lots, at least 1; 0 for a cancel.
    pub(crate) quantity: u32,
    /// Market, from 0.
    pub(crate) book: u32,
    /// The order's number, dense from 1.
    pub(crate) id: u32,
}

/// The commands, with their numbers of markets and orders.
#[derive(Debug)]
pub(crate) struct Stream {
    entries: Vec<Entry>,
    markets: u32,
    orders: u32,
}

impl Stream {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        let markets = entries.iter().map(|entry| entry.book + 1).max();
        let orders = entries.iter().map(|entry| entry.id).max();
        Self {
            entries,
            markets: markets.unwrap_or(0),
            orders: orders.unwrap_or(0),
        }
    }

    /// The commands in order.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of markets: the highest book plus one.
    pub(crate) const fn markets(&self) -> u32 {
        self.markets
    }

    /// Number of orders, which is also the highest id.
    pub(crate) const fn orders(&self) -> u32 {
        self.orders
    }
}

/// Sums over a whole stream. Lanes with different totals did different work.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Totals {
    /// Trades: one per maker.
    pub(crate) trades: u64,
    /// Lots traded.
    pub(crate) quantity: u64,
    /// Lots times maker's price in cents.
    pub(crate) notional: u64,
    /// Cancels that ended an order.
    pub(crate) cancelled: u64,
    /// Cancels of orders that had ended.
    pub(crate) refused: u64,
}

impl Totals {
    /// Counts a trade of `quantity` lots at `price` cents.
    pub(crate) fn trade(&mut self, price: u64, quantity: u64) {
        self.trades += 1;
        self.quantity += quantity;
        self.notional += price * quantity;
    }
}
