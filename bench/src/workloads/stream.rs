//! An order stream and its file: consecutive 16-byte little-endian commands.
//!
//! ```text
//! 0 kind u8 (0 order, 1 cancel) | 1 side u8 (0 buy, 1 sell) | 2 price u8 (cents) | 3 zero
//! 4 quantity u32 | 8 book u32 | 12 id u32
//! ```
//! Ids of orders count up from 1. A cancel names an earlier id; its other fields except the book
//! are 0.

use std::path::Path;

/// Size of one command in the file.
const COMMAND_BYTES: usize = 16;
/// Ids are 32 bits and count from 1.
pub(super) const MOST_COMMANDS: usize = u32::MAX as usize - 1;
/// Highest price in cents; the lowest is 1.
pub const HIGHEST_PRICE: u8 = 99;

/// Kind of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Buy, good till cancelled.
    Buy = 0,
    /// Sell, good till cancelled.
    Sell = 1,
    /// Cancel.
    Cancel = 2,
}

/// One command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Kind of the command.
    pub action: Action,
    /// Limit in cents, 1 to 99; 0 for a cancel.
    pub price: u8,
    /// Lots, at least 1; 0 for a cancel.
    pub quantity: u32,
    /// Market, from 0.
    pub book: u32,
    /// The order's number, dense from 1.
    pub id: u32,
}

const _: () = assert!(size_of::<Entry>() == COMMAND_BYTES);

/// A stream of validated commands.
#[derive(Debug)]
pub struct Stream {
    entries: Vec<Entry>,
    markets: u32,
    orders: u32,
}

/// Why a file is not a valid stream.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// It cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Cause.
        error: std::io::Error,
    },
    /// It is empty or ends inside a command.
    #[error("the file is not a whole number of {COMMAND_BYTES}-byte commands")]
    Length,
    /// No stream can be made with these numbers.
    #[error(
        "markets, commands and resting orders are at least 1, commands at most {MOST_COMMANDS}"
    )]
    Arguments,
    /// A command breaks the format.
    #[error("command {0} (from 0) breaks the format")]
    Command(usize),
}

impl Stream {
    /// Validates the commands.
    ///
    /// # Errors
    /// The first command that violates the format.
    pub fn new(entries: Vec<Entry>) -> Result<Self, StreamError> {
        let (mut orders, mut markets) = (0, 0);
        for (at, entry) in entries.iter().enumerate() {
            let is_sound = match entry.action {
                Action::Cancel => entry.id >= 1 && entry.id <= orders,
                Action::Buy | Action::Sell => {
                    orders += 1;
                    let has_price = (1..=HIGHEST_PRICE).contains(&entry.price);
                    entry.id == orders && has_price && entry.quantity > 0
                }
            };
            if !is_sound || entry.book == u32::MAX {
                return Err(StreamError::Command(at));
            }
            markets = markets.max(entry.book + 1);
        }
        Ok(Self {
            entries,
            markets,
            orders,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid stream.
    pub fn read(path: &Path) -> Result<Self, StreamError> {
        let bytes = std::fs::read(path).map_err(|error| io(path, error))?;
        let (commands, rest) = bytes.as_chunks::<COMMAND_BYTES>();
        if commands.is_empty() || !rest.is_empty() {
            return Err(StreamError::Length);
        }
        let entries = commands
            .iter()
            .enumerate()
            .map(|(at, bytes)| decode(bytes).ok_or(StreamError::Command(at)))
            .collect::<Result<_, _>>()?;
        Self::new(entries)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), StreamError> {
        std::fs::write(path, self.to_bytes()).map_err(|error| io(path, error))
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.entries.iter().flat_map(encode).collect()
    }

    /// The commands in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of markets: the highest book plus one.
    #[must_use]
    pub const fn markets(&self) -> u32 {
        self.markets
    }

    /// Number of orders, which is also the highest id.
    #[must_use]
    pub const fn orders(&self) -> u32 {
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

fn io(path: &Path, error: std::io::Error) -> StreamError {
    StreamError::Io {
        path: path.display().to_string(),
        error,
    }
}

fn encode(entry: &Entry) -> [u8; COMMAND_BYTES] {
    let (kind, side) = match entry.action {
        Action::Buy => (0, 0),
        Action::Sell => (0, 1),
        Action::Cancel => (1, 0),
    };
    let mut bytes = [0; COMMAND_BYTES];
    bytes[..4].copy_from_slice(&[kind, side, entry.price, 0]);
    bytes[4..8].copy_from_slice(&entry.quantity.to_le_bytes());
    bytes[8..12].copy_from_slice(&entry.book.to_le_bytes());
    bytes[12..].copy_from_slice(&entry.id.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; COMMAND_BYTES]) -> Option<Entry> {
    let (words, _) = bytes.as_chunks::<4>();
    let [head, quantity, book, id] = words else {
        return None;
    };
    let action = match head {
        [0, 0, _, 0] => Action::Buy,
        [0, 1, _, 0] => Action::Sell,
        [1, 0, 0, 0] => Action::Cancel,
        _ => return None,
    };
    Some(Entry {
        action,
        price: head[2],
        quantity: u32::from_le_bytes(*quantity),
        book: u32::from_le_bytes(*book),
        id: u32::from_le_bytes(*id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUY: Entry = Entry {
        action: Action::Buy,
        price: 40,
        quantity: 7,
        book: 3,
        id: 1,
    };
    const CANCEL: Entry = Entry {
        action: Action::Cancel,
        price: 0,
        quantity: 0,
        ..BUY
    };

    #[test]
    fn commands_keep_their_bytes() {
        let stream = Stream::new(vec![BUY, CANCEL]).unwrap();
        let bytes = stream.to_bytes();
        let expected = [
            0, 0, 40, 0, 7, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, // the order
            1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, // its cancel
        ];
        assert_eq!(bytes, expected);
        let (commands, _) = bytes.as_chunks();
        let read: Vec<_> = commands.iter().filter_map(decode).collect();
        assert_eq!(read, [BUY, CANCEL]);
        assert_eq!((stream.markets(), stream.orders()), (4, 1));
    }

    #[test]
    fn what_breaks_the_format_is_named() {
        let broken = [
            Entry { id: 2, ..BUY },
            Entry { price: 100, ..BUY },
            Entry { price: 0, ..BUY },
            Entry { quantity: 0, ..BUY },
            CANCEL,
        ];
        for entry in broken {
            let refused = Stream::new(vec![entry]);
            assert!(matches!(refused, Err(StreamError::Command(0))), "{entry:?}");
        }
        assert_eq!(decode(&[2; 16]), None);
    }
}
