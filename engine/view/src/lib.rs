//! The read model: a pure fold of journal frames into what gateways answer from.
//!
//! [`View`] is plain data. [`View::apply`] takes the next frame; everything else only reads. One
//! file holds one view (accounts, keys, markets, events, books, orders, trades, system), knows no
//! other, and lists its queries; `fold` routes each event to the views it concerns; `query` has
//! the few answers that join two views.
//!
//! Balances follow from the events alone, so a reader needs no rule of the exchange. The one
//! thing recomputed is an order's limit price, which its signed amounts give
//! ([`Order::price`]).
//!
//! Deliberately absent: HTTP, JSON, matching, locks, clocks and files. Whoever shares a view
//! between threads wraps it in a lock of its own and applies one whole frame under it, so that a
//! reader never sees half of a command. Receipts are computed by the caller from the journal's
//! bytes at [`Order::place`] and [`TradeRecord::place`].

mod accounts;
mod books;
mod builders;
mod dense;
mod error;
mod events;
mod fold;
mod holding;
mod keys;
mod markets;
mod order;
mod orders;
mod position;
mod query;
mod slot_index;
mod system;
mod trade;
mod trade_id;
mod trades;
mod view;

pub use accounts::{Account, Accounts};
pub use books::{Book, Books, LastTrade, Level, Levels, TokenBook};
pub use builders::{Builder, Builders};
pub use error::{FoldError, Impossible};
pub use events::{EventEntry, Events};
pub use holding::Holding;
pub use keys::{Key, Keys};
pub use markets::{Market, Markets};
pub use order::{Order, OrderState, UserStatus};
pub use orders::{Ended, Orders};
pub use position::{Conversion, NotHeld, Position};
pub use system::{Domain, System};
pub use trade::{TradeRecord, TradeSide, TradeSlot};
pub use trade_id::TradeId;
pub use trades::Trades;
pub use view::View;
